"""Rotations by rotation vectors that change with time: angular velocity and acceleration in the rotated axes.

With R(t) = R₀ exp(p(t)), ω = p' - a p×p' + b p×(p×p'), a = (1 - cos θ)/θ², b = (θ - sin θ)/θ³, θ = |p| (the right
Jacobian of the exponential: Chirikjian, Stochastic Models, Information Theory, and Lie Groups 2 (2012), 10.6).
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SMALL = 1e-2  # θ² below which the first four terms of the series are exact to rounding


def _coefficients(z: Array) -> tuple[Array, Array, Array, Array]:
    """a, b and their derivatives by z = θ², for z [n]."""
    series = [
        1 / 2 - z / 24 + z**2 / 720 - z**3 / 40320,
        1 / 6 - z / 120 + z**2 / 5040 - z**3 / 362880,
        -1 / 24 + z / 360 - z**2 / 13440 + z**3 / 907200,
        -1 / 120 + z / 2520 - z**2 / 120960 + z**3 / 9979200,
    ]
    safe = np.where(z < SMALL, 1.0, z)
    angle = np.sqrt(safe)
    a, b = (1.0 - np.cos(angle)) / safe, (angle - np.sin(angle)) / (safe * angle)
    closed = [a, b, (0.5 * np.sin(angle) / angle - a) / safe, (0.5 * a - 1.5 * b) / safe]
    found = [np.where(z < SMALL, one, other) for one, other in zip(series, closed, strict=True)]
    return found[0], found[1], found[2], found[3]


def angular_motion(p: Array, rate: Array, change: Array) -> tuple[Array, Array]:
    """Angular velocity (rad/s) and acceleration (rad/s²), each [n, 3], of rotation vectors p with p' and p'' [n, 3]."""
    a, b, da, db = (c[:, None] for c in _coefficients((p * p).sum(1)))
    growth = 2.0 * (p * rate).sum(1)[:, None]
    once = np.cross(p, rate)
    twice = np.cross(p, once)
    again = np.cross(p, change)
    velocity = rate - a * once + b * twice
    acceleration = change - a * again + b * np.cross(p, again) - da * growth * once + db * growth * twice
    return velocity, acceleration + b * np.cross(rate, once)
