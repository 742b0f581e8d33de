"""Derivatives of accelerations and act_dot by the state, for Newton's matrix, by differences.

A column is an evaluation of the accelerations with all forces in them, those of contact and constraints too, and of a
position two: 3 nv + nact in all. Steps reuse the matrix while Newton's iteration converges quickly; its errors affect
only that speed.
"""

from saltus.integrate.radau.memory import COUNT_SLOPES, SLOPES
from saltus.integrate.radau.states import evaluate, move_to, to_start, width
from saltus.number.functions import absolute, maximum, where
from saltus.number.kernels import kernel

#: Difference of a coordinate, relative to its size, at least 1: small beside the overlap of stiff contacts, large
#: beside the errors of the constraint solver.
DIFFERENCE = 1e-7


@kernel
def find_slopes(m, d, live):
    """slope_matrix ← the derivatives at the saved state, whose slopes are fsal_qacc, fsal_act; returns a status.

    Rows are those of qacc [nv] and act_dot [nact], columns those of a state [2 nv + nact]. Lanes that are not live keep
    theirs. Leaves the saved state in qpos, qvel, act.
    """
    n, columns = m.nv + m.nact, width(m)
    status = 0
    for c in range(columns):
        d.newton_change[c] = 0.0 * d.time
    for c in range(columns):
        # one coordinate displaced
        size = 1.0 + 0.0 * d.time
        if c >= m.nv:
            size = d.qvel_saved[c - m.nv] if c < 2 * m.nv else d.act_saved[c - 2 * m.nv]
        eps = DIFFERENCE * maximum(absolute(size), 1.0 + 0.0 * d.time)
        status = max(status, slopes_at(m, d, c, eps, live))
        for r in range(n):
            before = d.fsal_qacc[r] if r < m.nv else d.fsal_act[r - m.nv]
            forward = (d.newton_side[r] - before) / eps
            d.slope_matrix[r * columns + c] = where(live, forward, d.slope_matrix[r * columns + c])
        # positions: the mean of both sides, between which contact points may jump
        if c < m.nv:
            status = max(status, slopes_at(m, d, c, -eps, live))
            for r in range(n):
                before = d.fsal_qacc[r] if r < m.nv else d.fsal_act[r - m.nv]
                other = (before - d.newton_side[r]) / eps
                both = 0.5 * (d.slope_matrix[r * columns + c] + other)
                d.slope_matrix[r * columns + c] = where(live, both, d.slope_matrix[r * columns + c])
    to_start(m, d, False)
    d.memory[SLOPES] = where(live, 2.0 + 0.0 * d.time, d.memory[SLOPES])
    d.memory[COUNT_SLOPES] = where(live, d.memory[COUNT_SLOPES] + 1.0, d.memory[COUNT_SLOPES])
    return status


@kernel
def slopes_at(m, d, c, eps, live):
    """newton_side ← qacc [nv] and act_dot [nact] at the saved state with coordinate c displaced; returns a status."""
    d.newton_change[c] = eps
    move_to(m, d, d.newton_change, 0, live)
    status = evaluate(m, d, live)
    d.newton_change[c] = 0.0 * d.time
    for i in range(m.nv):
        d.newton_side[i] = d.qacc[i]
    for k in range(m.nact):
        d.newton_side[m.nv + k] = d.act_dot[k]
    return status
