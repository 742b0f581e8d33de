"""Tendon armature: kinetic energy a/2 (dL/dt)² of the rate of a tendon's length L.

With J the gradient of L, the inertia matrix gains a J Jᵀ and the bias force a J (dJ/dt · v) (MuJoCo documentation, XML
Reference, "tendon": armature). The inertia couples all joints that move a tendon, across branches.

Between two sites p and q at distance r = |q - p| along the unit vector u, the length changes by

    dL/dt = u · w,   d²L/dt² = u · dw/dt + (w · w - (u · w)²) / r,   w = velocity of q - that of p,

so that dJ/dt · v needs no derivative of J: it is d²L/dt² for the accelerations of the bodies at zero joint
acceleration.
"""

from saltus.dynamics.awake.walks import awake_tendons
from saltus.dynamics.tree.kinematics import site_position
from saltus.dynamics.tree.tree_rows import add_outer, clear_between_branches
from saltus.model.enums import WRAP_JOINT
from saltus.number.functions import MINVAL, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import acceleration_at, add6, velocity_at
from saltus.spatial.vectors import add3, add_scaled3, cross, distance_direction, dot3, scale3, sub3


@only_with("tendon_armature")
@kernel
def add_tendon_inertia(m, d):
    """M [nC] += Σ a J Jᵀ, after clearing entries between branches. Reads ten_J [ntenJ]."""
    clear_between_branches(m, d, d.M)
    for t in awake_tendons(m, d):
        if m.tendon_armature[t] != 0.0:
            add_outer(m, d.M, d.ten_J, m.tendon_dof, m.tendon_Jadr[t], m.tendon_Jnum[t], m.tendon_armature[t])


@only_with("tendon_armature")
@kernel
def add_path_forces(m, p, d, qfrc):
    """Add to the field qfrc [nv] (N, N m) the forces a J d²L/dt² that spatial tendons require.

    Reads cvel and cacc [nbody, 6] of all bodies; positions and ten_J from p (see `newton_euler_forward`).
    """
    for t in awake_tendons(m, d):
        if m.tendon_armature[t] != 0.0 and not is_fixed(m, t):
            force = m.tendon_armature[t] * path_acceleration(m, p, d, t)
            for k in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
                i = m.tendon_dof[k]
                qfrc[i] = qfrc[i] + p.ten_J[k] * force


@only_with("tendon_armature")
@kernel
def add_fixed_tendon_forces(m, p, d, qfrc):
    """Add to the field qfrc [nv] the forces a J (J · qacc) that fixed tendons require; their J is constant."""
    for t in awake_tendons(m, d):
        if m.tendon_armature[t] != 0.0 and is_fixed(m, t):
            first, end = m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]
            force = 0.0 * d.time
            for k in range(first, end):
                force = force + p.ten_J[k] * d.qacc[m.tendon_dof[k]]
            force = m.tendon_armature[t] * force
            for k in range(first, end):
                i = m.tendon_dof[k]
                qfrc[i] = qfrc[i] + p.ten_J[k] * force


@only_with("tendon_armature", otherwise="0.0 * d.time")
@kernel
def tendon_kinetic_energy(m, d):
    """Σ a/2 (dL/dt)² (J). Reads ten_velocity [ntendon]."""
    energy = 0.0 * d.time
    for t in awake_tendons(m, d):
        energy = energy + 0.5 * m.tendon_armature[t] * d.ten_velocity[t] * d.ten_velocity[t]
    return energy


@only_with("tendon_armature")
@kernel
def carry_tendon_momenta(m, d):
    """Add the momenta a dL/dt of spatial tendons, and their rates, to those of the bodies that they pull on.

    A tendon's momentum acts on a body like a force along the path at a site: a spatial force P with s · P = J a dL/dt
    summed over all bodies that a degree of freedom s carries. The change of P as the path rotates and the site moves is
    added to the bodies' weights. Reads ten_velocity [ntendon], cvel [nbody, 6]; adds to body_scratch and cfrc_body
    [nbody, 6].
    """
    for t in awake_tendons(m, d):
        if m.tendon_armature[t] != 0.0 and not is_fixed(m, t):
            momentum = m.tendon_armature[t] * d.ten_velocity[t]
            for e in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
                s1, s2 = m.path_obj1[e], m.path_obj2[e]
                if m.site_bodyid[s1] != m.site_bodyid[s2]:
                    _carry(m, d, s1, s2, m.path_factor[e] * momentum)


@kernel
def _carry(m, d, s1, s2, momentum):
    """`carry_tendon_momenta` for the straight part of a path between two sites."""
    at, to = site_position(m, d, s1), site_position(m, d, s2)
    length, u = distance_direction(at, to)
    from_velocity, to_velocity = point_velocity(m, d, d, s1, at), point_velocity(m, d, d, s2, to)
    w = sub3(to_velocity, from_velocity)
    turning = scale3(momentum * _inverse(length), add_scaled3(w, -dot3(u, w), u))
    pull = scale3(momentum, u)
    _carry_at(m, d, m.site_bodyid[s1], at, from_velocity, scale3(-1.0, pull), scale3(-1.0, turning))
    _carry_at(m, d, m.site_bodyid[s2], to, to_velocity, pull, turning)


@kernel
def _carry_at(m, d, b, point, velocity, pull, turning):
    """Add a momentum along `pull` at a moving point of body b, and its rate of change."""
    r = sub3(point, d.subtree_com[m.body_rootid[b]])
    moment = cross(r, pull)
    change = add3(cross(velocity, pull), cross(r, turning))
    d.body_scratch[b] = add6(d.body_scratch[b], (moment[0], moment[1], moment[2], pull[0], pull[1], pull[2]))
    d.cfrc_body[b] = add6(d.cfrc_body[b], (change[0], change[1], change[2], turning[0], turning[1], turning[2]))


@only_with("tendon_armature")
@kernel
def add_fixed_tendon_momenta(m, d):
    """momentum [nv] += a J dL/dt of fixed tendons, with constant J."""
    for t in awake_tendons(m, d):
        if m.tendon_armature[t] != 0.0 and is_fixed(m, t):
            momentum = m.tendon_armature[t] * d.ten_velocity[t]
            for k in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
                i = m.tendon_dof[k]
                d.momentum[i] = d.momentum[i] + d.ten_J[k] * momentum


@kernel(inline=True)
def is_fixed(m, t):
    """Whether tendon t is fixed, a sum of joint positions; else it is a path of straight parts."""
    return m.tendon_num[t] > 0 and m.path_type[m.tendon_adr[t]] == WRAP_JOINT


@kernel
def path_acceleration(m, p, d, t):
    """d²L/dt² (m/s²) of spatial tendon t at the bodies' accelerations cacc."""
    total = 0.0 * d.time
    for e in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        s1, s2 = m.path_obj1[e], m.path_obj2[e]
        if m.site_bodyid[s1] != m.site_bodyid[s2]:
            at, to = site_position(m, p, s1), site_position(m, p, s2)
            length, u = distance_direction(at, to)
            w = sub3(point_velocity(m, p, d, s2, to), point_velocity(m, p, d, s1, at))
            # gravity, which cacc includes, cancels in the difference
            pulled = sub3(point_acceleration(m, p, d, s2, to), point_acceleration(m, p, d, s1, at))
            along = dot3(u, w)
            across = dot3(w, w) - along * along
            total = total + m.path_factor[e] * (dot3(u, pulled) + across * _inverse(length))
    return total


@kernel(inline=True)
def _inverse(length):
    """1 / length, or 0 at zero length."""
    zero = 0.0 * length
    return where(length > MINVAL, 1.0 / where(length > MINVAL, length, zero + 1.0), zero)


@kernel(inline=True)
def point_velocity(m, p, d, s, point):
    """Velocity (m/s) of site s, whose position is `point`."""
    b = m.site_bodyid[s]
    return velocity_at(d.cvel[b], sub3(point, p.subtree_com[m.body_rootid[b]]))


@kernel(inline=True)
def point_acceleration(m, p, d, s, point):
    """Acceleration (m/s²) of site s, whose position is `point`."""
    b = m.site_bodyid[s]
    return acceleration_at(d.cvel[b], d.cacc[b], sub3(point, p.subtree_com[m.body_rootid[b]]))
