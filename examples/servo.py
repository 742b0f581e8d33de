"""The servo of a lecture on robot dynamics: a motorised pendulum held at -72 degrees by a PID controller.

The error is wrapped to (-π, π], the integral is a state that the integrator sees at every stage. At the target the
integral alone carries the weight, u = m g l sin θ. With explicit Euler the same gains are unstable; Saltus says so, and
which step would be stable.

    python examples/servo.py [servo.png]
"""

import sys
import warnings

import numpy as np

import saltus

TARGET = -np.pi / 2.5  # rad
servo = saltus.PID(kp=1500, ki=150.10, kd=15, target=TARGET)

sim = saltus.Simulation("pendulum", integrator="velocity_verlet", timestep=0.05)
sim.qpos[:] = np.pi / 2
run = sim.run(162, sample=0.1, control=servo)
print(f"t = {run.time[-1]:.0f} s: angle {run.qpos[-1, 0]:.2f} rad, control {run.ctrl[-1, 0]:.2f} N m")

weight = 2.0 * 9.81 * 2.0 * np.sin(TARGET)
print(f"the weight needs {weight:.2f} N m")

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    sim = saltus.Simulation("pendulum", integrator="explicit_euler", timestep=0.05)
    sim.qpos[:] = np.pi / 2
    sim.run(1, control=servo)
print(caught[0].message)

if len(sys.argv) > 1:
    run.plot(sys.argv[1])
    print(f"wrote {sys.argv[1]}")
