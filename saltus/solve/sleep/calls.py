"""What comes before and after the steps of a call where trees may sleep.

Steps go over what is awake; what sleeps has the poses that it fell asleep with. Whoever looks at a state between calls
sees everything: then the lists hold everything, until the next step makes them anew.
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
    """Before steps: wake what was changed from outside, place what stands still or sleeps, and list what is awake.

    Nothing has to be done where the last call has left it so.
    """
    wake_changed(m, d)
    if not is_prepared(m, d):
        place_everything(m, d)


@kernel
def place_everything(m, d):
    """Poses and velocities of everything at the present state, and then lists of what is awake."""
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
    """Whether the lists are those of tree_asleep, and everything that sleeps has been placed where it is."""
    # what mocap bodies carry may have been placed while these were elsewhere
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
    """Before a state is looked at: lists of everything."""
    if not d.awake_count[WHOLE]:
        list_everything(m, d)
        d.count[NPATTERN] = 0


@kernel
def keep_asleep_at_rest(m, d):
    """Accelerations and constraint forces of trees asleep ← 0."""
    for t in range(m.ntree_sleep):
        if d.tree_asleep[t] >= 0.0:
            for i in range(m.tree_firstdof[t], m.tree_firstdof[t] + m.tree_ndof[t]):
                d.qacc[i] = 0.0 * d.time
                if has(m, "constraint"):
                    d.qfrc_constraint[i] = 0.0 * d.time
