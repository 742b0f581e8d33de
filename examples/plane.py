"""Explicit Euler, the midpoint rule and implicit midpoint in the plane: a linear centre, x' = y, y' = -x.

The solution turns on a circle. Explicit Euler's points lie on a spiral outwards, since a step multiplies the radius by
sqrt(1 + h²); the midpoint rule's by sqrt(1 + h⁴/4), a hundred times slower at h = 0.2; implicit midpoint keeps
the radius to rounding. Five turns, and the picture:

    python examples/plane.py plane.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import saltus


def centre(t, y):
    return np.array([y[1], -y[0]])


h, turns = 0.2, 5
figure, axes = plt.subplots(1, 3, figsize=(12, 4.4))
for axis, method in zip(axes, ("explicit_euler", "midpoint", "implicit_midpoint"), strict=True):
    found = saltus.integrate_ode(centre, [1.0, 0.0], 2 * np.pi * turns, method, step=h)
    radius = np.linalg.norm(found.y[-1])
    print(f"{method}: order {found.order}, {found.steps} steps, radius at the end {radius:.4f}")
    angle = np.linspace(0, 2 * np.pi, 200)
    axis.plot(np.cos(angle), np.sin(angle), color="0.7", linewidth=3, label="solution")
    axis.plot(found.y[:, 0], found.y[:, 1], ".-", markersize=3, linewidth=0.7, label=method.replace("_", " "))
    axis.set(title=f"{method.replace('_', ' ')}: radius {radius:.3g}", xlabel="x", aspect="equal")
axes[0].set_ylabel("y")
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "plane.png")
