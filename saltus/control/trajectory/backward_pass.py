"""The backward pass of differential dynamic programming, with bounds on the controls.

Q(δx, δu) is the second-order model of the cost to go through a step; its minimum over δu within the bounds is a
quadratic programme for each step (Tassa, Mansard & Todorov, Control-limited differential dynamic programming (2014)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.control.trajectory.box_minimum import box_minimum, solve_rows
from saltus.number.kernels import entry, kernel

Array = NDArray[np.float64]


class Expansion(NamedTuple):
    """Second-order model of the cost and first-order model of the steps along a trajectory.

    A [T, n, n], B [T, n, nu]: of the steps. slopes [T + 1, n + nu], curves [T + 1, n + nu, n + nu]: derivatives of the
    cost by states and controls.
    """

    A: Array
    B: Array
    slopes: Array
    curves: Array


class Policy(NamedTuple):
    """Changes of the controls δu = α k + K δx: k [T, nu], K [T, nu, n], and the decrease -(α dV1 + α² dV2) expected."""

    k: Array
    K: Array
    dV1: float
    dV2: float


@kernel
def load_rates(A, B, F):
    """F [n, n + nu] ← [A, B]."""
    n = len(A)
    for i in range(n):
        for j in range(n):
            F[i, j] = A[i, j]
        for j in range(B.shape[1]):
            F[i, n + j] = B[i, j]


@kernel
def cost_through(F, slopes, curves, Vx, Vxx, Q, q, product):
    """Q ← curves + Fᵀ Vxx F and q ← slopes + Fᵀ Vx: the cost to go before a step; product [n, n + nu] is scratch."""
    n, N = F.shape
    for i in range(n):
        for j in range(N):
            product[i, j] = 0.0
        for k in range(n):
            for j in range(N):
                product[i, j] += Vxx[i, k] * F[k, j]
    for i in range(N):
        q[i] = slopes[i]
        for j in range(N):
            Q[i, j] = curves[i, j]
    for k in range(n):
        for i in range(N):
            q[i] += F[k, i] * Vx[k]
            for j in range(i + 1):
                Q[i, j] += F[k, i] * product[k, j]
    for i in range(N):
        for j in range(i):
            Q[j, i] = Q[i, j]


@kernel
def damped_blocks(F, Q, damping, H, K):
    """H ← Quu + λ Bᵀ B and K ← Qux + λ Bᵀ A, as if states had λ more curvature in the cost to go."""
    n, nu = len(F), len(H)
    for i in range(nu):
        for j in range(n):
            K[i, j] = Q[n + i, j]
        for j in range(nu):
            H[i, j] = Q[n + i, n + j]
        for k in range(n):
            damped = damping * F[k, n + i]
            for j in range(n):
                K[i, j] += damped * F[k, j]
            for j in range(nu):
                H[i, j] += damped * F[k, n + j]


@kernel
def cost_under_policy(Q, q, k, K, Vx, Vxx, product):
    """Vx, Vxx ← the cost to go under δu = k + K δx; returns kᵀ Qu and ½ kᵀ Quu k. product [nu, n] is scratch."""
    nu, n = K.shape
    first, second = 0.0, 0.0
    for i in range(n):
        Vx[i] = q[i]
    for i in range(nu):
        force = 0.0  # Quu k
        for j in range(nu):
            force += Q[n + i, n + j] * k[j]
        first += k[i] * q[n + i]
        second += 0.5 * k[i] * force
        # Kᵀ (Quu k + Qu) + Quxᵀ k
        for c in range(n):
            Vx[c] += K[i, c] * (force + q[n + i]) + Q[n + i, c] * k[i]
        # Quu K + Qux
        for c in range(n):
            product[i, c] = Q[n + i, c]
        for j in range(nu):
            for c in range(n):
                product[i, c] += Q[n + i, n + j] * K[j, c]
    for r in range(n):
        for c in range(n):
            Vxx[r, c] = Q[r, c]
    for i in range(nu):
        for r in range(n):
            for c in range(n):
                Vxx[r, c] += K[i, r] * product[i, c] + Q[n + i, r] * K[i, c]
    for r in range(n):
        for c in range(r):
            Vxx[r, c] = Vxx[c, r] = 0.5 * (Vxx[r, c] + Vxx[c, r])
    return first, second


@entry(structs=())
def pass_backward(A, B, slopes, curves, low, high, damping, k, K, scratch):
    """Policy k [T, nu], K [T, nu, n] from the end to the start; returns whether there is one, and dV1 and dV2.

    scratch: F and product [n, n + nu], half [nu, n], Q [n + nu, n + nu], q [n + nu], Vx [n], Vxx [n, n], H and L
    [nu, nu], free [nu], and the memory of `box_minimum`.
    """
    F, product, half, Q, q, Vx, Vxx, H, L, free, work = scratch
    T, n, nu = B.shape
    first, second = 0.0, 0.0
    for i in range(n):
        Vx[i] = slopes[T, i]
        for j in range(n):
            Vxx[i, j] = curves[T, i, j]
    for back in range(T):
        t = T - 1 - back
        load_rates(A[t], B[t], F)
        cost_through(F, slopes[t], curves[t], Vx, Vxx, Q, q, product)
        damped_blocks(F, Q, damping, H, K[t])
        # feedforward within the bounds, and feedback of the controls that no bound holds
        if not box_minimum(H, q[n:], low[t], high[t], k[t], free, L, work):
            return False, first, second
        for i in range(nu):
            for j in range(n):
                K[t, i, j] = -K[t, i, j] if free[i] else 0.0
        solve_rows(L, K[t])
        one, two = cost_under_policy(Q, q, k[t], K[t], Vx, Vxx, half)
        first += one
        second += two
    return True, first, second


class BackwardPass:
    """Backward passes of T steps with n states and nu controls, with memory for them."""

    def __init__(self, T: int, n: int, nu: int):
        self._shape = T, n, nu
        N = n + nu
        shapes = ((n, N), (n, N), (nu, n), (N, N), (N,), (n,), (n, n), (nu, nu), (nu, nu))
        box = np.empty(nu), np.empty((nu, 1)), np.empty(nu)
        self._scratch = (*(np.empty(shape) for shape in shapes), np.empty(nu, np.bool_), box)

    def __call__(self, e: Expansion, low: Array, high: Array, damping: float) -> Policy | None:
        """The policy that minimises the model, with bounds low, high [T, nu] on δu; None if it has no minimum.

        `damping`: times the identity is added to the Hessian of the cost to go by states that controls change.
        """
        T, n, nu = self._shape
        k, K = np.empty((T, nu)), np.empty((T, nu, n))
        found, first, second = pass_backward(*e, low, high, damping, k, K, self._scratch)
        return Policy(k, K, first, second) if found else None
