"""A robot arm from URDF: torques carry its weight, and a spring and damper pull its hand along a circle."""

from pathlib import Path

import numpy as np

import saltus

sim = saltus.Simulation(saltus.load(Path(__file__).parents[1] / "arm.urdf", actuators="torque"))
sim.qpos, center, apart = [0.3, 1.2], [0.3, 0.0, 0.4], []  # rad, m
while sim.time < 4:
    c, s, hand = np.cos(np.pi * sim.time), np.sin(np.pi * sim.time), sim.body("hand").xpos
    J, _ = sim.jacobian("hand", hand)
    error = center + 0.1 * np.array([c, 0.0, s]) - hand
    force = 4000 * error + 200 * (0.1 * np.pi * np.array([-s, 0.0, c]) - J @ sim.qvel)
    sim.ctrl = sim.data.qfrc_bias + J.T @ force  # gravity, Coriolis and centrifugal forces, and the pull
    sim.step()
    apart.append(np.linalg.norm(error))
print(f"the hand is {1000 * apart[0]:.0f} mm off at first, and within {1000 * max(apart[500:]):.1f} mm after a second")
