"""The Dormand-Prince method of order 5(4) with step-size control and dense output.

Steps of a given length and runs in steps of free size, from the parts beside this file; events between such steps are
located in `saltus.integrate.event.event_driven`. See Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations
I (1993), II.4 to II.6. Rotations are advanced as in `runge_kutta`. With lanes, each simulation has its own step size.
"""

import numpy as np

from saltus.integrate.adaptive.first_step import first_step_size
from saltus.integrate.adaptive.memory import GOING, LANDING, LOOSE, PLACES, STEP, STUCK
from saltus.integrate.adaptive.relaxation import longest_relaxed, relaxed
from saltus.integrate.adaptive.samples import write_reached, write_row
from saltus.integrate.adaptive.stages import accept, attempt, end_of_step, first_slopes, leave_slopes, resume_slopes
from saltus.integrate.adaptive.step_bounds import longest_step, pass_break, remains, step_bounds, until_break
from saltus.integrate.adaptive.step_size import error_norm, large_enough, trial_step_size
from saltus.integrate.dense.contact_search import first_overlap, last_open
from saltus.integrate.dense.dense_output import interpolate
from saltus.integrate.dense.dormand_prince import STAGES, TABLEAU
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import save_state
from saltus.integrate.status import bad_start, bad_state
from saltus.number.conditions import has
from saltus.number.functions import absolute, any_lane, where
from saltus.number.kernels import kernel, only_with
from saltus.solve.status import DIVERGED, NOT_CONVERGED, OK, STEP_TOO_SMALL

ATTEMPTS = 100_000
REJECT = 2.0  # error norm of a rejected step
CAREFUL = 1e-3  # factor for a first step
SHORTER, FELT = 0.1, 1e-7  # s: steps this short resolve a contact that begins in them
SHORTEST = 1e-10  # shortest step that ends at a contact: s, relative to 1 s and to the time


@kernel
def step(m, d, h, tableau, tolerance, bounds):
    """Advance by h seconds in as many steps as the tolerance (relative, absolute) and the bounds of steps require.

    Memory between steps: see `saltus.integrate.adaptive.memory`; `bounds`: see `saltus.integrate.adaptive.step_bounds`.
    Returns 0, or a status if a step size became too small or was accepted by a relaxed tolerance.
    """
    start, end = d.time, d.time + h
    gone = 0.0 * start  # s, of h; in single precision, differences of times may be too coarse
    # slopes and initial step size at the start
    status = first_slopes(m, d)
    one = 1.0 + 0.0 * end
    stuck = d.memory[STUCK]
    for _ in range(ATTEMPTS):
        live = remains(h - gone, end, bounds) & (stuck < 0.5)
        if not any_lane(live):
            break
        # a declared discontinuity of a law at the start
        gone = gone + pass_break(m, d, live, bounds)
        left = h - gone
        longest = longest_relaxed(d, longest_step(d.memory[STEP], bounds), bounds)
        size = trial_step_size(where(live, longest, 0.0 * left), until_break(d.time, left, bounds))
        # stages, error estimate, acceptance and the next step size
        status = max(status, attempt(m, d, size, tableau))
        error, eased = relaxed(d, size, live, error_norm(m, d, size, tolerance), bounds)
        if eased:
            status = max(status, NOT_CONVERGED)
        taken = accept(m, d, size, live, error)
        gone = where(live & (taken >= left), h + 0.0 * left, gone + taken)
        d.time = start + gone
        # lanes whose step size has fallen to rounding stop
        small = where(large_enough(size, end), stuck, one)
        stuck = where(live, small, stuck)
    # lanes that have not reached the end
    d.memory[GOING] = 0.0 * one
    late = remains(h - gone, end, bounds)
    d.memory[STUCK] = where(late, one, stuck)
    d.time = where(late, d.time, end)
    if any_lane(late):
        return STEP_TOO_SMALL
    return status


@kernel
def record(m, d, times, row, attempts, tableau, tolerance, bounds, out):
    """Integrate towards times[-1] in steps of free size and write the states at the ascending times [n] (dense output).

    Starts with row `row` of out [n, 1 + nq + nv + nact] = time, qpos, qvel, act. Returns, after at most `attempts`
    steps, the next row and a status. The motion does not depend on the number of calls that make up a run. The last
    good state is in qpos_saved, qvel_saved, act_saved.
    """
    status = OK
    if not bad_start(m, d) < 0.5:
        save_state(m, d)
        return row, DIVERGED
    if d.memory[GOING] > 0.5:
        resume_slopes(m, d)
    else:
        status = first_slopes(m, d)
    row, result = free_steps(m, d, times, row, attempts, tableau, tolerance, bounds, out)
    leave_slopes(m, d)
    return row, max(status, result)


@kernel
def free_steps(m, d, times, row, attempts, tableau, tolerance, bounds, out):
    """Steps of free size with samples, once the slopes at the present state are known; see `record`."""
    end = times[-1]
    status = OK
    for _ in range(attempts):
        if not remains(end - d.time, end, bounds):
            d.time = max(d.time, end)
        row = write_reached(m, d, times, row, out)
        if row == len(times):
            return row, status
        # one trial step and its error
        pass_break(m, d, True, bounds)
        start = d.time
        left = end - start
        longest = longest_relaxed(d, longest_step(d.memory[STEP], bounds), bounds)
        size = trial_step_size(longest, until_break(start, left, bounds))
        status = max(status, attempt(m, d, size, tableau))
        error, eased = relaxed(d, size, True, error_norm(m, d, size, tolerance), bounds)
        if eased:
            status = max(status, NOT_CONVERGED)
        if error <= 1.0:
            if not bad_state(m, d) < 0.5:
                return row, DIVERGED
            # a contact begins within the step: repeat it up to the contact
            place = passed_contact(m, d, size, start)
            if place < 1.0:
                accept(m, d, size, True, REJECT + 0.0 * error)
                d.memory[STEP] = place * size
                d.memory[LANDING] = 1.0 + 0.0 * size
                continue
            # samples inside an accepted step, by dense output
            while row < len(times) and times[row] < start + size:
                interpolate(m, d, size, start, (times[row] - start) / size)
                write_row(m, d, times[row], out, row)
                row += 1
            end_of_step(m, d, size, start, tableau)
        # next state and step size
        accept(m, d, size, True, error)
        if error <= 1.0 and d.memory[LANDING] > 0.5:
            begin_contact(m, d, True)
        if size == left and error <= 1.0:
            d.time = end
        if not large_enough(size, end):
            return row, STEP_TOO_SMALL
    return row, status


@only_with("constraint", otherwise="1.0")
@kernel
def passed_contact(m, d, h, start):
    """The fraction of a step just before its first contact or limit; 1 if there is none.

    Changes the state except the time. Worlds whose pairs are found at run time are not searched, nor are steps with
    relaxed tolerance, which are at most a timestep long.
    """
    whole = 1.0 + 0.0 * h
    if has(m, "broad") or d.memory[LOOSE] > 1.0:
        return whole
    place = first_overlap(m, d, h, start, (), whole)
    if place < 1.0:
        place = last_open(m, d, h, start, (), place)
        # a contact at once: the step is short enough to resolve it, or is shortened
        if not place * h > SHORTEST * (1.0 + absolute(start)):
            place = SHORTER * whole if h > FELT else whole
    d.time = start
    return place


@kernel
def begin_contact(m, d, there):
    """Set a first step that resolves the contact's force, after a step that ends where a contact begins.

    `there`: lanes in which it does.
    """
    d.memory[LANDING] = where(there, 0.0 * d.time, d.memory[LANDING])
    d.memory[STEP] = where(there, 0.0 * d.time, d.memory[STEP])
    first_step_size(m, d)
    d.memory[STEP] = where(there, CAREFUL * d.memory[STEP], d.memory[STEP])


def dopri5(relative: float = 1e-8, absolute_: float = 1e-10) -> Integrator:
    """The Dormand-Prince method with relative and absolute error tolerance per step, without bounds of steps."""
    return Integrator(
        name="dopri5",
        order=5,
        kind="adaptive",
        reference="Dormand & Prince (1980); Hairer, Nørsett & Wanner, Solving ODEs I (1993), II.5 and II.6",
        step=step,
        parameters=(TABLEAU.table, np.array([relative, absolute_]), step_bounds()),
        needs={"nstage": STAGES, "memory": (PLACES, 0), "fsal": True, "searches": True},
        adaptive=True,
    )
