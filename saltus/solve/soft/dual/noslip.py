"""No-slip pass: after the solver, friction forces are solved once more without regularisation.

Soft friction creeps under load. This second pass keeps the normal forces (for pyramids, the sum of each pair of
opposite edges) and moves friction to the minimum of ½ fᵀ A f + fᵀ b within its bounds, contact by contact in order,
sweep after sweep (MuJoCo documentation, Computation: Solver: Algorithms; XML reference: option, noslip_iterations).
The result is not the minimum of a single problem but depends on the order of operations, which is that of MuJoCo 4.0.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import CONE, FRICTION, PYRAMID
from saltus.number.functions import MINVAL, any_lane, clip, maximum, where
from saltus.number.kernels import kernel
from saltus.solve.soft.dual.friction_cone import least_in_ball
from saltus.solve.soft.dual.problem import (
    WORSE,
    belongs,
    dual_problem,
    find_islands,
    finish_dual,
    forces_to_motion,
    island_scale,
    push_row,
    residual,
    unknowns,
)

LEAST_INERTIA = 1e-10  # 1/kg or 1/(kg m²): floor of the diagonal for directions without mobility


@kernel
def noslip(m, d):
    """Modify the forces dual_force that a solver has found; writes what `finish_dual` writes.

    All lanes sweep together, each over the blocks that act in it.
    """
    dual_problem(m, d)
    forces_to_motion(m, d)
    find_islands(m, d)
    for island in range(m.ntree):
        n = list_blocks(m, d, island)
        if n > 0:
            sweeps(m, d, n, island)
    finish_dual(m, d)


@kernel
def list_blocks(m, d, island):
    """dual_item ← the blocks that are part of an island in any lane, in MuJoCo's order; returns their number."""
    n = 0
    for b in range(d.count[NBLOCK]):
        if any_lane(belongs(m, d, b, island)):
            d.dual_item[n] = (b, 0, 0)
            n += 1
    return n


@kernel
def sweeps(m, d, n, island):
    """Sweep over the friction of an island's n blocks until the scaled decrease of cost is below the tolerance."""
    scale = island_scale(m, d, island)
    live = scale > 0.0
    for iteration in range(m.opt_noslip_iterations):
        improvement = 0.0 * d.time
        if iteration == 0:
            improvement = softness_cost(m, d, n, island)
        for k in range(n):
            b, _, _ = d.dual_item[k]
            moves = live & belongs(m, d, b, island)
            if any_lane(moves):
                improvement = update_block(m, d, b, moves, improvement)
        live = live & (scale * improvement >= m.opt_noslip_tolerance)
        if not any_lane(live):
            break


@kernel
def softness_cost(m, d, n, island):
    """½ fᵀ R f of an island: the decrease of cost when the regularisation is dropped."""
    total = 0.0 * d.time
    for k in range(n):
        b, _, _ = d.dual_item[k]
        inside = belongs(m, d, b, island)
        row = d.block_row[b]
        for e in range(unknowns(d, b)):
            f = d.dual_force[2 * row + e]
            weight = d.row_D[row if d.block_kind[b] == PYRAMID else row + e]
            total = total + where(inside, 0.5 * f * f / weight, 0.0 * f)
    return total


@kernel(inline=True)
def update_block(m, d, b, moves, improvement):
    """Update the friction of block b in the lanes where it moves; returns the improvement with the decrease of cost."""
    if d.block_kind[b] == FRICTION:
        improvement = improvement + update_dry(m, d, b, moves)
    elif d.block_kind[b] == CONE:
        improvement = improvement + update_friction(m, d, b, moves)
    elif d.block_kind[b] == PYRAMID:
        for k in range(1, d.block_dim[b]):
            improvement = improvement + update_pair(m, d, b, k, moves)
    return improvement


@kernel
def update_dry(m, d, b, moves):
    """Update the dry friction of a joint; returns the decrease of cost."""
    row = d.block_row[b]
    old = d.dual_force[2 * row]
    gap = residual(m, d, b, 0)
    curvature = maximum(d.dual_A[row, 0], 0.0 * gap + MINVAL)
    loss = d.row_loss[row]
    change = where(moves, clip(old - gap / curvature, -loss, loss) - old, 0.0 * old)
    d.dual_force[2 * row] = old + change
    push_row(m, d, b, 0, change)
    return where(moves, -change * (0.5 * change * curvature + gap), 0.0 * old)


@kernel
def update_pair(m, d, b, k, moves):
    """Update the two edges of a pyramid along tangent k at constant sum; returns the decrease of cost.

    With edges 'middle ± y' the slope of the cost in y is 2 μ u, u the tangent's residual, and its curvature (2 μ)² A.
    """
    row = d.block_row[b]
    first = 2 * (row + k - 1)
    mu = m.law_friction[d.block_law[b], k - 1]
    upper, lower = d.dual_force[first], d.dual_force[first + 1]
    middle, y = 0.5 * (upper + lower), 0.5 * (upper - lower)
    slope = 2.0 * mu * residual(m, d, b, k)
    curvature = 4.0 * mu * mu * d.dual_A[row + k, k]
    new = where(curvature >= MINVAL, clip(y - slope / curvature, -middle, middle), 0.0 * y)
    change = new - y
    gain = -change * (0.5 * change * curvature + slope)
    keep = moves & (gain >= -WORSE)
    d.dual_force[first] = where(keep, middle + new, upper)
    d.dual_force[first + 1] = where(keep, middle - new, lower)
    push_row(m, d, b, k, where(keep, 2.0 * mu * change, 0.0 * change))
    return where(keep, gain, 0.0 * gain)


@kernel
def update_friction(m, d, b, moves):
    """Update the friction of an elliptic cone at its normal force; returns the decrease of cost."""
    row, dim = d.block_row[b], d.block_dim[b]
    # friction before, and A f + b there
    for j in range(1, dim):
        d.slip_old[j] = d.dual_force[2 * row + j]
        d.slip_gap[j] = residual(m, d, b, j)
    least_friction(m, d, b, moves)
    # decrease of ½ fᵀ A f + fᵀ b
    gain = 0.0 * d.time
    for j in range(1, dim):
        change = d.slip_v[j - 1] - d.slip_old[j]
        pull = d.slip_gap[j]
        for k in range(1, dim):
            other = d.slip_v[k - 1] - d.slip_old[k]
            pull = pull + 0.5 * free_entry(d, row, j, k) * other
        gain = gain - change * pull
    # keep the old friction if the cost would rise
    keep = moves & (gain >= -WORSE)
    for j in range(1, dim):
        new = where(keep, d.slip_v[j - 1], d.slip_old[j])
        d.dual_force[2 * row + j] = new
        push_row(m, d, b, j, new - d.slip_old[j])
    return where(keep, gain, 0.0 * gain)


@kernel
def least_friction(m, d, b, moves):
    """slip_v ← the friction in the ellipse of the normal force that minimises the cost; zero without normal force."""
    row, law, n = d.block_row[b], d.block_law[b], d.block_dim[b] - 1
    normal = d.dual_force[2 * row]
    presses = moves & (normal >= MINVAL)
    if not any_lane(presses):
        for j in range(n):
            d.slip_v[j] = 0.0 * normal
        return
    # quadratic in friction alone, in coordinates v_k/μ_k, in which the bound is a ball
    for j in range(n):
        mu = m.law_friction[law, j]
        rest = d.slip_gap[1 + j]
        for k in range(n):
            rest = rest - free_entry(d, row, 1 + j, 1 + k) * d.slip_old[1 + k]
        d.slip_b[j] = mu * rest
        for k in range(j + 1):
            d.slip_A[j, k] = mu * m.law_friction[law, k] * free_entry(d, row, 1 + j, 1 + k)
    scale = least_in_ball(d.slip_A, d.slip_b, d.slip_v, d.slip_L, d.slip_w, n, normal, presses)
    # back to forces
    for j in range(n):
        d.slip_v[j] = where(presses, scale * m.law_friction[law, j] * d.slip_v[j], 0.0 * normal)


@kernel(inline=True)
def free_entry(d, row, j, k):
    """Entry of A, bounded away from zero on the diagonal."""
    own = d.dual_A[row + j, k]
    return maximum(own, 0.0 * own + LEAST_INERTIA) if j == k else own
