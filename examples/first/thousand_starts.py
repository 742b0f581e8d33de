"""A thousand double pendulums that start within a milliradian of each other: how far they are apart later."""

import matplotlib.pyplot as plt
import numpy as np

import saltus

batch = saltus.Batch("double_pendulum", 1000, integrator="rk4", timestep=0.005)
batch.qpos = [2.0, 0.0] + 1e-3 * np.random.default_rng(0).normal(size=(1000, 2))  # rad
for seconds in (2, 5, 8):
    batch.step(round((seconds - batch.time[0]) / batch.timestep))
    angle = batch.joint("theta1").qpos  # of all simulations
    print(f"after {seconds} s: {angle.mean():.3f} rad, give or take {angle.std():.4f} rad")
    plt.hist(angle, bins=np.linspace(-4, 4, 161), alpha=0.6, label=f"after {seconds} s")
plt.xlabel("angle of the upper rod (rad)")
plt.legend()
plt.savefig("starts.png")
