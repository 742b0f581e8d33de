"""Centres of mass of trees on free joints over a step: they move by h times the mean of their velocities."""

from saltus.dynamics.balance.end_motions import centre_velocities, is_free
from saltus.dynamics.balance.joint_ends import (
    join,
    lower,
    motion_at,
    upper,
)
from saltus.number.kernels import kernel
from saltus.spatial.fields import store3
from saltus.spatial.motions import add6, scale6
from saltus.spatial.quaternions import quat_rotate
from saltus.spatial.vectors import add3, scale3, sub3


@kernel
def centre_free_trees(m, d, h):
    """Velocities and displacements of free trees' centres of mass; returns whether there are any.

    Writes balance_sums, balance_centre at their roots and the mean velocities of free joints' translations in qvel.
    """
    any_free = False
    for k in range(1, m.ntree_body):
        b = m.tree_body[k]
        root = m.body_rootid[b]
        if not is_free(m, root):
            continue
        any_free = True
        if b == root:
            clear_sums(m, d, b)
        add_to_sums(m, d, b, root)
    for k in range(1, m.ntree_body):
        b = m.tree_body[k]
        if is_free(m, b):
            move_centre(m, d, h, b)
    return any_free


@kernel
def clear_sums(m, d, b):
    """Begin the sums of a free tree with the armature of its root's translation, a mass without weight."""
    armature = m.dof_armature[m.body_dofadr[b]] + 0.0 * d.time
    zero = 0.0 * armature
    d.balance_mass[b] = armature
    d.balance_moment[b] = (zero, zero, zero, zero, zero, zero)
    q0, q1 = d.balance_quat[b], d.balance_quat_end[b]
    v0, v1 = quat_rotate(q0, lower(d.balance_v[b])), quat_rotate(q1, lower(d.balance_v_end[b]))
    w0, w1 = quat_rotate(q0, lower(d.balance_w[b])), quat_rotate(q1, lower(d.balance_w_end[b]))
    d.balance_sums[b] = (
        *(armature * v0[0], armature * v0[1], armature * v0[2], armature * v1[0], armature * v1[1], armature * v1[2]),
        *(armature * w0[0], armature * w0[1], armature * w0[2], armature * w1[0], armature * w1[1], armature * w1[2]),
    )


@kernel
def add_to_sums(m, d, b, root):
    """Add mass, momenta and first moments (world axes, from the root's origin) of body b to its tree's."""
    mass, c = m.body_mass[b], m.body_ipos[b]
    q0, q1 = d.balance_quat[b], d.balance_quat_end[b]
    v0 = quat_rotate(q0, lower(motion_at(d.balance_v[b], c)))
    v1 = quat_rotate(q1, lower(motion_at(d.balance_v_end[b], c)))
    w0 = quat_rotate(q0, lower(motion_at(d.balance_w[b], c)))
    w1 = quat_rotate(q1, lower(motion_at(d.balance_w_end[b], c)))
    s = d.balance_sums[root]
    d.balance_sums[root] = (
        *(s[0] + mass * v0[0], s[1] + mass * v0[1], s[2] + mass * v0[2]),
        *(s[3] + mass * v1[0], s[4] + mass * v1[1], s[5] + mass * v1[2]),
        *(s[6] + mass * w0[0], s[7] + mass * w0[1], s[8] + mass * w0[2]),
        *(s[9] + mass * w1[0], s[10] + mass * w1[1], s[11] + mass * w1[2]),
    )
    x0 = add3(d.balance_pos[b], quat_rotate(q0, c))
    x1 = add3(d.balance_pos_end[b], quat_rotate(q1, c))
    d.balance_moment[root] = add6(d.balance_moment[root], scale6(mass, join(x0, x1)))
    d.balance_mass[root] = d.balance_mass[root] + mass


@kernel
def move_centre(m, d, h, b):
    """Velocities of a free tree's centre of mass from its momenta, and the mean velocity of its root b."""
    i = m.body_dofadr[b]
    inverse = 1.0 / d.balance_mass[b]
    s = d.balance_sums[b]
    d.balance_sums[b] = (
        *(inverse * s[0], inverse * s[1], inverse * s[2], inverse * s[3], inverse * s[4], inverse * s[5]),
        *(inverse * s[6], inverse * s[7], inverse * s[8], inverse * s[9], inverse * s[10], inverse * s[11]),
    )
    before, _, _, after = centre_velocities(d, b)
    # the root moves with the centre, which moves in the tree
    moments = d.balance_moment[b]
    moved = scale3(inverse / h, sub3(lower(moments), upper(moments)))
    store3(d.qvel, i, sub3(scale3(0.5, add3(before, after)), moved))
    d.balance_centre[b] = scale3(1.0 / h, sub3(after, before))
