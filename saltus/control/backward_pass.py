"""The backward pass of differential dynamic programming, with bounds on the controls.

Q(δx, δu) is the second-order model of the cost to go through a step; its minimum over δu within the bounds is a
quadratic programme for each step (Tassa, Mansard & Todorov, Control-limited differential dynamic programming (2014)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ITERATIONS, ARMIJO = 50, 0.1


class Expansion(NamedTuple):
    """Second-order model of the cost and first-order model of the steps along a trajectory.

    A [T, n, n], B [T, n, nu]; lx [T + 1, n], lxx [T + 1, n, n]; lu [T, nu], luu [T, nu, nu], lux [T, nu, n].
    """

    A: Array
    B: Array
    lx: Array
    lxx: Array
    lu: Array
    luu: Array
    lux: Array


class Policy(NamedTuple):
    """Changes of the controls δu = α k + K δx: k [T, nu], K [T, nu, n], and the decrease -(α dV1 + α² dV2) expected."""

    k: Array
    K: Array
    dV1: float
    dV2: float


def backward_pass(e: Expansion, low: Array, high: Array, damping: float) -> Policy | None:
    """The policy that minimises the model, with bounds low, high [T, nu] on δu; None if it has no minimum.

    `damping`: times the identity is added to the Hessian of the cost to go by states that controls change.
    """
    T, n, nu = e.B.shape
    k, K = np.zeros((T, nu)), np.zeros((T, nu, n))
    Vx, Vxx = e.lx[-1], e.lxx[-1]
    first, second = 0.0, 0.0
    for t in reversed(range(T)):
        A, B = e.A[t], e.B[t]
        Qx, Qu = e.lx[t] + A.T @ Vx, e.lu[t] + B.T @ Vx
        Qxx, Quu, Qux = e.lxx[t] + A.T @ Vxx @ A, e.luu[t] + B.T @ Vxx @ B, e.lux[t] + B.T @ Vxx @ A
        damped = Vxx + damping * np.eye(n)
        found = box_minimum(e.luu[t] + B.T @ damped @ B, Qu, low[t], high[t])
        if found is None:
            return None
        k[t], free, inverse = found
        K[t][free] = -inverse @ (e.lux[t] + B.T @ damped @ A)[free]
        # cost to go under the policy
        first += k[t] @ Qu
        second += 0.5 * k[t] @ Quu @ k[t]
        Vx = Qx + K[t].T @ Quu @ k[t] + K[t].T @ Qu + Qux.T @ k[t]
        Vxx = Qxx + K[t].T @ Quu @ K[t] + K[t].T @ Qux + Qux.T @ K[t]
        Vxx = 0.5 * (Vxx + Vxx.T)
    return Policy(k, K, first, second)


def box_minimum(H: Array, g: Array, low: Array, high: Array) -> tuple[Array, NDArray[np.bool_], Array] | None:
    """Minimum of ½ xᵀ H x + gᵀ x in low ≤ x ≤ high, its free components, and H⁻¹ of these; by projected Newton steps.

    None if H is not positive definite on the free components (Bertsekas, Projected Newton methods (1982)).
    """
    x = np.clip(np.zeros(len(g)), low, high)
    value = 0.5 * x @ H @ x + g @ x
    for _ in range(ITERATIONS):
        slope = H @ x + g
        free = ~((x <= low) & (slope > 0) | (x >= high) & (slope < 0))
        inverse = _inverse(H[np.ix_(free, free)])
        if inverse is None:
            return None
        step = np.zeros(len(g))
        step[free] = -inverse @ slope[free]
        if not free.any() or np.linalg.norm(slope[free]) <= 1e-10 * (1.0 + np.linalg.norm(g)):
            return x, free, inverse
        size = 1.0
        while True:
            tried = np.clip(x + size * step, low, high)
            after = 0.5 * tried @ H @ tried + g @ tried
            if value - after >= ARMIJO * -(slope @ (tried - x)) or size < 1e-10:
                break
            size *= 0.6
        if size < 1e-10:
            return x, free, inverse
        x, value = tried, after
    return x, free, inverse


def _inverse(H: Array) -> Array | None:
    """Inverse of a symmetric matrix; None if it is not positive definite."""
    try:
        L = np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        return None
    half = np.linalg.inv(L)
    return half.T @ half
