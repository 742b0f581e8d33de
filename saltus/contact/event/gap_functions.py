"""Gap functions of contact points and limits, at any distance.

Each pair of geoms has numbered contact points, its slots: one for a sphere, both ends of a capsule on a plane, all
corners of a box on a plane; for other pairs see `saltus.contact.event.contact_matching`, for height fields
`saltus.contact.event.field_points`. A point that exists has a contact in Data's list, whose number is `slot_contact`.
"""

from saltus.contact.bounding_spheres import smaller_radius
from saltus.contact.collide import collide_pair, collider_frame, collider_frames
from saltus.contact.contact_list import add_contact, move_contact
from saltus.contact.counts import NCON, NLOST
from saltus.contact.event.contact_matching import match_points
from saltus.contact.event.field_points import field_points
from saltus.contact.event.modes import limit_item
from saltus.contact.rigid.plane import height_over_plane, no_vector
from saltus.contact.seams import drop_covered
from saltus.model.enums import BALL, BOX, HFIELD, PLANE, SPHERE, pair_kind
from saltus.model.event_enums import OPEN
from saltus.number.functions import maximum, minimum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.fields import load4
from saltus.spatial.quaternions import quat_log, quat_normalize
from saltus.spatial.vectors import add3, add_scaled3, dot3, matrix_times_vector, sub3

NEAR = 0.5  # relative to the smaller bounding radius: beyond it the bounding spheres' distance is the gap
ABSENT = 1e10  # m: gap of a point that does not exist
EVERYWHERE = 1e300  # m: reach that includes every point


@kernel
def gaps(m, d):
    """Compute all gap functions: gap [nmode] (m, rad), negative if violated; also the contacts and their slots.

    Reads the poses of bodies and the lengths of tendons.
    """
    point_gaps(m, d)
    limit_gaps(m, d)
    tendon_limit_gaps(m, d)


@kernel
def closed_gaps(m, d):
    """Gap functions of limits and of pairs of geoms with a closed point; the contact list has only these pairs."""
    closed_point_gaps(m, d)
    limit_gaps(m, d)
    tendon_limit_gaps(m, d)


@only_with("contact")
@kernel
def closed_point_gaps(m, d):
    """Contacts and gaps, distances less margins, of all points of pairs of geoms with a closed point."""
    d.count[NLOST] = 0
    n = 0
    for c in range(m.ncollision):
        closed = touches(m, d, c)
        for s in range(m.slot_adr[c], m.slot_adr[c] + m.slot_num[c]):
            d.slot_contact[s] = -1
            if closed:
                d.gap[s] = 0.0 * d.time + ABSENT
        if closed:
            collider_frame(m, d, m.collision_geom1[c])
            collider_frame(m, d, m.collision_geom2[c])
            n = numbered_points(m, d, n, c)
    d.count[NCON] = n


@kernel(inline=True)
def touches(m, d, c):
    """Whether any point of pair c is closed."""
    closed = False
    for s in range(m.slot_adr[c], m.slot_adr[c] + m.slot_num[c]):
        closed = closed or d.mode[s] != OPEN
    return closed


@only_with("contact")
@kernel
def open_gaps(m, d):
    """Gap functions of pairs without a closed point, at the positions of the last call of `closed_gaps`.

    Pairs of spheres, or of a sphere and a plane, get no contact: the bounding spheres give the gap.
    """
    collider_frames(m, d)
    n = d.count[NCON]
    for c in range(m.ncollision):
        if not touches(m, d, c):
            kind = m.collision_kind[c]
            n = pair_gaps(m, d, n, c, kind == pair_kind(PLANE, SPHERE) or kind == pair_kind(SPHERE, SPHERE))
    d.count[NCON] = n


@only_with("contact")
@kernel
def point_gaps(m, d):
    """Contacts of all nearby pairs of geoms, and the gaps of all points: distances less the margins of their laws."""
    d.count[NLOST] = 0
    collider_frames(m, d)
    n = 0
    for c in range(m.ncollision):
        n = pair_gaps(m, d, n, c, False)
    d.count[NCON] = n


@kernel
def open_gap(m, d, i):
    """Event function of the open item i: its gap (m, rad).

    If a pair's points have no identity, its contacts may be in any open slot, and change between slots: the first open
    slot then has the least gap of all, and the others `ABSENT`.
    """
    if i >= m.nslot or not m.slot_varies[m.slot_pair[i]]:
        return d.gap[i]
    c = m.slot_pair[i]
    least = ABSENT + 0.0 * d.gap[i]
    for s in range(m.slot_adr[c], m.slot_adr[c] + m.slot_num[c]):
        if d.mode[s] == OPEN:
            if s < i:
                return ABSENT + 0.0 * d.gap[i]
            least = minimum(least, d.gap[s])
    return least


@kernel
def pair_gaps(m, d, n, c, spheres):
    """Gaps of pair c; contacts from number n on unless the distance of the bounding spheres suffices.

    `spheres`: both geoms are spheres, or one is and the other is a plane. Returns the new number of contacts.
    """
    margin = m.law_margin[m.collision_law[c]]
    # far apart: the gap of the bounding spheres for all points
    apart = bounding_distance(m, d, m.collision_geom1[c], m.collision_geom2[c])
    known = spheres or apart > NEAR * smaller_radius(m, m.collision_geom1[c], m.collision_geom2[c])
    for s in range(m.slot_adr[c], m.slot_adr[c] + m.slot_num[c]):
        d.slot_contact[s] = -1
        d.gap[s] = apart - margin if known else 0.0 * apart + ABSENT
    return n if known else numbered_points(m, d, n, c)


@kernel
def numbered_points(m, d, before, c):
    """Contacts of pair c from number `before` on, and the gaps of its slots; returns the new number of contacts."""
    n = pair_points(m, d, before, c, EVERYWHERE)
    if m.slot_varies[c]:
        n = drop_absent(m, d, before, n)
    n = drop_covered(m, d, before, n, c)
    for k in range(before, n):
        d.contact_block[k] = -1
    # contacts that a pair does not have at this pose are beyond any reach, and last
    while n > before and not d.contact_dist[n - 1] < ABSENT:
        n -= 1
    first, count = m.slot_adr[c], min(n - before, m.slot_num[c])
    if m.slot_varies[c]:
        match_points(m, d, before, before + count, c)
    else:
        for k in range(count):
            d.slot_contact[first + k] = before + k
    for s in range(first, first + m.slot_num[c]):
        if d.slot_contact[s] >= 0:
            d.gap[s] = d.contact_dist[d.slot_contact[s]] - m.law_margin[m.collision_law[c]]
    return n


@kernel
def drop_absent(m, d, before, n):
    """Remove absent contacts, from number `before` up to n; returns the new number of contacts.

    Pairs without a second contact in some lanes give it a distance beyond the reach; real ones are within `EVERYWHERE`.
    """
    kept = before
    for k in range(before, n):
        if d.contact_dist[k] < ABSENT:
            move_contact(d, k, kept)
            kept += 1
    return kept


@kernel(inline=True)
def bounding_distance(m, d, g1, g2):
    """Distance (m) of the geoms' bounding spheres, or of one from a plane."""
    offset = sub3(d.geom_xpos[g2], d.geom_xpos[g1])
    if m.geom_type[g1] == PLANE:
        mat = d.geom_xmat[g1]
        return dot3(offset, (mat[2], mat[5], mat[8])) - m.geom_rbound[g2]
    return sqrt(dot3(offset, offset)) - m.geom_rbound[g1] - m.geom_rbound[g2]


@kernel
def pair_points(m, d, n, c, reach):
    """Contacts of pair c from number n on, in the order of its slots; returns the new number of contacts."""
    if m.collision_kind[c] == pair_kind(PLANE, BOX):
        return plane_box_corners(m, d, n, c, reach)
    if m.geom_type[m.collision_geom1[c]] == HFIELD:
        return field_points(m, d, n, c)
    return collide_pair(m, d, n, c, reach)


@only_with("box", otherwise="n")
@kernel
def plane_box_corners(m, d, n, c, reach):
    """Contacts of a plane with all eight corners of a box; corner i is at positive x, y, z where bit 0, 1, 2 is set."""
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    size = m.geom_size[g2]
    for i in range(8):
        local = (
            size[0] * (2.0 * (i & 1) - 1.0),
            size[1] * (1.0 * (i & 2) - 1.0),
            size[2] * (0.5 * (i & 4) - 1.0),
        )
        corner = add3(d.geom_xpos[g2], matrix_times_vector(d.geom_xmat[g2], local))
        normal, dist = height_over_plane(d, g1, corner)
        pos = add_scaled3(corner, -0.5 * dist, normal)
        n = add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(dist))
    return n


@kernel
def limit_gaps(m, d):
    """Gaps of joints to both ends of their ranges, less margins; for a ball joint to its largest angle."""
    for k in range(m.njntlimit):
        low, high = joint_gaps(m, d, k)
        d.gap[limit_item(m, k, 0)] = low
        d.gap[limit_item(m, k, 1)] = high


@kernel
def joint_gaps(m, d, k):
    """Gaps (rad, m) of joint limit k at its lower and upper end; a ball joint has one, to its largest angle."""
    j = m.limit_obj[k]
    a, margin = m.jnt_qposadr[j], m.limit_margin[k]
    if m.jnt_type[j] == BALL:
        turn = quat_log(quat_normalize(load4(d.qpos, a)))
        low = maximum(m.limit_range[k, 0], m.limit_range[k, 1]) - sqrt(dot3(turn, turn))
        return low - margin, 0.0 * d.time + ABSENT
    return d.qpos[a] - m.limit_range[k, 0] - margin, m.limit_range[k, 1] - d.qpos[a] - margin


@only_with("tendon")
@kernel
def tendon_limit_gaps(m, d):
    """Gaps of tendons to both ends of their ranges, less margins."""
    for k in range(m.njntlimit, m.nlimit):
        length = d.ten_length[m.limit_obj[k]]
        d.gap[limit_item(m, k, 0)] = length - m.limit_range[k, 0] - m.limit_margin[k]
        d.gap[limit_item(m, k, 1)] = m.limit_range[k, 1] - length - m.limit_margin[k]
