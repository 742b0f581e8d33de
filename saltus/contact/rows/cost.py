"""Cost of constraint residuals: forces and curvatures of constraint blocks.

With u = J a - a_ref the residual of a block, the solver minimises ½ (a - a₀)ᵀ M (a - a₀) + Σ s(u). The force f = -∂s/∂u
and the curvature W = ∂²s/∂u² follow from the cost s of each kind of block:

    equality     ½ u D u
    friction     ½ u D u, linear where |D u| exceeds the bound
    unilateral   ½ D u² where u < 0
    pyramid      Σ ½ D e² where e < 0, over the edges e = u₀ ± μ_k u_k
    cone         0 in the cone, ½ u D u in the polar cone, elsewhere half the squared distance to the cone

(MuJoCo documentation, Computation: Constraint model: Primal problem.)
"""

from saltus.contact.counts import NBLOCK, NEQUALITY, NROW
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, PYRAMID, add_transpose_rows, times_rows
from saltus.dynamics.awake.walks import awake_dofs
from saltus.number.functions import absolute, clip, sqrt, where
from saltus.number.kernels import kernel

TINY = 1e-30


@kernel
def row_residuals(m, d, a):
    """row_residual ← J a - a_ref for a field a [nv]."""
    times_rows(m, d, a, d.row_residual)
    for r in range(d.count[NROW]):
        d.row_residual[r] = d.row_residual[r] - d.row_aref[r]


@kernel
def constraint_forces(m, d):
    """row_force and qfrc_constraint [nv] (N, N m), from row_residual."""
    for i in awake_dofs(m, d):
        d.qfrc_constraint[i] = 0.0 * d.time
    row_forces(m, d)
    add_transpose_rows(m, d, d.row_force, d.qfrc_constraint)


@kernel
def row_forces(m, d):
    """row_force of all blocks, from row_residual; equalities come first, often hundreds, and share one loop."""
    equalities = d.count[NEQUALITY]
    for r in range(d.block_row[equalities - 1] + d.block_dim[equalities - 1] if equalities > 0 else 0):
        d.row_force[r] = -d.row_D[r] * d.row_residual[r]
    for b in range(equalities, d.count[NBLOCK]):
        if d.block_kind[b] == EQUALITY:
            for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
                d.row_force[r] = -d.row_D[r] * d.row_residual[r]
        else:
            block_force(m, d, b)


@kernel
def block_force(m, d, b):
    """row_force of block b, which is not an equality."""
    kind = d.block_kind[b]
    row = d.block_row[b]
    if kind == PYRAMID:
        pyramid_force(m, d, b, row)
    elif kind == CONE:
        cone_force(m, d, b, row)
    else:
        # single row: bounded force of dry friction, or one-sided force
        u = d.row_residual[row]
        force = -d.row_D[row] * u
        if kind == FRICTION:
            d.row_force[row] = clip(force, -d.row_loss[row], d.row_loss[row])
        else:
            d.row_force[row] = where(u < 0.0, force, 0.0 * u)


@kernel
def pyramid_force(m, d, b, row):
    """Sum of the active edges' forces, as components along the normal and the friction dimensions."""
    law = d.block_law[b]
    u0 = d.row_residual[row]
    weight = d.row_D[row]
    zero = 0.0 * u0
    normal = zero
    for k in range(1, d.block_dim[b]):
        mu = m.law_friction[law, k - 1]
        across = mu * d.row_residual[row + k]
        upper = where(u0 + across < 0.0, u0 + across, zero)
        lower = where(u0 - across < 0.0, u0 - across, zero)
        normal = normal - (upper + lower)
        d.row_force[row + k] = mu * weight * (lower - upper)
    d.row_force[row] = weight * normal


@kernel
def cone_zone(m, d, b, u, row):
    """(N, T, whether in the polar cone, whether between the cones) of a residual field u, scaled to a circular cone."""
    law = d.block_law[b]
    mu = m.law_mu[law]
    # circular cone: N = μ u₀, T = |μ_k u_k|
    normal = mu * u[row]
    square = 0.0 * normal
    for k in range(1, d.block_dim[b]):
        across = m.law_friction[law, k - 1] * u[row + k]
        square = square + across * across
    tangent = sqrt(square)
    # in the cone, in the polar cone, or between
    free = normal >= mu * tangent
    bottom = mu * normal + tangent <= 0.0
    around = where(free, 0.0 * normal, where(bottom, 0.0 * normal, 1.0 + 0.0 * normal)) > 0.5
    return normal, tangent, bottom & (normal < 0.0), around


@kernel
def cone_force(m, d, b, row):
    """Force of an elliptic friction cone."""
    law = d.block_law[b]
    mu = m.law_mu[law]
    normal, tangent, bottom, around = cone_zone(m, d, b, d.row_residual, row)
    weight = d.row_D[row] / (mu * mu * (1.0 + mu * mu))
    # between: normal part of the force
    push = -weight * (normal - mu * tangent) * mu
    zero = 0.0 * normal
    d.row_force[row] = where(around, push, where(bottom, -d.row_D[row] * d.row_residual[row], zero))
    # tangential part, against the friction-scaled slip
    drag = -push / where(tangent > TINY, tangent, 1.0 + zero)
    for k in range(1, d.block_dim[b]):
        u = d.row_residual[row + k]
        slope = m.law_friction[law, k - 1]
        d.row_force[row + k] = where(around, drag * slope * slope * u, where(bottom, -d.row_D[row + k] * u, zero))


@kernel
def block_weight(m, d, b):
    """Curvature W of block b, [dim, dim] row by row in block_weight; for a single row one number.

    Weights of single rows and of the edges of pyramids are also kept in row_upper, row_lower.
    """
    kind = d.block_kind[b]
    row = d.block_row[b]
    dim = d.block_dim[b]
    if kind == PYRAMID:
        pyramid_weight(m, d, b, row, dim)
    elif kind == CONE:
        cone_weight(m, d, b, row, dim)
    elif kind == EQUALITY:
        for k in range(dim * dim):
            d.block_weight[k] = 0.0 * d.time
        for k in range(dim):
            d.block_weight[k * dim + k] = d.row_D[row + k]
    else:
        d.block_weight[0] = d.row_upper[row] = single_weight(d, kind, row)


@kernel
def single_weight(d, kind, row):
    """Curvature of a unilateral row or a row of dry friction."""
    u = d.row_residual[row]
    if kind == FRICTION:
        inside = absolute(d.row_D[row] * u) < d.row_loss[row]
    else:
        inside = u < 0.0
    return where(inside, d.row_D[row], 0.0 * u)


@kernel
def pyramid_weight(m, d, b, row, dim):
    """Σ D e eᵀ over the active edges e: an arrow matrix, since each edge has one friction dimension."""
    law = d.block_law[b]
    u0 = d.row_residual[row]
    weight = d.row_D[row]
    zero = 0.0 * u0
    total = zero
    # outside the first row: zero
    for k in range(dim, dim * dim):
        d.block_weight[k] = zero
    for k in range(1, dim):
        # active edges u₀ ± μ u_k
        mu = m.law_friction[law, k - 1]
        across = mu * d.row_residual[row + k]
        upper = where(u0 + across < 0.0, weight, zero)
        lower = where(u0 - across < 0.0, weight, zero)
        d.row_upper[row + k] = upper
        d.row_lower[row + k] = lower
        # first row and column of the arrow, and its diagonal
        total = total + (upper + lower)
        side = mu * (upper - lower)
        d.block_weight[k] = side
        d.block_weight[k * dim] = side
        d.block_weight[k * dim + k] = mu * mu * (upper + lower)
    d.block_weight[0] = total


@kernel
def cone_weight(m, d, b, row, dim):
    """Curvature of an elliptic friction cone; between the cones, of half the squared distance (N - μ T)²."""
    law = d.block_law[b]
    mu = m.law_mu[law]
    normal, tangent, bottom, around = cone_zone(m, d, b, d.row_residual, row)
    zero = 0.0 * normal
    weight = d.row_D[row] / (mu * mu * (1.0 + mu * mu))
    length = where(around, tangent, 1.0 + zero)
    for j in range(dim):
        # Hessian: (∂ⱼ(N - μT)) (∂ₖ(N - μT)) + (N - μT) ∂ⱼ∂ₖ(N - μT)
        slope_j = cone_slope(m, d, law, row, j, length, mu)
        for k in range(j + 1):
            slope_k = cone_slope(m, d, law, row, k, length, mu)
            curve = slope_j * slope_k
            if k > 0:
                mu_j, mu_k = m.law_friction[law, j - 1], m.law_friction[law, k - 1]
                outer = mu_j * mu_j * d.row_residual[row + j] * (mu_k * mu_k * d.row_residual[row + k])
                bend = -outer / (length * length * length)
                if j == k:
                    bend = bend + mu_j * mu_j / length
                curve = curve - mu * (normal - mu * tangent) * bend
            inner = d.row_D[row + j] if j == k else zero
            entry = where(around, weight * curve, where(bottom, inner, zero))
            d.block_weight[j * dim + k] = entry
            d.block_weight[k * dim + j] = entry


@kernel
def cone_slope(m, d, law, row, j, length, mu):
    """∂(N - μ T)/∂u_j."""
    if j == 0:
        return mu + 0.0 * length
    friction = m.law_friction[law, j - 1]
    return -mu * friction * friction * d.row_residual[row + j] / length
