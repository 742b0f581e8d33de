"""Impacts: velocity jumps of all touching contacts and limits, and the accumulation of impacts.

The impulses come from the impact law in contact space (see `saltus.solve.impact.law`). Impacts at geometrically
shrinking intervals accumulate (Zeno) at t + τ ρ / (1 - ρ) for the last interval τ and the ratio ρ; once the bounces
are low enough, the contact closes with an impact without restitution.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.event.modes import log_event
from saltus.contact.rows.blocks import CONE, EQUALITY, UNILATERAL
from saltus.dynamics.tree.factor import multiply, solve
from saltus.model.enums import BLOCKS, ROWS
from saltus.model.event_enums import ENERGETIC, IMPACT, LEFTOVER, NOTHING, ZENO
from saltus.model.fields.constraint import impact as impact_fields
from saltus.number.conditions import has
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel
from saltus.solve.cone.delassus import IMPULSES, assemble, clear_forces, spread
from saltus.solve.cone.problem import SOLVED, TOLERANCE
from saltus.solve.impact.law import resolve_impact
from saltus.solve.status import OK, UNRESOLVED

LEAST = 1e-12  # relative to the largest impulse: smaller ones are zero
ALIKE = 0.05  # largest difference of successive ratios of intervals, relative to 1 - ρ, that counts as equal


@kernel
def approaching(m, d):
    """Whether any touching contact or limit approaches, or equalities do since a mocap body's speed has jumped."""
    jumped = has(m, "movers") and d.modes_known[0] < 0.5
    for b in range(d.count[NBLOCK]):
        kind, row = d.block_kind[b], d.block_row[b]
        if (kind == CONE or kind == UNILATERAL) and d.row_velocity[row] < -m.opt_speed_tolerance:
            return True
        if jumped and kind == EQUALITY:
            for r in range(row, row + d.block_dim[b]):
                if absolute(d.row_velocity[r]) > m.opt_speed_tolerance:
                    return True
    return False


@kernel
def pose_impact(m, d):
    """Pose the impact problem of all touching contacts; needs `closed_rows`, the factor of M and `row_matrix`."""
    assemble(m, d, IMPULSES)
    for j in range(d.hard_count[ROWS]):
        d.hard_q[j] = d.row_velocity[d.hard_place[j]]
        d.hard_r[j] = 0.0 * d.time


@kernel
def collide_touching(m, d, potential):
    """Resolve the impact posed by `pose_impact`: qvel jumps. Returns a status.

    potential: potential energy (J), for the log.
    """
    # impulses r by the law of impact
    close_accumulated(m, d)
    before = kinetic_energy(m, d)
    residual = resolve_impact(d, m.opt_impact_law, m.opt_impact_treatment, TOLERANCE)
    if not residual <= SOLVED:
        return UNRESOLVED
    # velocity jump Δv = M⁻¹ Jᵀ r; dry friction is a finite force and has no impulse
    clear_forces(d)
    spread(m, d, IMPULSES)
    for i in range(m.nv):
        d.row_inverse[i] = d.qfrc_constraint[i]
    solve(m, d, d.row_inverse)
    for i in range(m.nv):
        d.qvel[i] = d.qvel[i] + d.row_inverse[i]
    after = kinetic_energy(m, d)
    log_impacts(m, d, potential + before, potential + after)
    log_remedies(m, d)
    return OK


@kernel
def log_remedies(m, d):
    """Log uses of the energetic coefficient and of a final plastic impact."""
    zero = 0.0 * d.time
    if d.impact_report[impact_fields.ENERGETIC]:
        log_event(m, d, ENERGETIC, NOTHING, zero, zero, (zero, zero, zero), zero, zero)
    if d.impact_report[impact_fields.LEFTOVER]:
        log_event(m, d, LEFTOVER, NOTHING, zero, zero, (zero, zero, zero), zero, zero)


@kernel
def kinetic_energy(m, d):
    """½ vᵀ M v (J)."""
    multiply(m, d, d.qvel, d.row_inverse)
    total = 0.0 * d.time
    for i in range(m.nv):
        total = total + 0.5 * d.qvel[i] * d.row_inverse[i]
    return total


@kernel
def speed_at_limit(m, d):
    """Fastest approach (m/s) among contacts and limits whose impacts accumulate now; 0 if there are none."""
    fastest = 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        if is_at_limit(m, d, b):
            fastest = maximum(fastest, -d.row_velocity[d.block_row[b]])
    return fastest


@kernel
def is_at_limit(m, d, b):
    """Whether the impacts of block b accumulate, and its next bounce would be lower than the model's least height."""
    kind, item, speed = d.block_kind[b], d.block_item[b], -d.row_velocity[d.block_row[b]]
    if item < 0 or not (kind == CONE or kind == UNILATERAL) or not speed > m.opt_speed_tolerance:
        return False
    return time_to_limit(m, d, item, speed) >= 0.0


@kernel
def close_accumulated(m, d):
    """hard_restitution and hard_tangential ← 0 where impacts have accumulated."""
    for k in range(d.hard_count[BLOCKS]):
        if is_at_limit(m, d, d.hard_block[d.hard_row[k]]):
            d.hard_restitution[k] = d.hard_tangential[k] = 0.0 * d.time


@kernel
def time_to_limit(m, d, item, speed):
    """Time (s) to the accumulation point of an item's impacts, if the next bounce is below the least height; else -1.

    impact_time holds the times of the last impacts, newest first.
    """
    # ratio ρ of the last intervals, which must agree
    times = d.impact_time[item]
    last, before, first = d.time - times[0], times[0] - times[1], times[1] - times[2]
    if not (times[2] > 0.0 and last > 0.0 and before > 0.0 and first > 0.0):
        return -1.0 + 0.0 * d.time
    ratio, ratio_before = last / before, before / first
    if ratio >= 1.0 or absolute(ratio - ratio_before) > ALIKE * (1.0 - ratio):
        return -1.0 + 0.0 * d.time
    # height of the next bounce
    if 0.25 * ratio * speed * ratio * last > m.opt_bounce_height:
        return -1.0 + 0.0 * d.time
    return last * ratio / (1.0 - ratio)


@kernel
def log_impacts(m, d, before, after):
    """Log each contact and limit with an impulse, with the energies (J) before and after."""
    largest = 0.0 * before
    for j in range(d.hard_count[ROWS]):
        largest = maximum(largest, absolute(d.hard_r[j]))
    for k in range(d.hard_count[BLOCKS]):
        j = d.hard_row[k]
        b = d.hard_block[j]
        item = d.block_item[b]
        if item >= 0 and d.hard_place[j] == d.block_row[b] and d.hard_r[j] > LEAST * largest:
            speed = d.row_velocity[d.block_row[b]]
            zero = 0.0 * speed
            impulse = (d.hard_r[j], zero, zero)
            if d.hard_dim[k] == 3:
                impulse = (d.hard_r[j], d.hard_r[j + 1], d.hard_r[j + 2])
            log_event(m, d, IMPACT, item, d.gap[item], speed, impulse, before, after)
            if is_at_limit(m, d, b):
                d.impact_limit[item] = (d.time + time_to_limit(m, d, item, -speed), speed)
            if speed < -m.opt_speed_tolerance:
                times = d.impact_time[item]
                d.impact_time[item] = (d.time, times[0], times[1], times[2])


@kernel
def log_limits(m, d):
    """Log the accumulation points that have been reached by now, in order of time."""
    now, zero = d.time, 0.0 * d.time
    next_one = next_limit(m, d, now)
    while next_one >= 0:
        limit = d.impact_limit[next_one]
        d.time = limit[0]
        log_event(m, d, ZENO, next_one, zero, limit[1], (zero, zero, zero), zero, zero)
        d.impact_limit[next_one] = (zero, zero)
        d.time = now
        next_one = next_limit(m, d, now)


@kernel
def next_limit(m, d, now):
    """Item of the earliest accumulation point no later than `now` (s); -1 if there is none."""
    first = -1
    for i in range(m.nslot + 2 * m.nlimit):
        if 0.0 < d.impact_limit[i, 0] <= now and (first < 0 or d.impact_limit[i, 0] < d.impact_limit[first, 0]):
            first = i
    return first
