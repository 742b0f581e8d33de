"""Vector-Jacobian products of a semi-implicit Euler step by frames of bodies and joints.

A change of a body's frame in its parent's acts as a joint that stands still: all beyond it turns and moves, and the
motions before it stay (see `saltus.integrate.fixed.euler_adjoint.state`). With the covector τ of such displacements,
a shift e counts τ_lin · e, and a rotation ε about a point r from the point of reference (τ_ang - r × τ_lin) · ε. A
joint's position or axis that changes displaces what is beyond it by a change before the joint, and by the opposite
one, in axes that the joint has turned, behind it.

Gradients are added up in arrays:

    places [nbody, 6]       shifts of bodies, in their parents' axes, and rotations, in their own
    joints [njnt, 6]        shifts and rotations of joints, in axes of their bodies before the joint
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.dynamics.tree.inverse_derivative import six
from saltus.integrate.fixed.euler_adjoint.motions import MOTIONS, OF_V, POSE, POWER, TRUE
from saltus.model.enums import BALL, FREE, HINGE, SLIDE
from saltus.number.kernels import kernel
from saltus.spatial.fields import load4
from saltus.spatial.motions import cross_force, sub6
from saltus.spatial.quaternions import axis_angle_to_quat, quat_multiply, quat_normalize, quat_to_matrix
from saltus.spatial.vectors import add3, add_scaled3, cross, matrix_times_vector, sub3, transpose_times_vector


@kernel
def geometry_gradient(m, p, qpos, arrays, places, joints):
    """Add the gradients by frames of bodies and joints that move, after `tree_gradient`.

    p: Data after the step, with poses at its start; qpos [nq]: positions there. arrays: motions, wrenches, before.
    """
    motions, wrenches, before = arrays[0], arrays[1], arrays[2]
    for b in range(1, m.nbody):
        first = m.body_jntadr[b]
        last = first + m.body_jntnum[b]
        if m.body_lastdof[b] < 0 or (last > first and m.jnt_type[first] == FREE):
            continue
        parent, com = m.body_parentid[b], p.subtree_com[m.body_rootid[b]]
        place = m.body_pos[b]
        point = add3(p.xpos[parent], matrix_times_vector(p.xmat[parent], (place[0], place[1], place[2])))
        still, turned = (1.0, 0.0, 0.0, 0.0), m.body_quat[b]
        turn = quat_multiply(still, (turned[0], turned[1], turned[2], turned[3]))
        total = covector(motions, parent, wrenches, b)
        add_local(places, b, 0, 1.0, p.xmat[parent], still, shifting(total))
        add_local(places, b, 3, 1.0, p.xmat[parent], turn, turning(total, sub3(point, com)))
        for j in range(first, last):
            anchor = p.xanchor[j]
            total = covector(before, m.jnt_dofadr[j], wrenches, b)
            if m.jnt_type[j] != SLIDE:
                add_local(joints, j, 0, 1.0, p.xmat[parent], turn, shifting(total))
            add_local(joints, j, 3, 1.0, p.xmat[parent], turn, turning(total, sub3(anchor, com)))
            # behind the joint
            turn = turned_by(m, qpos, j, turn)
            if m.jnt_type[j] == SLIDE:
                anchor = add_scaled3(anchor, qpos[m.jnt_qposadr[j]] - m.qpos0[m.jnt_qposadr[j]], p.xaxis[j])
            if j + 1 < last:
                total = covector(before, m.jnt_dofadr[j + 1], wrenches, b)
            else:
                total = covector(motions, b, wrenches, b)
            if m.jnt_type[j] != SLIDE:
                add_local(joints, j, 0, -1.0, p.xmat[parent], turn, shifting(total))
            add_local(joints, j, 3, -1.0, p.xmat[parent], turn, turning(total, sub3(anchor, com)))


@kernel
def covector(before, k, wrenches, b):
    """Gradient by displacements of all from body b on, with the motions of row k before it."""
    v = six(before, OF_V, k)
    total = six(wrenches, POSE, b)
    for x in range(MOTIONS):
        total = sub6(total, cross_force(six(before, x, k), six(wrenches, x, b)))
    return sub6(total, cross_force(v, sub6(six(wrenches, POWER, b), cross_force(v, six(wrenches, TRUE, b)))))


@kernel(inline=True)
def shifting(total):
    """Gradient by a shift."""
    return total[3], total[4], total[5]


@kernel(inline=True)
def turning(total, arm):
    """Gradient by a rotation about a point at an arm from the point of reference."""
    return sub3((total[0], total[1], total[2]), cross(arm, (total[3], total[4], total[5])))


@kernel(inline=True)
def add_local(array, k, first, sign, frame, turn, vector):
    """Row k of an array from a place on += sign times a vector, in the axes that a quaternion turns in a frame."""
    local = transpose_times_vector(quat_to_matrix(turn), transpose_times_vector(frame, vector))
    for c in range(3):
        array[k, first + c] += sign * local[c]


@kernel
def turned_by(m, qpos, j, turn):
    """The orientation behind joint j, from that before it."""
    a, axis = m.jnt_qposadr[j], m.jnt_axis[j]
    if m.jnt_type[j] == HINGE:
        return quat_multiply(turn, axis_angle_to_quat((axis[0], axis[1], axis[2]), qpos[a] - m.qpos0[a]))
    if m.jnt_type[j] == BALL:
        return quat_multiply(turn, quat_normalize(load4(qpos, a)))
    return turn
