"""Relaxed tolerances for steps that would otherwise shrink without end.

If a force jumps after a minute motion of a body, and drives it back, like that of a soft contact on which a body
hovers, or of a law with a sign function, the motion slides along the jump (Filippov, Differential Equations with
Discontinuous Righthand Sides (1988)). Each step across it has an error in proportion to its length, and steps short
enough for the tolerance would hardly advance. A longer step follows the mean force, which is that of the sliding
motion, with an error in proportion to its length.

The tolerance is therefore multiplied by `MORE` when more than `MANY` trial steps have been made within the pace, which
is the timestep, at most 2 ms, and again whenever more than `FEW` have been made within it since. The factor halves with
each pace, and thus returns to one when steps may be long again. Accuracy that needs many steps without jumps is kept,
up to `MANY` in each pace.
"""

from saltus.integrate.adaptive.memory import LOOSE, TRIES
from saltus.integrate.adaptive.step_bounds import PACE
from saltus.number.components import value_of
from saltus.number.functions import any_lane, maximum, minimum, power, where
from saltus.number.kernels import kernel

MANY, FEW = 1000.0, 20.0  # trial steps in the pace, before the tolerance is relaxed, and once it is
MORE, HALF = 4.0, 0.5


@kernel
def relaxed(d, h, live, error, bounds):
    """Error norm of a trial step of h seconds relative to the tolerance as relaxed now; counts the trial.

    Call it once for each trial step, before a step with a norm of at most one is accepted. `live`: lanes that try it.
    Also returns whether a step is accepted, in any lane, that the tolerance itself would reject.
    """
    pace = bounds[PACE]
    if not pace > 0.0:
        return error, False
    one, h = value_of(1.0 + 0.0 * d.time), value_of(h)
    loose = maximum(value_of(d.memory[LOOSE]), one)
    eased = error / loose
    good = live & (eased <= 1.0)
    # trials decay with the time that passes, and so does the factor
    passed = where(good, h, 0.0 * one) / pace
    limit = where(loose > 1.0, FEW * one, MANY * one)
    tries = maximum(value_of(d.memory[TRIES]) - limit * passed, 0.0 * one) + 1.0
    after = maximum(loose * power(HALF * one, minimum(passed, 64.0 * one)), one)
    # too many: relax further
    over = tries > limit
    d.memory[TRIES] = where(live, where(over, 0.0 * one, tries), value_of(d.memory[TRIES]))
    d.memory[LOOSE] = where(live, where(over, MORE * after, after), value_of(d.memory[LOOSE]))
    return eased, any_lane(good & (error > 1.0))


@kernel(inline=True)
def longest_relaxed(d, wanted, bounds):
    """The step size `wanted` (s), limited to the pace if the tolerance is relaxed."""
    return where(d.memory[LOOSE] > 1.0, minimum(wanted, bounds[PACE] + 0.0 * wanted), wanted)
