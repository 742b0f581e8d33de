"""When a run has left the numbers."""

from saltus.number.functions import absolute, where
from saltus.number.kernels import kernel

LARGEST = 1e10  # as in MuJoCo


@kernel
def bad_velocity(m, d):
    """1 (in each lane) where a velocity is not a number or too large, else 0."""
    bad = 0.0 * d.time
    for i in range(m.nv):
        v = absolute(d.qvel[i])
        bad = where(v < LARGEST, bad, 1.0 + 0.0 * d.time)
    return bad
