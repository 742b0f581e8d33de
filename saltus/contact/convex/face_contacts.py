"""Several contacts where two faces, or a face and an edge, overlap.

As in MuJoCo 4.0 for boxes, meshes, cylinders and capsules, faces and edges need to be parallel only to about five
degrees. Of several faces the most parallel ones are taken, of more than four contacts those that span the largest area.
The normal is then a face's, and each contact has its own distance.
"""

import math

from saltus.contact.convex.clipping import POLYGON_AREA, clip, ends_of, widest_four
from saltus.contact.convex.contact_record import contact_at, write_contact
from saltus.contact.convex.corner_normals import corner_normal
from saltus.contact.convex.faces import (
    FACE,
    FIRST,
    SECOND,
    corners_of_cylinder,
    edges_about,
    is_on,
    kind_of,
    next_face,
    normal_of,
    other_end,
    place_of,
    placed,
    size_of,
    write_corners,
)
from saltus.contact.convex.search.pair_area import ID1, ID2, NORMAL, vertex_at
from saltus.contact.convex.search.support import rounding_radius
from saltus.model.contact.hulls import MOST_CORNERS
from saltus.model.enums import CYLINDER
from saltus.number.conditions import has
from saltus.number.intrinsics.memory import get3, get_int, put3, stack_area
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3

# relative difference of areas below which rounding would choose, differently in each step, the contact corners of a
# cylinder's end
ALIKE = 1e-9
TIE = 1e-12  # difference of cosines below which faces are parallel, and of heights, relative to a radius
MET = 0.98  # cosine of the angle between the normals of a contact and of a touched face
FLAT = 1e-6  # rad: at smaller angles no corner is the deepest


@kernel
def face_contacts(m, p, v, n, reach, found):
    """Write contacts of faces or edges within `reach` (m) at `found`; returns their number, 0 if only points meet.

    v: address of the n vertices of A - B that span the part of its boundary nearest to the origin.
    """
    one, two = corners_of(p, v, n, FIRST, ID1), corners_of(p, v, n, SECOND, ID2)
    face1, face2 = parallel_faces(m, p, one, two)
    if face1 >= 0 and is_met(m, p, FIRST, face1):
        return contacts_of_faces(m, p, face1, face2, reach, found)
    # first an edge of the geom with fewer contact corners
    dim1, dim2 = different(one), different(two)
    side = FIRST if dim1 <= dim2 else SECOND
    for _ in range(2):
        own, others, dim = (one, two, dim1) if side == FIRST else (two, one, dim2)
        if dim < 3:
            corner, end, face = edge_on_face(m, p, side, own, dim, others)
            if face >= 0 and is_met(m, p, 1 - side, face):
                return clipped(m, p, side, -1, corner, end, face, reach, found)
        side = 1 - side
    return 0


@kernel
def contacts_on_face(m, p, v, side, face, reach, found):
    """`face_contacts` where a corner of one geom is nearest to the inside of a given face of the other geom, `side`."""
    corner, normal = get_int(v, ID2 if side == FIRST else ID1), normal_of(m, p, side, face)
    own, least = -1, -FACE
    corners = corners_of_cylinder(p, 1 - side) if kind_of(p, 1 - side) == CYLINDER else (corner, corner, corner)
    other, k = next_face(m, p, 1 - side, corners, 0)
    while other >= 0:
        cosine = dot3(normal, normal_of(m, p, 1 - side, other))
        if cosine < least:
            own, least = other, cosine
        other, k = next_face(m, p, 1 - side, corners, k)
    face1, face2 = (face, own) if side == FIRST else (own, face)
    if own < 0 or not is_met(m, p, FIRST, face1):
        return face_contacts(m, p, v, 3, reach, found)
    return contacts_of_faces(m, p, face1, face2, reach, found)


@kernel
def contacts_of_faces(m, p, face1, face2, reach, found):
    """Write contacts of two faces that face each other; returns their number."""
    if has(m, "event", "stepping") and lies_on_second(m, p, face1, face2):
        return clipped(m, p, FIRST, face1, -1, -1, face2, reach, found)
    return clipped(m, p, SECOND, face2, -1, -1, face1, reach, found)


@kernel
def corners_of(p, v, n, side, which):
    """Three corners of a geom for the vertices of A - B, with the last one repeated if there are fewer."""
    if kind_of(p, side) == CYLINDER:
        return corners_of_cylinder(p, side)
    a = get_int(v, which)
    b = get_int(vertex_at(v, 1), which) if n > 1 else a
    c = get_int(vertex_at(v, 2), which) if n > 2 else b
    return (a, c, c) if a == b else (a, b, c)


@kernel(inline=True)
def different(corners):
    """Number of different ones among three corners, as `corners_of` gives them."""
    if corners[0] == corners[1]:
        return 1
    return 2 if corners[2] == corners[0] or corners[2] == corners[1] else 3


@kernel
def parallel_faces(m, p, one, two):
    """The two faces, one of each geom at the given corners, that are most nearly opposite.

    -1 for both if no faces are nearly opposite.
    """
    face1, face2, least = -1, -1, -FACE
    first, i = next_face(m, p, FIRST, one, 0)
    while first >= 0:
        normal = normal_of(m, p, FIRST, first)
        second, j = next_face(m, p, SECOND, two, 0)
        while second >= 0:
            cosine = dot3(normal, normal_of(m, p, SECOND, second))
            if cosine < least:
                face1, face2, least = first, second, cosine
            second, j = next_face(m, p, SECOND, two, j)
        first, i = next_face(m, p, FIRST, one, i)
    return face1, face2


@kernel
def is_met(m, p, side, face):
    """Whether the geoms meet along the normal of a face, as far as hard contact requires it.

    An edge may be parallel to a face at the nearest corner that it does not touch, beyond another edge. MuJoCo takes
    that face's normal nevertheless, with which bodies would penetrate each other.
    """
    if not has(m, "event", "stepping"):
        return True
    cosine = dot3(normal_of(m, p, side, face), get3(p, NORMAL))
    return cosine > MET if side == FIRST else cosine < -MET


@kernel
def lies_on_second(m, p, face1, face2):
    """Whether the first geom lies with corners or edges on a face of the second, not vice versa.

    The normal is that of the supporting face: a slightly tilted body stands on an edge.
    """
    normal = get3(p, NORMAL)
    return -dot3(normal_of(m, p, SECOND, face2), normal) > dot3(normal_of(m, p, FIRST, face1), normal) + TIE


@kernel
def edge_on_face(m, p, side, corners, dim, others):
    """An edge of one geom, as its two corners, that lies on a face of the other, and that face; -1 for none."""
    face, i = next_face(m, p, 1 - side, others, 0)
    while face >= 0:
        normal = normal_of(m, p, 1 - side, face)
        for k in range(1 if dim == 2 else edges_about(m, p, side, corners[0])):
            end = corners[1] if dim == 2 else other_end(m, p, side, corners[0], k)
            if is_on(sub3(place_of(m, p, side, end), place_of(m, p, side, corners[0])), normal):
                return corners[0], end, face
        face, i = next_face(m, p, 1 - side, others, i)
    return -1, -1, -1


@kernel
def clipped(m, p, side, own, corner, end, face, reach, found):
    """Contacts where a face of one geom, or an edge (own -1), overlaps a face of the other; returns their number."""
    base, polygon = stack_area(3 * MOST_CORNERS), stack_area(POLYGON_AREA)
    spare = stack_area(POLYGON_AREA)
    normal = normal_of(m, p, 1 - side, face)
    on_end = own >= 0 and not has(m, "event") and kind_of(p, 1 - side) == CYLINDER
    if on_end and quarters_within(m, p, side, own, face, reach, base, polygon):
        return write_clipped(m, p, side, own, -1, -1, face, base, 4, polygon, (0, 1, 2, 3), 4, found)
    corners = write_corners(m, p, 1 - side, face, base, normal_of(m, p, side, own) if own >= 0 else normal)
    # the line along a cylinder's side that is nearest to the face, without rounding of the search
    if has(m, "event") and own < 0:
        towards_face = normal_of(m, p, 1 - side, face)
        put3(p, NORMAL, scale3(-1.0, towards_face) if side == FIRST else towards_face)
    if own >= 0:
        n = write_corners(m, p, side, own, polygon, normal)
    else:
        n = 2
        put3(polygon, 0, place_of(m, p, side, corner))
        put3(polygon, 3, place_of(m, p, side, end))
    radius = rounding_radius(kind_of(p, side), size_of(p, side))
    n, polygon = clip(base, corners, normal, reach + radius, polygon, n, spare)
    chosen = (0, 1, 2, 3)
    if n > 4:
        chosen = widest_four(polygon, n, ALIKE if has(m, "event") else 0.0)
        if has(m, "event"):
            chosen = with_deepest(polygon, n, chosen, get3(base, 0), normal)
        n = 4
    elif own < 0 and n > 2:
        one, two = ends_of(polygon, n)
        chosen = (one, two, 0, 0)
        n = 2
    return write_clipped(m, p, side, own, corner, end, face, base, corners, polygon, chosen, n, found)


@kernel
def quarters_within(m, p, side, own, face, reach, base, polygon):
    """Write the four quarter points (m) of a cylinder's end, and the points of the other geom's face `own` above them.

    Returns whether the whole end lies within that face, and within `reach` (m) of it. Four squares among the 16 corners
    of an end are equally large; this one is taken at every pose.
    """
    normal, outward = normal_of(m, p, 1 - side, face), normal_of(m, p, side, own)
    size, sign = size_of(p, 1 - side), 1.0 - 2.0 * (face & 1)
    centre = placed(p, 1 - side, (0.0, 0.0, sign * size[1]))
    cosine = -dot3(normal, outward)
    count = write_corners(m, p, side, own, polygon, normal)
    height = -dot3(sub3(get3(polygon, 0), centre), outward) / cosine
    # the end's outline on the other face is an ellipse; its heights grow with the tilt
    radius, middle = size[0] / cosine, add_scaled3(centre, height, normal)
    tilt = math.sqrt(max(1.0 - cosine * cosine, 0.0)) / cosine
    if height + tilt * size[0] > reach + TIE * size[0]:
        return False
    for i in range(count):
        a, b = get3(polygon, 3 * i), get3(polygon, 3 * (i + 1) if i + 1 < count else 0)
        inward = cross(sub3(b, a), outward)
        room = dot3(sub3(middle, a), inward)
        if room < 0.0 or room * room < radius * radius * dot3(inward, inward):
            return False
    for k in range(4):
        c, s = (0.0, 2.0 - k) if k % 2 else (1.0 - k, 0.0)
        x = placed(p, 1 - side, (size[0] * c, -sign * size[0] * s, sign * size[1]))
        put3(base, 3 * k, x)
        above = -dot3(sub3(get3(polygon, 0), x), outward) / cosine
        put3(base, 3 * (4 + k), add_scaled3(x, above, normal))
    for k in range(4):
        put3(polygon, 3 * k, get3(base, 3 * (4 + k)))
    return True


@kernel
def write_clipped(m, p, side, own, corner, end, face, base, corners, polygon, chosen, n, found):
    """Write the contacts of the n chosen corners of a clipped polygon; returns their number.

    base: the `corners` corners of the clipping face.
    """
    normal, radius = normal_of(m, p, 1 - side, face), rounding_radius(kind_of(p, side), size_of(p, side))
    # the normal is that of the second geom's face, or of the only face; in time stepping that of the supporting face;
    # with located events that of the features that meet in each contact
    of_second = own >= 0 and not has(m, "event", "stepping")
    outward = normal_of(m, p, SECOND, own) if of_second else scale3(-1.0, normal)
    kept, count = stack_area(3 * MOST_CORNERS if has(m, "event") else 1), 2
    if has(m, "event"):
        outward = normal_of(m, p, side, own) if own >= 0 else scale3(-1.0, normal)
        if own >= 0:
            count = write_corners(m, p, side, own, kept, normal)
        else:
            put3(kept, 0, place_of(m, p, side, corner))
            put3(kept, 3, place_of(m, p, side, end))
    origin = get3(base, 0)
    for k in range(n):
        i = chosen[0] if k == 0 else chosen[1] if k == 1 else chosen[2] if k == 2 else chosen[3]
        x = get3(polygon, 3 * i)
        away = corner_normal(base, corners, normal, kept, count, outward, x) if has(m, "event") else outward
        towards = scale3(-1.0, away) if side == SECOND else away
        height = dot3(sub3(x, origin), normal)
        # from the face to the surface above it
        on_face, dist = add_scaled3(x, -height, normal), -height * dot3(normal, away) - radius
        write_contact(contact_at(found, k), dist, add_scaled3(on_face, -0.5 * dist, away), towards)
    return n


@kernel
def with_deepest(polygon, n, chosen, origin, normal):
    """Four of a polygon's n corners: the chosen ones, with the deepest corner of all in place of the next one.

    Depth is along `normal` below `origin` (m). Differences below `FLAT` times the polygon's extent are ignored.
    """
    deepest, span = chosen[0], 0.0
    least = dot3(sub3(get3(polygon, 3 * deepest), origin), normal)
    for k in range(4):
        i = chosen[1] if k == 1 else chosen[2] if k == 2 else chosen[3]
        apart = sub3(get3(polygon, 3 * i), get3(polygon, 3 * chosen[0]))
        span = max(span, dot3(apart, apart) ** 0.5)
        height = dot3(sub3(get3(polygon, 3 * i), origin), normal)
        if k > 0 and height < least:
            deepest, least = i, height
    for i in range(n):
        height = dot3(sub3(get3(polygon, 3 * i), origin), normal)
        if height < least - FLAT * span:
            deepest, least = i, height
    a, b, c, d = chosen
    if deepest == a or deepest == b or deepest == c or deepest == d:
        return chosen
    if (deepest - a) % n < (b - a) % n:
        return a, deepest, c, d
    if (deepest - b) % n < (c - b) % n:
        return a, b, deepest, d
    if (deepest - c) % n < (d - c) % n:
        return a, b, c, deepest
    return deepest, b, c, d
