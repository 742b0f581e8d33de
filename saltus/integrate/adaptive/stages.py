"""Stages of a step from the saved state, and acceptance of the step.

First same as last: the slopes of an accepted step's last stage are those of the next step's first. Slopes [7 nv],
[7 nact] are in stage_qvel, stage_qacc, stage_act.
"""

from saltus.dynamics.actuator.activation import settle_activations
from saltus.dynamics.history import note_controls
from saltus.dynamics.motions import prescribe
from saltus.integrate.adaptive.first_step import first_step_size
from saltus.integrate.adaptive.memory import GOING
from saltus.integrate.adaptive.step_size import control_step_size
from saltus.integrate.dense.dormand_prince import STAGES
from saltus.integrate.fixed.runge_kutta import stage_state, store_slopes
from saltus.integrate.manifold import save_state
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.solve.acceleration import acceleration
from saltus.solve.status import OK


@kernel
def first_slopes(m, d):
    """Save the current state with its slopes as stage 0, and set the first step size. Returns a status."""
    save_state(m, d)
    status = acceleration(m, d)
    for i in range(m.nv):
        d.step_tangent[i] = 0.0 * d.time
    store_slopes(m, d, 0)
    first_step_size(m, d)
    return status


@kernel
def stage(m, d, start, h, tableau, s):
    """State and slopes of stage s of a step of h seconds from `start` (s). Returns a status."""
    d.time = start + h * tableau[s, 0]
    stage_state(m, d, h, tableau, s, s)
    status = acceleration(m, d)
    store_slopes(m, d, s)
    return status


@kernel
def attempt(m, d, h, tableau):
    """All stages of a step of h seconds from the saved state; leaves its end in qpos, qvel, act. Returns a status."""
    start = d.time
    status = OK
    for s in range(1, STAGES):
        status = max(status, stage(m, d, start, h, tableau, s))
    d.time = start
    return status


@kernel
def end_of_step(m, d, h, start, tableau):
    """The end of a step of h seconds that began at `start` (s), after dense output inside it; to be accepted next."""
    stage_state(m, d, h, tableau, STAGES, STAGES)
    d.time = start + h
    prescribe(m, d)
    d.time = start
    note_controls(m, d, start)


@kernel
def accept(m, d, h, live, error):
    """Accept the step where its error is at most 1, restore the saved state elsewhere, and set the next step size.

    Returns the time (s) by which the state has advanced.
    """
    good = live & (error <= 1.0)
    control_step_size(m, d, h, live, good, error)
    # new state, or the saved one
    d.time = where(good, d.time + h, d.time)
    for k in range(m.nq):
        d.qpos[k] = where(good, d.qpos[k], d.qpos_saved[k])
        d.qpos_saved[k] = d.qpos[k]
    last = (STAGES - 1) * m.nv
    for i in range(m.nv):
        d.qvel[i] = where(good, d.qvel[i], d.qvel_saved[i])
        d.qvel_saved[i] = d.qvel[i]
        # first same as last: the last stage is the next step's first, with rotations from the new state
        d.stage_qvel[i] = where(good, d.qvel[i], d.stage_qvel[i])
        d.stage_qacc[i] = where(good, d.stage_qacc[last + i], d.stage_qacc[i])
    accept_activations(m, d, good)
    return where(good, h, 0.0 * h)


@only_with("act")
@kernel
def accept_activations(m, d, good):
    """Actuator states of an accepted step, within their limits, or the saved ones where it was rejected."""
    settle_activations(m, d)
    last = (STAGES - 1) * m.nact
    for k in range(m.nact):
        d.act[k] = where(good, d.act[k], d.act_saved[k])
        d.act_saved[k] = d.act[k]
        d.stage_act[k] = where(good, d.stage_act[last + k], d.stage_act[k])


@kernel
def save_start(m, d):
    """Save the current state as the next step's start; accelerations and act_dot of stage 0 are kept."""
    save_state(m, d)
    for i in range(m.nv):
        d.stage_qvel[i] = d.qvel[i]


@kernel
def resume_slopes(m, d):
    """Continue from the current state with the slopes that `leave_slopes` has stored."""
    save_start(m, d)
    for i in range(m.nv):
        d.stage_qacc[i] = d.fsal_qacc[i]
    for k in range(m.nact):
        d.stage_act[k] = d.fsal_act[k]


@kernel
def leave_slopes(m, d):
    """Store the slopes at the current state with it, so that a run continued from there is identical to the bit."""
    for i in range(m.nv):
        d.fsal_qacc[i] = d.stage_qacc[i]
    for k in range(m.nact):
        d.fsal_act[k] = d.stage_act[k]
    d.memory[GOING] = 1.0 + 0.0 * d.time
