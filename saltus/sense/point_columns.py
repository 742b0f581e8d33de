"""Contact points in recordings: mode, force and position of each, from the contacts and forces in the Data.

A contact is active if it carries force. It slips if friction is at its bound or, with a user-defined contact law, whose
bound is unknown, if the surfaces slide on each other.
"""

from saltus.contact.counts import NCON
from saltus.contact.pairs import pair_geom1, pair_geom2, pair_kind_of, pair_law
from saltus.contact.rigid.plane_box_corner import corner
from saltus.contact.rows.adhesive_contacts import adhesion_of
from saltus.contact.rows.user_compliance import GIVEN
from saltus.model.enums import BOX, PLANE, pair_kind
from saltus.model.event_enums import SLIP, STICK
from saltus.number.conditions import has
from saltus.number.functions import absolute, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.sense.forces import contact_force
from saltus.spatial.vectors import add_scaled3, cross, dot3, sub3, transpose_times_vector

EDGE = 1.0 - 1e-6  # fraction of the friction bound that counts as slip, given the tolerance of the soft solver
SLOW = 1e-6  # m/s: slower sliding counts as sticking
WIDTH = 7  # columns of a point: mode, force (N), position (m)


@only_with("contact")
@kernel
def point_columns(m, d, first, cones, out):
    """Write the contact points that carry force to out [n, WIDTH], in world axes; other rows are unchanged.

    Corners of a box on a plane have fixed numbers, other contacts of a pair are numbered in order. `first`
    [ncollision]: the first point of each pair. `cones`: friction is bounded by elliptic cones, not by pyramids.
    """
    number = 0
    for k in range(d.count[NCON]):
        c = d.contact_collision[k]
        number = number + 1 if k > 0 and d.contact_collision[k - 1] == c else 0
        force, _ = contact_force(m, d, k)
        if force[0] != 0.0 or force[1] != 0.0 or force[2] != 0.0:
            place = first[c] + (corner(m, d, k, 0) if pair_kind_of(m, d, c) == pair_kind(PLANE, BOX) else number)
            out[place, 0] = SLIP if slides(m, d, k, force, cones) else STICK
            push = transpose_times_vector(d.contact_frame[k], force)
            for i in range(3):
                out[place, 1 + i] = push[i]
                out[place, 4 + i] = d.contact_pos[k, i]


@kernel
def at_bound(m, d, k, force, cones):
    """Whether the friction of contact k, with its force along normal and tangents, is at its bound."""
    law = pair_law(m, d, d.contact_collision[k])
    if m.law_dim[law] < 3 or (force[1] == 0.0 and force[2] == 0.0):
        return False
    one = absolute(force[1]) / max(m.law_friction[law, 0], 1e-300)
    other = absolute(force[2]) / max(m.law_friction[law, 1], 1e-300)
    used = sqrt(one * one + other * other) if cones else one + other
    pressure = force[0] + adhesion_of(m, d, k) if has(m, "adhesive") else force[0]
    return used >= EDGE * pressure


@kernel
def slides(m, d, k, force, cones):
    """Whether contact k slips: at its friction bound or, with a user-defined law, by its tangential velocity."""
    if not has(m, GIVEN):
        return at_bound(m, d, k, force, cones)
    c = d.contact_collision[k]
    one = point_velocity(m, d, m.geom_bodyid[pair_geom1(m, d, c)], d.contact_pos[k])
    relative = sub3(point_velocity(m, d, m.geom_bodyid[pair_geom2(m, d, c)], d.contact_pos[k]), one)
    frame = d.contact_frame[k]
    normal = (frame[0], frame[1], frame[2])
    along = add_scaled3(relative, -dot3(relative, normal), normal)
    return dot3(along, along) > SLOW * SLOW


@kernel
def point_velocity(m, d, b, point):
    """Velocity (m/s, world axes) of a point of body b."""
    v = d.cvel[b]
    arm = sub3(point, d.subtree_com[m.body_rootid[b]])
    return add_scaled3((v[3], v[4], v[5]), 1.0, cross((v[0], v[1], v[2]), arm))
