"""Distribution of forces among contacts whose rows are linearly dependent.

As for a table on four legs, many forces then give the same accelerations. Forces of least norm are taken if they lie
within the cones and bounds, otherwise the least ones that do. Between evaluations with the same active set such forces
change little: of all forces that keep the rows closed, those nearest to the last ones are taken as long as they lie
within the cones, at the cost of one linear system. Accelerations and event functions do not depend on the choice, since
no closed row begins to move.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.event_enums import EXACTLY, ROUGHLY, SHARED, UNIQUE
from saltus.model.fields.constraint.cone import BOUNDED, COULOMB, PRESSED, UNILATERAL
from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.cone.problem import ROUNDING, SOLVED, TOLERANCE, solve_cones
from saltus.solve.event.redundant_rows import SHARED_ROWS, least_forces


@kernel
def closing_forces(m, d):
    """hard_r ← forces that keep all rows of the posed problem closed, W r + q = 0; event_count[SHARED] ← their kind."""
    n = d.hard_count[ROWS]
    if n > 0 and d.active_rank[0, SHARED_ROWS] == n and nearest_forces(m, d):
        d.event_count[SHARED] = EXACTLY
        return
    shown = d.active_rank[0, SHARED_ROWS] < 0.0
    rank = least_forces(m, d)
    for i in range(n):
        d.hard_r[i] = -d.hard_r[i]
    # redundant rows whose least forces leave the cones: least forces in the cones
    d.event_count[SHARED] = UNIQUE
    d.active_rank[0, SHARED_ROWS] = 0.0 * d.time
    if rank < n and not feasible(d):
        share(m, d, shown)


@kernel
def nearest_forces(m, d):
    """hard_r, hard_u ← the forces nearest to the last ones that keep the rows closed; whether all are admissible.

    The forces are r = s - W⁺ (W s + q), with s the last forces.
    """
    n = d.hard_count[ROWS]
    for i in range(n):
        total = d.hard_q[i]
        d.hard_kept[i] = total
        for j in range(n):
            total = total + d.hard_W[i * n + j] * d.shared_force[j]
        d.hard_q[i] = total
    least_forces(m, d)
    for i in range(n):
        d.hard_r[i] = d.shared_force[i] - d.hard_r[i]
        d.hard_q[i] = d.hard_kept[i]
    if not feasible(d):
        return False
    # u = W r + q, zero up to rounding
    for i in range(n):
        total = d.hard_q[i]
        for j in range(n):
            total = total + d.hard_W[i * n + j] * d.hard_r[j]
        d.hard_u[i] = total
    keep_forces(d)
    return True


@kernel
def feasible(d):
    """Whether all contact forces push, and all forces lie within their cones and bounds."""
    largest = 0.0 * d.time
    for j in range(d.hard_count[ROWS]):
        largest = maximum(largest, absolute(d.hard_r[j]))
    for k in range(d.hard_count[BLOCKS]):
        j, kind = d.hard_row[k], d.hard_kind[k]
        force = d.hard_r[j]
        if (kind == UNILATERAL or kind == COULOMB) and force < -ROUNDING * largest:
            return False
        if kind == COULOMB:
            r1, r2 = d.hard_r[j + 1], d.hard_r[j + 2]
            across = sqrt(r1 * r1 + r2 * r2)
            if across > d.hard_mu[k] * force + ROUNDING * largest:
                return False
        if kind == PRESSED:
            other = d.hard_r[j + d.hard_dim[k] - 1] * (d.hard_dim[k] - 1)
            limit = d.hard_mu[k] * d.hard_r[d.hard_row[k - d.hard_parent[k]]]
            if sqrt(force * force + other * other) > limit + ROUNDING * largest:
                return False
        if kind == BOUNDED and absolute(force) > d.hard_mu[k] * (1.0 + ROUNDING):
            return False
    return True


@kernel
def share(m, d, shown):
    """hard_r, hard_u ← the least forces within cones and bounds, if those of least norm violate them.

    If no such forces keep all rows closed, hard_u is the beginning motion, an event. The rows are then kept closed by
    the forces of least norm, so that accelerations are smooth until the event is located, unless the forces are
    `shown`: these are within the cones.
    """
    residual = solve_cones(d, TOLERANCE)
    d.event_count[SHARED] = EXACTLY if residual <= SOLVED else ROUGHLY
    if residual > SOLVED:
        return
    if shown or not begins_to_move(d):
        keep_forces(d)
        return
    least_forces(m, d)
    for i in range(d.hard_count[ROWS]):
        d.hard_r[i] = -d.hard_r[i]


@kernel
def begins_to_move(d):
    """Whether hard_u exceeds rounding, relative to the accelerations without forces, hard_q."""
    motion = largest = 0.0 * d.time
    for j in range(d.hard_count[ROWS]):
        motion = maximum(motion, absolute(d.hard_u[j]))
        largest = maximum(largest, absolute(d.hard_q[j]))
    return motion > ROUNDING * largest


@kernel
def keep_forces(d):
    """Keep hard_r as the start of the next evaluation with this active set."""
    n = d.hard_count[ROWS]
    for i in range(n):
        d.shared_force[i] = d.hard_r[i]
    d.active_rank[0, SHARED_ROWS] = n + 0.0 * d.time


@only_with("event")
@kernel
def forget_forces(m, d):
    """Take the least forces within the cones at the next evaluation, which is shown, regardless of the last ones."""
    d.active_rank[0, SHARED_ROWS] = -1.0 + 0.0 * d.time
