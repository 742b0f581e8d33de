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
from saltus.integrate.radau.states import move_to, remember_slopes, to_start, width
from saltus.integrate.radau.step_size import control_step_size
from saltus.integrate.radau.tableau import STAGES
from saltus.number.kernels import kernel
from saltus.solve.acceleration import acceleration
from saltus.solve.status import OK

UNSOLVED = 1e300  # in place of the error norm, where Newton's iteration failed


@kernel
def begin(m, d):
    """Save the current state with its slopes, and set the first step size. Returns a status."""
    save_state(m, d)
    status = acceleration(m, d)
    remember_slopes(m, d)
    first_step_size(m, d)
    d.newton_length = 0.0 * d.time
    return status


@kernel
def resume(m, d):
    """Continue from the current state with the slopes that the step before has left."""
    save_state(m, d)
    d.newton_length = 0.0 * d.time


@kernel
def forget(m, d):
    """Begin anew, as the forces may have jumped: without Newton's matrix and the polynomial of the step before."""
    d.memory[SLOPES] = d.memory[PAST] = d.memory[LENGTH_BEFORE] = d.memory[REFUSED] = 0.0 * d.time


@kernel
def attempt(m, d, h, tolerance):
    """A trial step of h seconds from the saved state, with its end in qpos, qvel, act; returns a status and its error.

    The error is in units of the tolerance, UNSOLVED if Newton's iteration failed.
    """
    status = OK
    if not d.memory[SLOPES] > 0.5:
        status = find_slopes(m, d)
        d.newton_length = 0.0 * h
    if d.newton_length != h:
        factor_both(m, d, h)
    # stages
    to_start(m, d)
    set_scale(m, d, tolerance)
    first_guess(m, d, h)
    status = max(status, solve_stages(m, d, h, tolerance[0]))
    if d.memory[ITERATIONS] == FAILED:
        return OK, UNSOLVED + 0.0 * h
    # error
    last = (STAGES - 1) * width(m)
    move_to(m, d, d.stage_change, last)
    set_scale(m, d, tolerance)
    error = estimate_error(m, d, h, d.memory[REFUSED] > 0.5 or d.memory[LENGTH_BEFORE] == 0.0)
    move_to(m, d, d.stage_change, last)
    return status, error


@kernel
def accept(m, d, h, error):
    """Accept the step if its error is at most 1, else restore the saved state, and set the next step size.

    Returns the time (s) by which the state has advanced, and a status.
    """
    good = error <= 1.0
    control_step_size(m, d, h, error, good)
    if not good:
        to_start(m, d)
        return 0.0 * h, OK
    # the stages, for the next starting values
    for k in range(STAGES * width(m)):
        d.stage_past[k] = d.stage_change[k]
    d.memory[PAST] = h
    note_controls(m, d, d.time)
    # the new state with its slopes
    d.time = d.time + h
    settle_activations(m, d)
    save_state(m, d)
    status = acceleration(m, d)
    remember_slopes(m, d)
    d.memory[GOING] = 1.0 + 0.0 * h
    return h, status
