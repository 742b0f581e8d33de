"""Tendon lengths and their Jacobians.

Fixed tendons are linear in the joints (L = sum of coefficient times position); spatial ones follow the shortest path
through sites, around or through spheres and cylinders. Pulleys divide the lengths of the branches between them. Rules
are those of MuJoCo 4.0 (documentation, Computation, "Actuation model: Transmission" and XML Reference, "tendon").
"""

from saltus.dynamics.applied import add_power
from saltus.dynamics.awake.walks import awake_tendons
from saltus.dynamics.tendon.capstan import capstan_slips
from saltus.dynamics.tendon.path import way_around
from saltus.dynamics.tree.kinematics import site_position
from saltus.model.enums import WRAP_JOINT, WRAP_SITE
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, cross, distance_direction, scale3, sub3


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
    capstan_slips(m, d)


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
