"""Derivatives of accelerations and act_dot by the state, for Newton's matrix, by forward differences.

A column is one evaluation of the accelerations with all forces in them, those of contact and constraints too: 2 nv +
nact in all. Steps reuse the matrix while Newton's iteration converges quickly; its errors affect only that speed.
"""

from saltus.integrate.radau.memory import COUNT_SLOPES, SLOPES
from saltus.integrate.radau.states import move_to, to_start, width
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel
from saltus.solve.acceleration import acceleration

#: Difference of a coordinate, relative to its size, at least 1: small beside the overlap of stiff contacts, large
#: beside the errors of the constraint solver.
DIFFERENCE = 1e-7


@kernel
def find_slopes(m, d):
    """slope_matrix ← the derivatives at the saved state, whose slopes are fsal_qacc, fsal_act; returns a status.

    Rows are those of qacc [nv] and act_dot [nact], columns those of a state [2 nv + nact]. Writes newton_change, leaves
    the saved state in qpos, qvel, act.
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
        d.newton_change[c] = eps
        move_to(m, d, d.newton_change, 0)
        status = max(status, acceleration(m, d))
        d.newton_change[c] = 0.0 * d.time
        # slopes there
        for r in range(n):
            gain = d.qacc[r] - d.fsal_qacc[r] if r < m.nv else d.act_dot[r - m.nv] - d.fsal_act[r - m.nv]
            d.slope_matrix[r * columns + c] = gain / eps
    to_start(m, d)
    d.memory[SLOPES] = 2.0 + 0.0 * d.time
    d.memory[COUNT_SLOPES] = d.memory[COUNT_SLOPES] + 1.0
    return status
