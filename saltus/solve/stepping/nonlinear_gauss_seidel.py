"""Nonlinear Gauss-Seidel for the contact problem of a time step: one limit, joint or contact after another.

The accelerations a = (v⁺ - v⁻)/h and forces f = P/h of a step satisfy M a = f₀ + Jᵀ f and the laws of
`saltus.solve.stepping.hard_rows`. A sweep goes through all blocks, in alternating direction, and gives each the forces
of its own law with all others held (Jean & Moreau, Unilaterality and dry friction in the dynamics of rigid body
collections (1992); Jourdan, Alart & Jean, A Gauss-Seidel like algorithm to solve frictional contact problems (1998)).
A contact updates its normal force, then its friction within the bound of that, by a projected gradient step that
cannot overshoot; the fixed point is therefore Coulomb's law itself, not a convex relaxation of it, and no matrix is
inverted. With the rows G of the dual problem (see `saltus.solve.soft.dual.problem`) and y = Gᵀ f, a row costs two
products of short vectors. The warm start is the forces of the step before (see `saltus.solve.stepping.warm_start`).

Redundant equalities of a loop that is open by a step's error are inconsistent by as much. Sweeps then end in a cycle
through their solutions, with forces that grow in each pair of sweeps, forward and backward, and hardly move anything
(Tanabe, Projection method for solving a singular system of linear equations and its applications, Numer. Math. 17
(1971)). The rows of an equality are then restarted, with steps of equal size, so that rows that hardly move anything do
not dominate; a cycle of these is accepted.

In lanes all simulations sweep together, each in the order that it would have by itself, until the last has converged;
those that have converged keep their forces. Models with equalities are not simulated in lanes.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NBLOCK, NCYCLED, NITER
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, add_transpose_rows
from saltus.dynamics.tree.factor import solve
from saltus.number.components import zero_like
from saltus.number.conditions import has, has_lanes
from saltus.number.functions import MINVAL, absolute, any_lane, clip, floor, maximum, sqrt, where
from saltus.number.kernels import kernel
from saltus.solve.stepping.breakaway import break_away, step_friction

PATIENCE = 100  # sweeps before pairs of them are compared, if there are equalities
IDLE = 1e-5  # acceleration, relative to that of each growing force by itself, below which forces are in a cycle


@kernel
def moreau(m, d, tolerance, least, work, last):
    """Accelerations qacc [nv] and forces row_force of a step; returns 1 (in each lane) if unconverged, else 0.

    Starts from row_force. Reads qacc_smooth, row_residual and the matrices of the dual form, and the blocks of
    `find_hard_rows`. Writes qfrc_constraint [nv] (N, N m). The iteration ends when a sweep changes no row's
    acceleration by more than `tolerance` times the largest residual without forces; or after `least` sweeps, or more up
    to `work` row updates. last: whether it is the step's solution: contacts that slid before then break away even if it
    has not converged.
    """
    scale, rows = zero_like(d.time), zero_like(d.time)
    for b in range(d.count[NBLOCK]):
        there = d.row_D[d.block_row[b]] >= 0.0
        for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
            scale = where(there, maximum(scale, absolute(d.row_residual[r])), scale)
            rows = where(there, rows + 1.0, rows)
    most = maximum(floor(work / rows), zero_like(d.time) + least)
    unconverged = solve_held(m, d, tolerance * scale, most)
    if has(m, "stiction"):
        # what moves in a rough solution may hold in the solution
        bound = 2.0 if last else 0.5  # what may be unconverged
        found = break_away(m, d, unconverged < bound, unconverged)
        while any_lane(found):
            again = solve_held(m, d, tolerance * scale, where(found, most, zero_like(most)))
            unconverged = where(found, again, unconverged)
            found = break_away(m, d, found & (unconverged < bound), unconverged)
    return unconverged


@kernel
def solve_held(m, d, least_change, most):
    """row_force and qacc [nv] by at most that many `sweeps`, with the contacts that hold; returns 1 if unconverged."""
    unconverged = sweeps(m, d, d.row_force, least_change, most, 0)
    effect_of_forces(m, d, d.row_force, d.qfrc_constraint, d.qacc)
    acts = d.constrained > 0.5
    for i in range(m.nv):
        d.qacc[i] = where(acts, d.qacc[i] + d.qacc_smooth[i], d.qacc_smooth[i])
    return unconverged


@kernel
def sweeps(m, d, f, least_change, most, normal_only):
    """Sweeps over the forces f [nrow] until accelerations change by less than `least_change`; returns 1 if unconverged.

    most: largest number of sweeps, of each lane. normal_only: without friction.
    """
    forces_to_motion(m, d, f)
    d.count[NITER] = d.count[NCYCLED] = 0
    n = d.count[NBLOCK]
    even, since, k = False, PATIENCE, 0
    zero = zero_like(d.time)
    left = zero + 1.0
    going = (left > 0.5) & (k < most)
    while any_lane(going):
        change = zero
        for i in range(n):
            b = i if k % 2 == 0 else n - 1 - i
            active = going & (d.row_D[d.block_row[b]] > 0.0)
            if any_lane(active):
                change = maximum(change, update(m, d, f, b, normal_only, even, active))
        left = where(going & (change <= least_change), zero, left)
        # a cycle through inconsistent equalities: first retried with other steps, then accepted
        if has_cycle(m, d, f, left, k, since):
            if even:
                d.count[NCYCLED] = 1
                left = zero
            else:
                even, since = True, k + 1
                begin_anew(m, d, f)
        k += 1
        d.count[NITER] = k
        going = (left > 0.5) & (k < most)
    return left


@kernel
def has_cycle(m, d, f, left, k, since):
    """Whether sweep k, which leaves `left` unconverged, ends a pair of sweeps that `cycles`; never in lanes."""
    if has_lanes(d):
        return False
    return left > 0.5 and m.neq > 0 and k >= since and k % 2 == 1 and cycles(m, d, f, k < since + 2)


@kernel
def begin_anew(m, d, f):
    """Set the forces of equalities to zero."""
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] == EQUALITY:
            for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
                f[r] = 0.0 * d.time
    forces_to_motion(m, d, f)


@kernel
def cycles(m, d, f, first):
    """Whether the last pair of sweeps changed forces of equalities, and moved nothing; False at the `first` call.

    Both are compared as accelerations of rows: of each force by itself, and of all together. cycle_force, cycle_y ← f
    and dual_y.
    """
    moved = grown = 0.0 * d.time
    for i in range(m.nv):
        d.cycle_y[i] = d.dual_y[i] - d.cycle_y[i]
    for b in range(d.count[NBLOCK]):
        dim, chain = d.block_dim[b], d.block_chain[b]
        for r in range(dim if d.row_D[d.block_row[b]] > 0.0 else 0):
            total, place, row = 0.0 * d.time, d.dual_place[b] + r, d.block_row[b] + r
            for c in range(m.support_adr[chain], m.support_adr[chain] + m.support_num[chain]):
                total = total + d.dual_G[place] * d.cycle_y[m.support_dof[c]]
                place += dim
            moved = max(moved, absolute(total))
            if d.block_kind[b] == EQUALITY:
                grown = max(grown, absolute(f[row] - d.cycle_force[row]) * most_moved(d, b, r))
            d.cycle_force[row] = f[row]
    for i in range(m.nv):
        d.cycle_y[i] = d.dual_y[i]
    return not first and moved <= IDLE * grown


@kernel
def forces_to_motion(m, d, f):
    """dual_y ← Gᵀ f."""
    for i in range(m.nv):
        d.dual_y[i] = 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        for r in range(d.block_dim[b]):
            if any_lane(f[d.block_row[b] + r] != 0.0):
                push(m, d, b, r, f[d.block_row[b] + r])


@kernel
def update(m, d, f, b, normal_only, even, active):
    """Update the forces of block b with all others held; returns the largest change of its accelerations.

    even: use steps of equal size for the rows of an equality. active: the lanes whose forces change.
    """
    kind = d.block_kind[b]
    low = zero_like(d.time)
    high = low + 1e300
    if kind == CONE:
        if normal_only:
            return update_row(m, d, f, b, 0, low, high, False, active)
        if d.block_dim[b] == 3:
            return update_sliding(m, d, f, b, active)
        return update_contact(m, d, f, b, active)
    if kind == FRICTION:
        high = d.row_loss[d.block_row[b]]
        low = -high
    elif kind == EQUALITY:
        low = -high
    change = zero_like(d.time)
    for r in range(d.block_dim[b]):
        change = maximum(change, update_row(m, d, f, b, r, low, high, even and kind == EQUALITY, active))
    return change


@kernel
def update_row(m, d, f, b, r, low, high, even, active):
    """Update the force of row r of block b within [low, high]; returns the change of its acceleration."""
    row = d.block_row[b] + r
    inertia = maximum(most_moved(d, b, r) if even else d.dual_A[row, r], MINVAL)
    before = f[row]
    f[row] = where(active, clip(before - residual(m, d, b, r) / inertia, low, high), before)
    change = f[row] - before
    if any_lane(change != 0.0):
        push(m, d, b, r, change)
    return absolute(change) * inertia


@kernel
def most_moved(d, b, r):
    """Largest acceleration by a unit force on its own row, among rows of block b with the unit of row r."""
    first, largest = 3 * (r // 3), 0.0 * d.time
    for k in range(first, min(first + 3, d.block_dim[b])):
        largest = maximum(largest, d.dual_A[d.block_row[b] + k, k])
    return largest


@kernel
def update_sliding(m, d, f, b, active):
    """`update_contact` for a contact of three rows, in two passes over its degrees of freedom."""
    row, place, chain = d.block_row[b], d.dual_place[b], d.block_chain[b]
    first, last = m.support_adr[chain], m.support_adr[chain] + m.support_num[chain]
    # residual u = J a - a_ref at the present forces
    u0, u1, u2 = d.row_residual[row], d.row_residual[row + 1], d.row_residual[row + 2]
    at = place
    for c in range(first, last):
        y = d.dual_y[m.support_dof[c]]
        u0 = u0 + d.dual_G[at] * y
        u1 = u1 + d.dual_G[at + 1] * y
        u2 = u2 + d.dual_G[at + 2] * y
        at += 3
    # normal force: u_N = 0 or r_N = 0
    a00 = maximum(d.dual_A[row, 0], MINVAL)
    a11, a12, a22 = d.dual_A[row + 1, 1], d.dual_A[row + 1, 2], d.dual_A[row + 2, 2]
    normal = where(active, maximum(f[row] - u0 / a00, zero_like(u0)), f[row])
    c0 = normal - f[row]
    u1 = u1 + d.dual_A[row + 1, 0] * c0
    u2 = u2 + d.dual_A[row + 2, 0] * c0
    # guard against division by zero for frictionless directions
    mu1, mu2 = maximum(step_friction(m, d, b, 1), MINVAL), maximum(step_friction(m, d, b, 2), MINVAL)
    coupling = absolute(a12)
    # friction: projected gradient step, with a rate that cannot overshoot
    steepest = maximum(mu1 * (mu1 * a11 + mu2 * coupling), mu2 * (mu1 * coupling + mu2 * a22))
    rate = 1.0 / maximum(steepest, MINVAL)
    f1 = f[row + 1] - rate * mu1 * mu1 * u1
    f2 = f[row + 2] - rate * mu2 * mu2 * u2
    square = (f1 / mu1) * (f1 / mu1) + (f2 / mu2) * (f2 / mu2)
    outside = square > normal * normal
    if any_lane(outside):
        scale = where(outside, normal / sqrt(square), 1.0)
        f1, f2 = scale * f1, scale * f2
    f1, f2 = where(active, f1, f[row + 1]), where(active, f2, f[row + 2])
    # changes of the forces, and y = Gᵀ f
    c1, c2 = f1 - f[row + 1], f2 - f[row + 2]
    if not any_lane((c0 != 0.0) | (c1 != 0.0) | (c2 != 0.0)):
        return absolute(c0)
    f[row], f[row + 1], f[row + 2] = normal, f1, f2
    at = place
    for c in range(first, last):
        i = m.support_dof[c]
        d.dual_y[i] = d.dual_y[i] + (c0 * d.dual_G[at] + c1 * d.dual_G[at + 1] + c2 * d.dual_G[at + 2])
        at += 3
    return maximum(maximum(absolute(c0) * a00, absolute(c1) * a11), absolute(c2) * a22)


@kernel
def update_contact(m, d, f, b, active):
    """Update the forces of a contact: normal, then friction; returns the largest change of its accelerations."""
    zero = zero_like(d.time)
    change = update_row(m, d, f, b, 0, zero, zero + 1e300, False, active)
    row, dim = d.block_row[b], d.block_dim[b]
    # rate in coordinates f_k/μ_k, in which the bound is a ball
    steepest = zero
    for j in range(1, dim):
        total = zero
        for k in range(1, dim):
            total = total + step_friction(m, d, b, k) * absolute(d.dual_A[row + j, k])
        steepest = maximum(steepest, step_friction(m, d, b, j) * total)
    rate = 1.0 / maximum(steepest, MINVAL)
    # projected gradient step onto the ellipse of the new normal force
    square = zero
    for j in range(1, dim):
        mu = maximum(step_friction(m, d, b, j), MINVAL)
        wanted = f[row + j] - rate * mu * mu * residual(m, d, b, j)
        d.row_search[row + j] = wanted
        square = square + (wanted / mu) * (wanted / mu)
    bound = f[row]
    scale = zero + 1.0
    if any_lane(square > bound * bound):
        scale = where(square > bound * bound, bound / sqrt(square), scale)
    for j in range(1, dim):
        moved = where(active, scale * d.row_search[row + j] - f[row + j], zero)
        if any_lane(moved != 0.0):
            f[row + j] = f[row + j] + moved
            push(m, d, b, j, moved)
            change = maximum(change, absolute(moved) * d.dual_A[row + j, j])
    return change


@kernel
def residual(m, d, b, r):
    """Acceleration of row r of block b less its target, at the forces of dual_y."""
    dim, chain = d.block_dim[b], d.block_chain[b]
    place = d.dual_place[b] + r
    total = d.row_residual[d.block_row[b] + r]
    for c in range(m.support_adr[chain], m.support_adr[chain] + m.support_num[chain]):
        total = total + d.dual_G[place] * d.dual_y[m.support_dof[c]]
        place += dim
    return total


@kernel
def push(m, d, b, r, change):
    """Update dual_y for a change of the force of row r of block b."""
    dim, chain = d.block_dim[b], d.block_chain[b]
    place = d.dual_place[b] + r
    for c in range(m.support_adr[chain], m.support_adr[chain] + m.support_num[chain]):
        i = m.support_dof[c]
        d.dual_y[i] = d.dual_y[i] + change * d.dual_G[place]
        place += dim


@kernel
def effect_of_forces(m, d, f, qfrc, x):
    """Joint forces qfrc = Jᵀ f and their accelerations x = M⁻¹ Jᵀ f, for fields f [nrow], qfrc [nv], x [nv]."""
    for i in range(m.nv):
        qfrc[i] = 0.0 * d.time
    add_transpose_rows(m, d, f, qfrc)
    for i in range(m.nv):
        x[i] = qfrc[i]
    solve(m, d, x)
