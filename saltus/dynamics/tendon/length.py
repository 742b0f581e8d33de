"""Tendon lengths and their Jacobians.

Fixed tendons are linear in the joints (L = sum of coefficient times position); spatial ones follow the shortest path
through sites, around or through spheres and cylinders. Pulleys divide the lengths of the branches between them. Rules
are those of MuJoCo 4.0 (documentation, Computation, "Actuation model: Transmission" and XML Reference, "tendon").
"""

from saltus.dynamics.applied import add_power
from saltus.dynamics.awake.walks import awake_tendons
from saltus.dynamics.tendon.wrap import sphere_frame, wrap, wrap_by_half_plane
from saltus.dynamics.tree.kinematics import geom_position, site_position
from saltus.model.enums import WRAP_JOINT, WRAP_SITE, WRAP_SPHERE
from saltus.number.conditions import has
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, cross, distance_direction, matrix_times_matrix, scale3, sub3, where3


@only_with("tendon")
@kernel
def tendons(m, d):
    """Lengths of tendons and their Jacobians; needs `kinematics` and `com_dof`.

    The length of a taut path changes by the unit vector of each straight part times the relative velocity of its
    ends: dL/dt = J qvel.

    Writes ten_length [ntendon] (m, rad) and ten_J [ntenJ], along tendon_dof.
    """
    zero = 0.0 * d.time
    for t in awake_tendons(m, d):
        length = zero
        for k in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
            d.ten_J[k] = zero
        for e in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            kind = m.path_type[e]
            if kind == WRAP_JOINT:
                part = _joint(m, d, t, e)
            elif kind == WRAP_SITE:
                part = _straight(m, d, t, e)
            else:
                part = _wrapped(m, d, t, e)
            length = length + m.path_factor[e] * part
        d.ten_length[t] = length


@only_with("tendon")
@kernel
def tendon_velocities(m, d):
    """ten_velocity [ntendon] (m/s, rad/s) = J qvel."""
    for t in awake_tendons(m, d):
        velocity = 0.0 * d.time
        for k in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
            velocity = velocity + d.ten_J[k] * d.qvel[m.tendon_dof[k]]
        d.ten_velocity[t] = velocity


@kernel
def _joint(m, d, t, e):
    """Position (m, rad) of a joint of a fixed tendon; adds to the Jacobian."""
    j = m.path_obj1[e]
    k = m.tendon_Jadr[t]
    while m.tendon_dof[k] != m.jnt_dofadr[j]:
        k += 1
    d.ten_J[k] = d.ten_J[k] + m.path_factor[e]
    return d.qpos[m.jnt_qposadr[j]]


@kernel
def _straight(m, d, t, e):
    """Distance (m) between two sites; adds to the Jacobian."""
    s1, s2 = m.path_obj1[e], m.path_obj2[e]
    p, q = site_position(m, d, s1), site_position(m, d, s2)
    length, ahead = distance_direction(p, q)
    if m.site_bodyid[s1] != m.site_bodyid[s2]:
        _add_point_to_jacobian(m, d, t, m.site_bodyid[s1], p, scale3(-m.path_factor[e], ahead))
        _add_point_to_jacobian(m, d, t, m.site_bodyid[s2], q, scale3(m.path_factor[e], ahead))
    return length


@only_with("wrap", otherwise="0.0 * d.time")
@kernel
def _wrapped(m, d, t, e):
    """Length (m) of the path from one site to another around a sphere or cylinder; adds to the Jacobian."""
    s1, s2, b = m.path_obj1[e], m.path_obj2[e], m.geom_bodyid[m.path_geom[e]]
    length, ahead, away, centre, force, moment = way_around(m, d, e)
    _add_point_to_jacobian(m, d, t, m.site_bodyid[s1], site_position(m, d, s1), scale3(-m.path_factor[e], ahead))
    _add_point_to_jacobian(m, d, t, m.site_bodyid[s2], site_position(m, d, s2), scale3(m.path_factor[e], away))
    force = scale3(m.path_factor[e], force)
    moment = scale3(m.path_factor[e], moment)
    to_centre = sub3(centre, d.subtree_com[m.body_rootid[b]])
    _add_to_jacobian(m, d, t, b, force, add3(moment, cross(to_centre, force)))
    return length


@kernel
def way_around(m, d, e):
    """Path of element e from one site to another around a sphere or cylinder.

    If the geom is not in the way, the path is straight. Returns its length (m), its unit directions at the first and at
    the last site, the geom's centre (m), and the force and moment about the centre of a unit tension on the geom, with
    the sign of the length's gradient.
    """
    p, q, centre, touches, length, ahead, away, arrival, departure = wrapped_path(m, d, e)
    # straight path where the geom is not in the way
    straight, direction = distance_direction(p, q)
    zero = 0.0 * straight
    none = zero, zero, zero
    ahead = where3(touches, ahead, direction)
    away = where3(touches, away, direction)
    moment = where3(touches, sub3(cross(arrival, ahead), cross(departure, away)), none)
    return where(touches, length, straight), ahead, away, centre, sub3(ahead, away), moment


@kernel
def wrapped_path(m, d, e):
    """Path of element e around its sphere or cylinder, if it touches that.

    Returns the two sites and the geom's centre (m), and the results of `wrap` for the path.
    """
    # sites relative to the geom, and axes of the wrapping circle
    s1, s2, g, s = m.path_obj1[e], m.path_obj2[e], m.path_geom[e], m.path_side[e]
    p, q = site_position(m, d, s1), site_position(m, d, s2)
    b = m.geom_bodyid[g]
    centre = geom_position(m, d, g)
    from_p, from_q = sub3(p, centre), sub3(q, centre)
    if m.path_type[e] == WRAP_SPHERE:
        frame = sphere_frame(from_p, from_q)
    else:
        r = matrix_times_matrix(d.xmat[b], m.geom_mat[g])
        frame = (r[0], r[3], r[6]), (r[1], r[4], r[7]), (r[2], r[5], r[8])
    # wrapped path, past the side site if there is one
    side = from_p
    if s >= 0:
        side = sub3(site_position(m, d, s), centre)
    radius = m.geom_size[g, 0]
    if has(m, "half_plane_sides"):
        path = wrap_by_half_plane(from_p, from_q, side, s >= 0, frame, radius)
    else:
        path = wrap(from_p, from_q, side, s >= 0, frame, radius)
    touches, length, ahead, away, arrival, departure = path
    return p, q, centre, touches, length, ahead, away, arrival, departure


@kernel(inline=True)
def _add_point_to_jacobian(m, d, t, b, point, force):
    """Add to the Jacobian of tendon t the share of a point of body b in its rate: `force` · velocity of the point."""
    _add_to_jacobian(m, d, t, b, force, cross(sub3(point, d.subtree_com[m.body_rootid[b]]), force))


@kernel
def _add_to_jacobian(m, d, t, b, force, moment):
    """Add to the Jacobian of tendon t a force and moment (about the tree's centre of mass) on body b."""
    # degrees of freedom up to tendon_common move the whole tendon and leave its length unchanged
    first, count = m.tendon_Jadr[t], m.tendon_Jnum[t]
    add_power(m, d, d.ten_J, m.tendon_dof, (first, count), b, force, moment, m.tendon_common[t])
