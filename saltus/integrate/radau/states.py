"""States of a step as tangent vectors (q, v, w) [2 nv + nact] from its start: positions, velocities, actuator states.

Positions are those of the tangent space at the step's start, so that quaternions stay on their manifold; see
`saltus.integrate.fixed.runge_kutta`.
"""

from saltus.dynamics.tree.manifold import displace
from saltus.integrate.fixed.runge_kutta import store_slopes
from saltus.integrate.radau.tableau import NODES
from saltus.number.kernels import kernel
from saltus.solve.acceleration import acceleration


@kernel(inline=True)
def width(m):
    """Number of entries of a state: 2 nv + nact."""
    return 2 * m.nv + m.nact


@kernel
def move_to(m, d, change, first):
    """qpos, qvel, act ← the saved state displaced by the state that begins at entry `first` of a field.

    Leaves the tangent vector of the positions in step_tangent [nv].
    """
    for i in range(m.nv):
        d.step_tangent[i] = change[first + i]
        d.qvel[i] = d.qvel_saved[i] + change[first + m.nv + i]
    displace(m, d.qpos_saved, 1.0, d.step_tangent, d.qpos)
    for k in range(m.nact):
        d.act[k] = d.act_saved[k] + change[first + 2 * m.nv + k]


@kernel
def to_start(m, d):
    """qpos, qvel, act ← the saved state."""
    for k in range(m.nq):
        d.qpos[k] = d.qpos_saved[k]
    for i in range(m.nv):
        d.qvel[i] = d.qvel_saved[i]
    for k in range(m.nact):
        d.act[k] = d.act_saved[k]


@kernel
def stage(m, d, h, start, s):
    """State and slopes of stage s, from 0, of a step of h seconds from `start` (s); returns a status.

    The slopes are stored as those of stage s + 1 of stage_qvel, stage_qacc, stage_act.
    """
    move_to(m, d, d.stage_change, s * width(m))
    d.time = start + h * NODES[s]
    status = acceleration(m, d)
    store_slopes(m, d, s + 1)
    return status


@kernel
def remember_slopes(m, d):
    """fsal_qacc, fsal_act ← accelerations and act_dot of the present state, the start of the next step."""
    for i in range(m.nv):
        d.fsal_qacc[i] = d.qacc[i]
    for k in range(m.nact):
        d.fsal_act[k] = d.act_dot[k]
