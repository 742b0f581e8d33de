"""The predictive step-size controller, and when Newton's matrix is computed anew.

Gustafsson, Control-theoretic techniques for stepsize selection in implicit Runge-Kutta methods (1994); Hairer & Wanner,
Solving Ordinary Differential Equations II (1996), eqs. IV.8.21, IV.8.25 to IV.8.27.
"""

from saltus.integrate.adaptive.memory import ERROR_BEFORE, REJECTED, STEP, TAKEN
from saltus.integrate.radau.memory import ITERATIONS, LENGTH_BEFORE, RATE, REFUSED, SLOPES
from saltus.integrate.radau.newton import FAILED, MOST
from saltus.number.functions import absolute, clip, maximum, minimum, power, where
from saltus.number.kernels import kernel

SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
STEADY = 1.2  # growth of a step below which it stays, and with it the factors of Newton's matrices
CROSSING = 1.01e-12  # steps this short are accepted whatever their error: s, relative to 1 s and to the time
FAST, FEW = 1e-3, 2  # rate and number of iterations up to which Newton's matrix is kept


@kernel
def control_step_size(m, d, h, error, live, good):
    """Set the next step size and the counts of steps, after a trial step of h seconds with this error norm.

    If Newton's iteration failed, the step is repeated with a new matrix, or if that was new, at half the length.
    `live`: lanes that have tried the step; `good`: lanes that accept it.
    """
    none, one = 0.0 * h, 1.0 + 0.0 * h
    solved = live & (d.memory[ITERATIONS] > FAILED + 0.5)
    refused = solved & (where(good, none, one) > 0.5)
    failed = live & (d.memory[ITERATIONS] < FAILED + 0.5)
    halved = failed & (d.memory[SLOPES] > 1.5)
    slow = (d.memory[ITERATIONS] > FEW) & (d.memory[RATE] > FAST)
    # the next step size
    factor, step = growth(d, h, error), d.memory[STEP]
    step = where(halved, 0.5 * h, step)
    step = where(refused, after_rejection(d, h, factor), step)
    d.memory[STEP] = where(good, after_step(d, h, factor, slow), step)
    # whether the matrix is kept
    slopes = where(failed, where(halved, d.memory[SLOPES], none), d.memory[SLOPES])
    d.memory[SLOPES] = where(good, where(slow, none, one), slopes)
    # what is remembered of the step, and the counts of steps
    d.memory[REFUSED] = where(live, where(good, none, one), d.memory[REFUSED])
    d.memory[ERROR_BEFORE] = where(good, maximum(error, 1e-2 + none), d.memory[ERROR_BEFORE])
    d.memory[LENGTH_BEFORE] = where(good, h, d.memory[LENGTH_BEFORE])
    d.memory[TAKEN] = d.memory[TAKEN] + where(good, one, none)
    d.memory[REJECTED] = d.memory[REJECTED] + where(refused | halved, one, none)


@kernel
def after_rejection(d, h, factor):
    """The step size (s) to try after a rejected step of h seconds; a first step is shortened more."""
    most = where(d.memory[LENGTH_BEFORE] == 0.0, 0.1 + 0.0 * h, 1.0 + 0.0 * h)
    return maximum(h * minimum(factor, most), minimum(0.99 * crossing(d), h))


@kernel
def after_step(d, h, factor, slow):
    """The step size (s) to try after an accepted step of h seconds; `slow`: whether Newton's iteration was.

    It stays, and with it the matrices, where little would be gained, and does not grow just after a rejection. A step
    shortened to meet an end does not reduce it.
    """
    one, step = 1.0 + 0.0 * h, d.memory[STEP]
    stays = (factor >= 1.0) & (factor < STEADY)
    factor = where(stays, where(slow, factor, one), factor)
    factor = where(d.memory[REFUSED] > 0.5, minimum(factor, one), factor)
    longer = where(h < step, step, 0.0 * h)
    return maximum(maximum(h * factor, 0.99 * crossing(d)), longer)


@kernel(inline=True)
def crossing(d):
    """The length (s) of steps that are accepted whatever their error, because forces may jump within them."""
    return CROSSING * (1.0 + absolute(d.time))


@kernel
def growth(d, h, error):
    """The ratio of the next step size to h: the smaller one of the classical and the predictive controller."""
    one, known, before = 1.0 + 0.0 * h, error < 1e300, d.memory[LENGTH_BEFORE]
    error = maximum(error, 1e-10 + 0.0 * h)
    safety = SAFETY * (2.0 * MOST + 1.0) / (2.0 * MOST + d.memory[ITERATIONS])
    factor = power(error, -0.25)
    predicted = h / where(before > 0.0, before, one) * power(d.memory[ERROR_BEFORE] / error, 0.25)
    factor = where(before > 0.0, factor * minimum(one, predicted), factor)
    return where(known, clip(safety * factor, SHRINK + 0.0 * h, GROW + 0.0 * h), SHRINK + 0.0 * h)
