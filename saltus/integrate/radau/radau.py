"""The Radau IIA method of order five with step-size control and dense output, for stiff equations.

Three implicit stages, solved by a simplified Newton iteration for velocities and actuator states, with positions
eliminated; rotations are advanced in the tangent space at the step's start. Hairer & Wanner, Solving Ordinary
Differential Equations II (1996), IV.5 and IV.8. The method is L-stable: the step follows the motion, not the stiffest
spring or damper, and contact forces act within Newton's matrix, by differences.
"""

import numpy as np

from saltus.integrate.adaptive.dopri5 import begin_contact, passed_contact
from saltus.integrate.adaptive.memory import GOING, LANDING, STEP, STUCK
from saltus.integrate.adaptive.relaxation import longest_relaxed, relaxed
from saltus.integrate.adaptive.samples import write_reached, write_row
from saltus.integrate.adaptive.step_bounds import longest_step, pass_break, remains, step_bounds, until_break
from saltus.integrate.adaptive.step_size import large_enough, trial_step_size
from saltus.integrate.dense.dense_output import interpolate
from saltus.integrate.dense.dormand_prince import STAGES as DENSE_STAGES
from saltus.integrate.integrator import Integrator
from saltus.integrate.radau.dense import leave_dense_output
from saltus.integrate.radau.memory import PLACES
from saltus.integrate.radau.states import move_to, remember_slopes, width
from saltus.integrate.radau.step_size import crossing
from saltus.integrate.radau.tableau import STAGES, TABLEAU
from saltus.integrate.radau.trial import UNSOLVED, accept, attempt, begin, forget, resume
from saltus.integrate.status import bad_start, bad_state
from saltus.number.functions import any_lane, where
from saltus.number.kernels import kernel
from saltus.solve.status import DIVERGED, NOT_CONVERGED, OK, STEP_TOO_SMALL

ATTEMPTS = 100_000
REJECT = 2.0  # error norm of a rejected step


@kernel
def step(m, d, h, tableau, tolerance, bounds):
    """Advance by h seconds in as many steps as the tolerance (relative, absolute) and the bounds of steps require.

    `tableau`: the method's, which readers of an Integrator see. Memory between steps: see
    `saltus.integrate.radau.memory`; `bounds`: see `saltus.integrate.adaptive.step_bounds`. Returns 0, or a status if a
    step size became too small or was accepted by a relaxed tolerance.
    """
    end = d.time + h
    one = 1.0 + 0.0 * end
    status = begin(m, d)
    for _ in range(ATTEMPTS):
        live = remains(end - d.time, end, bounds) & (d.memory[STUCK] < 0.5)
        if not any_lane(live):
            break
        skip_break(m, d, live, bounds)
        # lanes at the end stay there, with any size
        size = where(live, next_size(d, end, bounds), one)
        left = end - d.time
        result, error = trial(m, d, size, tolerance, bounds, live)
        taken, arrived = accept(m, d, size, error, live)
        status = max(status, max(result, arrived))
        d.time = where((taken > 0.0) & (size == left), end, d.time)
        land(m, d, taken > 0.0)
        small = where(large_enough(size, end), d.memory[STUCK], one)
        d.memory[STUCK] = where(live, small, d.memory[STUCK])
    # lanes that have not reached the end
    d.memory[GOING] = 0.0 * h
    late = remains(end - d.time, end, bounds)
    d.memory[STUCK] = where(late, one, d.memory[STUCK])
    d.time = where(late, d.time, end)
    if any_lane(late):
        return STEP_TOO_SMALL
    return status


@kernel
def record(m, d, times, row, attempts, tableau, tolerance, bounds, out):
    """Integrate towards times[-1] in steps of free size and write the states at the ascending times [n] (dense output).

    Arguments, rows and results are those of `saltus.integrate.adaptive.dopri5.record`.
    """
    status = OK
    if not bad_start(m, d) < 0.5:
        resume(m, d)
        return row, DIVERGED
    if d.memory[GOING] > 0.5:
        resume(m, d)
    else:
        status = begin(m, d)
    row, result = free_steps(m, d, times, row, attempts, tolerance, bounds, out)
    d.memory[GOING] = 1.0 + 0.0 * d.time
    return row, max(status, result)


@kernel
def free_steps(m, d, times, row, attempts, tolerance, bounds, out):
    """Steps of free size with samples, once the slopes at the present state are known; see `record`."""
    end, status = times[-1], OK
    for _ in range(attempts):
        if not remains(end - d.time, end, bounds):
            d.time = max(d.time, end)
        row = write_reached(m, d, times, row, out)
        if row == len(times):
            return row, status
        # one trial step and its error
        skip_break(m, d, True, bounds)
        start = d.time
        size = next_size(d, end, bounds)
        result, error = trial(m, d, size, tolerance, bounds, True)
        status = max(status, result)
        if error <= 1.0:
            if not bad_state(m, d) < 0.5:
                return row, DIVERGED
            leave_dense_output(m, d, size)
            # a contact begins within the step: repeat it up to the contact
            place = passed_contact(m, d, size, start)
            if place < 1.0:
                accept(m, d, size, REJECT + 0.0 * error, True)
                d.memory[STEP] = place * size
                d.memory[LANDING] = 1.0 + 0.0 * size
                continue
            # samples inside an accepted step, by dense output
            while row < len(times) and times[row] < start + size:
                interpolate(m, d, size, start, (times[row] - start) / size)
                write_row(m, d, times[row], out, row)
                row += 1
            move_to(m, d, d.stage_change, (STAGES - 1) * width(m), True)
            d.time = start
        # next state and step size
        taken, arrived = accept(m, d, size, error, True)
        status = max(status, arrived)
        if taken > 0.0 and size == end - start:
            d.time = end
        land(m, d, taken > 0.0)
        if not large_enough(size, end):
            return row, STEP_TOO_SMALL
    return row, status


@kernel
def land(m, d, stepped):
    """Begin anew if the step has ended where a contact begins, or has crossed a jump; `stepped`: lanes that took it."""
    there = stepped & (d.memory[LANDING] > 0.5)
    if any_lane(there):
        forget(m, d, there)
        begin_contact(m, d, there)


@kernel
def skip_break(m, d, live, bounds):
    """Go just behind a break if the time is at one, and begin anew there; `live`: lanes that step."""
    there = pass_break(m, d, live, bounds) > 0.0
    if any_lane(there):
        remember_slopes(m, d, there)
        forget(m, d, there)


@kernel
def next_size(d, end, bounds):
    """The step size (s) to try next: the one that the error allows, up to the time `end` (s) and to breaks."""
    longest = longest_relaxed(d, longest_step(d.memory[STEP], bounds), bounds)
    return trial_step_size(longest, until_break(d.time, end - d.time, bounds))


@kernel
def trial(m, d, h, tolerance, bounds, live):
    """A trial step, with its error as the tolerance may have been relaxed; see `attempt`. Returns a status and it."""
    status, unrelaxed = attempt(m, d, h, tolerance, live)
    solved = live & (unrelaxed != UNSOLVED)
    if not any_lane(solved):
        return status, unrelaxed
    error, eased = relaxed(d, h, solved, unrelaxed, bounds)
    # across a jump, as where a contact begins, no step is short enough for a tolerance below its change in this time
    crosses = solved & (error > 1.0) & (h <= crossing(d))
    d.memory[LANDING] = where(crosses, 1.0 + 0.0 * h, d.memory[LANDING])
    error = where(crosses, 1.0 + 0.0 * h, where(solved, error, unrelaxed))
    return max(status, NOT_CONVERGED) if eased or any_lane(crosses) else status, error


def radau(relative: float = 1e-8, absolute_: float = 1e-10) -> Integrator:
    """The method with relative and absolute error tolerance per step, without bounds of steps."""
    return Integrator(
        name="radau",
        order=5,
        kind="adaptive",
        reference="Hairer & Wanner, Solving ODEs II (1996), IV.5 and IV.8: Radau IIA",
        step=step,
        parameters=(TABLEAU.table, np.array([relative, absolute_]), step_bounds()),
        needs={"nstage": DENSE_STAGES, "memory": (PLACES, 0), "fsal": True, "searches": True, "collocates": True},
        adaptive=True,
        doubles_only=True,
    )
