"""Contact sensors: contacts that match one or two objects, reduced to a fixed number, with the requested data of each.

Readings are those of MuJoCo (XML reference, sensor/contact). A contact that a sensor sees from its second geom is
rotated by half a turn about its second tangent: normal and first tangent change sign, and so does the component along
the second tangent of mutual quantities (force, torque, velocity). Contacts are in the order of detection.
"""

from saltus.contact.counts import NCON
from saltus.contact.flex.contact_elements import contact_bodies
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rows.acting import is_contact
from saltus.model.sensor_enums import (
    BODY,
    CONTACT,
    CONTACT_ANGVEL,
    CONTACT_DIST,
    CONTACT_FORCE,
    CONTACT_FOUND,
    CONTACT_LINVEL,
    CONTACT_NORMAL,
    CONTACT_POS,
    CONTACT_TANGENT,
    CONTACT_TORQUE,
    GEOM,
    INERTIA,
    NEAREST,
    NET_FORCE,
    REDUCTION,
    REPORTED,
    SITE,
    SLOTS,
    STRONGEST,
)
from saltus.number.functions import MINVAL, any_lane, maximum, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.sense.forces import contact_force
from saltus.sense.geometry import inside
from saltus.spatial.motions import velocity_at
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    cross,
    dot3,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
    where3,
)

ENDLESS = 1e300


@only_with("sense_contact")
@kernel
def contact_sensor(m, d, s):
    """Write the reading of contact sensor s to sensordata; other sensors are ignored."""
    if m.sensor_type[s] == CONTACT:
        zero = 0.0 * d.time
        for k in range(m.sensor_adr[s], m.sensor_adr[s] + m.sensor_dim[s]):
            d.sensordata[k] = zero
        if m.sensor_intprm[s, REDUCTION] == NET_FORCE:
            net_contact(m, d, s)
        else:
            first_contacts(m, d, s)


# ---------------------------------------------------------------- matching contacts


@kernel
def matches(m, d, s, k):
    """1 in lanes where contact k exists and matches sensor s, else 0."""
    zero = 0.0 * d.time
    if side_of(m, d, s, k) == 0:
        return zero
    there = where(is_contact(m, d, k), zero + 1.0, zero)
    if m.sensor_objtype[s] == SITE:
        site = m.sensor_objid[s]
        local = transpose_times_vector(d.site_xmat[site], sub3(d.contact_pos[k], d.site_xpos[site]))
        there = there * inside(m.site_type[site], m.site_size[site], local)
    return there


@kernel
def side_of(m, d, s, k):
    """1 if contact k matches the objects of sensor s in their order, -1 if in reverse order, 0 if not.

    -1 means that the sensor sees the contact from its second geom.
    """
    c = d.contact_collision[k]
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    b1, b2 = contact_bodies(m, d, k)
    kind1, id1, kind2, id2 = m.sensor_objtype[s], m.sensor_objid[s], m.sensor_reftype[s], m.sensor_refid[s]
    straight = is_part(m, g1, b1, kind1, id1) and is_part(m, g2, b2, kind2, id2)
    crossed = is_part(m, g2, b2, kind1, id1) and is_part(m, g1, b1, kind2, id2)
    return 1 if straight else -1 if crossed else 0


@kernel
def is_part(m, g, b, kind, i):
    """Whether geom g of body b belongs to object i of a kind: the geom itself, on the body, or in its subtree.

    Any geom matches no object and a site. A deformable body has geom -1.
    """
    if kind == GEOM:
        return g == i
    if kind == BODY:
        while b > i:
            b = m.body_parentid[b]
    if kind == INERTIA or kind == BODY:
        return b == i
    return True


# ---------------------------------------------------------------- contacts one by one


@kernel
def first_contacts(m, d, s):
    """Write the first matching contacts: in their order, nearest first, or strongest first.

    Each slot takes the smallest contact after that of the previous slot, by criterion and then by number.
    """
    # number of matching contacts
    zero = 0.0 * d.time
    slots, way = m.sensor_intprm[s, SLOTS], m.sensor_intprm[s, REDUCTION]
    count = zero
    for k in range(d.count[NCON]):
        count = count + matches(m, d, s, k)
    size = m.sensor_dim[s] // slots
    last, last_number = zero - ENDLESS, zero - 1.0
    for slot in range(slots):
        if any_lane(count > 1.0 * slot):
            # selection sort: the next contact in each lane
            least, number = zero + ENDLESS, zero - 1.0
            for k in range(d.count[NCON]):
                x = criterion(m, d, k, way)
                after = (x > last) | ((x == last) & (last_number < 1.0 * k))
                takes = (matches(m, d, s, k) > 0.5) & after & (x < least)
                least, number = where(takes, x, least), where(takes, zero + 1.0 * k, number)
            # write the contact's data into the slot
            last, last_number = least, number
            for k in range(d.count[NCON]):
                chosen = number == 1.0 * k
                if any_lane(chosen):
                    write_contact(m, d, s, k, m.sensor_adr[s] + slot * size, chosen, count)


@kernel
def criterion(m, d, k, way):
    """Sort key of contact k, smallest first: 0, distance (m), or minus the square of the force (N²)."""
    if way == NEAREST:
        return d.contact_dist[k]
    if way == STRONGEST:
        force, _ = contact_force(m, d, k)
        return -dot3(force, force)
    return 0.0 * d.time


@kernel
def contact_velocity(m, d, k):
    """Velocity (m/s) and angular velocity (rad/s) of contact k's second body relative to the first, in its frame."""
    frame, point = d.contact_frame[k], d.contact_pos[k]
    b1, b2 = contact_bodies(m, d, k)
    v1, v2 = d.cvel[b1], d.cvel[b2]
    linear1 = velocity_at(v1, sub3(point, d.subtree_com[m.body_rootid[b1]]))
    linear2 = velocity_at(v2, sub3(point, d.subtree_com[m.body_rootid[b2]]))
    angular = sub3((v2[0], v2[1], v2[2]), (v1[0], v1[1], v1[2]))
    return matrix_times_vector(frame, sub3(linear2, linear1)), matrix_times_vector(frame, angular)


@kernel
def write_contact(m, d, s, k, at, chosen, count):
    """Write the data that sensor s requests of contact k from index `at` on, in the lanes where it is chosen."""
    wanted = m.sensor_intprm[s, REPORTED]
    side = 1.0 * side_of(m, d, s, k)
    frame = d.contact_frame[k]
    force, torque = contact_force(m, d, k)
    # number of matching contacts, wrench in the contact frame
    if wanted & CONTACT_FOUND:
        d.sensordata[at] = where(chosen, count, d.sensordata[at])
        at += 1
    if wanted & CONTACT_FORCE:
        at = write_vector(d, at, chosen, (force[0], force[1], side * force[2]))
    if wanted & CONTACT_TORQUE:
        at = write_vector(d, at, chosen, (torque[0], torque[1], side * torque[2]))
    # geometry: distance, position, normal and tangent in world axes
    if wanted & CONTACT_DIST:
        d.sensordata[at] = where(chosen, d.contact_dist[k], d.sensordata[at])
        at += 1
    if wanted & CONTACT_POS:
        at = write_vector(d, at, chosen, d.contact_pos[k])
    if wanted & CONTACT_NORMAL:
        at = write_vector(d, at, chosen, scale3(side, (frame[0], frame[1], frame[2])))
    if wanted & CONTACT_TANGENT:
        at = write_vector(d, at, chosen, scale3(side, (frame[3], frame[4], frame[5])))
    # relative velocities in the contact frame
    if wanted & (CONTACT_LINVEL | CONTACT_ANGVEL):
        linear, angular = contact_velocity(m, d, k)
        if wanted & CONTACT_LINVEL:
            at = write_vector(d, at, chosen, (linear[0], linear[1], side * linear[2]))
        if wanted & CONTACT_ANGVEL:
            at = write_vector(d, at, chosen, (angular[0], angular[1], side * angular[2]))


@kernel(inline=True)
def write_vector(d, at, chosen, a):
    """sensordata[at : at + 3] ← a in the lanes that are chosen; returns at + 3."""
    d.sensordata[at] = where(chosen, a[0], d.sensordata[at])
    d.sensordata[at + 1] = where(chosen, a[1], d.sensordata[at + 1])
    d.sensordata[at + 2] = where(chosen, a[2], d.sensordata[at + 2])
    return at + 3


# ---------------------------------------------------------------- net contact


@kernel
def net_contact(m, d, s):
    """Write the net wrench of all matching contacts at their force-weighted centroid, in world axes (N, N m, m).

    Normal and tangent of the frame are then the world's x and y; everything is zero if no contact matches.
    """
    # force-weighted centroid of the contact points
    zero = 0.0 * d.time
    one = zero + 1.0
    count = weight = zero
    point = force = torque = (zero, zero, zero)
    for k in range(d.count[NCON]):
        there = matches(m, d, s, k)
        own, _ = contact_force(m, d, k)
        square = dot3(own, own)
        strength = there * where(square > 0.0, sqrt(where(square > 0.0, square, one)), zero)
        count, weight = count + there, weight + strength
        point = where3(there > 0.5, add_scaled3(point, strength, d.contact_pos[k]), point)
    point = scale3(1.0 / maximum(weight, MINVAL * one), point)
    # sum of the wrenches about it
    for k in range(d.count[NCON]):
        there, side = matches(m, d, s, k) > 0.5, 1.0 * side_of(m, d, s, k)
        own, turning = contact_force(m, d, k)
        pushed = scale3(side, transpose_times_vector(d.contact_frame[k], own))
        turned = scale3(side, transpose_times_vector(d.contact_frame[k], turning))
        turned = add3(turned, cross(sub3(d.contact_pos[k], point), pushed))
        force = where3(there, add3(force, pushed), force)
        torque = where3(there, add3(torque, turned), torque)
    # requested data
    at, wanted, some = m.sensor_adr[s], m.sensor_intprm[s, REPORTED], count > 0.5
    if wanted & CONTACT_FOUND:
        d.sensordata[at] = count
        at += 1
    if wanted & CONTACT_FORCE:
        at = write_vector(d, at, some, force)
    if wanted & CONTACT_TORQUE:
        at = write_vector(d, at, some, torque)
    if wanted & CONTACT_DIST:
        at += 1
    if wanted & CONTACT_POS:
        at = write_vector(d, at, some, point)
    if wanted & CONTACT_NORMAL:
        at = write_vector(d, at, some, (one, zero, zero))
    if wanted & CONTACT_TANGENT:
        at = write_vector(d, at, some, (zero, one, zero))
