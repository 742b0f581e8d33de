"""Actuator transmissions: lengths and moment arms.

An actuator acts on a length L(q); the gradient of L, its moment arms, maps the actuator's force to generalised forces.
Lengths are those of MuJoCo 4.0 (documentation, Computation, "Actuation model: Transmission").
"""

from saltus.dynamics.applied import add_power
from saltus.dynamics.awake.walks import awake_outputs
from saltus.dynamics.tree.kinematics import site_position
from saltus.model.actuator_enums import (
    BALL_IN_PARENT,
    BODY,
    FREE,
    FREE_IN_PARENT,
    ROTATION_OF_BALL,
    ROTATION_OF_SITE,
    SCALAR,
    SITE,
    SITE_REFERENCE,
    SLIDER_CRANK,
    TENDON,
)
from saltus.number.functions import any_lane, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.fields import load4, store3
from saltus.spatial.quaternions import quat_conjugate, quat_log, quat_multiply, quat_normalize, quat_rotate
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    cross,
    dot3,
    matrix_times_matrix,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
    z_axis,
)


@only_with("transmission")
@kernel
def transmissions(m, d):
    """Lengths and moment arms of all outputs except those on hinges and slides; needs `com_dof` and `tendons`.

    Writes actuator_length [nout] (m or rad, times gear) and moment [nmoment], along moment_dof.
    """
    for o in awake_outputs(m, d):
        kind = m.out_kind[o]
        if kind == BODY:
            # adhesion: the moment arms follow from the contacts, after collision detection
            d.actuator_length[o] = 0.0 * d.time
        elif kind != SCALAR:
            for k in range(m.moment_adr[o], m.moment_adr[o] + m.moment_num[o]):
                d.moment[k] = 0.0 * d.time
            if kind == TENDON:
                tendon(m, d, o)
            elif kind == SITE:
                site(m, d, o)
            elif kind == SITE_REFERENCE:
                site_reference(m, d, o)
            elif kind == SLIDER_CRANK:
                slider_crank(m, d, o)
            elif kind == ROTATION_OF_SITE:
                rotation_of_site(m, d, o)
            else:
                joint(m, d, o, kind)


@kernel
def output(m, d, o):
    """Velocity of output o, and its length if it acts on a hinge or slide."""
    if m.out_kind[o] == SCALAR:
        j = m.out_obj1[o]
        gear = m.actuator_gear[o, 0]
        d.actuator_length[o] = gear * d.qpos[m.jnt_qposadr[j]]
        d.actuator_velocity[o] = gear * d.qvel[m.jnt_dofadr[j]]
    else:
        velocity = 0.0 * d.time
        for k in range(m.moment_adr[o], m.moment_adr[o] + m.moment_num[o]):
            velocity = velocity + d.moment[k] * d.qvel[m.moment_dof[k]]
        d.actuator_velocity[o] = velocity


@kernel
def add_joint_forces(m, d, o, force, qfrc):
    """Add to the field qfrc [nv] the generalised forces of output o: moment arms times force."""
    if m.out_kind[o] == SCALAR:
        i = m.moment_dof[m.moment_adr[o]]
        qfrc[i] = qfrc[i] + m.actuator_gear[o, 0] * force
    else:
        for k in range(m.moment_adr[o], m.moment_adr[o] + m.moment_num[o]):
            i = m.moment_dof[k]
            qfrc[i] = qfrc[i] + d.moment[k] * force


@kernel(inline=True)
def linear_gear(m, o):
    """Translational part of an output's gear: its first three numbers."""
    gear = m.actuator_gear[o]
    return gear[0], gear[1], gear[2]


@kernel(inline=True)
def angular_gear(m, o):
    """Rotational part of an output's gear: its last three numbers."""
    gear = m.actuator_gear[o]
    return gear[3], gear[4], gear[5]


@kernel
def joint(m, d, o, kind):
    """Ball joint: its rotation vector along the gear; free joint: zero length, the gear is a force and torque.

    The rotational gear is in the joint's own axes or in the parent's. Orientation servos have one axis per output.
    """
    zero = 0.0 * d.time
    j = m.out_obj1[o]
    adr = m.moment_adr[o]
    a = m.jnt_qposadr[j]
    if kind == FREE or kind == FREE_IN_PARENT:
        # free joint: the gear itself, its rotational part in the body's axes
        store3(d.moment, adr, add3((zero, zero, zero), linear_gear(m, o)))
        axis = add3((zero, zero, zero), angular_gear(m, o))
        if kind == FREE_IN_PARENT:
            axis = quat_rotate(quat_conjugate(quat_normalize(load4(d.qpos, a + 3))), axis)
        store3(d.moment, adr + 3, axis)
        d.actuator_length[o] = zero
    else:
        # ball joint: a component of its rotation vector
        quat = quat_normalize(load4(d.qpos, a))
        turn = quat_log(quat)
        if kind == ROTATION_OF_BALL:
            axis_number = m.out_axis[o]
            d.moment[adr] = zero + 1.0
            d.actuator_length[o] = turn[0] if axis_number == 0 else turn[1] if axis_number == 1 else turn[2]
        else:
            # component along the gear
            axis = add3((zero, zero, zero), linear_gear(m, o))
            if kind == BALL_IN_PARENT:
                axis = quat_rotate(quat_conjugate(quat), axis)
            store3(d.moment, adr, axis)
            d.actuator_length[o] = dot3(turn, axis)


@only_with("tendon")
@kernel
def tendon(m, d, o):
    """Length of a tendon, times gear."""
    t = m.out_obj1[o]
    gear = m.actuator_gear[o, 0]
    d.actuator_length[o] = gear * d.ten_length[t]
    for k in range(m.moment_num[o]):
        d.moment[m.moment_adr[o] + k] = gear * d.ten_J[m.tendon_Jadr[t] + k]


@kernel(inline=True)
def site_matrix(m, d, s):
    """Orientation matrix of a site in world axes."""
    return matrix_times_matrix(d.xmat[m.site_bodyid[s]], m.site_mat[s])


@kernel(inline=True)
def site_quaternion(m, d, s):
    """Orientation quaternion of a site in world axes."""
    return quat_multiply(d.xquat[m.site_bodyid[s]], m.site_quat[s])


@kernel
def add_moment_arm(m, d, o, b, point, force, torque):
    """Add to the moment arms of output o those of a force at a point of body b and a torque on b, in world axes."""
    moment = add3(torque, cross(sub3(point, d.subtree_com[m.body_rootid[b]]), force))
    # degrees of freedom that move both ends alike have no entry in moment_dof and are skipped
    add_power(m, d, d.moment, m.moment_dof, (m.moment_adr[o], m.moment_num[o]), b, force, moment, -1)


@kernel
def site(m, d, o):
    """Force and torque fixed to a site: zero length, the gear is in the site's axes."""
    s = m.out_obj1[o]
    mat = site_matrix(m, d, s)
    force = matrix_times_vector(mat, linear_gear(m, o))
    torque = matrix_times_vector(mat, angular_gear(m, o))
    d.actuator_length[o] = 0.0 * d.time
    add_moment_arm(m, d, o, m.site_bodyid[s], site_position(m, d, s), force, torque)


@kernel
def site_reference(m, d, o):
    """Pose of a site relative to a reference site, along the gear in the reference's axes.

    The length is gear · (Rᵀ (p - p_ref), rotation vector of the relative orientation). Its gradient treats the
    reference's axes as constant.
    """
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    s, reference = m.out_obj1[o], m.out_obj2[o]
    b, base = m.site_bodyid[s], m.site_bodyid[reference]
    at, origin = site_position(m, d, s), site_position(m, d, reference)
    mat = site_matrix(m, d, reference)
    linear, angular = linear_gear(m, o), angular_gear(m, o)
    # translational part
    length = dot3(transpose_times_vector(mat, sub3(at, origin)), linear)
    force = matrix_times_vector(mat, linear)
    # rotational part
    torque = none
    if any_lane(angular[0] != 0.0) or any_lane(angular[1] != 0.0) or any_lane(angular[2] != 0.0):
        length = length + dot3(relative_turn(m, d, s, reference), angular)
        torque = matrix_times_vector(mat, angular)
    d.actuator_length[o] = length
    add_moment_arm(m, d, o, b, at, force, torque)
    add_moment_arm(m, d, o, base, origin, scale3(-1.0, force), scale3(-1.0, torque))


@kernel
def relative_turn(m, d, s, reference):
    """Rotation vector from the orientation of a site `reference` to that of site s, in either's axes."""
    quat = quat_normalize(site_quaternion(m, d, s))
    origin = quat_normalize(site_quaternion(m, d, reference))
    return quat_log(quat_multiply(quat_conjugate(origin), quat))


@kernel
def rotation_of_site(m, d, o):
    """One of three outputs: a component of two sites' relative rotation vector; torque about the first site's axis."""
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    s, reference = m.out_obj1[o], m.out_obj2[o]
    turn, mat = relative_turn(m, d, s, reference), site_matrix(m, d, s)
    axis_number = m.out_axis[o]
    if axis_number == 0:
        d.actuator_length[o] = turn[0]
        axis = (mat[0], mat[3], mat[6])
    elif axis_number == 1:
        d.actuator_length[o] = turn[1]
        axis = (mat[1], mat[4], mat[7])
    else:
        d.actuator_length[o] = turn[2]
        axis = (mat[2], mat[5], mat[8])
    add_moment_arm(m, d, o, m.site_bodyid[s], none, none, axis)
    add_moment_arm(m, d, o, m.site_bodyid[reference], none, none, scale3(-1.0, axis))


@kernel
def slider_crank(m, d, o):
    """Position of a slider that a rod of length r joins to a crank: L = a·v - sqrt((a·v)² + r² - v·v), times gear.

    v is the vector from the slider's site to the crank's, a the slider's axis (z). If the rod is too short the root is
    omitted.
    """
    crank, slider = m.out_obj1[o], m.out_obj2[o]
    gear, rod = m.actuator_gear[o, 0], m.actuator_cranklength[o]
    # slider-crank length
    pin, start = site_position(m, d, crank), site_position(m, d, slider)
    axis = z_axis(site_matrix(m, d, slider))
    v = sub3(pin, start)
    along = dot3(v, axis)
    square = along * along + rod * rod - dot3(v, v)
    reaches = square > 0.0
    zero = 0.0 * square
    root = sqrt(where(reaches, square, zero + 1.0))
    d.actuator_length[o] = gear * where(reaches, along - root, along)
    # dL = by_v · dv + by_axis · da
    share = where(reaches, 1.0 - along / root, zero + 1.0)
    by_axis = scale3(gear * share, v)
    by_v = add_scaled3(scale3(gear * share, axis), gear * where(reaches, 1.0 / root, zero), v)
    none = (zero, zero, zero)
    add_moment_arm(m, d, o, m.site_bodyid[crank], pin, by_v, none)
    add_moment_arm(m, d, o, m.site_bodyid[slider], start, scale3(-1.0, by_v), cross(axis, by_axis))
