"""Modes of points of contact, limits and dry friction where events are located in time, and the log of events.

What has a mode is numbered: points of contact (slots), both ends of each limit, dry friction.
"""

from saltus.number.kernels import kernel, only_with

# a point of contact, or an end of a limit: open, closed (without slip), closed and slipping
OPEN, STICK, SLIP = 0.0, 1.0, 2.0

# kinds of events, and where their numbers lie in a row of the log
KINDS = (
    *("impact", "liftoff", "touchdown", "stick", "slip", "zeno", "user", "actuator", "energetic", "leftover"),
    *("dense", "jammed"),
)
IMPACT, LIFTOFF, TOUCHDOWN, STICKS, SLIPS, ZENO, USER, ACTUATOR, ENERGETIC, LEFTOVER, DENSE, JAM = range(12)
TIME, KIND, ITEM, GAP, SPEED, NORMAL, TANGENT1, TANGENT2, BEFORE, AFTER = range(10)
SINCE, COUNT = GAP, SPEED  # where events came too densely: since when time was stepped (s), and over how many impacts
NOTHING = -1  # in place of an item, where an event is of the whole system

# places in event_count
LOGGED = 0  # rows of the log in use
LOST = 1  # events that there was no room for
CLOSED = 2  # things that act now: closed points and limits, dry friction, equalities
SHARED = 3  # 1: what is closed shares its load in more than one way, and the least forces would not do; or:
ROUGHLY = 2  # the forces that would do are not found to their tolerance
PAUSED = 4  # 1: stop before the next impact is resolved
UNDONE = 5  # 1 and the status so far: a step has been begun, and waits for the log to be read

# places in `dense`: steps of time still to take, 0 where events are located; when they began (s), the energy then (J),
# impacts since; how many steps the last time took and when it was over (s); events without time passing; stiff steps
# in a row; events of late, and tries of steps, each by a count that decays and the time of the last (s);
# how long steps of time are (s)
LEFT, BEGAN, ENERGY, IMPACTS, LENGTH, OVER, RECENT, STIFF, COUNTED, COUNTED_AT, TRIES, TRIED_AT, SIZE = range(13)


@kernel(inline=True)
def limit_item(m, k, end):
    """What has the mode of limit k's lower (0) or upper (1) end."""
    return m.nslot + 2 * k + end


@kernel(inline=True)
def friction_item(m, k):
    """What has the mode of dry friction k."""
    return m.nslot + 2 * m.nlimit + k


@kernel
def log_event(m, d, kind, item, gap, speed, impulse, before, after):
    """Note an event at the present time: kind, what it is of, gap (m), speed (m/s), impulse (N s), energies (J)."""
    row = d.event_count[LOGGED]
    if row >= m.nevent_log:
        d.event_count[LOST] = d.event_count[LOST] + 1
        return
    d.event_count[LOGGED] = row + 1
    d.event_log[row, TIME] = d.time
    d.event_log[row, KIND] = 0.0 * d.time + kind
    d.event_log[row, ITEM] = 0.0 * d.time + item
    d.event_log[row, GAP] = gap
    d.event_log[row, SPEED] = speed
    d.event_log[row, NORMAL] = impulse[0]
    d.event_log[row, TANGENT1] = impulse[1]
    d.event_log[row, TANGENT2] = impulse[2]
    d.event_log[row, BEFORE] = before
    d.event_log[row, AFTER] = after


@only_with("event")
@kernel
def count_closed(m, d):
    """Whether anything holds now: what is closed, dry friction, equalities."""
    total = m.neq + m.nfriction
    for i in range(m.nslot + 2 * m.nlimit):
        if d.mode[i] != OPEN:
            total += 1
    d.event_count[CLOSED] = total
