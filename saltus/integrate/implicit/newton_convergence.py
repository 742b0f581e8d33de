"""Starting values and convergence test of the Newton iterations of implicit steps."""

from saltus.number.components import epsilon_of
from saltus.number.conditions import has
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel, only_with

RESOLVED = 1e-9  # relative to the largest velocity: smaller changes may be rounding, where forces cancel
LEAST = 1e-3  # rad, m in a step: motion to be resolved to nine digits


@kernel
def begin_balance(m, d):
    """Warm start: qacc of the previous step with constraints, or 0 without or if warm starts are disabled."""
    for i in range(m.nv):
        d.qacc[i] = d.qacc_warmstart[i] if has(m, "constraint") and m.opt_warmstart else 0.0 * d.time


@only_with("constraint")
@kernel
def remember_balance(m, d):
    """Store qacc as the warm start of the next step."""
    for i in range(m.nv):
        d.qacc_warmstart[i] = d.qacc[i]


@kernel
def change_size(m, d, h, qvel):
    """Largest change of velocity by metric_change, and largest velocity (m/s, rad/s).

    `qvel` [nv]: velocities at the start of the step; with the accelerations qacc.
    """
    size = 0.0 * d.time
    scale = size + 1e-300
    for i in range(m.nv):
        size = maximum(size, absolute(h * d.metric_change[i]))
        scale = maximum(scale, maximum(absolute(qvel[i]), absolute(h * d.qacc[i])))
    return size, scale


@kernel
def far(size, scale, last, tolerance, least):
    """Lanes that have not converged: the change is neither small nor stagnating at rounding errors.

    Rounding errors dominate where forces cancel, also at rest; `least`: the velocity scale used then (m/s, rad/s).
    """
    eps = epsilon_of(size)
    small = maximum(size * 0.0 + tolerance, 4.0 * eps + 0.0 * size) * scale
    resolved = maximum(size * 0.0 + RESOLVED, 64.0 * eps + 0.0 * size) * maximum(scale, least + 0.0 * size)
    return (size > small) & ((size < 0.5 * last) | (size > resolved))
