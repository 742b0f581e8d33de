"""Modes of contact points, limits and dry friction in event-located contact, and the event log.

The items that have a mode are numbered: contact points (slots), both ends of each limit, dry friction.
"""

from saltus.number.kernels import kernel, only_with

# mode of a contact point or an end of a limit: open, closed and sticking, closed and slipping
OPEN, STICK, SLIP = 0.0, 1.0, 2.0

# kinds of events, and columns of the log
KINDS = (
    *("impact", "liftoff", "touchdown", "stick", "slip", "zeno", "user", "actuator", "energetic", "leftover"),
    *("dense", "jammed"),
)
IMPACT, LIFTOFF, TOUCHDOWN, STICKS, SLIPS, ZENO, USER, ACTUATOR, ENERGETIC, LEFTOVER, DENSE, JAM = range(12)
TIME, KIND, ITEM, GAP, SPEED, NORMAL, TANGENT1, TANGENT2, BEFORE, AFTER = range(10)
SINCE, COUNT = GAP, SPEED  # of DENSE: start of time stepping (s) and number of impacts since
NOTHING = -1  # item of an event of the whole system

# places in event_count
LOGGED = 0  # rows of the log in use
LOST = 1  # events lost, for lack of room
CLOSED = 2  # size of the active set: closed points and limits, dry friction, equalities
SHARED = 3  # 1: the forces of the active set are not unique, and the minimum-norm forces violate its inequalities; or:
ROUGHLY = 2  # admissible forces are not found within tolerance
PAUSED = 4  # 1: stop before the next impact is resolved
UNDONE = 5  # 1 + status so far: a step has begun, and waits for the log to be read

# places in `dense`: time steps still to take, 0 while events are located; start of time stepping (s), energy then (J)
# and impacts since; number of steps and end (s) of the last time stepping; events at the same instant; consecutive
# stiff steps; recent events and recent trial steps, each as a decaying count and the time of the last (s); size of the
# time steps (s)
LEFT, BEGAN, ENERGY, IMPACTS, LENGTH, OVER, RECENT, STIFF, COUNTED, COUNTED_AT, TRIES, TRIED_AT, SIZE = range(13)


@kernel(inline=True)
def limit_item(m, k, end):
    """Item number of the lower (end 0) or upper (end 1) end of limit k."""
    return m.nslot + 2 * k + end


@kernel(inline=True)
def friction_item(m, k):
    """Item number of dry friction k."""
    return m.nslot + 2 * m.nlimit + k


@kernel
def log_event(m, d, kind, item, gap, speed, impulse, before, after):
    """Log an event at the current time: kind, item, gap (m), speed (m/s), impulse (N s), energies before, after (J)."""
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
    """Size of the active set: closed points and limits, dry friction, equalities."""
    total = m.neq + m.nfriction
    for i in range(m.nslot + 2 * m.nlimit):
        if d.mode[i] != OPEN:
            total += 1
    d.event_count[CLOSED] = total
