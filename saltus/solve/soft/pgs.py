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
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION
from saltus.contact.rows.cost import row_residuals
from saltus.number.components import lane_count, lane_get
from saltus.number.functions import MINVAL, clip, maximum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.soft.dual import (
    acts,
    combination,
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
    unfold_forces,
    unknowns,
)
from saltus.solve.soft.friction_cone import sliding_friction
from saltus.solve.soft.shuffle import SEED, shuffle

WORSE = 1e-10  # J/s²: an update that raises the cost by more is undone


@kernel
def pgs(m, d):
    """Accelerations and forces of the constraint problem; returns 1 if an island did not converge, else 0.

    Starts from the forces at qacc_warmstart [nv] and leaves the accelerations there, in the lanes with active rows.
    Reads M, qfrc_tau, qfrc_bias, the blocks. Writes dual_force, row_force, qfrc_constraint [nv] (N, N m).
    """
    row_residuals(m, d, d.qacc_warmstart)
    unfold_forces(m, d)
    dual_problem(m, d)
    d.count[NITER] = 0
    unconverged = 0
    for lane in range(lane_count(d.time)):
        start(m, d, lane)
        find_islands(m, d, lane)
        for island in range(m.ntree):
            n = list_unknowns(m, d, island, lane)
            if n > 0:
                unconverged = max(unconverged, solve_island(m, d, n, island_scale(m, d, island, lane), lane))
    finish_dual(m, d)
    return unconverged


@kernel
def start(m, d, lane):
    """Warm start from dual_force, or cold start where zero forces are better or requested."""
    forces_to_motion(m, d, lane)
    # cost ½ |y|² + fᵀ b + ½ fᵀ R f of the warm start
    cost = 0.0 * lane_get(d.time, lane)
    for i in range(m.nv):
        cost = cost + 0.5 * get(d.dual_y, i, lane) * get(d.dual_y, i, lane)
    for b in range(d.count[NBLOCK]):
        if acts(d, b, lane):
            for e in range(unknowns(d, b)):
                r, s, w = combination(m, d, b, e, lane)
                row = d.block_row[b]
                f = get(d.dual_force, 2 * row + e, lane)
                own = get(d.row_residual, row + r, lane) + w * get(d.row_residual, row + s, lane)
                cost = cost + f * (own + 0.5 * f / get(d.row_D, row + r, lane))
    # cold start where no force at all costs less
    if cost > 0.0 or not m.opt_warmstart:
        for b in range(d.count[NBLOCK]):
            for e in range(unknowns(d, b)):
                put(d.dual_force, 2 * d.block_row[b] + e, lane, 0.0 * cost)
        forces_to_motion(m, d, lane)


@kernel
def solve_island(m, d, n, scale, lane):
    """Iterate on the n unknowns of dual_item; returns 1 if the scaled cost did not converge to tolerance, else 0."""
    random = SEED
    momentum = 0
    for iteration in range(m.opt_iterations):
        # Nesterov extrapolation, then a sweep in random order
        extrapolate(m, d, n, momentum, lane)
        random = shuffle(d, n, random)
        improvement = 0.0 * lane_get(d.time, lane)
        for k in range(n):
            b, e = d.dual_item[k]
            if d.block_kind[b] == CONE:
                improvement = improvement + update_cone(m, d, b, lane)
            else:
                improvement = improvement + update_force(m, d, b, e, lane)
        # adaptive restart
        d.count[NITER] = max(d.count[NITER], iteration + 1)
        momentum = 0 if turned_back(d, n, lane) else momentum + 1
        # converged, unless a cone at zero force can still lower the cost
        if scale * improvement < m.opt_tolerance:
            if release_cones(m, d, n, m.opt_tolerance / scale, lane) <= 0.0:
                return 0
            momentum = 0
    return 1


@kernel
def extrapolate(m, d, n, momentum, lane):
    """Extrapolate the forces by (k - 1)/(k + 2) of their last change, projected on their bounds.

    k: iterations since the (re)start. dual_before ← the forces before, dual_start ← those after.
    """
    share = (momentum - 1.0) / (momentum + 2.0)
    for k in range(n):
        b, e = d.dual_item[k]
        first = 2 * d.block_row[b] + e
        last = first + (d.block_dim[b] if d.block_kind[b] == CONE else 1)
        # extrapolation by the momentum
        for i in range(first, last):
            force = get(d.dual_force, i, lane)
            if share > 0.0:
                put(d.dual_force, i, lane, force + share * (force - get(d.dual_before, i, lane)))
            put(d.dual_before, i, lane, force)
        # projection on the bounds
        if share > 0.0:
            if d.block_kind[b] == CONE:
                project_on_cone(m, d, b, lane)
            else:
                put(d.dual_force, first, lane, bounded(d, b, get(d.dual_force, first, lane), lane))
        # y = Gᵀ f of the forces moved
        for i in range(first, last):
            force = get(d.dual_force, i, lane)
            put(d.dual_start, i, lane, force)
            change = force - get(d.dual_before, i, lane)
            if change != 0.0:
                push(m, d, b, e + i - first, change, lane)


@kernel
def turned_back(d, n, lane):
    """Whether the last iteration went against the extrapolation before it."""
    along = 0.0 * lane_get(d.time, lane)
    for k in range(n):
        b, e = d.dual_item[k]
        first = 2 * d.block_row[b] + e
        for i in range(first, first + (d.block_dim[b] if d.block_kind[b] == CONE else 1)):
            begun = get(d.dual_start, i, lane)
            along = along + (get(d.dual_force, i, lane) - begun) * (begun - get(d.dual_before, i, lane))
    return along < 0.0


@kernel
def bounded(d, b, force, lane):
    """A force projected on the bounds of its kind."""
    kind = d.block_kind[b]
    if kind == EQUALITY:
        return force
    if kind == FRICTION:
        loss = get(d.row_loss, d.block_row[b], lane)
        return clip(force, -loss, loss)
    return maximum(force, 0.0 * force)


@kernel
def update_force(m, d, b, e, lane):
    """Move one force to the minimum within its bounds; returns the decrease of cost."""
    row = d.block_row[b]
    r, s, w = combination(m, d, b, e, lane)
    softness = 1.0 / get(d.row_D, row + r, lane)
    old = get(d.dual_force, 2 * row + e, lane)
    gap = residual(m, d, b, r, s, w, lane) + softness * old
    curvature = inertia(d, row, r, s, w, lane) + softness
    change = bounded(d, b, old - gap / curvature, lane) - old
    gain = -change * (0.5 * change * curvature + gap)
    if gain < -WORSE:
        return 0.0 * gain
    if change != 0.0:
        put(d.dual_force, 2 * row + e, lane, old + change)
        push(m, d, b, e, change, lane)
    return gain


@kernel
def project_on_cone(m, d, b, lane):
    """Scale the friction of a cone back to its bound; zero forces if the normal force pulls."""
    first = 2 * d.block_row[b]
    dim, law = d.block_dim[b], d.block_law[b]
    normal = get(d.dual_force, first, lane)
    square = 0.0 * normal
    for k in range(1, dim):
        part = get(d.dual_force, first + k, lane) / m.law_friction[law, k - 1]
        square = square + part * part
    scale = 0.0 * normal + 1.0
    if normal < 0.0:
        scale = 0.0 * normal
        put(d.dual_force, first, lane, scale)
    elif square > normal * normal:
        scale = normal / sqrt(maximum(square, 0.0 * square + MINVAL))
    for k in range(1, dim):
        put(d.dual_force, first + k, lane, scale * get(d.dual_force, first + k, lane))


@kernel
def update_cone(m, d, b, lane):
    """Update the forces of an elliptic cone: along their ray, then friction alone; returns the decrease of cost.

    A cone without force is updated along the normal.
    """
    row, dim = d.block_row[b], d.block_dim[b]
    first = 2 * row
    # forces before, and the gradient (A + R) f + b there
    for r in range(dim):
        force = get(d.dual_force, first + r, lane)
        put(d.cone_old, r, lane, force)
        gap = residual(m, d, b, r, r, 0.0, lane) + force / get(d.row_D, row + r, lane)
        put(d.cone_gap, r, lane, gap)
    # along the ray of the force, or the normal where there is none
    move_along(d, b, lane)
    # friction at the new normal force: quadratic in the ellipse
    normal = get(d.dual_force, first, lane)
    if normal < MINVAL:
        for k in range(1, dim):
            put(d.dual_force, first + k, lane, 0.0 * normal)
    else:
        moved = normal - get(d.cone_old, 0, lane)
        for j in range(1, dim):
            rest = get(d.cone_gap, j, lane) + lane_get(d.dual_A[row + j, 0], lane) * moved
            for k in range(1, dim):
                rest = rest - entry(d, row, j, k, lane) * get(d.cone_old, k, lane)
            put(d.cone_b, j - 1, lane, rest)
        sliding_friction(m, d, b, normal, True, lane)
        for k in range(1, dim):
            put(d.dual_force, first + k, lane, get(d.cone_v, k - 1, lane))
    return accept(m, d, b, lane)


@kernel
def release_cones(m, d, n, least, lane):
    """Give force to cones at zero force for which zero is not the minimum; returns the decrease of cost.

    Neither the normal force alone nor friction without it can rise there, where MuJoCo 4.0 ends. But with the residual
    u, the cost falls along the edge v = (1, -μ² u_k/T) of the cone where u₀ < T = |μ_k u_k|, by
    (T - u₀)² / (2 vᵀ (A + R) v). Decreases below `least` do not count.
    """
    total = 0.0 * lane_get(d.time, lane)
    for k in range(n):
        b, _ = d.dual_item[k]
        if d.block_kind[b] == CONE and get(d.dual_force, 2 * d.block_row[b], lane) < MINVAL:
            row, dim = d.block_row[b], d.block_dim[b]
            steep = edge_slope(m, d, b, lane)
            if steep > 0.0:
                # curvature vᵀ (A + R) v along the edge
                bend = 0.0 * steep
                for i in range(dim):
                    for j in range(dim):
                        bend = bend + get(d.cone_old, i, lane) * entry(d, row, i, j, lane) * get(d.cone_old, j, lane)
                if 0.5 * steep * steep / bend >= least:
                    # to the minimum along the edge
                    total = total + 0.5 * steep * steep / bend
                    for r in range(dim):
                        force = steep / bend * get(d.cone_old, r, lane)
                        put(d.dual_force, 2 * row + r, lane, force)
                        push(m, d, b, r, force, lane)
    return total


@kernel
def edge_slope(m, d, b, lane):
    """Decrease rate of the cost along the steepest edge of a cone without force; cone_old ← the edge."""
    dim, law = d.block_dim[b], d.block_law[b]
    normal = residual(m, d, b, 0, 0, 0.0, lane)
    square = 0.0 * normal
    for k in range(1, dim):
        mu = m.law_friction[law, k - 1]
        u = mu * residual(m, d, b, k, k, 0.0, lane)
        put(d.cone_old, k, lane, -mu * u)
        square = square + u * u
    tangent = sqrt(square)
    for k in range(1, dim):
        put(d.cone_old, k, lane, get(d.cone_old, k, lane) / maximum(tangent, 0.0 * tangent + MINVAL))
    put(d.cone_old, 0, lane, 0.0 * normal + 1.0)
    return tangent - normal


@kernel
def entry(d, row, j, k, lane):
    """Entry of A + R."""
    own = lane_get(d.dual_A[row + j, k], lane)
    return own + 1.0 / get(d.row_D, row + j, lane) if j == k else own


@kernel
def move_along(d, b, lane):
    """Scale the forces of a cone to the minimum of the cost, or find its normal force if there was none."""
    row, dim = d.block_row[b], d.block_dim[b]
    normal = get(d.cone_old, 0, lane)
    if normal < MINVAL:
        new = normal - get(d.cone_gap, 0, lane) / entry(d, row, 0, 0, lane)
        put(d.dual_force, 2 * row, lane, maximum(new, 0.0 * new))
        return
    slope = 0.0 * normal
    bend = slope
    for j in range(dim):
        f = get(d.cone_old, j, lane)
        slope = slope + f * get(d.cone_gap, j, lane)
        for k in range(dim):
            bend = bend + f * entry(d, row, j, k, lane) * get(d.cone_old, k, lane)
    if bend >= MINVAL:
        scale = maximum(1.0 - slope / bend, 0.0 * slope)
        for j in range(dim):
            put(d.dual_force, 2 * row + j, lane, scale * get(d.cone_old, j, lane))


@kernel
def accept(m, d, b, lane):
    """Keep the change of a cone's forces from cone_old unless it raises the cost; returns the decrease."""
    row, dim = d.block_row[b], d.block_dim[b]
    # decrease of cost -Δfᵀ (gap + ½ (A + R) Δf)
    gain = 0.0 * get(d.cone_old, 0, lane)
    for j in range(dim):
        change = get(d.dual_force, 2 * row + j, lane) - get(d.cone_old, j, lane)
        pull = get(d.cone_gap, j, lane)
        for k in range(dim):
            other = get(d.dual_force, 2 * row + k, lane) - get(d.cone_old, k, lane)
            pull = pull + 0.5 * entry(d, row, j, k, lane) * other
        gain = gain - change * pull
    # y of the new forces, or the old forces
    keep = gain >= -WORSE
    for j in range(dim):
        if keep:
            push(m, d, b, j, get(d.dual_force, 2 * row + j, lane) - get(d.cone_old, j, lane), lane)
        else:
            put(d.dual_force, 2 * row + j, lane, get(d.cone_old, j, lane))
    return gain if keep else 0.0 * gain
