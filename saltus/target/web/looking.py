"""Entries that evaluate a state for a page: poses, forces, contacts, and the mobility of points."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics omit the first argument of their definition)

import math

from saltus.contact.counts import NCON
from saltus.contact.rigid.plane_box_corner import corner
from saltus.dynamics import smooth
from saltus.dynamics.joint_space import joint_inertia
from saltus.dynamics.smooth import position_stage
from saltus.dynamics.tendon.path import wrapped_path
from saltus.dynamics.tree.factor import factor, solve
from saltus.dynamics.tree.jacobian import point_jacobian
from saltus.dynamics.tree.kinematics import attached_frames, site_position
from saltus.dynamics.tree.manifold import difference, displace
from saltus.integrate.event import event_functions
from saltus.integrate.status import bad_start
from saltus.model.enums import BOX, PLANE, WRAP_JOINT, WRAP_SITE, WRAP_SPHERE, pair_kind
from saltus.model.event_enums import NO_MODE
from saltus.number.conditions import has
from saltus.number.functions import MINVAL, atan2, rarely, sincos, where
from saltus.number.kernels import entry, kernel, only_with
from saltus.sense.delay import delayed_readings
from saltus.sense.forces import contact_force
from saltus.sense.sensors import sense
from saltus.solve import acceleration
from saltus.solve.status import DIVERGED
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    dot3,
    length3,
    matrix_times_matrix,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
)

CONTACT_WIDTH = 14  # columns of a contact, see `write_contacts`
ARC = 9  # points of a tendon on the surface of a geom
PATH_WIDTH = 1 + 3 * (ARC + 2)  # columns of a segment of a tendon, see `paths`

_accelerations, _energies, _gaps = acceleration.forward, smooth.energy_of_state, event_functions.points


@entry
def pose(m, d, before, after, fraction):
    """Compute all poses at qpos = before ⊕ fraction (after ⊖ before), both arrays [nq]. Overwrites qvel."""
    if fraction >= 1.0:
        for k in range(m.nq):
            d.qpos[k] = after[k]
    else:
        difference(m, before, after, d.qvel)
        displace(m, before, fraction, d.qvel, d.qpos)
    position_stage(m, d, 1)
    attached_frames(m, d)


@entry(structs=("m", "s", "d"))
def look(m, s, d, contacts):
    """Compute accelerations, forces, energies, contacts and sensors; return a status and the number of contacts.

    s: the model with the fields that sensors need. contacts: an array [n, CONTACT_WIDTH], see `write_contacts`.
    """
    if rarely(not bad_start(m, d) < 0.5):
        return DIVERGED, 0
    status = _accelerations(m, d)
    sense(s, d)
    delayed_readings(s, d)
    found = write_contacts(m, d, contacts)
    return status, found


@entry
def energy(m, d):
    """Return (potential, kinetic) energy (J) of the state."""
    _energies(m, d)
    return d.energy[0], d.energy[1]


@entry
def gaps(m, d, contacts):
    """Write the contact points of nearby geoms, open ones included; return their number."""
    _gaps(m, d)
    return write_contacts(m, d, contacts)


@only_with("contact", otherwise="0")
@kernel
def write_contacts(m, d, out):
    """Write the contacts in Data into rows of out [n, CONTACT_WIDTH]; return their number, at most n.

    A row: position (m), force on the second geom (N, world axes), distance (m), mode, normal and first tangent (world
    axes).
    """
    count = min(d.count[NCON], len(out))
    for k in range(count):
        frame, place = d.contact_frame[k], d.contact_pos[k]
        force, _ = contact_force(m, d, k)
        push = transpose_times_vector(frame, force)
        for i in range(3):
            out[k, i] = place[i]
            out[k, 3 + i] = push[i]
        out[k, 6] = d.contact_dist[k]
        out[k, 7] = NO_MODE
        for i in range(6):
            out[k, 8 + i] = d.contact_frame[k, i]
    if has(m, "event"):
        for slot in range(m.nslot):
            contact = d.slot_contact[slot]
            if 0 <= contact and contact < count:
                out[contact, 7] = d.mode[slot]
    return count


@entry
def point_forces(m, d, first, out):
    """Write forces (N, world axes) at numbered contact points into an array [points, 3], zero for open ones.

    Points are numbered as in `saltus.sense.point_columns`; first [ncollision]: number of the first point of each pair.
    """
    for k in range(len(out)):
        for i in range(3):
            out[k, i] = 0.0
    write_forces(m, d, first, out)


@only_with("contact")
@kernel
def write_forces(m, d, first, out):
    """Write the forces of present contacts; see `point_forces`."""
    number = 0
    for k in range(d.count[NCON]):
        c = d.contact_collision[k]
        number = number + 1 if k > 0 and d.contact_collision[k - 1] == c else 0
        place = first[c] + (corner(m, d, k, 0) if m.collision_kind[c] == pair_kind(PLANE, BOX) else number)
        if not has(m, "event"):
            write_force(m, d, k, out, place)
    if has(m, "event"):
        for slot in range(m.nslot):
            if 0 <= d.slot_contact[slot] and d.slot_contact[slot] < d.count[NCON]:
                write_force(m, d, d.slot_contact[slot], out, slot)


@kernel
def write_force(m, d, k, out, place):
    """Write the force of contact k (N, world axes) into row `place` of out."""
    force, _ = contact_force(m, d, k)
    push = transpose_times_vector(d.contact_frame[k], force)
    for i in range(3):
        out[place, i] = push[i]


@entry
def paths(m, d, out):
    """Write the paths of tendons into an array [elements, PATH_WIDTH], a row for each element; call after `pose`.

    A row: the number of points, then points (m): the first site, points around a geom if it is touched, the last site.
    """
    write_paths(m, d, out)


@only_with("tendon")
@kernel
def write_paths(m, d, out):
    """Write the rows of `paths`. Elements that are joints have no points."""
    for t in range(m.ntendon):
        for e in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            out[e, 0] = 0.0
            if m.path_type[e] == WRAP_SITE:
                out[e, 0] = 2.0
                write_point(out, e, 0, site_position(m, d, m.path_obj1[e]))
                write_point(out, e, 1, site_position(m, d, m.path_obj2[e]))
            elif m.path_type[e] != WRAP_JOINT:
                write_around(m, d, e, out)


@only_with("wrap")
@kernel
def write_around(m, d, e, out):
    """Write the row of an element that may wrap around a sphere or cylinder, including the geodesic.

    About a cylinder, the angle is measured in the plane normal to the axis, and the path rises in proportion to it.
    """
    p, q, centre, touches, _, _, _, arrival, departure = wrapped_path(m, d, e)
    write_point(out, e, 0, p)
    if touches:
        g = m.path_geom[e]
        axis = matrix_times_vector(matrix_times_matrix(d.xmat[m.geom_bodyid[g]], m.geom_mat[g]), (0.0, 0.0, 1.0))
        round_it = 0.0 if m.path_type[e] == WRAP_SPHERE else 1.0
        start = add_scaled3(arrival, -round_it * dot3(arrival, axis), axis)
        end = add_scaled3(departure, -round_it * dot3(departure, axis), axis)
        rise = round_it * dot3(sub3(departure, arrival), axis)
        # the direction of arrival determines the direction of the turn
        coming = sub3(arrival, sub3(p, centre))
        coming = add_scaled3(coming, -round_it * dot3(coming, axis), axis)
        first = scale3(1.0 / (length3(start) + MINVAL), start)
        tangent = add_scaled3(coming, -dot3(coming, first), first)
        tangent = scale3(1.0 / (length3(tangent) + MINVAL), tangent)
        angle = atan2(dot3(end, tangent), dot3(end, first))
        angle = where(angle < 0.0, angle + 2.0 * math.pi, angle)
        lift = sub3(arrival, start)
        for k in range(ARC):
            share = k / (ARC - 1.0)
            s, c = sincos(share * angle)
            around = add_scaled3(scale3(c, first), s, tangent)
            point = add_scaled3(lift, length3(start), around)
            write_point(out, e, 1 + k, add_scaled3(add3(centre, point), share * rise, axis))
        write_point(out, e, 1 + ARC, q)
        out[e, 0] = ARC + 2.0
    else:
        write_point(out, e, 1, q)
        out[e, 0] = 2.0


@kernel
def write_point(out, e, k, point):
    """Write point k of row e of `paths`."""
    for i in range(3):
        out[e, 1 + 3 * k + i] = point[i]


@entry
def mobility(m, d, x, y, z, body, jacobian, moved):
    """Compute the Jacobian J [3, nv] of a world point (m) on a body, and M⁻¹ Jᵀ as rows [3, nv]."""
    rotation = moved  # used as scratch first
    point_jacobian(m, d, (x, y, z), body, jacobian, rotation)
    joint_inertia(m, d)
    factor(m, d)
    for axis in range(3):
        for i in range(m.nv):
            d.qacc[i] = jacobian[axis, i]
        solve(m, d, d.qacc)
        for i in range(m.nv):
            moved[axis, i] = d.qacc[i]
