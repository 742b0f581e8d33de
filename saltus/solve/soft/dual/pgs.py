"""Projected Gauss-Seidel for the dual problem of soft constraints, as in MuJoCo 4.0.

An iteration takes all forces in a reproducible random order and moves each to the minimum of the cost within its
bounds; the forces of an elliptic cone are one unknown, updated along their own ray and then in friction. Between
iterations the forces are extrapolated by Nesterov's sequence, restarted when an iteration goes against the
extrapolation (O'Donoghue & Candès, Adaptive restart for accelerated gradient schemes (2015)). Each constraint island
is solved separately, until an iteration improves its cost by less than the tolerance (MuJoCo documentation,
Computation: Solver: Algorithms; its iterates are defined by its code alone).

MuJoCo can end at forces that are not the minimum, with elliptic cones that these two moves cannot leave; here the
iteration continues (see `release_cones`). It needs many iterations where Newton's method needs a few.
"""

from saltus.contact.counts import NBLOCK, NITER
from saltus.contact.rows.blocks import CONE, PYRAMID
from saltus.contact.rows.cost import row_residuals
from saltus.dynamics.tree.factor import solve
from saltus.number.components import lane_count, lane_get
from saltus.number.functions import MINVAL, clip, maximum, sqrt, where
from saltus.number.kernels import kernel
from saltus.solve.soft.dual.friction_cone import sliding_friction
from saltus.solve.soft.dual.island import (
    BEFORE,
    FORCE,
    HIGH,
    LOW,
    START,
    bounded_minimum,
    gap,
    give_back,
    last_unknown,
    own_block,
    room_for,
    spread,
    take_up,
    unknowns_of,
)
from saltus.solve.soft.dual.pgs_together import converged, iterate_together, reorder, share_of_momentum
from saltus.solve.soft.dual.problem import (
    WORSE,
    dual_matrices,
    find_islands,
    finish_dual,
    fold_forces,
    free_residuals,
    island_scale,
    smooth_accelerations,
    unfold_forces,
    unknowns,
)


@kernel
def pgs(m, d):
    """Accelerations and forces of the constraint problem; returns 1 if an island did not converge, else 0.

    Starts from the forces at qacc_warmstart [nv] and leaves the accelerations there, in the lanes with active rows.
    Reads M, qfrc_tau, qfrc_bias, the blocks. Writes dual_force, row_force, qfrc_constraint [nv] (N, N m) and
    count[NITER].
    """
    row_residuals(m, d, d.qacc_warmstart)
    unfold_forces(m, d)
    smooth_accelerations(m, d)
    free_residuals(m, d)
    start(m, d)
    d.count[NITER] = 0
    find_islands(m, d)
    unconverged = solve_islands(m, d)
    finish_dual(m, d)
    return unconverged


@kernel
def solve_islands(m, d):
    """Solve for the unknowns of all islands of all lanes; returns 1 if some did not converge, else 0.

    Islands without cones that have a dense matrix are solved together, as many as memory allows.
    """
    unconverged, formed, count = 0, False, 0
    for island in range(m.ntree):
        scales, scaled = 0.0 * d.time, False
        for lane in range(lane_count(d.time)):
            n = unknowns_of(m, d, island, lane)
            if n > 0 and not scaled:
                scales, scaled = island_scale(m, d, island), True
            if n > m.ndense and not formed:
                dual_matrices(m, d)
                formed = True
            if n > 0:
                if not room_for(m, d, count, n):
                    unconverged = max(unconverged, iterate_together(m, d, count))
                    count = 0
                take_up(m, d, count, island, n, lane)
                d.problem_scale[count] = lane_get(scales, lane)
                if n <= m.ndense and d.problem[count, 3] == n:
                    count += 1
                else:
                    unconverged = max(unconverged, iterate(m, d, count))
    return max(unconverged, iterate_together(m, d, count))


@kernel
def start(m, d):
    """Warm start from dual_force, or cold start if zero forces cost less or are requested."""
    # cost ½ fᵀ A f + fᵀ b + ½ fᵀ R f of the warm start
    fold_forces(m, d)
    for i in range(m.nv):
        d.dual_y[i] = d.qfrc_constraint[i]
    solve(m, d, d.dual_y)
    cost = 0.0 * d.time
    for i in range(m.nv):
        cost = cost + 0.5 * d.qfrc_constraint[i] * d.dual_y[i]
    for b in range(d.count[NBLOCK]):
        row = d.block_row[b]
        for r in range(d.block_dim[b]):
            cost = cost + d.row_force[row + r] * d.row_residual[row + r]
        for e in range(unknowns(d, b)):
            force = d.dual_force[2 * row + e]
            weight = d.row_D[row if d.block_kind[b] == PYRAMID else row + e]
            cost = cost + 0.5 * force * force / maximum(weight, 0.0 * weight + MINVAL)
    # cold start
    for b in range(d.count[NBLOCK]):
        for e in range(unknowns(d, b)):
            force = d.dual_force[2 * d.block_row[b] + e]
            warm = force if m.opt_warmstart else 0.0 * force
            d.dual_force[2 * d.block_row[b] + e] = where(cost > 0.0, 0.0 * force, warm)


@kernel
def iterate(m, d, s):
    """Sweep over island s until its scaled cost improves by less than the tolerance; returns 1 if it does not."""
    for iteration in range(m.opt_iterations):
        # Nesterov extrapolation, then a sweep in random order
        extrapolate(m, d, s)
        reorder(m, d, s, iteration)
        sweep(m, d, s)
        d.count[NITER] = max(d.count[NITER], iteration + 1)
        # converged, unless a cone at zero force can still lower the cost
        if converged(m, d, s):
            if release_cones(m, d, s, m.opt_tolerance / d.problem_scale[s]) <= 0.0:
                give_back(d, s)
                return 0
            d.problem_momentum[s] = 0
    give_back(d, s)
    return 1


@kernel
def extrapolate(m, d, s):
    """Extrapolate the forces by (k - 1)/(k + 2) of their last change, projected on their bounds.

    k: iterations since the (re)start. BEFORE ← the forces before, START ← those after.
    """
    problem = d.problem[s]
    lane, begin, n, items, _ = problem
    share = share_of_momentum(d, s)
    if share <= 0.0:
        for i in range(begin, begin + n):
            d.unknown[i, BEFORE] = d.unknown[i, FORCE]
            d.unknown[i, START] = d.unknown[i, FORCE]
        return
    for k in range(begin, begin + items):
        b, e, first = d.dual_item[d.dual_order[k]]
        last = last_unknown(d, b, first)
        # extrapolation by the momentum
        for i in range(first, last):
            force = d.unknown[i, FORCE]
            d.unknown[i, FORCE] = force + share * (force - d.unknown[i, BEFORE])
            d.unknown[i, BEFORE] = force
        # projection on the bounds
        if d.block_kind[b] == CONE:
            project_on_cone(m, d, b, first, lane)
        else:
            d.unknown[first, FORCE] = clip(d.unknown[first, FORCE], d.unknown[first, LOW], d.unknown[first, HIGH])
        # the gradient of the forces moved
        for i in range(first, last):
            d.unknown[i, START] = d.unknown[i, FORCE]
            change = d.unknown[i, FORCE] - d.unknown[i, BEFORE]
            if change != 0.0:
                spread(m, d, b, e + i - first, i, change, problem)


@kernel
def sweep(m, d, s):
    """Update all forces of island s in its order; problem_improvement ← the decrease of its cost."""
    problem = d.problem[s]
    _, first, _, items, _ = problem
    improvement = 0.0 * d.problem_scale[s]
    for k in range(first, first + items):
        b, e, i = d.dual_item[d.dual_order[k]]
        if d.block_kind[b] == CONE:
            improvement = improvement + update_cone(m, d, b, i, problem)
        else:
            improvement = improvement + update_force(m, d, b, e, i, problem)
    d.problem_improvement[s] = improvement


@kernel(inline=True)
def update_force(m, d, b, e, i, problem):
    """Move one force to the minimum within its bounds; returns the decrease of cost."""
    new, change, gain = bounded_minimum(d, i, gap(m, d, b, e, i, problem))
    if gain < -WORSE:
        return 0.0 * gain
    if change != 0.0:
        d.unknown[i, FORCE] = new
        spread(m, d, b, e, i, change, problem)
    return gain


@kernel
def project_on_cone(m, d, b, first, lane):
    """Scale the friction of a cone back to its bound; zero forces if the normal force pulls."""
    dim, law = d.block_dim[b], d.block_law[b]
    normal = d.unknown[first, FORCE]
    square = 0.0 * normal
    for k in range(1, dim):
        part = d.unknown[first + k, FORCE] / lane_get(m.law_friction[law, k - 1], lane)
        square = square + part * part
    scale = 0.0 * normal + 1.0
    if normal < 0.0:
        scale = 0.0 * normal
        d.unknown[first, FORCE] = scale
    elif square > normal * normal:
        scale = normal / sqrt(maximum(square, 0.0 * square + MINVAL))
    for k in range(1, dim):
        d.unknown[first + k, FORCE] = scale * d.unknown[first + k, FORCE]


@kernel
def update_cone(m, d, b, first, problem):
    """Update the forces of an elliptic cone: along their ray, then friction alone; returns the decrease of cost.

    A cone without force is updated along the normal.
    """
    dim = d.block_dim[b]
    lane = problem[0]
    own_block(m, d, b, first, problem)
    # forces before, and the gradient (A + R) f + b there
    for r in range(dim):
        d.cone_old[r] = d.unknown[first + r, FORCE]
        d.cone_gap[r] = gap(m, d, b, r, first + r, problem)
    # along the ray of the force, or the normal if the force is zero
    move_along(d, b, first)
    # friction at the new normal force: quadratic in the ellipse
    normal = d.unknown[first, FORCE]
    if normal < MINVAL:
        for k in range(1, dim):
            d.unknown[first + k, FORCE] = 0.0 * normal
    else:
        moved = normal - d.cone_old[0]
        for j in range(1, dim):
            rest = d.cone_gap[j] + d.cone_block[j, 0] * moved
            for k in range(1, dim):
                rest = rest - d.cone_block[j, k] * d.cone_old[k]
            d.cone_b[j - 1] = rest
        sliding_friction(m, d, b, normal, lane)
        for k in range(1, dim):
            d.unknown[first + k, FORCE] = d.cone_v[k - 1]
    return accept(m, d, b, first, problem)


@kernel
def release_cones(m, d, s, least):
    """Give force to cones at zero force for which zero is not the minimum; returns the decrease of cost.

    Neither the normal force alone nor friction without it can rise there, where MuJoCo 4.0 ends. But with the residual
    u, the cost falls along the edge v = (1, -μ² u_k/T) of the cone where u₀ < T = |μ_k u_k|, by
    (T - u₀)² / (2 vᵀ (A + R) v). Decreases below `least` do not count.
    """
    problem = d.problem[s]
    _, begin, _, items, _ = problem
    total = 0.0 * least
    for k in range(begin, begin + items):
        b, _, first = d.dual_item[d.dual_order[k]]
        if d.block_kind[b] == CONE and d.unknown[first, FORCE] < MINVAL:
            dim = d.block_dim[b]
            own_block(m, d, b, first, problem)
            steep = edge_slope(m, d, b, first, problem)
            if steep > 0.0:
                # curvature vᵀ (A + R) v along the edge
                bend = 0.0 * steep
                for i in range(dim):
                    for j in range(dim):
                        bend = bend + d.cone_old[i] * d.cone_block[i, j] * d.cone_old[j]
                if 0.5 * steep * steep / bend >= least:
                    # to the minimum along the edge
                    total = total + 0.5 * steep * steep / bend
                    for r in range(dim):
                        force = steep / bend * d.cone_old[r]
                        d.unknown[first + r, FORCE] = force
                        spread(m, d, b, r, first + r, force, problem)
    return total


@kernel
def edge_slope(m, d, b, first, problem):
    """Decrease rate of the cost along the steepest edge of a cone without force; cone_old ← the edge."""
    dim, law = d.block_dim[b], d.block_law[b]
    lane = problem[0]
    normal = gap(m, d, b, 0, first, problem)
    square = 0.0 * normal
    for k in range(1, dim):
        mu = lane_get(m.law_friction[law, k - 1], lane)
        u = mu * gap(m, d, b, k, first + k, problem)
        d.cone_old[k] = -mu * u
        square = square + u * u
    tangent = sqrt(square)
    for k in range(1, dim):
        d.cone_old[k] = d.cone_old[k] / maximum(tangent, 0.0 * tangent + MINVAL)
    d.cone_old[0] = 0.0 * normal + 1.0
    return tangent - normal


@kernel
def move_along(d, b, first):
    """Scale the forces of a cone to the minimum of the cost, or find its normal force if there was none."""
    dim = d.block_dim[b]
    normal = d.cone_old[0]
    if normal < MINVAL:
        new = normal - d.cone_gap[0] / d.cone_block[0, 0]
        d.unknown[first, FORCE] = maximum(new, 0.0 * new)
        return
    slope = 0.0 * normal
    bend = slope
    for j in range(dim):
        f = d.cone_old[j]
        slope = slope + f * d.cone_gap[j]
        for k in range(dim):
            bend = bend + f * d.cone_block[j, k] * d.cone_old[k]
    if bend >= MINVAL:
        scale = maximum(1.0 - slope / bend, 0.0 * slope)
        for j in range(dim):
            d.unknown[first + j, FORCE] = scale * d.cone_old[j]


@kernel
def accept(m, d, b, first, problem):
    """Keep the change of a cone's forces from cone_old unless it raises the cost; returns the decrease."""
    dim = d.block_dim[b]
    # decrease of cost -Δfᵀ (gap + ½ (A + R) Δf)
    gain = 0.0 * d.cone_old[0]
    for j in range(dim):
        change = d.unknown[first + j, FORCE] - d.cone_old[j]
        pull = d.cone_gap[j]
        for k in range(dim):
            other = d.unknown[first + k, FORCE] - d.cone_old[k]
            pull = pull + 0.5 * d.cone_block[j, k] * other
        gain = gain - change * pull
    # the gradient of the new forces, or the old forces
    keep = gain >= -WORSE
    for j in range(dim):
        if keep:
            spread(m, d, b, j, first + j, d.unknown[first + j, FORCE] - d.cone_old[j], problem)
        else:
            d.unknown[first + j, FORCE] = d.cone_old[j]
    return gain if keep else 0.0 * gain
