"""Dormand and Prince's method of fifth order with step control and dense output.

The difference to an embedded method of fourth order estimates the error; a PI controller chooses the steps
(Gustafsson; Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I (1993), II.5 and II.6; constants of
its code DOPRI5). Rotations are advanced as in `runge_kutta`. In lanes, each simulation has its own steps.
"""

import numpy as np

from saltus.dynamics.actuator.activation import settle_activations
from saltus.dynamics.history import record_controls
from saltus.dynamics.tree.kinematics import SLIDE
from saltus.dynamics.tree.manifold import displace
from saltus.integrate.fixed.runge_kutta import stage_state, store_slopes
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import save_state
from saltus.integrate.status import bad_start, bad_state
from saltus.integrate.tableau import ButcherTableau
from saltus.number.functions import absolute, any_lane, clip, maximum, minimum, power, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.solve.acceleration import acceleration
from saltus.solve.status import DIVERGED, OK, STEP_TOO_SMALL

_A = [
    [0, 0, 0, 0, 0, 0, 0],
    ["1/5", 0, 0, 0, 0, 0, 0],
    ["3/40", "9/40", 0, 0, 0, 0, 0],
    ["44/45", "-56/15", "32/9", 0, 0, 0, 0],
    ["19372/6561", "-25360/2187", "64448/6561", "-212/729", 0, 0, 0],
    ["9017/3168", "-355/33", "46732/5247", "49/176", "-5103/18656", 0, 0],
    ["35/384", 0, "500/1113", "125/192", "-2187/6784", "11/84", 0],
]
TABLEAU = ButcherTableau(_A, _A[-1], name="dopri5", order=5)
STAGES = 7
# weights of the error estimate, b - b̂, and of the dense output's last term (Hairer, Nørsett & Wanner, II.6)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
DENSE = (
    -12715105075 / 11282082432,
    0.0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
)
SAFETY, SHRINK, GROW, BETA = 0.9, 0.2, 10.0, 0.04
ATTEMPTS = 100_000
STEP, ERROR_BEFORE, TAKEN, REJECTED, STUCK, GOING = range(6)  # places in memory


@kernel
def step(m, d, h, tableau, tolerance):
    """Go h seconds on in as many steps as the tolerance (relative, absolute) asks for.

    memory = (step to try next or 0, error of the step before, steps taken, steps rejected, 1 if a step became too
    small: such a simulation stays where it is; 1 if fsal_qacc, fsal_act are the slopes at the state). Returns 0, or a
    status if one did.
    """
    start, end = d.time, d.time + h
    gone = 0.0 * start  # s of h; in single precision times themselves may be too coarse to be subtracted
    save_state(m, d)
    status = first_slopes(m, d)
    one = 1.0 + 0.0 * end
    stuck = d.memory[STUCK]
    for _ in range(ATTEMPTS):
        left = h - gone
        live = (left > 1e-14 * (1.0 + absolute(end))) & (stuck < 0.5)
        if not any_lane(live):
            break
        size = where(live, minimum(d.memory[STEP], left), 0.0 * left)
        # a step that nearly reaches the end goes all the way
        size = where(size > 0.999999 * left, left, size)
        status = max(status, attempt(m, d, size, tableau))
        taken = accept(m, d, size, live, error_norm(m, d, size, tolerance))
        gone = where(live & (taken >= left), h + 0.0 * left, gone + taken)
        d.time = start + gone
        small = where(size >= 1e-13 * (1.0 + absolute(end)), stuck, one)
        stuck = where(live, small, stuck)
    d.memory[GOING] = 0.0 * one
    late = h - gone > 1e-14 * (1.0 + absolute(end))
    d.memory[STUCK] = where(late, one, stuck)
    d.time = where(late, d.time, end)
    if any_lane(late):
        return STEP_TOO_SMALL
    return status


@kernel
def first_slopes(m, d):
    """Slopes at the present state as stage 0, and a step to begin with (Hairer, Nørsett & Wanner, II.4).

    Returns a status.
    """
    status = acceleration(m, d)
    for i in range(m.nv):
        d.qacc_saved[i] = 0.0 * d.time
    store_slopes(m, d, 0)
    speed = 1e-10 + 0.0 * d.time
    force = speed
    for i in range(m.nv):
        speed = maximum(speed, absolute(d.qvel[i]))
        force = maximum(force, absolute(d.qacc[i]))
    guess = 0.01 * minimum(1.0 / speed, minimum(maximum(speed, 1e-3 + 0.0 * speed) / force, 100.0 + 0.0 * speed))
    known = d.memory[STEP] > 0.0
    d.memory[STEP] = where(known, d.memory[STEP], guess)
    d.memory[ERROR_BEFORE] = where(known, d.memory[ERROR_BEFORE], 1e-4 + 0.0 * guess)
    return status


@kernel
def attempt(m, d, h, tableau):
    """All stages of a step of h seconds from the saved state; its end is left in qpos, qvel, act. Returns a status."""
    start = d.time
    status = OK
    for s in range(1, STAGES):
        d.time = start + h * tableau[s, 0]
        stage_state(m, d, h, tableau, s, s)
        status = max(status, acceleration(m, d))
        store_slopes(m, d, s)
    d.time = start
    return status


@kernel
def error_norm(m, d, h, tolerance):
    """Root mean square of the error estimates over absolute + relative * magnitude."""
    total = 0.0 * d.time
    for i in range(m.nv):
        position = 0.0 * d.time
        speed = position
        for s in range(STAGES):
            position = position + ERROR[s] * d.stage_qvel[s * m.nv + i]
            speed = speed + ERROR[s] * d.stage_qacc[s * m.nv + i]
        j = m.dof_jntid[i]
        size = 1.0 + 0.0 * d.time
        if m.jnt_type[j] >= SLIDE:
            a = m.jnt_qposadr[j]
            size = maximum(absolute(d.qpos[a]), absolute(d.qpos_saved[a]))
        fast = maximum(absolute(d.qvel[i]), absolute(d.qvel_saved[i]))
        position = h * position / (tolerance[1] + tolerance[0] * size)
        speed = h * speed / (tolerance[1] + tolerance[0] * fast)
        total = total + position * position + speed * speed
    total = total + activation_errors(m, d, h, tolerance)
    return sqrt(total / max(2.0 * m.nv + m.nact, 1.0))


@only_with("act", otherwise="0.0 * h")
@kernel
def activation_errors(m, d, h, tolerance):
    """Sum of the squares of the error estimates of actuators' states over absolute + relative * magnitude."""
    total = 0.0 * d.time
    for k in range(m.nact):
        error = 0.0 * d.time
        for s in range(STAGES):
            error = error + ERROR[s] * d.stage_act[s * m.nact + k]
        size = maximum(absolute(d.act[k]), absolute(d.act_saved[k]))
        error = h * error / (tolerance[1] + tolerance[0] * size)
        total = total + error * error
    return total


@kernel
def accept(m, d, h, live, error):
    """Take the step where the error is at most 1, go back where not, and choose the next one.

    Returns how far time has gone on (s).
    """
    good = live & (error <= 1.0)
    known = error == error
    error = where(error > 1e-10, error, 1e-10 + 0.0 * d.time)
    # PI control: also look at the error before
    factor = SAFETY * power(error, -(0.2 - 0.75 * BETA)) * power(d.memory[ERROR_BEFORE], BETA)
    factor = clip(factor, SHRINK, where(good, GROW + 0.0 * error, 1.0 + 0.0 * error))
    factor = where(known, factor, SHRINK + 0.0 * error)
    tried = where(live, maximum(h, 0.0 * h), d.memory[STEP])
    shortened = good & (h < d.memory[STEP])
    proposal = tried * factor
    proposal = where(shortened, maximum(proposal, d.memory[STEP]), proposal)
    d.memory[STEP] = where(live, proposal, d.memory[STEP])
    d.memory[ERROR_BEFORE] = where(good, maximum(error, 1e-4 + 0.0 * error), d.memory[ERROR_BEFORE])
    d.memory[TAKEN] = d.memory[TAKEN] + where(good, 1.0 + 0.0 * error, 0.0 * error)
    failed = where(good, 0.0 * error, 1.0 + 0.0 * error)
    d.memory[REJECTED] = d.memory[REJECTED] + where(live, failed, 0.0 * error)
    d.time = where(good, d.time + h, d.time)
    for k in range(m.nq):
        d.qpos[k] = where(good, d.qpos[k], d.qpos_saved[k])
        d.qpos_saved[k] = d.qpos[k]
    last = (STAGES - 1) * m.nv
    for i in range(m.nv):
        d.qvel[i] = where(good, d.qvel[i], d.qvel_saved[i])
        d.qvel_saved[i] = d.qvel[i]
        # the last stage is the next step's first; its rotations start from there
        d.stage_qvel[i] = where(good, d.qvel[i], d.stage_qvel[i])
        d.stage_qacc[i] = where(good, d.stage_qacc[last + i], d.stage_qacc[i])
    accept_activations(m, d, good)
    return where(good, h, 0.0 * h)


@only_with("act")
@kernel
def accept_activations(m, d, good):
    """Take the states of actuators of a good step, within their limits; go back where it was not."""
    settle_activations(m, d)
    last = (STAGES - 1) * m.nact
    for k in range(m.nact):
        d.act[k] = where(good, d.act[k], d.act_saved[k])
        d.act_saved[k] = d.act[k]
        d.stage_act[k] = where(good, d.stage_act[last + k], d.stage_act[k])


@kernel
def interpolate(m, d, h, start, theta):
    """The state at the fraction theta of a step of h seconds from the state of qpos_saved, into qpos, qvel, act, time.

    Dense output of fourth order (Hairer, Nørsett & Wanner, eq. II.6.12 in the form of their code).
    """
    rest = 1.0 - theta
    for i in range(m.nv):
        d.qstep[i] = dense(m, d, d.stage_qvel, i, m.nv, theta, rest)
        d.qvel[i] = d.qvel_saved[i] + h * dense(m, d, d.stage_qacc, i, m.nv, theta, rest)
    displace(m, d.qpos_saved, h, d.qstep, d.qpos)
    interpolate_activations(m, d, h, theta, rest)
    d.time = start + theta * h


@only_with("act")
@kernel
def interpolate_activations(m, d, h, theta, rest):
    """act at the fraction theta of the step."""
    for k in range(m.nact):
        d.act[k] = d.act_saved[k] + h * dense(m, d, d.stage_act, k, m.nact, theta, rest)


@kernel(inline=True)
def dense(m, d, slopes, i, n, theta, rest):
    """Mean slope of quantity i of n up to theta, times theta."""
    whole = 0.0 * d.time
    bend = whole
    for s in range(STAGES):
        whole = whole + B[s] * slopes[s * n + i]
        bend = bend + DENSE[s] * slopes[s * n + i]
    first = slopes[i] - whole
    last = whole - slopes[(STAGES - 1) * n + i] - first
    return theta * (whole + rest * (first + theta * (last + rest * bend)))


B = tuple(float(x) for x in TABLEAU.b)


@kernel
def resume_slopes(m, d):
    """Go on from the present state with the slopes that `leave_slopes` has kept."""
    save_state(m, d)
    for i in range(m.nv):
        d.stage_qvel[i] = d.qvel[i]
        d.stage_qacc[i] = d.fsal_qacc[i]
    for k in range(m.nact):
        d.stage_act[k] = d.fsal_act[k]


@kernel
def leave_slopes(m, d):
    """Keep the slopes at the present state with it, so that who goes on from there goes on to the bit."""
    for i in range(m.nv):
        d.fsal_qacc[i] = d.stage_qacc[i]
    for k in range(m.nact):
        d.fsal_act[k] = d.stage_act[k]
    d.memory[GOING] = 1.0 + 0.0 * d.time


@kernel
def record(m, d, times, row, attempts, tableau, tolerance, out):
    """Go on towards times[-1] in free steps and write the states at the ascending times [n] by dense output.

    Starts with row `row` of out [n, 1 + nq + nv + nact] = time, qpos, qvel, act, and returns after `attempts` steps at
    the latest: the next row, and a status. In how many calls a run is made makes no difference to the motion. The last
    good state is in qpos_saved, qvel_saved, act_saved.
    """
    status = OK
    if not bad_start(m, d) < 0.5:
        save_state(m, d)
        return row, DIVERGED
    if d.memory[GOING] > 0.5:
        resume_slopes(m, d)
    else:
        save_state(m, d)
        status = first_slopes(m, d)
    row, result = free_steps(m, d, times, row, attempts, tableau, tolerance, out)
    leave_slopes(m, d)
    return row, max(status, result)


@kernel
def free_steps(m, d, times, row, attempts, tableau, tolerance, out):
    """`record`, once the slopes at the present state are known."""
    end = times[-1]
    status = OK
    for _ in range(attempts):
        while row < len(times) and times[row] <= d.time:
            write_row(m, d, times[row], out, row)
            row += 1
        if row == len(times):
            return row, status
        left = end - d.time
        start = d.time
        size = minimum(d.memory[STEP], left)
        size = where(size > 0.999999 * left, left, size)
        status = max(status, attempt(m, d, size, tableau))
        error = error_norm(m, d, size, tolerance)
        if error <= 1.0:
            if not bad_state(m, d) < 0.5:
                return row, DIVERGED
            while row < len(times) and times[row] < start + size:
                interpolate(m, d, size, start, (times[row] - start) / size)
                write_row(m, d, times[row], out, row)
                row += 1
            stage_state(m, d, size, tableau, STAGES, STAGES)
            d.time = start
            record_controls(m, d, start)
        accept(m, d, size, True, error)
        if size == left and error <= 1.0:
            d.time = end
        if not size >= 1e-13 * (1.0 + absolute(end)):
            return row, STEP_TOO_SMALL
    return row, status


@kernel
def write_row(m, d, time, out, row):
    """One sample into row `row` of out."""
    out[row, 0] = time
    for k in range(m.nq):
        out[row, 1 + k] = d.qpos[k]
    for i in range(m.nv):
        out[row, 1 + m.nq + i] = d.qvel[i]
    for k in range(m.nact):
        out[row, 1 + m.nq + m.nv + k] = d.act[k]


def dopri5(relative: float = 1e-8, absolute_: float = 1e-10) -> Integrator:
    """Dormand and Prince's method with a relative and an absolute error tolerance for each step."""
    return Integrator(
        name="dopri5",
        order=5,
        kind="adaptive",
        reference="Dormand & Prince (1980); Hairer, Nørsett & Wanner, Solving ODEs I (1993), II.5 and II.6",
        step=step,
        parameters=(TABLEAU.table, np.array([relative, absolute_])),
        needs={"nstage": STAGES, "memory": (6, 0), "fsal": True},
        adaptive=True,
    )
