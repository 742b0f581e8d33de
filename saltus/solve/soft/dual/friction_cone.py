"""Friction of an elliptic contact at given normal force: a convex quadratic minimised in an ellipsoid.

    minimise ½ vᵀ A v + bᵀ v   over   Σ (v_k / μ_k)² ≤ N²

In coordinates v_k / μ_k the bound is a ball, and the solution is v = -(A + λ)⁻¹ b with λ = 0 or |v| = N. That λ is the
zero of 1/|v| - 1/N, found by Newton's method from below, where it converges monotonically (Moré & Sorensen, Computing
a trust region step (1983); Nocedal & Wright, Numerical Optimization, algorithm 4.3).

MuJoCo 4.0 gives up where the determinant of the scaled A is below 1e-10: for heavy bodies, and without regularisation
for planar mechanisms. Here there is no such limit.
"""

from saltus.number.components import epsilon_of, lane_get
from saltus.number.functions import MINVAL, any_lane, maximum, sqrt, where
from saltus.number.kernels import kernel

ITERATIONS = 40
LEAST_PIVOT = 1e-14  # smallest pivot of a singular matrix, relative to its diagonal


@kernel
def sliding_friction(m, d, b, normal, lane):
    """cone_v ← friction [dim - 1] (N, N m) of block b for a normal force above zero.

    A is the friction part of cone_block, the linear term is cone_b.
    """
    law, n = d.block_law[b], d.block_dim[b] - 1
    # coordinates v_k/μ_k, in which the bound is a ball
    for j in range(n):
        mu = lane_get(m.law_friction[law, j], lane)
        d.cone_b[j] = mu * d.cone_b[j]
        for k in range(j + 1):
            other = lane_get(m.law_friction[law, k], lane)
            d.cone_A[j, k] = mu * other * d.cone_block[1 + j, 1 + k]
    scale = least_in_ball(d.cone_A, d.cone_b, d.cone_v, d.cone_L, d.cone_w, n, normal, normal > 0.0)
    # back to forces
    for j in range(n):
        d.cone_v[j] = scale * lane_get(m.law_friction[law, j], lane) * d.cone_v[j]


@kernel
def least_in_ball(A, b, v, L, w, n, radius, searching):
    """v [n] ← a vector along the minimum of ½ vᵀ A v + bᵀ v in |v| <= radius; returns the factor to the minimum.

    For fields A [n, n], of which the lower triangle is read, and b [n], in the lanes that are `searching`, where the
    radius is above zero. L [n, n] and w [n] are scratch.
    """
    # Newton on 1/|v| - 1/radius for the shift λ
    shift = 0.0 * radius
    length = shift
    for _ in range(ITERATIONS):
        factor_shifted(A, L, n, shift)
        length, slope = solve_shifted(L, b, v, w, n)
        searching = searching & (length > radius * (1.0 + 4.0 * epsilon_of(radius)))
        if not any_lane(searching):
            break
        shift = where(searching, shift + (length / radius - 1.0) * length * length / slope, shift)
    # onto the sphere if the bound is active
    return where(shift > 0.0, radius / length, 0.0 * radius + 1.0)


@kernel
def factor_shifted(A, L, n, shift):
    """L ← Cholesky factor of A + shift."""
    for j in range(n):
        for k in range(j + 1):
            total = A[j, k]
            least = LEAST_PIVOT * total + MINVAL
            if j == k:
                total = total + shift
            for i in range(k):
                total = total - L[j, i] * L[k, i]
            if j == k:
                total = sqrt(maximum(total, least))
            else:
                total = total / L[k, k]
            L[j, k] = total


@kernel
def solve_shifted(L, b, v, w, n):
    """v ← -(L Lᵀ)⁻¹ b and w ← L⁻¹ v; returns |v| and vᵀ (L Lᵀ)⁻¹ v = |w|²."""
    # forward substitution L x = -b
    for j in range(n):
        total = -b[j]
        for k in range(j):
            total = total - L[j, k] * v[k]
        v[j] = total / L[j, j]
    # back substitution Lᵀ v = x
    square = 0.0 * b[0]
    slope = square
    for j in range(n - 1, -1, -1):
        total = v[j]
        for k in range(j + 1, n):
            total = total - L[k, j] * v[k]
        total = total / L[j, j]
        v[j] = total
        square = square + total * total
    for j in range(n):
        total = v[j]
        for k in range(j):
            total = total - L[j, k] * w[k]
        total = total / L[j, j]
        w[j] = total
        slope = slope + total * total
    return sqrt(square), slope
