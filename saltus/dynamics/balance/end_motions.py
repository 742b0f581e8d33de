"""Motions of all bodies at both ends of a step, from the base to the tips.

balance_v and balance_w hold the motions, in the axes of a body, for the velocities of the start and of the end of the
step, each at the position of the start and, with `_end`, of the end. Trees on free joints are taken about their centres
of mass, whose velocities `saltus.dynamics.balance.free_trees` finds.
"""

from saltus.dynamics.balance.joint_ends import (
    into,
    join,
    mean_rotated,
    mean_rotated3,
    motion_at,
    slid,
    turn,
)
from saltus.model.enums import BALL, FREE, SLIDE
from saltus.number.conditions import has
from saltus.number.kernels import kernel
from saltus.spatial.fields import load3
from saltus.spatial.motions import add6, scale6
from saltus.spatial.quaternions import quat_conjugate, quat_multiply, quat_normalize, quat_rotate
from saltus.spatial.vectors import add3, add_scaled3, scale3, sub3


@kernel
def is_free(m, b):
    """Whether body b is on a free joint."""
    return m.body_jntnum[b] == 1 and m.jnt_type[m.body_jntadr[b]] == FREE


@kernel
def motions_of_ends(m, d, h, centred):
    """Motions of all bodies, in their axes, at both ends of the step and for the velocities of both ends.

    With `centred`, relative to the centres of mass of free trees.
    """
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    rest = (zero, zero, zero, zero, zero, zero)
    for k in range(m.ntree_body):
        b = m.tree_body[k]
        if b == 0:
            d.balance_quat[0] = d.balance_quat_end[0] = (zero + 1.0, zero, zero, zero)
            d.balance_pos[0] = d.balance_pos_end[0] = none
            d.balance_v[0] = d.balance_v_end[0] = d.balance_w[0] = d.balance_w_end[0] = rest
            d.balance_rest[0] = d.balance_rest_end[0] = none
            d.balance_field[0] = add3(m.opt_gravity[0], none)
        elif is_free(m, b):
            free_motion(m, d, h, b, centred)
        else:
            begin_body(m, d, b)
            for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
                joint_motion(m, d, h, b, j)


@kernel
def free_motion(m, d, h, b, centred):
    """Motions of body b on a free joint."""
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    j = m.body_jntadr[b]
    i = m.jnt_dofadr[j]
    q0, q1 = turn(m, d.qpos_saved, j), turn(m, d.qpos, j)
    d.balance_quat[b], d.balance_quat_end[b] = q0, q1
    d.balance_pos[b] = d.balance_pos_end[b] = none
    v, w = load3(d.qvel_saved, i), add_scaled3(load3(d.qvel_saved, i), h, load3(d.qacc, i))
    back0, back1 = quat_conjugate(q0), quat_conjugate(q1)
    spin, later = load3(d.qvel_saved, i + 3), add_scaled3(load3(d.qvel_saved, i + 3), h, load3(d.qacc, i + 3))
    if not centred:
        d.balance_v[b], d.balance_v_end[b] = join(spin, quat_rotate(back0, v)), join(spin, quat_rotate(back1, v))
        d.balance_w[b], d.balance_w_end[b] = join(later, quat_rotate(back0, w)), join(later, quat_rotate(back1, w))
        d.balance_rest[b] = d.balance_rest_end[b] = none
        return
    # the root moves against the means of the centre's velocities relative to it, in body axes; momenta without means
    v0, v1, w0, w1 = centre_velocities(d, b)
    v0, v1 = quat_rotate(back0, sub3(v0, v)), quat_rotate(back1, sub3(v1, v))
    w0, w1 = quat_rotate(back0, sub3(w0, w)), quat_rotate(back1, sub3(w1, w))
    v, w = scale3(-0.5, add3(v0, v1)), scale3(-0.5, add3(w0, w1))
    d.balance_v[b] = d.balance_v_end[b] = join(spin, v)
    d.balance_w[b] = d.balance_w_end[b] = join(later, w)
    d.balance_rest[b], d.balance_rest_end[b] = scale3(-1.0, add3(v, v0)), scale3(-1.0, add3(w, w1))
    # weights, less what accelerates the centre of mass
    s = d.balance_centre[b]
    d.balance_field[b] = mean_rotated3(back0, back1, sub3(m.opt_gravity[0], s))
    d.joint_field[j] = d.balance_field[b]


@kernel(inline=True)
def centre_velocities(d, b):
    """Velocities (m/s; world axes) of a free tree's centre of mass: of v at both positions, of v' at both."""
    s = d.balance_sums[b]
    return (s[0], s[1], s[2]), (s[3], s[4], s[5]), (s[6], s[7], s[8]), (s[9], s[10], s[11])


@kernel
def begin_body(m, d, b):
    """Motions of body b from its parent's, before its joints."""
    zero = 0.0 * d.time
    p = m.body_parentid[b]
    turned = m.body_quat[b]
    pos, q = (
        add3(m.body_pos[b], (zero, zero, zero)),
        (turned[0] + zero, turned[1] + zero, turned[2] + zero, turned[3] + zero),
    )
    if has(m, "mocap") and m.body_mocapid[b] >= 0:
        c = m.body_mocapid[b]
        pos, q = d.mocap_pos[c], quat_normalize(d.mocap_quat[c])
    back = quat_conjugate(q)
    d.balance_quat[b] = quat_multiply(d.balance_quat[p], q)
    d.balance_quat_end[b] = quat_multiply(d.balance_quat_end[p], q)
    d.balance_pos[b] = add3(d.balance_pos[p], quat_rotate(d.balance_quat[p], pos))
    d.balance_pos_end[b] = add3(d.balance_pos_end[p], quat_rotate(d.balance_quat_end[p], pos))
    d.balance_v[b], d.balance_v_end[b] = into(q, pos, d.balance_v[p]), into(q, pos, d.balance_v_end[p])
    d.balance_w[b], d.balance_w_end[b] = into(q, pos, d.balance_w[p]), into(q, pos, d.balance_w_end[p])
    d.balance_rest[b] = quat_rotate(back, d.balance_rest[p])
    d.balance_rest_end[b] = quat_rotate(back, d.balance_rest_end[p])
    d.balance_field[b] = quat_rotate(back, d.balance_field[p])


@kernel
def joint_motion(m, d, h, b, j):
    """Motions of body b after joint j; joint_v, joint_w [njnt, 6]: means of the motions before, at the anchor."""
    if m.jnt_type[j] == SLIDE:
        slide_motion(m, d, h, b, j)
        return
    i = m.jnt_dofadr[j]
    anchor = m.jnt_pos[j]
    q0, q1 = turn(m, d.qpos_saved, j), turn(m, d.qpos, j)
    # pose after the rotation about the anchor
    g0, g1 = d.balance_quat[b], d.balance_quat_end[b]
    d.balance_quat[b], d.balance_quat_end[b] = quat_multiply(g0, q0), quat_multiply(g1, q1)
    d.balance_pos[b] = sub3(add3(d.balance_pos[b], quat_rotate(g0, anchor)), quat_rotate(d.balance_quat[b], anchor))
    d.balance_pos_end[b] = sub3(
        add3(d.balance_pos_end[b], quat_rotate(g1, anchor)), quat_rotate(d.balance_quat_end[b], anchor)
    )
    # means of both motions before the joint, in the mean of the axes after it
    b0, b1 = quat_conjugate(q0), quat_conjugate(q1)
    v = scale6(0.5, motion_at(add6(d.balance_v[b], d.balance_v_end[b]), anchor))
    w = scale6(0.5, motion_at(add6(d.balance_w[b], d.balance_w_end[b]), anchor))
    d.joint_v[j], d.joint_w[j] = mean_rotated(b0, b1, v), mean_rotated(b0, b1, w)
    # motions at the anchor, in the axes after it
    v0, v1 = into(q0, anchor, d.balance_v[b]), into(q1, anchor, d.balance_v_end[b])
    w0, w1 = into(q0, anchor, d.balance_w[b]), into(q1, anchor, d.balance_w_end[b])
    # with the joint's own velocities
    v, w = joint_rates(m, d, h, j, i)
    origin = scale3(-1.0, anchor)
    d.balance_v[b], d.balance_v_end[b] = motion_at(add6(v0, v), origin), motion_at(add6(v1, v), origin)
    d.balance_w[b], d.balance_w_end[b] = motion_at(add6(w0, w), origin), motion_at(add6(w1, w), origin)
    # translations and the field of weights
    d.balance_rest[b] = quat_rotate(b0, d.balance_rest[b])
    d.balance_rest_end[b] = quat_rotate(b1, d.balance_rest_end[b])
    d.balance_field[b] = mean_rotated3(b0, b1, d.balance_field[b])
    d.joint_field[j] = d.balance_field[b]


@kernel(inline=True)
def joint_rates(m, d, h, j, i):
    """Angular velocities of hinge or ball joint j at both ends, in body axes, as motions about the anchor."""
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    if m.jnt_type[j] == BALL:
        v, w = load3(d.qvel_saved, i), add_scaled3(load3(d.qvel_saved, i), h, load3(d.qacc, i))
    else:
        v = scale3(d.qvel_saved[i], m.jnt_axis[j])
        w = scale3(d.qvel_saved[i] + h * d.qacc[i], m.jnt_axis[j])
    return join(v, none), join(w, none)


@kernel
def slide_motion(m, d, h, b, j):
    """Motions of body b after slide j."""
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    i = m.jnt_dofadr[j]
    x0, x1 = slid(m, d.qpos_saved, j), slid(m, d.qpos, j)
    d.joint_v[j] = scale6(0.5, add6(d.balance_v[b], d.balance_v_end[b]))
    d.joint_w[j] = scale6(0.5, add6(d.balance_w[b], d.balance_w_end[b]))
    d.joint_field[j] = d.balance_field[b]
    d.balance_pos[b] = add3(d.balance_pos[b], quat_rotate(d.balance_quat[b], x0))
    d.balance_pos_end[b] = add3(d.balance_pos_end[b], quat_rotate(d.balance_quat_end[b], x1))
    v = join(none, scale3(d.qvel_saved[i], m.jnt_axis[j]))
    w = join(none, scale3(d.qvel_saved[i] + h * d.qacc[i], m.jnt_axis[j]))
    d.balance_v[b] = add6(motion_at(d.balance_v[b], x0), v)
    d.balance_v_end[b] = add6(motion_at(d.balance_v_end[b], x1), v)
    d.balance_w[b] = add6(motion_at(d.balance_w[b], x0), w)
    d.balance_w_end[b] = add6(motion_at(d.balance_w_end[b], x1), w)
