"""Residual of contact laws: the natural map of De Saxcé's form of Coulomb's law.

    û = u + μ |u_T| n,   -û ∈ N_K(r)   ⇔   r = P_K(r - û),     K = {|r_T| ≤ μ r_N}

(De Saxcé & Feng, The bipotential method: a constructive approach to design the complete contact law with friction and
improved numerical algorithms, Math. Comput. Modelling 28 (1998); Acary, Brémond & Huber, On solving contact problems
with Coulomb friction: formulations and numerical comparisons (2018)). For the other kinds, P is the projection on
their own set of forces.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.cone import BILATERAL, COULOMB, PRESSED, UNILATERAL
from saltus.number.functions import absolute, clip, maximum, minimum, sqrt
from saltus.number.kernels import kernel


@kernel
def velocity(p):
    """hard_y ← A z + b, plus the proximal term α (z - anchor) if there is one."""
    n = p.hard_count[ROWS]
    for i in range(n):
        total = p.hard_b[i]
        for j in range(n):
            total = total + p.hard_A[i * n + j] * p.hard_z[j]
        p.hard_y[i] = total
    if p.hard_proximal[0] != 0.0:
        for i in range(n):
            p.hard_y[i] = p.hard_y[i] + p.hard_proximal[0] * (p.hard_z[i] - p.hard_anchor[i])


@kernel
def residual(p):
    """Largest |z - P(z - ŷ)| of all blocks at hard_z, hard_y; NaN if any is."""
    worst = 0.0
    for k in range(p.hard_count[BLOCKS]):
        size = block_residual(p, k)
        if not size <= worst:
            worst = size
            if size != size:
                break
    return worst


@kernel
def block_residual(p, k):
    """|z - P(z - ŷ)| of block k."""
    i, kind = p.hard_row[k], p.hard_kind[k]
    if kind == BILATERAL:
        size = 0.0
        for row in range(i, i + p.hard_dim[k]):
            size = size + p.hard_y[row] * p.hard_y[row]
        return sqrt(size)
    if kind == UNILATERAL:
        return absolute(minimum(p.hard_z[i], p.hard_y[i]))
    if kind == COULOMB:
        return _coulomb_residual(p, k, i)
    if kind == PRESSED:
        return _pressed_residual(p, k, i)
    z, bound = p.hard_z[i], p.hard_bound[k]
    return absolute(z - clip(z - p.hard_y[i], -bound, bound))


@kernel
def _coulomb_residual(p, k, i):
    mu = p.hard_mu[k]
    y1, y2 = p.hard_y[i + 1], p.hard_y[i + 2]
    x0 = p.hard_z[i] - p.hard_y[i] - mu * sqrt(y1 * y1 + y2 * y2)
    x1, x2 = p.hard_z[i + 1] - y1, p.hard_z[i + 2] - y2
    c0, c1, c2 = project_on_cone(x0, x1, x2, mu)
    d0, d1, d2 = p.hard_z[i] - c0, p.hard_z[i + 1] - c1, p.hard_z[i + 2] - c2
    return sqrt(d0 * d0 + d1 * d1 + d2 * d2)


@kernel
def _pressed_residual(p, k, i):
    """|z - P(z - y)| for the disk P whose radius is `hard_bound` times the normal force of the contact."""
    radius = p.hard_bound[k] * maximum(p.hard_z[p.hard_row[k - p.hard_parent[k]]], 0.0)
    second = p.hard_dim[k] - 1  # one row counts twice
    v1, v2 = p.hard_z[i] - p.hard_y[i], second * (p.hard_z[i + second] - p.hard_y[i + second])
    length = sqrt(v1 * v1 + v2 * v2)
    ratio = 1.0 if length <= radius else radius / length
    d1, d2 = p.hard_z[i] - ratio * v1, second * p.hard_z[i + second] - ratio * v2
    return sqrt(d1 * d1 + d2 * d2)


@kernel
def project_on_cone(x0, x1, x2, mu):
    """Projection of x on the cone |x_T| ≤ μ x_N."""
    length = sqrt(x1 * x1 + x2 * x2)
    if length <= mu * x0:
        return x0, x1, x2
    normal = maximum((x0 + mu * length) / (1.0 + mu * mu), 0.0)
    ratio = mu * normal / length if length > 0.0 else 0.0
    return normal, ratio * x1, ratio * x2
