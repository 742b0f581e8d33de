"""Preparations before and after the steps of a call if trees may sleep.

Steps process awake objects; sleeping ones keep the poses at which they fell asleep. Evaluations of a state between
calls cover everything: the lists then contain all objects, until the next step rebuilds them.
"""

from saltus.contact.collide import collider_frames
from saltus.contact.counts import NPATTERN
from saltus.dynamics.awake.counts import WHOLE
from saltus.dynamics.awake.lists import list_awake, list_everything
from saltus.dynamics.awake.trees import wake_changed
from saltus.dynamics.smooth import position_stage
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with


@kernel
def begin_sleeping(m, d):
    """Wake trees changed from outside before steps, place fixed and sleeping objects, and list the awake ones.

    Nothing is done if the last call has already left this state.
    """
    wake_changed(m, d)
    if not is_prepared(m, d):
        place_everything(m, d)


@kernel
def place_everything(m, d):
    """Compute poses and velocities of all objects at the present state, then list the awake ones."""
    list_everything(m, d)
    position_stage(m, d, 1)
    newton_euler_forward(m, d, d, 0, 1)
    if has(m, "contact"):
        collider_frames(m, d)
    list_awake(m, d)
    d.count[NPATTERN] = 0
    for k in range(m.nq_sleep):
        d.qpos_placed[k] = d.qpos[k]


@kernel
def is_prepared(m, d):
    """Whether the lists agree with tree_asleep, and all sleeping objects have been placed at their poses."""
    # objects carried by mocap bodies may have been placed while these were elsewhere
    if d.awake_count[WHOLE] or m.ncarried_sleep > 0:
        return False
    for t in range(m.ntree_sleep):
        if (d.tree_asleep[t] < 0.0) != (d.tree_awake[t] != 0):
            return False
        if not d.tree_awake[t]:
            for k in range(m.tree_firstcoordinate[t], m.tree_firstcoordinate[t] + m.tree_ncoordinate[t]):
                if d.qpos[k] != d.qpos_placed[k]:
                    return False
    return True


@only_with("sleep")
@kernel
def see_everything(m, d):
    """List all objects, before a state is evaluated."""
    if not d.awake_count[WHOLE]:
        list_everything(m, d)
        d.count[NPATTERN] = 0


@kernel
def keep_asleep_at_rest(m, d):
    """Accelerations and constraint forces of sleeping trees ← 0."""
    for t in range(m.ntree_sleep):
        if d.tree_asleep[t] >= 0.0:
            for i in range(m.tree_firstdof[t], m.tree_firstdof[t] + m.tree_ndof[t]):
                d.qacc[i] = 0.0 * d.time
                if has(m, "constraint"):
                    d.qfrc_constraint[i] = 0.0 * d.time
