"""Matching of contact points over time, for pairs of geoms whose contacts change in number and order as they move.

A closed slot keeps its point: among the detected contacts it gets the one nearest to the last place of its point on the
second geom, and to a gap of zero. If two points separate, such as the end of a capsule from the edge that it crossed,
the closed one is the one that still touches. A contact whose gap is wider than any error of integration is not the
slot's point, even if it is the only one left; the slot then has none. The other contacts go to open slots in order. On
a height field a point changes its identity at another edge or corner, or a face of another direction: it leaves the
surface there, or meets it anew.
"""

from saltus.contact.bounding_spheres import smaller_radius
from saltus.contact.event.field_points import FACE
from saltus.model.enums import HFIELD
from saltus.model.event_enums import OPEN
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import dot3, sub3, transpose_times_vector

FAR = 1e300
PARTED = 100.0  # weight of a gap (m), relative to the distance from the last place
WIDEST = 0.01  # relative to the smaller bounding radius: a closed point with a wider gap is a different one
TURNED = 1e-5  # difference of unit normals of faces of height fields above which points are different


@kernel
def match_points(m, d, before, n, c):
    """Assign contacts of pair c from number `before` up to n to its slots: slot_contact."""
    first, last = m.slot_adr[c], m.slot_adr[c] + m.slot_num[c]
    for s in range(first, last):
        d.slot_contact[s] = -1
    margin = m.law_margin[m.collision_law[c]]
    widest = WIDEST * smaller_radius(m, m.collision_geom1[c], m.collision_geom2[c])
    for k in range(before, n):
        d.contact_matched[k] = 0
    # closed slots: greedy matching, nearest pair of slot and free contact first
    found = True
    while found:
        found, slot, contact, least = False, first, before, FAR + 0.0 * d.time
        for s in range(first, last):
            if d.mode[s] != OPEN and d.slot_contact[s] < 0:
                for k in range(before, n):
                    gap = d.contact_dist[k] - margin
                    if d.contact_matched[k] == 0 and gap <= widest and same_feature(m, d, s, k, c):
                        apart = sub3(place_on_second(m, d, k), d.slot_place[s])
                        cost = dot3(apart, apart) + PARTED * PARTED * gap * gap
                        if cost < least:
                            found, slot, contact, least = True, s, k, cost
        if found:
            d.slot_contact[slot] = contact
            d.contact_matched[contact] = 1
    # open slots: the other contacts in order
    k = before
    for s in range(first, last):
        if d.mode[s] == OPEN:
            while k < n and d.contact_matched[k] == 1:
                k += 1
            if k < n:
                d.slot_contact[s] = k
                k += 1


@kernel
def place_on_second(m, d, k):
    """Position (m) of contact k in the axes of its second geom."""
    g = m.collision_geom2[d.contact_collision[k]]
    return transpose_times_vector(d.geom_xmat[g], sub3(d.contact_pos[k], d.geom_xpos[g]))


@only_with("fieldgaps", otherwise="True")
@kernel
def same_feature(m, d, s, k, c):
    """Whether contact k of pair c is on the same feature of a height field as slot s; true without a height field."""
    g = m.collision_geom1[c]
    if m.geom_type[g] != HFIELD:
        return True
    if d.slot_feature[s] != d.contact_feature[k]:
        return False
    turn = sub3(normal_on_first(m, d, k, g), d.slot_normal[s])
    return d.contact_feature[k] != FACE or dot3(turn, turn) < TURNED * TURNED


@kernel
def normal_on_first(m, d, k, g):
    """Normal of contact k in the axes of geom g."""
    frame = d.contact_frame[k]
    return transpose_times_vector(d.geom_xmat[g], (frame[0], frame[1], frame[2]))


@only_with("fieldgaps")
@kernel
def remember_feature(m, d, s, c):
    """Store the height field's feature at the point of slot s of pair c."""
    g, k = m.collision_geom1[c], d.slot_contact[s]
    if m.geom_type[g] == HFIELD:
        d.slot_feature[s] = 0.0 * d.time + d.contact_feature[k]
        d.slot_normal[s] = normal_on_first(m, d, k, g)


@only_with("contact", otherwise="False")
@kernel
def follows_points(m, d):
    """Whether any closed slot is identified by the place of its point."""
    found = False
    for c in range(m.ncollision):
        if m.slot_varies[c]:
            for s in range(m.slot_adr[c], m.slot_adr[c] + m.slot_num[c]):
                found = found or d.mode[s] != OPEN
    return found


@only_with("contact")
@kernel
def remember_points(m, d):
    """Store the places of the points of closed slots, at the positions of the last contact detection."""
    for c in range(m.ncollision):
        if m.slot_varies[c]:
            for s in range(m.slot_adr[c], m.slot_adr[c] + m.slot_num[c]):
                if d.mode[s] != OPEN and d.slot_contact[s] >= 0:
                    d.slot_place[s] = place_on_second(m, d, d.slot_contact[s])
                    remember_feature(m, d, s, c)
