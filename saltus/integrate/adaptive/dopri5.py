"""The Dormand-Prince method of order 5(4) with step-size control and dense output.

The embedded method of order four gives the error estimate, and a PI controller (Gustafsson) the step size: Hairer,
Nørsett & Wanner, Solving Ordinary Differential Equations I (1993), II.5 and II.6, with the constants of their code
DOPRI5. Rotations are advanced as in `runge_kutta`. With lanes, each simulation has its own step size.
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
    """Advance by h seconds in as many steps as the tolerance (relative, absolute) requires.

    memory = (step size to try next or 0, error of the previous step, steps taken, steps rejected, 1 if a step size
    became too small (such a simulation stops there), 1 if fsal_qacc, fsal_act are the slopes at the state). Returns 0,
    or a status if a step size became too small.
    """
    start, end = d.time, d.time + h
    gone = 0.0 * start  # s, of h; in single precision, differences of times may be too coarse
    # slopes and initial step size at the start
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
        # a step that nearly reaches the end is extended to it
        size = where(size > 0.999999 * left, left, size)
        # stages, error estimate, acceptance and the next step size
        status = max(status, attempt(m, d, size, tableau))
        taken = accept(m, d, size, live, error_norm(m, d, size, tolerance))
        gone = where(live & (taken >= left), h + 0.0 * left, gone + taken)
        d.time = start + gone
        # lanes whose step size has fallen to rounding stop
        small = where(size >= 1e-13 * (1.0 + absolute(end)), stuck, one)
        stuck = where(live, small, stuck)
    # lanes that have not reached the end
    d.memory[GOING] = 0.0 * one
    late = h - gone > 1e-14 * (1.0 + absolute(end))
    d.memory[STUCK] = where(late, one, stuck)
    d.time = where(late, d.time, end)
    if any_lane(late):
        return STEP_TOO_SMALL
    return status


@kernel
def first_slopes(m, d):
    """Slopes at the current state as stage 0, and the initial step size (Hairer, Nørsett & Wanner, II.4).

    Returns a status.
    """
    status = acceleration(m, d)
    for i in range(m.nv):
        d.qacc_saved[i] = 0.0 * d.time
    store_slopes(m, d, 0)
    # initial step size from the largest velocity and acceleration
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
    """All stages of a step of h seconds from the saved state; leaves its end in qpos, qvel, act. Returns a status."""
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
    """Root mean square of the error estimates, each divided by absolute + relative * magnitude."""
    total = 0.0 * d.time
    for i in range(m.nv):
        # error estimates h Σ (b - b̂)_s k_s of position and velocity
        position = 0.0 * d.time
        speed = position
        for s in range(STAGES):
            position = position + ERROR[s] * d.stage_qvel[s * m.nv + i]
            speed = speed + ERROR[s] * d.stage_qacc[s * m.nv + i]
        # magnitudes over the step; 1 for ball and free joints
        j = m.dof_jntid[i]
        size = 1.0 + 0.0 * d.time
        if m.jnt_type[j] >= SLIDE:
            a = m.jnt_qposadr[j]
            size = maximum(absolute(d.qpos[a]), absolute(d.qpos_saved[a]))
        fast = maximum(absolute(d.qvel[i]), absolute(d.qvel_saved[i]))
        # weighted norm
        position = h * position / (tolerance[1] + tolerance[0] * size)
        speed = h * speed / (tolerance[1] + tolerance[0] * fast)
        total = total + position * position + speed * speed
    total = total + activation_errors(m, d, h, tolerance)
    return sqrt(total / max(2.0 * m.nv + m.nact, 1.0))


@only_with("act", otherwise="0.0 * h")
@kernel
def activation_errors(m, d, h, tolerance):
    """Sum of squared error estimates of the actuator states, each divided by absolute + relative * magnitude."""
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
    """Accept the step where its error is at most 1, restore the saved state elsewhere, and set the next step size.

    Returns the time (s) by which the state has advanced.
    """
    good = live & (error <= 1.0)
    known = error == error
    error = where(error > 1e-10, error, 1e-10 + 0.0 * d.time)
    # PI controller: factor from this error and the previous one
    factor = SAFETY * power(error, -(0.2 - 0.75 * BETA)) * power(d.memory[ERROR_BEFORE], BETA)
    factor = clip(factor, SHRINK, where(good, GROW + 0.0 * error, 1.0 + 0.0 * error))
    factor = where(known, factor, SHRINK + 0.0 * error)
    # next step size; a step shortened to meet an end does not reduce it
    tried = where(live, maximum(h, 0.0 * h), d.memory[STEP])
    shortened = good & (h < d.memory[STEP])
    proposal = tried * factor
    proposal = where(shortened, maximum(proposal, d.memory[STEP]), proposal)
    d.memory[STEP] = where(live, proposal, d.memory[STEP])
    d.memory[ERROR_BEFORE] = where(good, maximum(error, 1e-4 + 0.0 * error), d.memory[ERROR_BEFORE])
    # counts of accepted and rejected steps
    d.memory[TAKEN] = d.memory[TAKEN] + where(good, 1.0 + 0.0 * error, 0.0 * error)
    failed = where(good, 0.0 * error, 1.0 + 0.0 * error)
    d.memory[REJECTED] = d.memory[REJECTED] + where(live, failed, 0.0 * error)
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
def interpolate(m, d, h, start, theta):
    """The state at the fraction theta of a step of h seconds from the saved state, into qpos, qvel, act, time.

    Dense output of order four (Hairer, Nørsett & Wanner, eq. II.6.12 in the form of their code). The step began at
    `start` (s).
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
    """Dense output of act at the fraction theta of the step."""
    for k in range(m.nact):
        d.act[k] = d.act_saved[k] + h * dense(m, d, d.stage_act, k, m.nact, theta, rest)


@kernel(inline=True)
def dense(m, d, slopes, i, n, theta, rest):
    """theta times the mean slope of quantity i of n from the step's start to theta; rest = 1 - theta."""
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
    """Continue from the current state with the slopes that `leave_slopes` has stored."""
    save_state(m, d)
    for i in range(m.nv):
        d.stage_qvel[i] = d.qvel[i]
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


@kernel
def record(m, d, times, row, attempts, tableau, tolerance, out):
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
        # samples at the current time
        while row < len(times) and times[row] <= d.time:
            write_row(m, d, times[row], out, row)
            row += 1
        if row == len(times):
            return row, status
        # one trial step and its error
        left = end - d.time
        start = d.time
        size = minimum(d.memory[STEP], left)
        size = where(size > 0.999999 * left, left, size)
        status = max(status, attempt(m, d, size, tableau))
        error = error_norm(m, d, size, tolerance)
        if error <= 1.0:
            if not bad_state(m, d) < 0.5:
                return row, DIVERGED
            # samples inside an accepted step, by dense output
            while row < len(times) and times[row] < start + size:
                interpolate(m, d, size, start, (times[row] - start) / size)
                write_row(m, d, times[row], out, row)
                row += 1
            # back to the end of the step
            stage_state(m, d, size, tableau, STAGES, STAGES)
            d.time = start
            record_controls(m, d, start)
        # next state and step size
        accept(m, d, size, True, error)
        if size == left and error <= 1.0:
            d.time = end
        if not size >= 1e-13 * (1.0 + absolute(end)):
            return row, STEP_TOO_SMALL
    return row, status


@kernel
def write_row(m, d, time, out, row):
    """Write the current state as one sample, with the given time (s), to row `row` of out."""
    out[row, 0] = time
    for k in range(m.nq):
        out[row, 1 + k] = d.qpos[k]
    for i in range(m.nv):
        out[row, 1 + m.nq + i] = d.qvel[i]
    for k in range(m.nact):
        out[row, 1 + m.nq + m.nv + k] = d.act[k]


def dopri5(relative: float = 1e-8, absolute_: float = 1e-10) -> Integrator:
    """The Dormand-Prince method with a relative and an absolute error tolerance per step."""
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
