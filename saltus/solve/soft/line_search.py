"""Exact line search: minimisation of the constraint cost along a direction.

The cost along a direction is convex with a continuous slope, and piecewise quadratic except for elliptic cones. The
zero of the slope is found by Newton's method, safeguarded by a bracket on which the slope changes sign.
"""

from saltus.contact.counts import NBLOCK, NEQUALITY
from saltus.contact.rows.blocks import CONE, FRICTION, PYRAMID
from saltus.contact.rows.cost import TINY
from saltus.dynamics.awake.walks import awake_dofs
from saltus.number.functions import absolute, any_lane, maximum, sqrt, where
from saltus.number.kernels import kernel

LARGE = 1e10
PRECISION = 1e-3  # slope relative to the start at which the line search ends


@kernel
def line_search(m, d, live, start_slope, lost):
    """Step length α along solve_search in the lanes that are live, 0 in the others.

    start_slope: slope of the cost at α = 0, negative; lost: rounding level of the cost. Reads solve_Msearch,
    row_residual and its rate row_search along the direction.
    """
    gauss, curvature, tolerance = inertia_slope(m, d)
    return least_cost(m, d, live, gauss, curvature, maximum(tolerance, -PRECISION * start_slope), lost)


@kernel
def least_cost(m, d, live, gauss, curvature, tolerance, lost):
    """Step length at which the slope of the cost is within `tolerance` of zero, in live lanes; 0 in the others.

    The search also ends when the cost exceeds its minimum by no more than `lost`, by the estimate ½ slope²/curvature.

    gauss, curvature: slope at α = 0 and curvature of the cost without constraints. The part of the constraints is
    evaluated from row_residual and row_search.
    """
    zero = 0.0 * gauss
    # quadratic part: inertia and equalities
    slope, bend = equalities_slope(m, d)
    gauss, curvature = gauss + slope, curvature + bend
    alpha = zero + 1.0
    low, high = zero, zero + LARGE
    seeking = live
    for _ in range(m.opt_ls_iterations):
        # slope and curvature of the cost at α
        slope, bend = constraint_slope(m, d, alpha)
        slope = slope + gauss + alpha * curvature
        bend = bend + curvature
        # there is more to gain than `tolerance` and rounding
        seeking = seeking & (absolute(slope) > tolerance) & (slope * slope > lost * bend)
        if not any_lane(seeking):
            break
        after, low, high = next_length(alpha, slope, bend, low, high)
        alpha = where(seeking, after, alpha)
    return where(live, alpha, zero)


@kernel(inline=True)
def next_length(alpha, slope, bend, low, high):
    """The next step length after α, from the slope and curvature of the cost there, and the bracket including α."""
    # bracket of the zero of the slope
    low = where(slope < 0.0, alpha, low)
    high = where(slope < 0.0, high, alpha)
    # Newton step in the bracket, else bisection (doubling while there is no upper end)
    newton = alpha - slope / bend
    middle = where(high < LARGE, 0.5 * (low + high), 2.0 * alpha)
    inside = (newton > low) & (newton < high)
    return where(inside, newton, middle), low, high


@kernel(sums=True)
def inertia_slope(m, d):
    """Slope at α = 0 and curvature of ½ (a - a₀)ᵀ M (a - a₀) along the search direction, and the model's tolerance."""
    slope = 0.0 * d.time
    curvature = slope
    square = slope
    for i in awake_dofs(m, d):
        s = d.solve_search[i]
        slope = slope + s * (d.solve_Ma[i] - (d.qfrc_tau[i] - d.qfrc_bias[i]))
        curvature = curvature + s * d.solve_Msearch[i]
        square = square + s * s
    return slope, curvature, m.opt_tolerance * m.opt_ls_tolerance / m.opt_scale * sqrt(square)


@kernel
def constraint_slope(m, d, alpha):
    """First and second derivative in α of the cost of all constraints except equalities."""
    slope = 0.0 * alpha
    bend = slope
    for b in range(d.count[NEQUALITY], d.count[NBLOCK]):
        first, second = block_slope(m, d, b, alpha)
        slope = slope + first
        bend = bend + second
    return slope, bend


@kernel(inline=True)
def block_slope(m, d, b, alpha):
    """First and second derivative in α of the cost of block b, which is not an equality."""
    kind = d.block_kind[b]
    row = d.block_row[b]
    if kind == PYRAMID:
        return pyramid_slope(m, d, b, row, alpha)
    if kind == CONE:
        return cone_slope(m, d, b, row, alpha)
    return single_slope(m, d, kind, row, alpha)


@kernel
def single_slope(m, d, kind, row, alpha):
    """Derivatives for a unilateral row or a row of dry friction."""
    v = d.row_search[row]
    u = d.row_residual[row] + alpha * v
    stress = d.row_D[row] * u
    if kind == FRICTION:
        loss = d.row_loss[row]
        inside = absolute(stress) < loss
        bounded = where(stress > 0.0, loss, -loss)
        return v * where(inside, stress, bounded), where(inside, d.row_D[row] * v * v, 0.0 * v)
    inside = u < 0.0
    return where(inside, stress * v, 0.0 * v), where(inside, d.row_D[row] * v * v, 0.0 * v)


@kernel(sums=True)
def equalities_slope(m, d):
    """Slope at α = 0 and curvature of the cost of equalities, which is quadratic; they are the first blocks."""
    slope = 0.0 * d.time
    bend = slope
    if d.count[NEQUALITY] > 0:
        last = d.count[NEQUALITY] - 1
        for r in range(d.block_row[last] + d.block_dim[last]):
            v = d.row_search[r]
            slope = slope + d.row_D[r] * v * d.row_residual[r]
            bend = bend + d.row_D[r] * v * v
    return slope, bend


@kernel
def pyramid_slope(m, d, b, row, alpha):
    """Derivatives for the edges of a pyramid."""
    law = d.block_law[b]
    v0 = d.row_search[row]
    u0 = d.row_residual[row] + alpha * v0
    slope = 0.0 * alpha
    bend = slope
    for k in range(1, d.block_dim[b]):
        mu = m.law_friction[law, k - 1]
        change = mu * d.row_search[row + k]
        across = mu * d.row_residual[row + k] + alpha * change
        upper, lower = u0 + across, u0 - across
        rise, fall = v0 + change, v0 - change
        slope = slope + where(upper < 0.0, upper * rise, 0.0 * upper) + where(lower < 0.0, lower * fall, 0.0 * lower)
        bend = bend + where(upper < 0.0, rise * rise, 0.0 * upper) + where(lower < 0.0, fall * fall, 0.0 * lower)
    weight = d.row_D[row]
    return weight * slope, weight * bend


@kernel
def cone_slope(m, d, b, row, alpha):
    """Derivatives for an elliptic cone."""
    law = d.block_law[b]
    mu = m.law_mu[law]
    zero = 0.0 * alpha
    v0 = d.row_search[row]
    u0 = d.row_residual[row] + alpha * v0
    # the bottom zone's quadratic, and lengths across the cone
    slope = d.row_D[row] * u0 * v0
    bend = d.row_D[row] * v0 * v0
    uu = uv = vv = zero
    for k in range(1, d.block_dim[b]):
        v = d.row_search[row + k]
        u = d.row_residual[row + k] + alpha * v
        weight = d.row_D[row + k]
        slope = slope + weight * u * v
        bend = bend + weight * v * v
        square = m.law_friction[law, k - 1] * m.law_friction[law, k - 1]
        uu = uu + square * u * u
        uv = uv + square * u * v
        vv = vv + square * v * v
    # zones of the cone: free, bottom, and around the edge
    normal, change = mu * u0, mu * v0
    tangent = sqrt(uu)
    free = normal >= mu * tangent
    bottom = (mu * normal + tangent <= 0.0) & (normal < 0.0)
    length = where(tangent > TINY, tangent, zero + 1.0)
    # distance N - μ T around the edge, and its rate
    rate = uv / length
    gap = normal - mu * tangent
    gap_rate = change - mu * rate
    weight = d.row_D[row] / (mu * mu * (1.0 + mu * mu))
    slope = where(bottom, slope, weight * gap * gap_rate)
    bend = where(bottom, bend, weight * (gap_rate * gap_rate - gap * mu * (vv - rate * rate) / length))
    return where(free, zero, slope), where(free, zero, bend)
