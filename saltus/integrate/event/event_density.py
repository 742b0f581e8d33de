"""Density of events: too dense events are not located one by one, but stepped over in time.

Events are too dense if one contact, or all together, have had too many recently, or if steps between them have become
too short: by friction that turns a slowing slip ever faster, or by trial steps without progress.
"""

from saltus.contact.counts import NBLOCK, NROW
from saltus.contact.rows.blocks import CONE
from saltus.model.event_enums import (
    CLOSED,
    COUNTED,
    COUNTED_AT,
    LOCATE,
    OPEN,
    RECENT,
    ROLL,
    SLIDE,
    STEP,
    STIFF,
    TRIED_AT,
    TRIES,
)
from saltus.number.functions import maximum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.cone.delassus import (
    contact_friction,
    slip_direction,
    slips,
    turning_direction,
    turning_friction,
    turning_slips,
)

MOST_AT_ONCE = 200.0  # most events without time passing
MANY = 4.0  # factor by which all contacts of a tree may have more events than a single one
# steps shorter than SHORT opt_dense_step are stiff if step times rate exceeds STIFFEST, which accuracy alone would not
# cause; at most MOST_STIFF in a row
SHORT, STIFFEST, MOST_STIFF = 0.1, 0.05, 40.0
MOST_TRIES = 50.0  # most trial steps within opt_dense_step


@kernel
def too_dense(m, d, passed):
    """Count the events marked in event_hit; returns whether one contact, or all together, had too many recently.

    Impacts that return all of the energy do not count: they come in finite numbers, and never accumulate.
    `passed`: whether time has passed since the last event. Counts decay by opt_dense_events in opt_dense_time.
    """
    # events in a row without time passing
    d.dense[RECENT] = 0.0 if passed else d.dense[RECENT] + 1.0
    # decaying event count of each contact
    rate = m.opt_dense_events / m.opt_dense_time
    busiest = all_of_them = 0.0 * d.time
    for i in range(m.nmode):
        if (d.event_hit[i] and not returns_all(m, d, i)) or d.event_hit[m.nmode + i]:
            count = maximum(d.event_rate[i, 0] - rate * (d.time - d.event_rate[i, 1]), 0.0 * d.time) + 1.0
            d.event_rate[i] = (count, d.time)
            busiest = maximum(busiest, count)
            all_of_them = all_of_them + 1.0
    # decaying event count of all contacts together
    scale = MANY * m.ntree_event
    decayed = maximum(d.dense[COUNTED] - scale * rate * (d.time - d.dense[COUNTED_AT]), 0.0 * d.time)
    d.dense[COUNTED], d.dense[COUNTED_AT] = decayed + all_of_them, d.time
    if d.dense[RECENT] > MOST_AT_ONCE:
        return True
    return m.opt_dense != LOCATE and maximum(busiest, d.dense[COUNTED] / scale) > m.opt_dense_events


@kernel
def returns_all(m, d, i):
    """Whether item i is open, so that its event is an impact, and has a restitution of one."""
    if i >= m.nslot + 2 * m.nlimit or d.mode[i] != OPEN:
        return False
    if i >= m.nslot:
        return m.law_restitution[m.limit_law[(i - m.nslot) // 2]] >= 1.0
    return slot_returns_all(m, i)


@only_with("contact", otherwise="False")
@kernel
def slot_returns_all(m, s):
    """Whether contact point s has a restitution of one."""
    found = False
    for c in range(m.ncollision):
        if m.slot_adr[c] <= s < m.slot_adr[c] + m.slot_num[c]:
            found = m.law_restitution[m.collision_law[c]] >= 1.0
    return found


@kernel
def stalls(m, d, h):
    """Whether step-size control stalls: some slip was stiff in many steps in a row, up to this one of h seconds."""
    stiff = m.opt_dense == STEP and h < SHORT * m.opt_dense_step and is_stiff(m, d, h)
    d.dense[STIFF] = d.dense[STIFF] + 1.0 if stiff else 0.0 * h
    return d.dense[STIFF] > MOST_STIFF


@kernel
def creeps(m, d):
    """Whether progress stalls: too many recent trial steps, counting the next one, while some contact is active.

    Equality constraints are always active; short steps with only these are required by accuracy.
    """
    rate = MOST_TRIES / m.opt_dense_step
    d.dense[TRIES] = maximum(d.dense[TRIES] - rate * (d.time - d.dense[TRIED_AT]), 0.0 * d.time) + 1.0
    d.dense[TRIED_AT] = d.time
    return m.opt_dense == STEP and d.event_count[CLOSED] > m.neq and d.dense[TRIES] > MOST_TRIES


@only_with("contact", otherwise="False")
@kernel
def is_stiff(m, d, h):
    """Whether some slip direction relaxes to its equilibrium too fast for explicit steps of h seconds.

    Friction μ f_N turns a slip of speed v at the rate μ f_N A / v, with A = J M⁻¹ Jᵀ across the slip; the rate is
    unbounded as the slip speed vanishes. Reads the rows and forces of the last accelerations.
    """
    stiff = False
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] == CONE and slips(d, b):
            friction = contact_friction(m, d, b) * d.row_force[d.block_row[b]]
            stiff = stiff or turns_fast(d, b, SLIDE, slip_direction(m, d, b), h * friction)
        if d.block_kind[b] == CONE and d.block_dim[b] > ROLL and turning_slips(m, d, b, ROLL):
            friction = turning_friction(m, d, b, ROLL) * d.row_force[d.block_row[b]]
            stiff = stiff or turns_fast(d, b, ROLL, turning_direction(m, d, b, ROLL), h * friction)
    return stiff


@kernel
def turns_fast(d, b, first, direction, impulse):
    """Whether friction turns the slip (first row SLIDE) or rolling (ROLL) of block b too fast for explicit steps.

    direction: of the slip. impulse: of the friction over a step (N s, N m s).
    """
    row, n = d.block_row[b] + first, d.count[NROW]
    t1, t2 = direction
    v1, v2 = d.row_velocity[row], d.row_velocity[row + 1]
    # Delassus operator across the slip direction (t1, t2)
    at = row * n + row
    across = t2 * t2 * d.row_A[at] - 2.0 * t1 * t2 * d.row_A[at + 1] + t1 * t1 * d.row_A[at + n + 1]
    return impulse * across > STIFFEST * sqrt(v1 * v1 + v2 * v2)
