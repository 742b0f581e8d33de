"""Where an iteration towards balance begins, and when it has come far enough."""

from saltus.number.functions import absolute, epsilon_of, maximum
from saltus.number.kernels import kernel, only_with

RESOLVED = 1e-9  # of the largest velocity: changes that may be rounding, where forces cancel
LEAST = 1e-3  # rad, m in a step: motion that must come out to nine digits


@kernel
def zero_start(m, d):
    """Begin with a = 0."""
    for i in range(m.nv):
        d.qacc[i] = 0.0 * d.time


@only_with("constraint", otherwise=zero_start)
@kernel
def begin_balance(m, d):
    """Begin with the accelerations of the step before."""
    for i in range(m.nv):
        d.qacc[i] = d.qacc_warmstart[i] if m.opt_warmstart else 0.0 * d.time


@only_with("constraint")
@kernel
def remember_balance(m, d):
    """Where the next step's iteration begins."""
    for i in range(m.nv):
        d.qacc_warmstart[i] = d.qacc[i]


@kernel
def change_size(m, d, h, qvel):
    """The largest change of a velocity that metric_change makes, and the largest velocity (m/s, rad/s).

    For velocities of a field qvel [nv] at the start of the step and accelerations qacc.
    """
    size = 0.0 * d.time
    scale = size + 1e-300
    for i in range(m.nv):
        size = maximum(size, absolute(h * d.metric_change[i]))
        scale = maximum(scale, maximum(absolute(qvel[i]), absolute(h * d.qacc[i])))
    return size, scale


@kernel
def far(size, scale, last, tolerance, least):
    """Where the iteration is to go on: a change is neither small nor as small as rounding lets it become.

    That may be where forces cancel, also at rest; `least`: the velocity that counts then (m/s, rad/s).
    """
    eps = epsilon_of(size)
    small = maximum(size * 0.0 + tolerance, 4.0 * eps + 0.0 * size) * scale
    resolved = maximum(size * 0.0 + RESOLVED, 64.0 * eps + 0.0 * size) * maximum(scale, least + 0.0 * size)
    return (size > small) & ((size < 0.5 * last) | (size > resolved))
