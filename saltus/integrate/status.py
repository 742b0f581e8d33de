"""How a step or run ended, as kernels say it; `saltus.simulate` turns these into errors."""

from saltus.number.functions import absolute, where
from saltus.number.kernels import kernel

OK = 0
NOT_CONVERGED = 1  # an iteration stopped before it reached its tolerance
STEP_TOO_SMALL = 2  # step control asked for steps that rounding swallows
DIVERGED = 3  # a velocity is not a number, or beyond LARGEST
LARGEST = 1e10  # as in MuJoCo


@kernel
def bad_velocity(m, d):
    """1 (in each lane) where a velocity is not a number or too large, else 0."""
    bad = 0.0 * d.time
    for i in range(m.nv):
        v = absolute(d.qvel[i])
        bad = where(v < LARGEST, bad, 1.0 + 0.0 * d.time)
    return bad
