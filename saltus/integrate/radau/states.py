"""States of a step as tangent vectors (q, v, w) [2 nv + nact] from its start: positions, velocities, actuator states.

Positions are those of the tangent space at the step's start, so that quaternions stay on their manifold; see
`saltus.integrate.fixed.runge_kutta`.

In lanes each simulation has its own trial steps. `live` are the lanes that a function moves; the others keep all that
steps continue from to the bit, so that no result depends on neighbours.
"""

from saltus.dynamics.tree.manifold import displace
from saltus.integrate.fixed.runge_kutta import store_slopes
from saltus.integrate.radau.tableau import NODES
from saltus.number.conditions import has
from saltus.number.functions import absolute, where
from saltus.number.kernels import kernel
from saltus.solve.acceleration import acceleration

WARM = 4  # stage whose room in stage_qacc keeps warm starts: one that the method does not have
FAR = 1e100  # m/s², rad/s²: an acceleration that is no motion's


@kernel(inline=True)
def width(m):
    """Number of entries of a state: 2 nv + nact."""
    return 2 * m.nv + m.nact


@kernel
def move_to(m, d, change, first, live):
    """qpos, qvel, act ← the saved state displaced by the state that begins at entry `first` of a field.

    Lanes that are not live are at the saved state. Leaves the tangent vector of the positions in step_tangent [nv].
    """
    none = 0.0 * d.time
    for i in range(m.nv):
        d.step_tangent[i] = where(live, change[first + i], none)
        d.qvel[i] = where(live, d.qvel_saved[i] + change[first + m.nv + i], d.qvel_saved[i])
    displace(m, d.qpos_saved, 1.0, d.step_tangent, d.qpos)
    for k in range(m.nact):
        d.act[k] = where(live, d.act_saved[k] + change[first + 2 * m.nv + k], d.act_saved[k])


@kernel
def to_start(m, d, but):
    """qpos, qvel, act ← the saved state, except in the lanes `but`."""
    for k in range(m.nq):
        d.qpos[k] = where(but, d.qpos[k], d.qpos_saved[k])
    for i in range(m.nv):
        d.qvel[i] = where(but, d.qvel[i], d.qvel_saved[i])
    for k in range(m.nact):
        d.act[k] = where(but, d.act[k], d.act_saved[k])


@kernel
def evaluate(m, d, live):
    """Accelerations and act_dot of the present state; returns a status.

    Lanes that are not live keep the solver's warm start, from which their next evaluation begins, and so do those where
    an iteration that diverges has left all numbers that make sense.
    """
    if not has(m, "constraint"):
        return acceleration(m, d)
    for i in range(m.nv):
        d.stage_qacc[WARM * m.nv + i] = d.qacc_warmstart[i]
    status = acceleration(m, d)
    for i in range(m.nv):
        live = live & (absolute(d.qacc_warmstart[i]) < FAR)
    for i in range(m.nv):
        d.qacc_warmstart[i] = where(live, d.qacc_warmstart[i], d.stage_qacc[WARM * m.nv + i])
    return status


@kernel
def stage(m, d, h, start, s, live):
    """State and slopes of stage s, from 0, of a step of h seconds from `start` (s); returns a status.

    The slopes are stored as those of stage s + 1 of stage_qvel, stage_qacc, stage_act.
    """
    move_to(m, d, d.stage_change, s * width(m), live)
    d.time = start + h * NODES[s]
    status = evaluate(m, d, live)
    store_slopes(m, d, s + 1)
    return status


@kernel
def remember_slopes(m, d, live):
    """fsal_qacc, fsal_act ← accelerations and act_dot of the present state, the start of the next step."""
    for i in range(m.nv):
        d.fsal_qacc[i] = where(live, d.qacc[i], d.fsal_qacc[i])
    for k in range(m.nact):
        d.fsal_act[k] = where(live, d.act_dot[k], d.fsal_act[k])
