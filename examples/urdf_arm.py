"""A robot from URDF whose hand draws a circle: gravity compensation, and a PD law around the path.

python examples/urdf_arm.py [arm.png]
"""

import sys
from pathlib import Path

import numpy as np

import saltus

model = saltus.load(Path(__file__).with_name("arm.urdf"), actuators="torque")
sim = saltus.Simulation(model)
hand = model.names("body").index("hand")
x, z, upper, lower = 0.35, 0.35, 0.4, 0.3  # m: the circle's center seen from the shoulder, lengths of the links


def angles(t):
    """Angles of both joints with the hand on a circle of 0.1 m in 2 s: the law of cosines."""
    p, q = x + 0.1 * np.cos(np.pi * t), z + 0.1 * np.sin(np.pi * t)
    elbow = np.arccos((p * p + q * q - upper**2 - lower**2) / (2 * upper * lower))
    return np.array([np.arctan2(p, q) - np.arctan2(lower * np.sin(elbow), upper + lower * np.cos(elbow)), elbow])


sim.qpos[:], sim.qvel[:] = angles(0.0), (angles(1e-6) - angles(-1e-6)) / 2e-6
errors = []
for k in range(1000):
    sim.forward()
    errors.append(np.hypot(*(sim.data.xpos[hand, [0, 2]] - [x, z + 0.05])) - 0.1)
    ahead = angles((k + 1) * 0.002)
    sim.ctrl = sim.data.qfrc_bias + 400 * (ahead - sim.qpos) + 20 * ((ahead - angles(k * 0.002)) / 0.002 - sim.qvel)
    sim.step()
print(f"the hand leaves its circle by at most {1000 * np.abs(errors).max():.1f} mm")
if len(sys.argv) > 1:
    sim.picture(sys.argv[1])
