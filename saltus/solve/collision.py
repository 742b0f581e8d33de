"""Impacts: velocities jump where bodies meet.

All that touches takes part. The impulses come from the law of impact in contact space (see `saltus.solve.impact_law`).
Impacts that follow each other in geometrically shrinking intervals have a limit, t + τ ρ / (1 - ρ) for the last
interval τ and the ratio ρ; once the bounces are low enough the contact closes, with an impact without restitution.
"""

from saltus.contact.blocks import CONE, UNILATERAL
from saltus.contact.counts import NBLOCK
from saltus.contact.modes import ENERGETIC, IMPACT, LEFTOVER, NOTHING, ZENO, log_event
from saltus.dynamics.factor import multiply, solve
from saltus.model import cones_impact
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel
from saltus.solve.cone import SOLVED, TOLERANCE
from saltus.solve.contact_space import IMPULSES, ROWS, assemble, spread
from saltus.solve.impact_law import resolve_impact
from saltus.solve.status import OK, UNRESOLVED

LEAST = 1e-12  # in parts of the largest impulse: smaller ones are none
ALIKE = 0.05  # ratios of successive intervals count as the same if their difference is below this part of 1 - ρ


@kernel
def approaching(m, d):
    """Whether bodies that touch come closer."""
    for b in range(d.count[NBLOCK]):
        kind = d.block_kind[b]
        if (kind == CONE or kind == UNILATERAL) and d.row_velocity[d.block_row[b]] < -m.opt_speed_tolerance:
            return True
    return False


@kernel
def pose_impact(m, d):
    """The problem of the impact of all that touches; needs `closed_rows`, the factor of M and `row_matrix`."""
    assemble(m, d, IMPULSES)
    for j in range(d.hard_count[ROWS]):
        d.hard_q[j] = d.row_velocity[d.hard_place[j]]
        d.hard_r[j] = 0.0 * d.time


@kernel
def collide_touching(m, d, potential):
    """Resolve the impact that `pose_impact` has posed: qvel jumps. Returns a status.

    potential: the potential energy (J), for the log.
    """
    close_accumulated(m, d)
    before = kinetic_energy(m, d)
    residual = resolve_impact(d, m.opt_impact_law, m.opt_impact_treatment, TOLERANCE)
    spread(m, d, IMPULSES)
    for i in range(m.nv):
        d.row_inverse[i] = d.qfrc_constraint[i]
    solve(m, d, d.row_inverse)
    for i in range(m.nv):
        d.qvel[i] = d.qvel[i] + d.row_inverse[i]
    after = kinetic_energy(m, d)
    log_impacts(m, d, potential + before, potential + after)
    log_remedies(m, d)
    return OK if residual <= SOLVED else UNRESOLVED


@kernel
def log_remedies(m, d):
    """Note where the law of impact alone would not do."""
    zero = 0.0 * d.time
    if d.impact_report[cones_impact.ENERGETIC]:
        log_event(m, d, ENERGETIC, NOTHING, zero, zero, (zero, zero, zero), zero, zero)
    if d.impact_report[cones_impact.LEFTOVER]:
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
def close_accumulated(m, d):
    """No restitution where impacts accumulate and the next bounce would be too low to see; noted in the log."""
    for k in range(d.hard_count[0]):
        b = d.hard_block[d.hard_row[k]]
        item = d.block_item[b]
        speed = -d.row_velocity[d.block_row[b]]
        if item >= 0 and d.hard_restitution[k] > 0.0 and speed > m.opt_speed_tolerance:
            remaining = time_to_limit(m, d, item, speed)
            if remaining >= 0.0:
                d.hard_restitution[k] = 0.0 * speed
                now = d.time
                d.time = now + remaining
                zero = 0.0 * now
                log_event(m, d, ZENO, item, d.gap[item], -speed, (zero, zero, zero), zero, zero)
                d.time = now


@kernel
def time_to_limit(m, d, item, speed):
    """Time (s) until the limit of the impacts of an item, if the next bounce is lower than the model's; else -1.

    impact_time holds the times of the last impacts, the newest first.
    """
    times = d.impact_time[item]
    last, before, first = d.time - times[0], times[0] - times[1], times[1] - times[2]
    if not (times[2] > 0.0 and last > 0.0 and before > 0.0 and first > 0.0):
        return -1.0 + 0.0 * d.time
    ratio, ratio_before = last / before, before / first
    if ratio >= 1.0 or absolute(ratio - ratio_before) > ALIKE * (1.0 - ratio):
        return -1.0 + 0.0 * d.time
    if 0.25 * ratio * speed * ratio * last > m.opt_bounce_height:
        return -1.0 + 0.0 * d.time
    return last * ratio / (1.0 - ratio)


@kernel
def log_impacts(m, d, before, after):
    """Note each contact and limit that an impulse acted on, with the energies (J) before and after."""
    largest = 0.0 * before
    for j in range(d.hard_count[ROWS]):
        largest = maximum(largest, absolute(d.hard_r[j]))
    for k in range(d.hard_count[0]):
        j = d.hard_row[k]
        b = d.hard_block[j]
        item = d.block_item[b]
        if item >= 0 and d.hard_r[j] > LEAST * largest:
            speed = d.row_velocity[d.block_row[b]]
            zero = 0.0 * speed
            impulse = (d.hard_r[j], zero, zero)
            if d.hard_dim[k] == 3:
                impulse = (d.hard_r[j], d.hard_r[j + 1], d.hard_r[j + 2])
            log_event(m, d, IMPACT, item, d.gap[item], speed, impulse, before, after)
            if speed < -m.opt_speed_tolerance:
                times = d.impact_time[item]
                d.impact_time[item] = (d.time, times[0], times[1], times[2])
