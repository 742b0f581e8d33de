"""Steps from event to event: smooth motion with error control between, modes that change where something happens.

As long as modes stay as they are the motion is smooth and any step of dopri5 holds; each accepted step is searched for
events on its dense output. Where the first one is the step ends; what happens there is settled (see
`saltus.solve.settle`), and the next step begins. After each step what is closed is brought back from its drift.
"""

from dataclasses import replace

from saltus.contact.modes import CLOSED, LOGGED, RECENT, count_closed
from saltus.contact.points import gaps
from saltus.dynamics.history import record_controls
from saltus.integrate import dopri5
from saltus.integrate.dopri5 import STEP, accept, error_norm, first_slopes, interpolate
from saltus.integrate.events import NONE, first_event, read_values, watch
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import save_state
from saltus.integrate.runge_kutta import stage_state, store_slopes
from saltus.integrate.status import bad_velocity
from saltus.number.functions import absolute, minimum
from saltus.number.kernels import kernel, only_with
from saltus.solve.acceleration import acceleration
from saltus.solve.drift import project_near
from saltus.solve.settle import settle
from saltus.solve.status import CHATTER, DIVERGED, EVENTS_FULL, OK, STEP_TOO_SMALL

LONGEST = 0.05  # s: of a step with anything closed, so that rounding errors of accelerations do not add up
MOST_AT_ONCE = 200  # events without time passing
REJECTED = -1.0  # in place of where an event is
INSTANT = 1e-12  # s: no time passes in less, in parts of 1 s and of the time


@kernel
def step(m, d, h, tableau, tolerance):
    """Go h seconds on, through all events; returns a status."""
    end = d.time + h
    status = begin(m, d)
    for _ in range(dopri5.ATTEMPTS):
        if status > OK or not end - d.time > 1e-14 * (1.0 + absolute(end)):
            break
        start = d.time
        status, size, place = look_ahead(m, d, end, tableau, tolerance)
        if place >= 0.0:
            status = take(m, d, start, size, place, end, tableau)
    if status == OK:
        d.time = end
    return status


@kernel
def begin(m, d):
    """Modes, if they are not known, and slopes at the present state. Returns a status."""
    status = OK
    if d.modes_known[0] < 0.5:
        for e in range(m.nevent):
            d.event_hit[e] = 0
        status = settle(m, d)
    if status == OK:
        start_step(m, d)
    return status


@kernel
def start_step(m, d):
    """Slopes and event functions at the present state, from which the next step goes."""
    save_state(m, d)
    first_slopes(m, d)
    gaps(m, d)
    read_values(m, d)
    keep_values(m, d)


@kernel
def go_on(m, d):
    """What `start_step` does where the state is that of the last stage, but for a correction of its errors."""
    save_state(m, d)
    for i in range(m.nv):
        d.stage_qvel[i] = d.qvel[i]
    keep_values(m, d)


@kernel
def keep_values(m, d):
    """Event functions that the next step begins with."""
    for e in range(m.nevent):
        d.event_before[e] = d.event_value[e]


@kernel
def look_ahead(m, d, end, tableau, tolerance):
    """Try a step towards `end` (s): a status, its length (s), and where in it the first event is.

    That is NONE without an event, and REJECTED if the step is not accurate enough, after which the state is back.
    """
    start = d.time
    left = end - start
    size = minimum(d.memory[STEP], left)
    if d.event_count[CLOSED]:
        size = minimum(size, LONGEST + 0.0 * size)
    size = left if size > 0.999999 * left else size
    attempt(m, d, size, tableau)
    error = error_norm(m, d, size, tolerance)
    if not error <= 1.0:
        accept(m, d, size, True, error)
        return OK if size >= 1e-13 * (1.0 + absolute(end)) else STEP_TOO_SMALL, size, REJECTED
    if not bad_velocity(m, d) < 0.5:
        return DIVERGED, size, REJECTED
    d.event_error[0] = error
    return OK, size, first_event(m, d, size, start)


@kernel
def attempt(m, d, h, tableau):
    """As `saltus.integrate.dopri5.attempt`, with an eye on the event functions at the stages."""
    start = d.time
    for s in range(1, dopri5.STAGES):
        d.time = start + h * tableau[s, 0]
        stage_state(m, d, h, tableau, s, s)
        acceleration(m, d)
        store_slopes(m, d, s)
        watch(m, d, s == 1)
    d.time = start


@kernel
def take(m, d, start, size, place, end, tableau):
    """Go to the end of the step that began at `start`, or to its first event and through it. Returns a status."""
    if place < NONE:
        interpolate(m, d, size, start, place)
        record_controls(m, d, start)
        return happen(m, d, start, place * size)
    stage_state(m, d, size, tableau, dopri5.STAGES, dopri5.STAGES)
    d.time = start
    record_controls(m, d, start)
    accept(m, d, size, True, d.event_error[0])
    if absolute(end - d.time) <= 1e-15 * (1.0 + absolute(end)):
        d.time = end
    d.event_count[RECENT] = 0
    if project_near(m, d):
        start_step(m, d)
    else:
        go_on(m, d)
    return OK


@kernel
def happen(m, d, start, passed):
    """What the event at the present state brings; `passed` s after the step's start. Returns a status."""
    d.event_count[RECENT] = d.event_count[RECENT] + 1 if passed <= INSTANT * (1.0 + absolute(start)) else 0
    if d.event_count[RECENT] > MOST_AT_ONCE:
        return CHATTER
    status = settle(m, d)
    if status == OK:
        start_step(m, d)
    return status


@kernel
def record(m, d, times, row, attempts, going, tableau, tolerance, out):
    """Go on towards times[-1] in free steps and write the states at the ascending times [n]; see `dopri5.record`.

    A row has the modes [nmode] too, after the states. Returns EVENTS_FULL, to be called again, where the log of events
    is to be read first.
    """
    end = times[-1]
    status = OK
    if not going or d.modes_known[0] < 0.5:
        status = begin(m, d)
    count_closed(m, d)  # who looked at another state in between has left that one's
    for _ in range(attempts):
        while row < len(times) and times[row] <= d.time:
            write_row(m, d, times[row], out, row)
            row += 1
        if row == len(times) or status > OK:
            return row, status
        if log_is_full(m, d):
            return row, EVENTS_FULL
        start = d.time
        status, size, place = look_ahead(m, d, end, tableau, tolerance)
        if place >= 0.0:
            while row < len(times) and times[row] < start + minimum(place, 1.0) * size:
                interpolate(m, d, size, start, (times[row] - start) / size)
                write_row(m, d, times[row], out, row)
                row += 1
            status = take(m, d, start, size, place, end, tableau)
    return row, status


@only_with("event", otherwise="False")
@kernel
def log_is_full(m, d):
    """Whether the log of events is to be read before going on."""
    return 2 * d.event_count[LOGGED] > m.nevent_log


@kernel
def write_row(m, d, time, out, row):
    """One sample into row `row` of out."""
    dopri5.write_row(m, d, time, out, row)
    first = 1 + m.nq + m.nv + m.nact
    for i in range(m.nmode):
        out[row, first + i] = d.mode[i]


def event_driven(integrator: Integrator) -> Integrator:
    """The same method, from event to event."""
    return replace(integrator, step=step)
