"""What comes before and after the steps of a call where trees may sleep.

Steps go over what is awake. Between calls the lists hold everything, so that whoever looks at a state sees all of it.
"""

from saltus.contact.collide import collider_frames
from saltus.contact.counts import NPATTERN
from saltus.dynamics.awake.lists import list_awake, list_everything
from saltus.dynamics.awake.trees import wake_changed
from saltus.dynamics.smooth import position_stage
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.number.conditions import has
from saltus.number.kernels import kernel


@kernel
def begin_sleeping(m, d):
    """Before steps: wake what was changed from outside, place what stands still or sleeps, and list what is awake."""
    wake_changed(m, d)
    list_everything(m, d)
    position_stage(m, d, 1)
    newton_euler_forward(m, d, d, 0, 1)
    if has(m, "contact"):
        collider_frames(m, d)
    list_awake(m, d)
    d.count[NPATTERN] = 0


@kernel
def end_sleeping(m, d):
    """After steps: lists of everything."""
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
