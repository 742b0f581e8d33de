"""Friction of an elliptic contact at given normal force: a convex quadratic minimised in an ellipsoid.

    minimise ½ vᵀ A v + bᵀ v   over   Σ (v_k / μ_k)² ≤ N²

In coordinates v_k / μ_k the bound is a ball, and the solution is v = -(A + λ)⁻¹ b with λ = 0 or |v| = N. That λ is the
zero of 1/|v| - 1/N, found by Newton's method from below, where it converges monotonically (Moré & Sorensen, Computing
a trust region step (1983); Nocedal & Wright, Numerical Optimization, algorithm 4.3).

MuJoCo 4.0 gives up where the determinant of the scaled A is below 1e-10: for heavy bodies, and without regularisation
for planar mechanisms. Here there is no such limit.
"""

from saltus.number.components import epsilon_of, lane_get
from saltus.number.functions import MINVAL, maximum, sqrt
from saltus.number.kernels import kernel

ITERATIONS = 40
LEAST_PIVOT = 1e-14  # of a singular matrix, relative to its diagonal


@kernel
def sliding_friction(m, d, b, normal, lane):
    """cone_v ← friction [dim - 1] (N, N m) of block b, for a normal force above zero, A the friction part of cone_block
    and the linear term cone_b.
    """
    law, n = d.block_law[b], d.block_dim[b] - 1
    # coordinates v_k/μ_k, in which the bound is a ball
    for j in range(n):
        mu = lane_get(m.law_friction[law, j], lane)
        d.cone_b[j] = mu * d.cone_b[j]
        for k in range(j + 1):
            other = lane_get(m.law_friction[law, k], lane)
            d.cone_A[j, k] = mu * other * d.cone_block[1 + j, 1 + k]
    # Newton on 1/|v| - 1/N for the shift λ
    shift = 0.0 * normal
    length = shift
    for _ in range(ITERATIONS):
        factor_shifted(d, n, shift, lane)
        length, slope = solve_shifted(d, n, lane)
        if length <= normal * (1.0 + 4.0 * epsilon_of(normal)):
            break
        shift = shift + (length / normal - 1.0) * length * length / slope
    # onto the sphere if the bound is active, and back to forces
    scale = 0.0 * normal + 1.0
    if shift > 0.0:
        scale = normal / length
    for j in range(n):
        d.cone_v[j] = scale * lane_get(m.law_friction[law, j], lane) * d.cone_v[j]


@kernel
def factor_shifted(d, n, shift, lane):
    """cone_L ← Cholesky factor of cone_A + shift."""
    for j in range(n):
        for k in range(j + 1):
            total = d.cone_A[j, k]
            least = LEAST_PIVOT * total + MINVAL
            if j == k:
                total = total + shift
            for i in range(k):
                total = total - d.cone_L[j, i] * d.cone_L[k, i]
            if j == k:
                total = sqrt(maximum(total, least))
            else:
                total = total / d.cone_L[k, k]
            d.cone_L[j, k] = total


@kernel
def solve_shifted(d, n, lane):
    """cone_v ← v = -(L Lᵀ)⁻¹ cone_b; returns |v| and vᵀ (L Lᵀ)⁻¹ v."""
    # forward substitution L x = -b
    for j in range(n):
        total = -d.cone_b[j]
        for k in range(j):
            total = total - d.cone_L[j, k] * d.cone_v[k]
        d.cone_v[j] = total / d.cone_L[j, j]
    # back substitution Lᵀ v = x
    square = 0.0 * d.cone_b[0]
    slope = square
    for j in range(n - 1, -1, -1):
        total = d.cone_v[j]
        for k in range(j + 1, n):
            total = total - d.cone_L[k, j] * d.cone_v[k]
        total = total / d.cone_L[j, j]
        d.cone_v[j] = total
        square = square + total * total
    # w = L⁻¹ v, with |w|² = vᵀ (L Lᵀ)⁻¹ v
    for j in range(n):
        total = d.cone_v[j]
        for k in range(j):
            total = total - d.cone_L[j, k] * d.cone_w[k]
        total = total / d.cone_L[j, j]
        d.cone_w[j] = total
        slope = slope + total * total
    return sqrt(square), slope
