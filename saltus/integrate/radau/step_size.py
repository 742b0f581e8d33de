"""The predictive step-size controller, and when Newton's matrix is computed anew.

Gustafsson, Control-theoretic techniques for stepsize selection in implicit Runge-Kutta methods (1994); Hairer & Wanner,
Solving Ordinary Differential Equations II (1996), eqs. IV.8.21, IV.8.25 to IV.8.27.
"""

from saltus.integrate.adaptive.memory import ERROR_BEFORE, REJECTED, STEP, TAKEN
from saltus.integrate.radau.memory import ITERATIONS, LENGTH_BEFORE, RATE, REFUSED, SLOPES
from saltus.integrate.radau.newton import FAILED, MOST
from saltus.number.functions import absolute, clip, maximum, minimum, power
from saltus.number.kernels import kernel

SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
STEADY = 1.2  # growth of a step below which it stays, and with it the factors of Newton's matrices
CROSSING = 1.01e-12  # steps this short are accepted whatever their error: s, relative to 1 s and to the time
FAST, FEW = 1e-3, 2  # rate and number of iterations up to which Newton's matrix is kept


@kernel
def control_step_size(m, d, h, error, good):
    """Set the next step size and the counts of steps, after a trial step of h seconds with this error norm.

    If Newton's iteration failed, the step is repeated with a new matrix, or if that was new, at half the length.
    """
    again = d.memory[REFUSED] > 0.5
    d.memory[REFUSED] = 0.0 * h if good else 1.0 + 0.0 * h
    if d.memory[ITERATIONS] == FAILED:
        if d.memory[SLOPES] > 1.5:
            d.memory[STEP] = 0.5 * h
            d.memory[REJECTED] = d.memory[REJECTED] + 1.0
        else:
            d.memory[SLOPES] = 0.0 * h
        return
    factor = growth(d, h, error)
    if not good:
        shorter = h * minimum(factor, 0.1 if d.memory[LENGTH_BEFORE] == 0.0 else 1.0)
        d.memory[STEP] = maximum(shorter, minimum(0.99 * crossing(d), h))
        d.memory[REJECTED] = d.memory[REJECTED] + 1.0
        return
    # keep the step, and the matrix, where little would be gained
    slow = d.memory[ITERATIONS] > FEW and d.memory[RATE] > FAST
    if 1.0 <= factor < STEADY and not slow:
        factor = 1.0 + 0.0 * h
    # no growth just after a rejection
    if again:
        factor = minimum(factor, 1.0 + 0.0 * h)
    # a step shortened to meet an end does not reduce the next one
    longer = d.memory[STEP] if h < d.memory[STEP] else 0.0 * h
    d.memory[STEP] = maximum(maximum(h * factor, 0.99 * crossing(d)), longer)
    d.memory[SLOPES] = 0.0 * h if slow else 1.0 + 0.0 * h
    d.memory[ERROR_BEFORE] = maximum(error, 1e-2 + 0.0 * h)
    d.memory[LENGTH_BEFORE] = h
    d.memory[TAKEN] = d.memory[TAKEN] + 1.0


@kernel(inline=True)
def crossing(d):
    """The length (s) of steps that are accepted whatever their error, because forces may jump within them."""
    return CROSSING * (1.0 + absolute(d.time))


@kernel
def growth(d, h, error):
    """The ratio of the next step size to h: the smaller one of the classical and the predictive controller."""
    if not error < 1e300:
        return SHRINK + 0.0 * h
    error = maximum(error, 1e-10 + 0.0 * h)
    safety = SAFETY * (2.0 * MOST + 1.0) / (2.0 * MOST + d.memory[ITERATIONS])
    factor = power(error, -0.25)
    if d.memory[LENGTH_BEFORE] > 0.0:
        predicted = h / d.memory[LENGTH_BEFORE] * power(d.memory[ERROR_BEFORE] / error, 0.25)
        factor = factor * minimum(1.0 + 0.0 * h, predicted)
    return clip(safety * factor, SHRINK + 0.0 * h, GROW + 0.0 * h)
