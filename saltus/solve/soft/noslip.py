"""No-slip pass: after the solver, the friction forces are solved once more without regularisation.

Soft friction creeps under load. This second pass keeps the normal forces (for pyramids, the sum of each pair of
opposite edges) and moves friction to the minimum of ½ fᵀ A f + fᵀ b within its bounds, contact by contact in order,
sweep after sweep (MuJoCo documentation, Computation: Solver: Algorithms; XML reference: option, noslip_iterations).
The result is not the minimum of a single problem but depends on the order of operations, which is that of MuJoCo 4.0.
"""

from saltus.contact.rows.blocks import CONE, FRICTION, PYRAMID
from saltus.number.components import lane_count, lane_get
from saltus.number.functions import MINVAL, clip, maximum
from saltus.number.kernels import kernel
from saltus.solve.soft.dual import (
    dual_problem,
    find_islands,
    finish_dual,
    forces_to_motion,
    get,
    inertia,
    island_scale,
    list_unknowns,
    push,
    put,
    residual,
)
from saltus.solve.soft.friction_cone import sliding_friction
from saltus.solve.soft.pgs import WORSE

LEAST_INERTIA = 1e-10  # 1/kg or 1/(kg m²): floor of the diagonal for directions without mobility


@kernel
def noslip(m, d):
    """Modify the forces dual_force that a solver has found; writes what `saltus.solve.soft.dual.finish_dual` writes."""
    dual_problem(m, d)
    for lane in range(lane_count(d.time)):
        forces_to_motion(m, d, lane)
        find_islands(m, d, lane)
        for island in range(m.ntree):
            n, _ = list_unknowns(m, d, island, lane)
            if n > 0:
                sweeps(m, d, n, island_scale(m, d, island, lane), lane)
    finish_dual(m, d)


@kernel
def sweeps(m, d, n, scale, lane):
    """Sweep over the friction unknowns among the n of dual_item until the scaled decrease is below the tolerance."""
    for iteration in range(m.opt_noslip_iterations):
        improvement = 0.0 * lane_get(d.time, lane)
        if iteration == 0:
            improvement = softness_cost(d, n, lane)
        for k in range(n):
            b, e, _ = d.dual_item[k]
            if d.block_kind[b] == FRICTION:
                improvement = improvement + update_dry(m, d, b, lane)
            elif d.block_kind[b] == CONE:
                improvement = improvement + update_friction(m, d, b, lane)
            elif d.block_kind[b] == PYRAMID and e % 2 == 0:
                improvement = improvement + update_pair(m, d, b, e, lane)
        if scale * improvement < m.opt_noslip_tolerance:
            break


@kernel
def softness_cost(d, n, lane):
    """½ fᵀ R f: the decrease of cost when the regularisation is dropped."""
    total = 0.0 * lane_get(d.time, lane)
    for k in range(n):
        b, e, _ = d.dual_item[k]
        row = d.block_row[b]
        for r in range(e, d.block_dim[b] if d.block_kind[b] == CONE else e + 1):
            f = get(d.dual_force, 2 * row + r, lane)
            weight = get(d.row_D, row if d.block_kind[b] == PYRAMID else row + r, lane)
            total = total + 0.5 * f * f / weight
    return total


@kernel
def update_dry(m, d, b, lane):
    """Update the dry friction of a joint; returns the decrease of cost."""
    row = d.block_row[b]
    old = get(d.dual_force, 2 * row, lane)
    gap = residual(m, d, b, 0, 0, 0.0, lane)
    curvature = inertia(d, row, 0, 0, 0.0, lane)
    curvature = maximum(curvature, 0.0 * curvature + MINVAL)
    loss = get(d.row_loss, row, lane)
    change = clip(old - gap / curvature, -loss, loss) - old
    put(d.dual_force, 2 * row, lane, old + change)
    push(m, d, b, 0, change, lane)
    return -change * (0.5 * change * curvature + gap)


@kernel
def update_pair(m, d, b, e, lane):
    """Update two opposite edges e, e + 1 of a pyramid at constant sum; returns the decrease of cost.

    With edges 'middle ± y' the slope of the cost in y is 2 μ u, u the tangent's residual, and its curvature (2 μ)² A.
    """
    row, k = d.block_row[b], e // 2 + 1
    mu = lane_get(m.law_friction[d.block_law[b], k - 1], lane)
    upper, lower = get(d.dual_force, 2 * row + e, lane), get(d.dual_force, 2 * row + e + 1, lane)
    middle, y = 0.5 * (upper + lower), 0.5 * (upper - lower)
    slope = 2.0 * mu * residual(m, d, b, k, k, 0.0, lane)
    curvature = 4.0 * mu * mu * inertia(d, row, k, k, 0.0, lane)
    new = 0.0 * y
    if curvature >= MINVAL:
        new = clip(y - slope / curvature, -middle, middle)
    change = new - y
    gain = -change * (0.5 * change * curvature + slope)
    if gain < -WORSE:
        return 0.0 * gain
    put(d.dual_force, 2 * row + e, lane, middle + new)
    put(d.dual_force, 2 * row + e + 1, lane, middle - new)
    push(m, d, b, e, change, lane)
    push(m, d, b, e + 1, -change, lane)
    return gain


@kernel
def update_friction(m, d, b, lane):
    """Update the friction of an elliptic cone at its normal force; returns the decrease of cost."""
    row, dim = d.block_row[b], d.block_dim[b]
    normal = get(d.dual_force, 2 * row, lane)
    # friction before, and A f + b there
    for j in range(1, dim):
        d.cone_old[j] = get(d.dual_force, 2 * row + j, lane)
        d.cone_gap[j] = residual(m, d, b, j, j, 0.0, lane)
        d.cone_v[j - 1] = 0.0 * normal
    if normal >= MINVAL:
        # quadratic in friction alone, minimised in the ellipse of the normal force
        for j in range(1, dim):
            rest = d.cone_gap[j]
            for k in range(1, dim):
                d.cone_block[j, k] = free_entry(d, row, j, k, lane)
                rest = rest - d.cone_block[j, k] * d.cone_old[k]
            d.cone_b[j - 1] = rest
        sliding_friction(m, d, b, normal, lane)
    # decrease of ½ fᵀ A f + fᵀ b
    gain = 0.0 * normal
    for j in range(1, dim):
        change = d.cone_v[j - 1] - d.cone_old[j]
        pull = d.cone_gap[j]
        for k in range(1, dim):
            other = d.cone_v[k - 1] - d.cone_old[k]
            pull = pull + 0.5 * free_entry(d, row, j, k, lane) * other
        gain = gain - change * pull
    # keep the old friction if the cost would rise
    if gain < -WORSE:
        return 0.0 * gain
    for j in range(1, dim):
        put(d.dual_force, 2 * row + j, lane, d.cone_v[j - 1])
        push(m, d, b, j, d.cone_v[j - 1] - d.cone_old[j], lane)
    return gain


@kernel
def free_entry(d, row, j, k, lane):
    """Entry of A, bounded away from zero on the diagonal."""
    own = lane_get(d.dual_A[row + j, k], lane)
    return maximum(own, 0.0 * own + LEAST_INERTIA) if j == k else own
