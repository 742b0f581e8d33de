"""What a page asks of a state, as entries: where everything is, what acts, what touches, what a push would move."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NCON
from saltus.dynamics import smooth
from saltus.dynamics.joint_space import joint_inertia
from saltus.dynamics.smooth import position_stage
from saltus.dynamics.tendon.length import wrapped_path
from saltus.dynamics.tree.factor import factor, solve
from saltus.dynamics.tree.jacobian import point_jacobian
from saltus.dynamics.tree.kinematics import attached_frames, site_position
from saltus.dynamics.tree.manifold import difference, displace
from saltus.integrate.event import event_functions
from saltus.integrate.status import bad_start
from saltus.model.enums import WRAP_JOINT, WRAP_SITE
from saltus.model.event_enums import NO_MODE
from saltus.number.conditions import has
from saltus.number.functions import rarely, where
from saltus.number.kernels import entry, kernel, only_with
from saltus.sense.delay import delayed_readings
from saltus.sense.forces import contact_force
from saltus.sense.sensors import sense
from saltus.solve import acceleration
from saltus.solve.status import DIVERGED
from saltus.spatial.vectors import add3, transpose_times_vector

CONTACT_WIDTH = 14  # columns of a contact, see `write_contacts`
PATH_WIDTH = 13  # columns of a part of a tendon, see `paths`

_accelerations, _energies, _gaps = acceleration.forward, smooth.energy_of_state, event_functions.points


@entry
def pose(m, d, before, after, fraction):
    """Positions of everything at qpos = before ⊕ fraction (after ⊖ before); both are arrays [nq]. Changes qvel."""
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
    """Accelerations, forces, energies, contacts and sensors of the state; returns a status and the number of contacts.

    s: the model with what sensors need. contacts: an array [n, CONTACT_WIDTH], see `write_contacts`.
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
    """(potential, kinetic) energy (J) of the state."""
    _energies(m, d)
    return d.energy[0], d.energy[1]


@entry
def gaps(m, d, contacts):
    """Where contact points may close, and the number of contacts: those that are open are near to each other."""
    _gaps(m, d)
    return write_contacts(m, d, contacts)


@only_with("contact", otherwise="0")
@kernel
def write_contacts(m, d, out):
    """The contacts that Data holds, into rows of out [n, CONTACT_WIDTH]; returns how many, n at most.

    Position (m), force on the second geom (N, world axes), distance (m), mode, normal and first tangent (world axes).
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
def paths(m, d, out):
    """The straight parts of tendons, after `pose`, into rows of an array [elements, PATH_WIDTH].

    A row: whether a geom is touched, the first point (m), where the geom is met and left, the last point.
    """
    write_paths(m, d, out)


@only_with("tendon")
@kernel
def write_paths(m, d, out):
    """See `paths`. Elements that are joints are left as they are."""
    for t in range(m.ntendon):
        for e in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            if m.path_type[e] == WRAP_SITE:
                first, last = site_position(m, d, m.path_obj1[e]), site_position(m, d, m.path_obj2[e])
                write_path(out, e, 0.0, first, first, last, last)
            elif m.path_type[e] != WRAP_JOINT:
                write_around(m, d, e, out)


@only_with("wrap")
@kernel
def write_around(m, d, e, out):
    """The row of an element that may go around a geom."""
    p, q, centre, touches, _, _, _, arrival, departure = wrapped_path(m, d, e)
    write_path(out, e, where(touches, 1.0, 0.0), p, add3(centre, arrival), add3(centre, departure), q)


@kernel
def write_path(out, e, touches, first, meets, leaves, last):
    """One row of `paths`."""
    out[e, 0] = touches
    for i in range(3):
        out[e, 1 + i] = first[i]
        out[e, 4 + i] = meets[i]
        out[e, 7 + i] = leaves[i]
        out[e, 10 + i] = last[i]


@entry
def mobility(m, d, x, y, z, body, jacobian, moved):
    """What pushes at a world point (m) of a body do: its Jacobian J [3, nv], and M⁻¹ Jᵀ as rows [3, nv]."""
    rotation = moved  # scratch until then
    point_jacobian(m, d, (x, y, z), body, jacobian, rotation)
    joint_inertia(m, d)
    factor(m, d)
    for axis in range(3):
        for i in range(m.nv):
            d.qacc[i] = jacobian[axis, i]
        solve(m, d, d.qacc)
        for i in range(m.nv):
            moved[axis, i] = d.qacc[i]
