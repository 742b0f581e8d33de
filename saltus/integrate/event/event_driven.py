"""Event-driven integration: smooth motion between located events, at which the contact modes change.

While the modes do not change the motion is smooth, and a one-step method applies: dopri5 with error control, or another
method with fixed steps. The dense output of each step is searched for events. The step ends at the first one, which is
resolved (see `saltus.solve.event.event_resolution`); then the next step begins, or the rest of a fixed one. After each
step the drift of the active constraints is projected out. If events are too dense to be located, the motion is
continued by time stepping (see `saltus.integrate.event.dense_events`).
"""

from dataclasses import replace

from saltus.contact.event.modes import log_is_full
from saltus.dynamics.history import note_controls
from saltus.integrate.adaptive import dopri5
from saltus.integrate.adaptive.memory import GOING, STEP, TRIES
from saltus.integrate.adaptive.relaxation import longest_relaxed, relaxed
from saltus.integrate.adaptive.stages import (
    accept,
    end_of_step,
    stage,
)
from saltus.integrate.adaptive.step_bounds import ROUNDING, longest_step, remains, until_break
from saltus.integrate.adaptive.step_size import error_norm, large_enough, trial_step_size
from saltus.integrate.dense.dormand_prince import STAGES
from saltus.integrate.dense.substep import FIXED, method_word, state_at
from saltus.integrate.event.dense_events import can_go_over, come_back, go_over, step_over
from saltus.integrate.event.event_density import creeps, stalls, too_dense
from saltus.integrate.event.event_functions import event_values
from saltus.integrate.event.event_location import first_event, watch
from saltus.integrate.event.event_roots import NONE
from saltus.integrate.event.step_start import begin, go_behind_break, go_on, start_step
from saltus.integrate.event.user_events import EVENTS, act, look, mark_passed, sides_after
from saltus.integrate.fixed.runge_kutta import stage_state
from saltus.integrate.integrator import Integrator
from saltus.integrate.status import bad_state
from saltus.model.event_enums import CLOSED, LEFT, LOCATE, RECENT, UNDONE
from saltus.number.conditions import has, has_tangents
from saltus.number.functions import absolute, minimum
from saltus.number.kernels import kernel, only_with
from saltus.solve.event.constraint_stabilization import project
from saltus.solve.event.event_resolution import settle
from saltus.solve.impact.impact import log_limits
from saltus.solve.status import (
    CHATTER,
    DIVERGED,
    ENDED,
    EVENTS_FULL,
    NOT_CONVERGED,
    OK,
    STEP_TOO_SMALL,
    TOO_DENSE,
    UNSOLVED,
)

LONGEST = 0.05  # s: longest step with active constraints, so that rounding errors of accelerations do not add up
REJECTED = -1.0  # in place of the event's location
BOUNDS = 2  # place of the bounds of steps among dopri5's parameters
INSTANT = 1e-12  # shorter intervals count as none: s, relative to 1 s and to the time


@kernel
def step(m, d, h, *method):
    """Advance by h seconds, through all events; returns a status.

    Returns EVENTS_FULL if the event log must be read before the step continues; the next call continues it.
    """
    # a new step, or the rest of one interrupted by a full log
    end, worst = d.time + h, OK
    if goes_on(m, d):
        end, worst = d.event_end[0], d.event_count[UNDONE] - 1
        d.event_count[UNDONE] = 0
    worst = max(worst, begin(m, d))
    if has_tangents(d):
        land(m, d, end, method)
    # from event to event
    for _ in range(dopri5.ATTEMPTS):
        if worst > UNSOLVED or not is_left(m, d, end, method):
            break
        if log_is_full(m, d):
            return suspend(d, end, worst)
        worst = max(worst, go_towards(m, d, end, method))
    # land on the end exactly
    if worst <= UNSOLVED:
        if is_left(m, d, end, method):
            worst = STEP_TOO_SMALL
        else:
            if has_tangents(d):  # noqa: SIM102 (decided when the kernel is compiled: `land` has waited for the log)
                if log_is_full(m, d):
                    return suspend(d, end, worst)
            d.time = end
    # slopes stored by `leave_slopes` are not those of this state
    if not has(m, FIXED):
        d.memory[GOING] = 0.0
    return worst


@kernel
def suspend(d, end, worst):
    """Leave the rest of a step, up to the time `end` (s), to the next call; `worst`: its status so far."""
    d.event_end[0] = end
    d.event_count[UNDONE] = 1 + worst
    return EVENTS_FULL


@kernel
def land(m, d, end, method):
    """Move the derivatives of a state that is at the time `end` (s) but for rounding from its own time to that one.

    The time of an event has derivatives, that of a step's end has none: their difference is the length of a last step
    from the present slopes, whose value is rounding. Only for duals; elsewhere nothing happens.
    """
    if not is_left(m, d, end, method):
        start = d.time
        if has(m, FIXED):
            state_at(m, d, end - start, start, 1.0, method)
        else:
            # stage 1 moves along the slopes of stage 0 alone, by the fraction c of its length
            tableau = method[0]
            stage_state(m, d, (end - start) / tableau[1, 0], tableau, 1, 1)
        d.time = end


@kernel
def is_left(m, d, end, method):
    """Whether there is more than rounding up to the time `end` (s)."""
    if has(m, FIXED):
        return end - d.time > ROUNDING * (1.0 + absolute(end))
    return remains(end - d.time, end, method[BOUNDS])


@kernel
def go_towards(m, d, end, method):
    """Take one step towards `end` (s), or to the first event in it and through it, or reject it; returns a status."""
    start = d.time
    if not has_tangents(d):  # noqa: SIM102 (decided when the kernel is compiled: steps over events have no derivatives)
        if d.dense[LEFT] > 0.0:
            return through(m, d, step_over(m, d, end))
    if creeps(m, d):
        return go_over(m, d, TOO_DENSE)
    status, size, place = look_ahead(m, d, end, method)
    if place >= 0.0:
        return max(status, take(m, d, start, size, place, end, method))
    return go_over(m, d, TOO_DENSE) if status != OK and can_go_over(m, d) else status


@only_with("event", otherwise="False")
@kernel
def goes_on(m, d):
    """Whether an unfinished step is waiting for the event log to be read."""
    return d.event_count[UNDONE] > 0


@kernel
def look_ahead(m, d, end, method):
    """Take a trial step towards `end` (s); returns a status, its length (s), and the fraction of it at the first event.

    The fraction is NONE without an event, and REJECTED if the error is too large; the state is then restored.
    """
    if has(m, FIXED):
        left = end - d.time
        return OK, left, first_event(m, d, left, d.time, method)
    # step size of dopri5's controller, limited while constraints are active
    go_behind_break(m, d, method[BOUNDS])
    start = d.time
    longest = longest_relaxed(d, longest_step(d.memory[STEP], method[BOUNDS]), method[BOUNDS])
    if d.event_count[CLOSED]:
        longest = minimum(longest, LONGEST + 0.0 * longest)
    size = trial_step_size(longest, until_break(start, end - start, method[BOUNDS]))
    # trial step; a rejected one restores the state
    watched_stages(m, d, size, method[0])
    error, eased = relaxed(d, size, True, error_norm(m, d, size, method[1]), method[BOUNDS])
    if not error <= 1.0:
        accept(m, d, size, True, error)
        return OK if large_enough(size, end) else STEP_TOO_SMALL, size, REJECTED
    if not bad_state(m, d) < 0.5:
        if can_go_over(m, d):  # restart from the state before
            accept(m, d, size, True, 2.0 + 0.0 * error)
        return DIVERGED, size, REJECTED
    d.event_error[0] = error
    return NOT_CONVERGED if eased else OK, size, first_event(m, d, size, start, method)


@kernel
def watched_stages(m, d, h, tableau):
    """All stages of a step of h seconds from the saved state, with the event functions at each; leaves its end."""
    start = d.time
    for s in range(1, STAGES):
        stage(m, d, start, h, tableau, s)
        watch(m, d, s == 1)
    d.time = start


@kernel
def take(m, d, start, size, place, end, method):
    """Advance to the end of the step that began at `start`, or to its first event and through it. Returns a status."""
    # an event: resolve it at its location
    if place < NONE:
        status = state_at(m, d, size, start, place, method)
        if fails(m, d, status):
            return retreat(m, d, start, size, max(status, DIVERGED), method)
        if has(m, EVENTS):
            event_values(m, d)  # for comparison with the values after user actions
        note_controls(m, d, start)
        status = max(status, happen(m, d, start, place * size))
        if has_tangents(d):  # noqa: SIM102 (decided when the kernel is compiled)
            if status <= UNSOLVED and not log_is_full(m, d):
                land(m, d, end, method)
        return status
    # no event: the whole step
    status = finish(m, d, start, size, method)
    if status >= DIVERGED or (has(m, FIXED) and fails(m, d, status)):
        return retreat(m, d, start, size, status, method)
    if not is_left(m, d, end, method):
        d.time = end
    d.dense[RECENT] = 0.0
    log_limits(m, d)
    go_on(m, d)
    return go_over(m, d, TOO_DENSE) if stalls(m, d, size) else status


@kernel
def fails(m, d, status):
    """Whether a step has led to no state or, with active contacts, to one that does not solve its equations."""
    return not bad_state(m, d) < 0.5 or (status == NOT_CONVERGED and can_go_over(m, d))


@kernel
def retreat(m, d, start, size, status, method):
    """Switch to time stepping from the start of a failed step, if possible; returns a status."""
    if not can_go_over(m, d):
        return status
    state_at(m, d, size, start, 0.0, method)
    d.time = start
    return go_over(m, d, TOO_DENSE)


@kernel
def through(m, d, status):
    """Complete a time step over events: run user events, and return to event location after the last step."""
    if status > UNSOLVED:
        return status
    log_limits(m, d)
    passed = mark_passed(m, d)
    ended = passed and act(m, d)
    if d.dense[LEFT] < 0.5 and come_back(m, d):
        start_step(m, d)
    elif passed:
        look(m, d)
        sides_after(m, d)
    return ENDED if ended else OK


@kernel
def finish(m, d, start, size, method):
    """Advance to the end of a step without events; returns a status. event_value already holds the values there."""
    if not has(m, FIXED):
        end_of_step(m, d, size, start, method[0])
        accept(m, d, size, True, d.event_error[0])
        return OK
    status = state_at(m, d, size, start, 1.0, method)
    if not bad_state(m, d) < 0.5:
        return DIVERGED
    note_controls(m, d, start)
    return status


@kernel
def happen(m, d, start, passed):
    """Resolve the event at the current state, `passed` (s) after the step's start. Returns a status."""
    log_limits(m, d)
    if not has(m, FIXED):
        d.memory[TRIES] = 0.0 * d.time  # which count steps that do not come to an event
    dense = too_dense(m, d, passed > INSTANT * (1.0 + absolute(start)))
    project(m, d)
    ended = act(m, d)
    status = TOO_DENSE
    if not dense or m.opt_dense == LOCATE:
        status = CHATTER if dense else settle(m, d)
    status = go_over(m, d, status)
    if status == OK and d.dense[LEFT] < 0.5:
        start_step(m, d)
    return ENDED if ended and status == OK else status


def event_driven(integrator: Integrator) -> Integrator:
    """Event-driven version of an integrator, with the Data that dense events need (see `moreau_jean`)."""
    return replace(integrator, step=step, needs=integrator.needs | {"implicit": True, "searches": True})


def step_word(integrator: Integrator) -> str:
    """The feature key of the method with fixed steps in a Model's layout; "" for dopri5."""
    return "" if integrator.adaptive else method_word(integrator.step)
