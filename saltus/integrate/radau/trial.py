"""A trial step: stages, error estimate, and its acceptance."""

from saltus.dynamics.actuator.activation import settle_activations
from saltus.dynamics.history import note_controls
from saltus.integrate.adaptive.first_step import first_step_size
from saltus.integrate.adaptive.memory import GOING
from saltus.integrate.manifold import save_state
from saltus.integrate.radau.error import estimate_error, set_scale
from saltus.integrate.radau.matrices import factor_both
from saltus.integrate.radau.memory import ITERATIONS, LENGTH_BEFORE, PAST, REFUSED, SLOPES
from saltus.integrate.radau.newton import FAILED, first_guess, solve_stages
from saltus.integrate.radau.slopes import find_slopes
from saltus.integrate.radau.states import evaluate, move_to, remember_slopes, to_start, width
from saltus.integrate.radau.step_size import control_step_size
from saltus.integrate.radau.tableau import STAGES
from saltus.number.conditions import has_lanes
from saltus.number.functions import any_lane, where
from saltus.number.kernels import kernel
from saltus.solve.acceleration import acceleration
from saltus.solve.status import OK

UNSOLVED = 1e300  # in place of the error norm, where Newton's iteration failed


@kernel
def begin(m, d):
    """Save the current state with its slopes, and set the first step size. Returns a status."""
    save_state(m, d)
    status = acceleration(m, d)
    remember_slopes(m, d, True)
    first_step_size(m, d)
    d.newton_length = 0.0 * d.time
    return status


@kernel
def resume(m, d):
    """Continue from the current state with the slopes that the step before has left."""
    save_state(m, d)
    d.newton_length = 0.0 * d.time


@kernel
def forget(m, d, there):
    """Begin anew, as the forces may have jumped: without Newton's matrix and the polynomial of the step before.

    `there`: lanes in which they may have.
    """
    none = 0.0 * d.time
    d.memory[SLOPES] = where(there, none, d.memory[SLOPES])
    d.memory[PAST] = where(there, none, d.memory[PAST])
    d.memory[LENGTH_BEFORE] = where(there, none, d.memory[LENGTH_BEFORE])
    d.memory[REFUSED] = where(there, none, d.memory[REFUSED])


@kernel
def attempt(m, d, h, tolerance, live):
    """A trial step of h seconds from the saved state, with its end in qpos, qvel, act; returns a status and its error.

    The error is in units of the tolerance, UNSOLVED if Newton's iteration failed. `live`: lanes that try the step.
    """
    status = OK
    unknown = live & (d.memory[SLOPES] < 0.5)
    if any_lane(unknown):
        status = find_slopes(m, d, unknown)
        d.newton_length = where(unknown, 0.0 * h, d.newton_length)
    # lanes whose factors are those of this length already find the same ones again
    new = live & (d.newton_length != h)
    if any_lane(new):
        factor_both(m, d, h, new)
    # stages
    to_start(m, d, False)
    set_scale(m, d, tolerance)
    first_guess(m, d, h, live)
    status = max(status, solve_stages(m, d, h, tolerance[0], live))
    solved = live & (d.memory[ITERATIONS] > FAILED + 0.5)
    if not any_lane(solved):
        return OK, UNSOLVED + 0.0 * h
    # error
    last = (STAGES - 1) * width(m)
    move_to(m, d, d.stage_change, last, solved)
    set_scale(m, d, tolerance)
    again = solved & ((d.memory[REFUSED] > 0.5) | (d.memory[LENGTH_BEFORE] == 0.0))
    error = estimate_error(m, d, h, again)
    move_to(m, d, d.stage_change, last, solved)
    return status, where(solved, error, UNSOLVED + 0.0 * h)


@kernel
def accept(m, d, h, error, live):
    """Accept the step if its error is at most 1, else restore the saved state, and set the next step size.

    Returns the time (s) by which the state has advanced, and a status. `live`: lanes that have tried the step.
    """
    good = live & (error <= 1.0)
    control_step_size(m, d, h, error, live, good)
    to_start(m, d, good)
    if not any_lane(good):
        return 0.0 * h, OK
    # the stages, for the next starting values
    for k in range(STAGES * width(m)):
        d.stage_past[k] = where(good, d.stage_change[k], d.stage_past[k])
    d.memory[PAST] = where(good, h, d.memory[PAST])
    if not has_lanes(d):
        note_controls(m, d, d.time)
    # the new state with its slopes
    d.time = where(good, d.time + h, d.time)
    settle_activations(m, d)
    for k in range(m.nact):
        d.act[k] = where(good, d.act[k], d.act_saved[k])
    save_state(m, d)
    status = evaluate(m, d, good)
    remember_slopes(m, d, good)
    d.memory[GOING] = where(good, 1.0 + 0.0 * h, d.memory[GOING])
    return where(good, h, 0.0 * h), status
