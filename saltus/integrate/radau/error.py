"""The error estimate of a step, filtered by Newton's real matrix, and the scale of errors.

Hairer & Wanner, Solving Ordinary Differential Equations II (1996), eqs. IV.8.18 to IV.8.21. The estimate is of third
order, so that the method, of fifth, is more accurate than it says.
"""

from saltus.integrate.adaptive.step_size import magnitudes
from saltus.integrate.radau.matrices import solve_real
from saltus.integrate.radau.newton import size_of
from saltus.integrate.radau.states import evaluate, move_to, width
from saltus.integrate.radau.tableau import ERROR
from saltus.number.functions import absolute, any_lane, maximum, where
from saltus.number.kernels import kernel


@kernel
def set_scale(m, d, tolerance):
    """error_scale ← absolute + relative tolerance times magnitudes over the step (see `magnitudes`)."""
    for i in range(m.nv):
        size, fast = magnitudes(m, d, i)
        d.error_scale[i] = tolerance[1] + tolerance[0] * size
        d.error_scale[m.nv + i] = tolerance[1] + tolerance[0] * fast
    for k in range(m.nact):
        size = maximum(absolute(d.act[k]), absolute(d.act_saved[k]))
        d.error_scale[2 * m.nv + k] = tolerance[1] + tolerance[0] * size


@kernel
def estimate_error(m, d, h, again):
    """Error norm of a step of h seconds from its stages and the slopes at its start, in units of the tolerance.

    With `again`, estimates above 1 are filtered a second time, by slopes at the state displaced by the first estimate:
    for stiff equations after a rejected step, or at a first one. Overwrites newton_change and, with `again`, the state.
    """
    columns = width(m)
    defect(m, d, h, 0)
    solve_real(m, d, h, d.newton_change, 0)
    size = size_of(m, d, d.newton_change, 1)
    again = again & (size > 1.0)
    if any_lane(again):
        move_to(m, d, d.newton_change, 0, again)
        evaluate(m, d, again)
        defect(m, d, h, columns)
        for i in range(m.nv):
            d.newton_change[i] = d.newton_change[columns + i]
            d.newton_change[m.nv + i] = d.newton_change[columns + m.nv + i] + d.qacc[i] - d.fsal_qacc[i]
            d.newton_change[i] = d.newton_change[i] + d.qvel[i] - d.qvel_saved[i]
        for k in range(m.nact):
            r = 2 * m.nv + k
            d.newton_change[r] = d.newton_change[columns + r] + d.act_dot[k] - d.fsal_act[k]
        solve_real(m, d, h, d.newton_change, 0)
        size = where(again, size_of(m, d, d.newton_change, 1), size)
    return size


@kernel
def defect(m, d, h, first):
    """The slopes at the start plus Σ e_i Z_i / h, into newton_change from entry `first` on."""
    columns = width(m)
    for k in range(columns):
        slope = 0.0 * h
        if k < m.nv:
            slope = d.qvel_saved[k]
        elif k < 2 * m.nv:
            slope = d.fsal_qacc[k - m.nv]
        else:
            slope = d.fsal_act[k - 2 * m.nv]
        for s in range(3):
            slope = slope + ERROR[s] * d.stage_change[s * columns + k] / h
        d.newton_change[first + k] = slope
