"""Forward kinematics of the tree: poses of bodies, joints and attached frames."""

from saltus.dynamics.awake.walks import awake_bodies
from saltus.dynamics.tree.guided.movers import mover_pose
from saltus.dynamics.tree.particles import place_particles
from saltus.model.enums import FREE, HINGE, SLIDE
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with
from saltus.spatial.fields import load3, load4
from saltus.spatial.quaternions import (
    axis_angle_to_quat,
    quat_multiply,
    quat_normalize,
    quat_rotate,
    quat_to_matrix,
)
from saltus.spatial.vectors import add3, add_scaled3, matrix_times_vector, sub3


@kernel
def kinematics(m, d, compute_all):
    """Poses of all bodies from joint positions (Featherstone 2008, section 4.4).

    xquat is written where later bodies need it, and everywhere if `compute_all`. Reads qpos [nq]. Writes xpos [nbody,
    3] (m), xquat [nbody, 4], xmat [nbody, 9], xipos [nbody, 3] (m, centres of mass), xanchor [njnt, 3] (m) and xaxis
    [njnt, 3], all in world axes.
    """
    zero = 0.0 * d.time
    pos = (zero, zero, zero)
    quat = (zero + 1.0, zero, zero, zero)
    mat = (zero + 1.0, zero, zero, zero, zero + 1.0, zero, zero, zero, zero + 1.0)
    d.xpos[0] = d.xipos[0] = pos
    d.xquat[0] = quat
    d.xmat[0] = mat
    for k in awake_bodies(m, d):
        b = m.tree_body[k]
        first = m.body_jntadr[b]
        last = first + m.body_jntnum[b] - 1
        if first == last and m.jnt_type[first] == FREE:
            pos, quat = _free_pose(m, d, first)
        elif m.body_mocapid[b] >= 0:
            pos, quat = _mocap_pose(m, d, m.body_mocapid[b])
        else:
            # pose without joint motion, then joint by joint
            if not m.body_chained[b]:
                parent = m.body_parentid[b]
                pos, quat, mat = d.xpos[parent], d.xquat[parent], d.xmat[parent]
            pos = add3(pos, matrix_times_vector(mat, m.body_pos[b]))
            if m.body_turned[b]:
                quat = quat_multiply(quat, m.body_quat[b])
            for j in range(first, last + 1):
                pos, quat = _move_joint(m, d, j, j == last, pos, quat)
        mat = quat_to_matrix(quat)
        if first <= last and m.jnt_type[last] == HINGE:
            # a hinge does not change its own axis: take it from the final orientation
            d.xaxis[last] = matrix_times_vector(mat, m.jnt_axis[last])
        # pose and centre of mass in world axes
        d.xpos[b] = pos
        if compute_all or m.body_branches[b]:
            d.xquat[b] = quat
        d.xmat[b] = mat
        d.xipos[b] = add3(pos, matrix_times_vector(mat, m.body_ipos[b]))
    place_particles(m, d)


@kernel(inline=True)
def _free_pose(m, d, j):
    """Pose of a body on a free joint: the joint's own coordinates."""
    a = m.jnt_qposadr[j]
    pos = load3(d.qpos, a)
    quat = quat_normalize(load4(d.qpos, a + 3))
    d.xanchor[j] = pos
    d.xaxis[j] = m.jnt_axis[j]
    return pos, quat


@only_with("mocap", otherwise="(d.xpos[0], d.xquat[0])")
@kernel(inline=True)
def _mocap_pose(m, d, k):
    """Pose of a mocap body, which is set from outside; under hard contact it moves."""
    if has(m, "movers"):
        return mover_pose(m, d, k)
    quat = d.mocap_quat[k]
    return d.mocap_pos[k], quat_normalize(quat)


@kernel(inline=True)
def _move_joint(m, d, j, last, pos, quat):
    """Pose of a body after the motion of joint j; writes the joint's anchor and, except for a last hinge, axis."""
    a = m.jnt_qposadr[j]
    kind = m.jnt_type[j]
    axis = m.jnt_axis[j]
    anchor = pos
    if m.jnt_offset[j]:
        anchor = add3(pos, quat_rotate(quat, m.jnt_pos[j]))
    d.xanchor[j] = anchor
    if kind != HINGE or not last:
        world_axis = quat_rotate(quat, axis)
        d.xaxis[j] = world_axis
    if kind == SLIDE:
        return add_scaled3(pos, d.qpos[a] - m.qpos0[a], world_axis), quat
    if kind == HINGE:
        quat = quat_multiply(quat, axis_angle_to_quat(axis, d.qpos[a] - m.qpos0[a]))
    else:
        quat = quat_multiply(quat, quat_normalize(load4(d.qpos, a)))
    if m.jnt_offset[j]:
        # the rotation leaves the anchor fixed
        pos = sub3(anchor, quat_rotate(quat, m.jnt_pos[j]))
    return pos, quat


@kernel(inline=True)
def site_position(m, d, s):
    """Position (m) of a site in world axes."""
    b = m.site_bodyid[s]
    return add3(d.xpos[b], matrix_times_vector(d.xmat[b], m.site_pos[s]))


@kernel(inline=True)
def geom_position(m, d, g):
    """Position (m) of a geom's centre in world axes."""
    b = m.geom_bodyid[g]
    return add3(d.xpos[b], matrix_times_vector(d.xmat[b], m.geom_pos[g]))


@kernel
def attached_frames(m, d):
    """Poses of frames attached to bodies.

    Writes ximat [nbody, 9] (principal axes of inertia), geom_xpos [ngeom, 3] (m), geom_xmat [ngeom, 9], site_xpos
    [nsite, 3] (m) and site_xmat [nsite, 9] in world axes.
    """
    for b in range(m.nbody):
        d.ximat[b] = quat_to_matrix(quat_multiply(d.xquat[b], m.body_iquat[b]))
    for g in range(m.ngeom):
        d.geom_xpos[g] = geom_position(m, d, g)
        d.geom_xmat[g] = quat_to_matrix(quat_multiply(d.xquat[m.geom_bodyid[g]], m.geom_quat[g]))
    for s in range(m.nsite):
        d.site_xpos[s] = site_position(m, d, s)
        d.site_xmat[s] = quat_to_matrix(quat_multiply(d.xquat[m.site_bodyid[s]], m.site_quat[s]))
