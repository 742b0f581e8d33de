"""Body forces for sensors: external wrenches and wrenches through joints, as in MuJoCo's mj_rnePostConstraint.

Wrenches are (torque, force) about the tree's centre of mass in world axes. The Newton-Euler equations of a subtree give
the wrench transmitted by its joint: inertial forces minus external ones (Featherstone 2008, table 5.1). As in MuJoCo
4.0, external are Cartesian forces, contacts, connect and weld constraints, and spatial tendons; forces of actuators on
joints and sites, of gravity compensation and of fluids count as the joint's.
"""

from saltus.contact.counts import NBLOCK, NCON
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rows.acting import may_push
from saltus.contact.rows.adhesive_contacts import adhesion_of, has_rows
from saltus.contact.rows.blocks import EQUALITY, FRICTION, UNILATERAL
from saltus.contact.rows.coupling import coupling
from saltus.contact.rows.equality import anchors, orientations, turned
from saltus.contact.rows.user_compliance import GIVEN
from saltus.dynamics.tendon.capstan import around
from saltus.dynamics.tendon.force import spring_and_damper
from saltus.dynamics.tendon.path import way_around
from saltus.dynamics.tree.kinematics import site_position
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.dynamics.tree.tendon_inertia import is_fixed, path_acceleration
from saltus.model.actuator_enums import TENDON as OF_TENDON
from saltus.model.enums import CONNECT, TENDON, WELD, WRAP_SITE
from saltus.number.conditions import has
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import add6, add_scaled6, sub6
from saltus.spatial.quaternions import quat_conjugate
from saltus.spatial.vectors import add3, cross, distance_direction, scale3, sub3, transpose_times_vector, where3


@only_with("sense_body")
@kernel
def body_forces(m, d):
    """Accelerations of bodies, external wrenches and wrenches through joints; needs all of `forward`.

    Reads qvel, qacc [nv], row_force. Writes cacc (rad/s², m/s²; gravity counts as an upward acceleration), cfrc_ext and
    cfrc_int (N m, N), each [nbody, 6].
    """
    # accelerations and inertial forces of bodies
    newton_euler_forward(m, d, d, 1, 1)
    external_wrenches(m, d)
    # inertial minus external, summed from the leaves to the root
    for b in range(m.nbody):
        d.cfrc_int[b] = sub6(d.cfrc_body[b], d.cfrc_ext[b])
    for b in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[b]
        d.cfrc_int[parent] = add6(d.cfrc_int[parent], d.cfrc_int[b])


@only_with("sense_body")
@kernel
def external_wrenches(m, d):
    """External torques and forces on bodies, cfrc_ext [nbody, 6] (N m, N); reads row_force."""
    zero = 0.0 * d.time
    for b in range(m.nbody):
        d.cfrc_ext[b] = (zero, zero, zero, zero, zero, zero)
    if d.has_xfrc:
        for b in range(1, m.nbody):
            f = d.xfrc_applied[b]
            add_force(m, d, b, d.xipos[b], (f[3], f[4], f[5]), (f[0], f[1], f[2]), 1.0)
    add_contact_forces(m, d)
    add_equality_forces(m, d)
    add_tendon_tensions(m, d)


@kernel
def add_force(m, d, b, point, torque, force, sign):
    """Add to cfrc_ext of body b a torque (N m) and a force (N) at a point (m), in world axes, times a sign."""
    if b > 0:
        moment = add3(torque, cross(sub3(point, d.subtree_com[m.body_rootid[b]]), force))
        wrench = (moment[0], moment[1], moment[2], force[0], force[1], force[2])
        d.cfrc_ext[b] = add_scaled6(d.cfrc_ext[b], sign, wrench)


# ---------------------------------------------------------------- contacts


@kernel
def contact_force(m, d, k):
    """Force (N) and torque (N m) of contact k on its second geom in the contact frame; zero where it does not act.

    In time stepping they are means over a step, its impulses divided by its duration. With a user-defined law there is
    no torque. In lanes where the contact does not act, its rows, active in other lanes, may hold a zero of either sign.
    An adhesive contact pulls with its adhesion.
    """
    zero = 0.0 * d.time
    if has(m, GIVEN):
        return d.contact_touch[k], (zero, zero, zero)
    f0 = f1 = f2 = t0 = t1 = t2 = zero
    b = d.contact_block[k]
    if b >= 0:
        row, dim = d.block_row[b], d.block_dim[b]
        f0 = d.row_force[row]
        if dim > 1:
            f1, f2 = d.row_force[row + 1], d.row_force[row + 2]
        if dim > 3:
            t0 = d.row_force[row + 3]
        if dim > 4:
            t1, t2 = d.row_force[row + 4], d.row_force[row + 5]
    acts = may_push(m, d, k)
    nothing = (zero, zero, zero)
    if has(m, "adhesive"):
        return where3(acts, (f0 - adhesion_of(m, d, k), f1, f2), tether_force(m, d, k)), where3(
            acts, (t0, t1, t2), nothing
        )
    return where3(acts, (f0, f1, f2), nothing), where3(acts, (t0, t1, t2), nothing)


@kernel
def carries_force(m, d, k):
    """Whether `contact_force` of contact k may differ from zero in any lane."""
    if has(m, GIVEN):
        return True
    return has_rows(m, d, k)


@kernel
def tether_force(m, d, k):
    """Force (N) of adhesive contact k in the lanes in which it is in the gap, else zero."""
    zero = 0.0 * d.time
    force = zero
    b = d.contact_tether[k]
    if b >= 0:
        row = d.block_row[b]
        force = where(d.row_D[row] > 0.0, d.row_force[row] - adhesion_of(m, d, k), zero)
    return force, zero, zero


@only_with("contact")
@kernel
def add_contact_forces(m, d):
    """Add the contact forces to cfrc_ext of both bodies; as in MuJoCo, without those on deformable bodies."""
    for k in range(d.count[NCON]):
        rigid = pair_geom2(m, d, d.contact_collision[k]) >= 0
        if rigid and carries_force(m, d, k):
            force, torque = contact_force(m, d, k)
            frame, point = d.contact_frame[k], d.contact_pos[k]
            force = transpose_times_vector(frame, force)
            torque = transpose_times_vector(frame, torque)
            c = d.contact_collision[k]
            add_force(m, d, m.geom_bodyid[pair_geom1(m, d, c)], point, torque, force, -1.0)
            add_force(m, d, m.geom_bodyid[pair_geom2(m, d, c)], point, torque, force, 1.0)


# ---------------------------------------------------------------- equality constraints


@only_with("constraint")
@kernel
def add_equality_forces(m, d):
    """Add the forces of connect and weld constraints to cfrc_ext of both bodies."""
    zero = 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] == EQUALITY:
            k = d.block_id[b]
            kind = m.eq_type[k]
            if kind == CONNECT or kind == WELD:
                chain, row = d.block_chain[b], d.block_row[b]
                body1, body2 = m.chain_body2[chain], m.chain_body1[chain]
                point1, point2 = anchors(m, d, k, d.block_dim[b], body1, body2)
                force = (d.row_force[row], d.row_force[row + 1], d.row_force[row + 2])
                torque = (zero, zero, zero)
                if kind == WELD:
                    torque = weld_torque(m, d, k, row + 3, body1, body2)
                add_force(m, d, body1, point1, torque, force, 1.0)
                add_force(m, d, body2, point2, torque, force, -1.0)


@kernel
def weld_torque(m, d, k, row, body1, body2):
    """Torque (N m) on the first body of weld k, in world axes.

    The rate of the violation is ½ s q₂* ω q₁ (see `saltus.contact.rows.equality`); row forces f have the same power as
    the torque ½ s q₂ f q₁*.
    """
    quat1, quat2 = orientations(m, d, k, body1, body2)
    f = (d.row_force[row], d.row_force[row + 1], d.row_force[row + 2])
    return scale3(0.5 * m.eq_data[k, 10], turned(quat2, f, quat_conjugate(quat1)))


# ---------------------------------------------------------------- spatial tendons


@only_with("tendon")
@kernel
def add_tendon_tensions(m, d):
    """Add the forces of spatial tendons to cfrc_ext of the bodies along their paths; needs cacc."""
    for t in range(m.ntendon):
        if not is_fixed(m, t):
            # total tension
            force = spring_and_damper_forces(m, d, t)
            for o in range(m.nout):
                if m.out_kind[o] == OF_TENDON and m.out_obj1[o] == t:
                    force = force + m.actuator_gear[o, 0] * d.actuator_force[o]
            force = force + tendon_row_forces(m, d, t) + inertial_force(m, d, t)
            # on the bodies of each path element
            for e in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
                add_path_forces(m, d, e, m.path_factor[e] * force)
            add_slip_forces(m, d, t)


@only_with("capstan")
@kernel
def add_slip_forces(m, d, t):
    """Add to cfrc_ext the friction of tendon t on the geoms that it wraps: tensions before and after them differ."""
    if m.capstan_first[t] < 0:
        return
    force = slip_force(m, d, t)
    for e in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        before = 0.5 * force if e <= m.capstan_first[t] else 0.0 * force
        after = -0.5 * force if e >= m.capstan_last[t] else 0.0 * force
        body1, body2 = m.site_bodyid[m.path_obj1[e]], m.site_bodyid[m.path_obj2[e]]
        if m.path_type[e] == WRAP_SITE:
            p, q = site_position(m, d, m.path_obj1[e]), site_position(m, d, m.path_obj2[e])
            _, ahead = distance_direction(p, q)
            add_pair(m, d, body1, p, body2, q, scale3(before + after, ahead))
        else:
            body = m.geom_bodyid[m.path_geom[e]]
            p, q, arrival, departure, ahead, away, _ = around(m, d, e)
            add_pair(m, d, body1, p, body, arrival, scale3(before, ahead))
            add_pair(m, d, body, departure, body2, q, scale3(after, away))


@kernel
def add_pair(m, d, body1, p, body2, q, force):
    """Add to cfrc_ext a force (N) on point q of one body, and its opposite on point p of another."""
    none = (0.0 * force[0], 0.0 * force[0], 0.0 * force[0])
    add_force(m, d, body1, p, none, force, -1.0)
    add_force(m, d, body2, q, none, force, 1.0)


@only_with("constraint", otherwise="0.0 * d.time")
@kernel
def slip_force(m, d, t):
    """Force (N) of dry friction along the slip of tendon t."""
    total = 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        k = d.block_id[b]
        if d.block_kind[b] == FRICTION and k >= m.ndoffriction and m.friction_obj[k] == t:
            total = total + d.row_force[d.block_row[b]]
    return total


@only_with("capstan", otherwise="False")
@kernel
def slips(m, t):
    """Whether dry friction of tendon t acts along its slip over geoms, not along its length."""
    return m.capstan_first[t] >= 0


@only_with("tendon_force", otherwise="0.0 * d.time")
@kernel
def spring_and_damper_forces(m, d, t):
    """Force (N) of tendon t's spring and damper, positive if it lengthens the tendon."""
    pull, drag = spring_and_damper(m, d, t)
    return pull + drag


@only_with("tendon_armature", otherwise="0.0 * d.time")
@kernel
def inertial_force(m, d, t):
    """Force (N) of tendon t's inertia: -a d²L/dt²."""
    force = 0.0 * d.time
    if m.tendon_armature[t] != 0.0:
        force = -m.tendon_armature[t] * path_acceleration(m, d, d, t)
    return force


@only_with("constraint", otherwise="0.0 * d.time")
@kernel
def tendon_row_forces(m, d, t):
    """Force (N) of limits, dry friction and equalities along tendon t, positive if it lengthens the tendon."""
    total = 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        kind, k, force = d.block_kind[b], d.block_id[b], d.row_force[d.block_row[b]]
        if kind == FRICTION:
            if k >= m.ndoffriction and m.friction_obj[k] == t and not slips(m, t):
                total = total + force
        elif kind == EQUALITY:
            if m.eq_type[k] == TENDON:
                if m.eq_obj1[k] == t:
                    total = total + force
                if m.eq_obj2[k] == t:
                    total = total - equality_slope(m, d, k) * force
        elif kind == UNILATERAL and is_limit(m, d, b) and k >= m.njntlimit and m.limit_obj[k] == t:
            total = total + where(pushes(m, d, b, t), force, -force)
    return total


@kernel
def equality_slope(m, d, k):
    """Slope of the coupling of the first tendon of equality k to the second."""
    t2 = m.eq_obj2[k]
    return coupling(m, k, d.ten_length[t2] - m.tendon_length0[t2])[1]


@kernel(inline=True)
def is_limit(m, d, b):
    """Whether a unilateral block is a limit, not a contact, which has a chain between two bodies."""
    chain = d.block_chain[b]
    return chain < m.nchain and m.chain_body1[chain] == 0 and m.chain_body2[chain] == 0


@kernel
def pushes(m, d, b, t):
    """Whether block b, a limit of tendon t, lengthens it: its Jacobian is then ten_J, and -ten_J otherwise."""
    product = 0.0 * d.time
    for k in range(m.tendon_Jnum[t]):
        product = product + d.row_J[d.block_J[b] + k] * d.ten_J[m.tendon_Jadr[t] + k]
    return product >= 0.0


@kernel
def add_path_forces(m, d, e, force):
    """Add to cfrc_ext the forces of a tension (N) along path element e on the bodies of its ends and of its geom."""
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    s1, s2 = m.path_obj1[e], m.path_obj2[e]
    p, q = site_position(m, d, s1), site_position(m, d, s2)
    if m.path_type[e] == WRAP_SITE:
        _, ahead = distance_direction(p, q)
        away = ahead
    else:
        ahead, away = add_geom_force(m, d, e, force)
    add_force(m, d, m.site_bodyid[s1], p, none, scale3(-1.0 * force, ahead), 1.0)
    add_force(m, d, m.site_bodyid[s2], q, none, scale3(force, away), 1.0)


@only_with("wrap", otherwise="(d.xpos[0], d.xpos[0])")
@kernel
def add_geom_force(m, d, e, force):
    """Add to cfrc_ext the wrench of a tension along element e on the wrapping geom's body; returns path directions."""
    _, ahead, away, centre, push, moment = way_around(m, d, e)
    b = m.geom_bodyid[m.path_geom[e]]
    add_force(m, d, b, centre, scale3(force, moment), scale3(force, push), 1.0)
    return ahead, away
