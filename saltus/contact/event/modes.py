"""Modes of contact points, limits and dry friction in event-located contact, and the event log.

Items with a mode are numbered: contact points (slots), both ends of each limit, dry friction, and, if any contact has
more than three dimensions, the torsional friction of each point, then its rolling friction.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.model.event_enums import (
    AFTER,
    BEFORE,
    CLOSED,
    GAP,
    ITEM,
    KIND,
    LOGGED,
    LOST,
    NORMAL,
    OPEN,
    SPEED,
    SPIN,
    TANGENT1,
    TANGENT2,
    TIME,
    WORST,
)
from saltus.number.components import lane_get, lane_set
from saltus.number.kernels import kernel, only_with

NO_EVENT = -1.0  # kind in the row after the last event of a lane


@kernel(inline=True)
def limit_item(m, k, end):
    """Item number of the lower (end 0) or upper (end 1) end of limit k."""
    return m.nslot + 2 * k + end


@kernel(inline=True)
def friction_item(m, k):
    """Item number of dry friction k."""
    return m.nslot + 2 * m.nlimit + k


@kernel(inline=True)
def turning_item(m, s, first):
    """Item number of the torsional (first row SPIN) or rolling (ROLL) friction of contact point s."""
    return m.nslot + 2 * m.nlimit + m.nfriction + s + (0 if first == SPIN else m.nslot)


@kernel(inline=True)
def first_turning(m):
    """Number of the first item of torsional or rolling friction; there is none if it is nmode."""
    return m.nslot + 2 * m.nlimit + m.nfriction


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


@kernel
def begin_log(d):
    """Begin the log of one lane: each has its own rows, up to one of the kind NO_EVENT (see `end_log`)."""
    d.event_count[LOGGED] = 0


@kernel
def log_in_lane(m, d, kind, item, gap, speed, impulse, lane):
    """`log_event` in the log of one lane, without energies."""
    row = d.event_count[LOGGED]
    if row >= m.nevent_log:
        return
    d.event_count[LOGGED] = row + 1
    numbers = (lane_get(d.time, lane), 1.0 * kind, 1.0 * item, gap, speed, *impulse, 0.0, 0.0)
    for column in range(len(numbers)):
        d.event_log[row, column] = lane_set(d.event_log[row, column], lane, numbers[column])


@kernel
def end_log(m, d, lane):
    """Mark the end of the log of one lane."""
    row = d.event_count[LOGGED]
    if row < m.nevent_log:
        d.event_log[row, KIND] = lane_set(d.event_log[row, KIND], lane, NO_EVENT)


@only_with("event")
@kernel
def count_closed(m, d):
    """Size of the active set: closed points and limits, dry friction, equalities."""
    total = m.neq + m.nfriction
    for i in range(m.nslot + 2 * m.nlimit):
        if d.mode[i] != OPEN:
            total += 1
    d.event_count[CLOSED] = total


@only_with("loops", otherwise="False")
@kernel(inline=True)
def loops_alone(m, d):
    """Whether no contact, limit or dry friction acts beside loops that are closed exactly."""
    return d.event_count[CLOSED] <= m.neq


@only_with("event", "stepping", otherwise="False")
@kernel
def log_is_full(m, d):
    """Whether the event log must be read before continuing: it is more than half full."""
    return 2 * d.event_count[LOGGED] > m.nevent_log


@only_with("event", "stepping")
@kernel
def keep_worst(m, d, status):
    """Leave the status of the steps that have been taken to who reads the full log."""
    d.event_count[WORST] = max(d.event_count[WORST], status)
