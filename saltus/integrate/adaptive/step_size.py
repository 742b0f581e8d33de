"""The error norm of a step and the step-size controller.

The embedded method of order four gives the error estimate, and a PI controller (Gustafsson) the step size: Hairer,
Nørsett & Wanner, Solving Ordinary Differential Equations I (1993), II.4, with the constants of their code DOPRI5.
"""

from saltus.integrate.adaptive.memory import ERROR_BEFORE, REJECTED, STEP, TAKEN
from saltus.integrate.dense.dormand_prince import ERROR, STAGES
from saltus.model.enums import SLIDE
from saltus.number.components import value_of
from saltus.number.functions import absolute, clip, maximum, minimum, power, sqrt, where
from saltus.number.kernels import kernel, only_with

SAFETY, SHRINK, GROW, BETA = 0.9, 0.2, 10.0, 0.04


@kernel(inline=True)
def large_enough(h, end):
    """Whether a step of h seconds advances a clock that goes up to `end` (s); False for NaN."""
    return h >= 1e-13 * (1.0 + absolute(end))


@kernel(inline=True)
def trial_step_size(longest, left):
    """The step size to try: `longest`, at most `left`; a step that nearly reaches the end is extended to it."""
    size = minimum(longest, left)
    return where(size > 0.999999 * left, left, size)


@kernel(inline=True)
def magnitudes(m, d, i):
    """Magnitudes of position and velocity of degree of freedom i over a step, from the saved state to the present one.

    Angles of ball and free joints count as 1.
    """
    j = m.dof_jntid[i]
    size = 1.0 + 0.0 * d.time
    if m.jnt_type[j] >= SLIDE:
        a = m.jnt_qposadr[j]
        size = maximum(absolute(d.qpos[a]), absolute(d.qpos_saved[a]))
    return size, maximum(absolute(d.qvel[i]), absolute(d.qvel_saved[i]))


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
        size, fast = magnitudes(m, d, i)
        # weighted norm
        position = h * position / (tolerance[1] + tolerance[0] * size)
        speed = h * speed / (tolerance[1] + tolerance[0] * fast)
        total = total + position * position + speed * speed
    total = total + activation_errors(m, d, h, tolerance)
    return sqrt(value_of(total) / max(2.0 * m.nv + m.nact, 1.0))


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
def control_step_size(m, d, h, live, good, error):
    """Set the next step size and the counts of steps, after a trial step of h seconds with this error norm.

    h' = h · 0.9 error^-(0.2 - 0.75 β) error_before^β, within limits (Hairer & Wanner, Solving Ordinary Differential
    Equations II (1996), IV.2). `live`: lanes that have tried the step; `good`: lanes that accept it.
    """
    # plain numbers: derivatives are those of the motion, for which the choice of steps is a matter of accuracy
    h, step, before = value_of(h), value_of(d.memory[STEP]), value_of(d.memory[ERROR_BEFORE])
    error = value_of(error)
    known = error == error
    error = where(error > 1e-10, error, 1e-10 + 0.0 * h)
    # PI controller: factor from this error and the previous one
    factor = SAFETY * power(error, -(0.2 - 0.75 * BETA)) * power(before, BETA)
    factor = clip(factor, SHRINK, where(good, GROW + 0.0 * error, 1.0 + 0.0 * error))
    factor = where(known, factor, SHRINK + 0.0 * error)
    # next step size; a step shortened to meet an end does not reduce it
    tried = where(live, maximum(h, 0.0 * h), step)
    shortened = good & (h < step)
    proposal = tried * factor
    proposal = where(shortened, maximum(proposal, step), proposal)
    d.memory[STEP] = where(live, proposal, step)
    d.memory[ERROR_BEFORE] = where(good, maximum(error, 1e-4 + 0.0 * error), before)
    # counts of accepted and rejected steps
    none = 0.0 * step  # a number also where the error is none
    d.memory[TAKEN] = d.memory[TAKEN] + where(good, 1.0 + none, none)
    d.memory[REJECTED] = d.memory[REJECTED] + where(live, where(good, none, 1.0 + none), none)
