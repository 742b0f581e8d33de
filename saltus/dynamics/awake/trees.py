"""Trees that fall asleep and wake: MuJoCo's rules for single trees and for groups that sleep together.

tree_asleep [ntree] is the state of each tree. For an awake tree it is negative: -1 - MINAWAKE, plus one for each step
in which the tree was slow, up to READY. For a sleeping tree it is the next of the trees that sleep together, in a cycle
(MuJoCo documentation, Simulation: Sleeping islands).
"""

from saltus.model.enums import MINAWAKE
from saltus.number.conditions import has
from saltus.number.functions import absolute
from saltus.number.kernels import kernel, only_with

AWAKE = -1.0 - MINAWAKE  # a tree that has just moved
READY = -1.0  # a tree that has been slow for long enough


@kernel
def wake_tree(m, d, t, value):
    """Wake a tree and all that sleep with it: tree_asleep ← value; returns the number of woken trees.

    An awake tree takes `value` if that requires more slow steps.
    """
    if d.tree_asleep[t] < 0.0:
        d.tree_asleep[t] = min(value, d.tree_asleep[t])
        return 0
    count, k = 0, t
    while d.tree_asleep[k] >= 0.0:
        following = int(d.tree_asleep[k])
        d.tree_asleep[k] = value
        k = following
        count += 1
    return count


@kernel
def may_sleep(m, d, t, tolerance):
    """Whether a tree may be asleep: allowed to sleep, not pushed, and slower than `tolerance` (m/s).

    Angular speeds are multiplied by the length of the moved bodies; without a tolerance all speeds have to be zero.
    """
    if not m.tree_sleeps[t]:
        return False
    first, last = m.tree_firstdof[t], m.tree_firstdof[t] + m.tree_ndof[t]
    for i in range(first, last):
        speed = m.dof_length[i] * absolute(d.qvel[i])
        if d.qfrc_applied[i] != 0.0 or (speed >= tolerance if tolerance > 0.0 else d.qvel[i] != 0.0):
            return False
    return not (d.has_xfrc and is_pushed(m, d, t))


@kernel
def is_pushed(m, d, t):
    """Whether a Cartesian force acts on a body of a tree."""
    for b in range(m.tree_firstbody[t], m.tree_firstbody[t] + m.tree_nbody[t]):
        f = d.xfrc_applied[b]
        if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0 or f[3] != 0.0 or f[4] != 0.0 or f[5] != 0.0:
            return True
    return False


@kernel
def wake_changed(m, d):
    """Wake sleeping trees whose positions, velocities or forces have been changed from outside."""
    for t in range(m.ntree_sleep):
        if d.tree_asleep[t] >= 0.0 and (is_displaced(m, d, t) or is_carried(m, d, t) or not may_sleep(m, d, t, 0.0)):
            wake_tree(m, d, t, AWAKE)


@kernel
def is_displaced(m, d, t):
    """Whether a sleeping tree is displaced from where it fell asleep."""
    for k in range(m.tree_firstcoordinate[t], m.tree_firstcoordinate[t] + m.tree_ncoordinate[t]):
        if d.qpos[k] != d.qpos_asleep[k]:
            return True
    return False


@only_with("mocap", otherwise="False")
@kernel
def is_carried(m, d, t):
    """Whether the mocap body that carries a sleeping tree has moved since it fell asleep."""
    k, c = m.tree_mocap[t], m.tree_carried[t]
    if k < 0:
        return False
    p, q, pos, quat = d.mocap_pos[k], d.mocap_quat[k], d.carried_pos[c], d.carried_quat[c]
    moved = p[0] != pos[0] or p[1] != pos[1] or p[2] != pos[2]
    return moved or q[0] != quat[0] or q[1] != quat[1] or q[2] != quat[2] or q[3] != quat[3]


@kernel
def lay_down(m, d, t, following):
    """Put a tree to sleep at its present position; `following`: the next tree in its cycle."""
    d.tree_asleep[t] = 0.0 * d.time + following
    for i in range(m.tree_firstdof[t], m.tree_firstdof[t] + m.tree_ndof[t]):
        d.qvel[i] = d.qacc[i] = 0.0 * d.time
        if has(m, "constraint"):
            d.qacc_warmstart[i] = 0.0 * d.time
    for k in range(m.tree_firstcoordinate[t], m.tree_firstcoordinate[t] + m.tree_ncoordinate[t]):
        d.qpos_asleep[k] = d.qpos_placed[k] = d.qpos[k]
    if has(m, "mocap") and m.tree_mocap[t] >= 0:
        d.carried_pos[m.tree_carried[t]] = d.mocap_pos[m.tree_mocap[t]]
        d.carried_quat[m.tree_carried[t]] = d.mocap_quat[m.tree_mocap[t]]
