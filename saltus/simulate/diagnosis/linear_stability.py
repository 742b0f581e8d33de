"""Largest stable timesteps: linear stability of an integrator on a model's springs and dampers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from saltus.integrate.integrator import Integrator

UNBOUNDED = float("inf")
SLOWEST = 1e-6  # 1/s: a slower motion is rigid, up to rounding


def modes(M: np.ndarray, K: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Eigenvalues λ [nv, 2] (1/s) of M q'' + B q' + K q = 0, for M, K, B [nv, nv], in pairs of one shape.

    An oscillation's pair is conjugate. The two decays of an overdamped motion are matched by their shapes, which are
    equal for proportional damping.
    """
    import scipy.linalg

    nv = len(M)
    if nv == 0:
        return np.zeros((0, 2), complex)
    system = np.zeros((2 * nv, 2 * nv))
    system[:nv, nv:] = np.eye(nv)
    system[nv:] = -scipy.linalg.solve(M, np.hstack([K, B]), assume_a="pos")
    decomposition: Any = np.linalg.eig(system)
    values, vectors = decomposition
    pairs = [(value, value.conjugate()) for value in values if value.imag > 0]
    real = np.flatnonzero(values.imag == 0)
    shapes = np.linalg.cholesky(M).T @ np.real(vectors[:nv, real])
    shapes /= np.maximum(np.linalg.norm(shapes, axis=0), 1e-300)
    left = sorted(range(len(real)), key=lambda i: -abs(values[real[i]]))
    while len(left) > 1:
        i = left.pop(0)
        # the slowest of equal shapes, which comes last
        j = max(reversed(left), key=lambda j: round(abs(shapes[:, i] @ shapes[:, j]), 6))
        left.remove(j)
        pairs.append((values[real[i]], values[real[j]]))
    return np.array(pairs, complex)


def amplification(integrator: Integrator, pair: Sequence[complex], h: Any) -> Any:
    """Growth per step of the mode with a pair of eigenvalues (1/s); `h` (s) may be an array."""
    name = integrator.name
    if name in ("implicit", "implicitfast"):
        name = "implicit_velocity"
    one, other = pair
    if integrator.parameters and getattr(integrator.parameters[0], "ndim", 0) == 2:
        growth = [abs(_stability_function(integrator.parameters[0], np.multiply(h, value))) for value in (one, other)]
        return np.maximum(*growth)
    # x'' = -k x - b x'
    k, b = (one * other).real, -(one + other).real
    theta = integrator.parameters[0][0] if name == "moreau_jean" else None
    return abs(np.linalg.eigvals(_step_matrix(name, k, b, np.asarray(h)[..., None], theta))).max(axis=-1)


def _stability_function(table: np.ndarray, z: np.ndarray) -> np.ndarray:
    """R(z) = 1 + z bᵀ (1 - z A)⁻¹ 1 of a Runge-Kutta method, for all z."""
    a, b = table[:-1, 1:], table[-1, 1:]
    ones = np.ones((len(b), 1))
    slopes = np.linalg.solve(np.eye(len(b)) - z[..., None, None] * a, ones)[..., 0]
    return 1 + z * (slopes @ b)


def _step_matrix(name: str, k: float, b: float, h: np.ndarray, theta: float | None) -> np.ndarray:
    """Matrices of one step on (x, v), for steps h [..., 1]; for `verlet` also on the mean velocity that it keeps."""
    force = np.array([-k, -b])
    x, v = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    if name == "energy_momentum":
        half = h[..., None] / 2 * np.array([v, force])
        return np.linalg.solve(np.eye(2) - half, np.eye(2) + half)
    if name in ("euler", "implicit_velocity"):
        v1 = v + h * force / (1 + h * b)
        return np.stack([x + h * v1, v1], axis=-2)
    if name == "discrete":
        v1 = v + h * (force - h * k * v) / (1 + h * b + h * h * k)
        return np.stack([x + h * v1, v1], axis=-2)
    if name == "verlet":
        x, v, w = np.eye(3)
        a = -k * x - b * v
        w1 = w + h * a
        x1 = x + h * w1
        return np.stack([x1, w1 + h / 2 * (-k * x1 - b * (w1 + h / 2 * a)), w1], axis=-2)
    if name == "velocity_verlet":
        x1 = x + h * v + h * h / 2 * force
        a1 = -k * x1 - b * (v + h * force)
        return np.stack([x1, v + h / 2 * (force + a1)], axis=-2)
    if name == "moreau_jean" and theta is not None:
        x_mid = x + (1 - theta) * h * v
        v1 = v + h * (-k * x_mid - b * v) / (1 + theta * h * b)
        return np.stack([x_mid + theta * h * v1, v1], axis=-2)
    raise ValueError(f"no linear analysis of {name}")


def stable_timestep(integrator: Integrator, pairs: np.ndarray) -> tuple[float, complex]:
    """Largest step (s) at which no decaying or oscillating mode grows, and the eigenvalue that sets it.

    inf if no step is too large or the step is controlled; 0 if oscillations grow at any step. Growth per step below
    1e-9 is ignored.
    """
    worst, mode = UNBOUNDED, complex(0.0)
    if integrator.adaptive:
        return worst, mode
    for pair in pairs:
        fast = max(pair, key=abs)
        # growing modes and rigid motions set no limit
        if abs(fast) < SLOWEST or max(pair.real) > 1e-9 * abs(fast):
            continue
        limit = _limit(integrator, np.minimum(pair.real, 0.0) + 1j * pair.imag)
        if limit < worst:
            worst, mode = limit, complex(fast)
    return worst, mode


def _limit(integrator, pair) -> float:
    """Smallest step at which the mode begins to grow, by scanning h |λ| and bisection."""
    fast = max(abs(pair))
    grows = lambda s: amplification(integrator, pair, s / fast) > 1.0 + 1e-9  # noqa: E731
    grid = np.geomspace(1e-2, 1e3, 600)
    growing = grows(grid)
    if not growing.any():
        return UNBOUNDED
    first = int(np.argmax(growing))
    if first == 0:
        return 0.0
    low, high = grid[first - 1], grid[first]
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if grows(middle) else (middle, high)
    return float(low / fast)
