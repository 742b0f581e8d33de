"""Contacts of a corner with a flat face, which are known without a search.

Let b be the point of B that reaches farthest into A, or comes nearest to it, against the outward normal of a face of A,
and h its depth below that face. If b is farther than h from all other parts of A's surface, the normal is the direction
of the least depth, h: A - B contains A - b, which is wider in all other directions. Outside of A, b is nearest to the
face that it lies above. Everything here depends on the pose alone.
"""

import math

from saltus.contact.convex.faces import EDGE, FACE, FIRST, SECOND, corner_of_box, kind_of, normal_of, size_of
from saltus.contact.convex.search.pair_area import (
    AXIS,
    GAP,
    GEOM1,
    GEOM2,
    HULL1,
    HULL2,
    ID1,
    ID2,
    NORMAL,
    ROT,
    SHIFT,
    vertex_at,
)
from saltus.contact.convex.search.support import support
from saltus.model.enums import CYLINDER, MESH
from saltus.number.components import value_of
from saltus.number.intrinsics.memory import get3, get9, get_int, put, put3, put_int
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, matrix_times_vector, scale3, sub3, transpose_times_vector

UNKNOWN, BEYOND = -1, -2
FEW = 64  # most faces of a hull that are looked at one by one
ROOM = 1e-9  # margin for rounding, relative to the size of the face's geom


@kernel
def met_face(m, p, v, reach):
    """The face of pair p that a corner is known to meet within `reach` (m): twice its number, plus `FIRST` or `SECOND`.

    The normal is then written, and the numbers of the three vertices of A - B, at address v, that a search would find.
    `BEYOND` if the geoms are farther apart than `reach`: a separating direction and the distance (m) along it are then
    written. `UNKNOWN` if only a search can tell.
    """
    kind1, kind2 = kind_of(p, FIRST), kind_of(p, SECOND)
    if kind1 < CYLINDER or kind2 < CYLINDER or not reach >= 0.0:
        return UNKNOWN
    # primitive shapes first, whose faces are few
    first, second = (FIRST, SECOND) if kind2 == MESH else (SECOND, FIRST)
    found = corner_meets(m, p, v, first, reach)
    if found == UNKNOWN:
        found = corner_meets(m, p, v, second, reach)
    return found


@kernel
def corner_meets(m, p, v, side, reach):
    """`met_face` for faces of one geom and corners of the other."""
    face = facing(m, p, side)
    if face < 0:
        return UNKNOWN
    normal = normal_of(m, p, side, face)
    outward = normal if side == SECOND else transpose_times_vector(get9(p, ROT), normal)
    kind, other = kind_of(p, 1 - side), 1 - side
    # a rim has a single contact
    if kind == CYLINDER and not (abs(outward[2]) > FACE or abs(outward[2]) < EDGE):
        return UNKNOWN
    hull = get_int(p, HULL2 if side == FIRST else HULL1)
    deepest = support(m, kind, hull, size_of(p, other), scale3(-1.0, outward), -1)
    x = within(p, side, (deepest[0], deepest[1], deepest[2]))
    depth, room, scale = clearances(m, p, side, face, x)
    towards_second = scale3(1.0 if side == FIRST else -1.0, normal)
    if depth < -reach:
        if kind_of(p, side) == MESH:
            return UNKNOWN  # corners of a polygon lie in its plane only to the tolerance at which triangles were merged
        put3(p, AXIS, scale3(-1.0, towards_second))
        put(p, GAP, -depth)
        return BEYOND
    if not room > max(depth, 0.0) + ROOM * scale:
        return UNKNOWN
    put3(p, NORMAL, towards_second)
    for i in range(3):
        put_int(vertex_at(v, i), ID1 if side == FIRST else ID2, corner_of(m, p, side, face, i))
        put_int(vertex_at(v, i), ID2 if side == FIRST else ID1, deepest[3])
    return 2 * face + side


@kernel(inline=True)
def corner_of(m, p, side, face, k):
    """Number of corner k of a face; any for a cylinder."""
    if kind_of(p, side) == MESH:
        return m.hull_corner[m.hull_corneradr[face] + k]
    return corner_of_box(face, k)


@kernel(inline=True)
def within(p, side, x):
    """A point (m) in the frame of the other geom, expressed in that of the given one."""
    if side == FIRST:
        return add3(get3(p, SHIFT), matrix_times_vector(get9(p, ROT), x))
    return transpose_times_vector(get9(p, ROT), sub3(x, get3(p, SHIFT)))


# ---------------------------------------------------------------- the face


@kernel
def facing(m, p, side):
    """The face of a geom that the other is most likely to meet, judged by a box about it; -1 if there are too many."""
    size, rot = size_of(p, side), get9(p, ROT)
    centre, half = middle_of(m, p, 1 - side)
    x = within(p, side, centre)
    if kind_of(p, side) == MESH:
        return farthest_face(m, get_int(p, HULL1 if side == FIRST else HULL2), x)
    if kind_of(p, side) == CYLINDER:
        return 4 if x[2] >= 0.0 else 5
    if side == SECOND:
        rot = (rot[0], rot[3], rot[6], rot[1], rot[4], rot[7], rot[2], rot[5], rot[8])
    a = abs(x[0]) - size[0] - (abs(rot[0]) * half[0] + abs(rot[1]) * half[1] + abs(rot[2]) * half[2])
    b = abs(x[1]) - size[1] - (abs(rot[3]) * half[0] + abs(rot[4]) * half[1] + abs(rot[5]) * half[2])
    c = abs(x[2]) - size[2] - (abs(rot[6]) * half[0] + abs(rot[7]) * half[1] + abs(rot[8]) * half[2])
    if a > b and a > c:
        return 0 if x[0] >= 0.0 else 1
    if b > c:
        return 2 if x[1] >= 0.0 else 3
    return 4 if x[2] >= 0.0 else 5


@kernel
def farthest_face(m, h, x):
    """The face of hull h in front of which a point (m) is farthest; -1 if the hull has more than `FEW` faces."""
    first, last = m.hull_polyadr[h], m.hull_polyadr[h + 1]
    best, most = -1, -1e300
    if last - first > FEW:
        return best
    for face in range(first, last):
        height = -depth_below(m, face, x)
        if height > most:
            best, most = face, height
    return best


@kernel(inline=True)
def middle_of(m, p, side):
    """Middle and half sizes (m) of a box about a geom, in its frame."""
    size = size_of(p, side)
    if kind_of(p, side) == MESH:
        box = m.geom_aabb[get_int(p, GEOM1 if side == FIRST else GEOM2)]
        centre = 1.0 * value_of(box[0]), 1.0 * value_of(box[1]), 1.0 * value_of(box[2])
        return centre, (1.0 * value_of(box[3]), 1.0 * value_of(box[4]), 1.0 * value_of(box[5]))
    if kind_of(p, side) == CYLINDER:
        return (0.0, 0.0, 0.0), (size[0], size[0], size[1])
    return (0.0, 0.0, 0.0), size


# ---------------------------------------------------------------- distances from surfaces


@kernel
def clearances(m, p, side, face, x):
    """Distances (m) of a point inside from a face and from the nearest other part of the surface, and a size (m).

    Outside, the first is negative, and the second that of the point of the face's plane below.
    """
    kind, size = kind_of(p, side), size_of(p, side)
    if kind == MESH:
        return clearances_of_hull(m, get_int(p, HULL1 if side == FIRST else HULL2), face, x)
    k, sign = face >> 1, 1.0 - 2.0 * (face & 1)
    if kind == CYLINDER:
        room = min(size[0] - math.sqrt(x[0] * x[0] + x[1] * x[1]), size[1] + sign * x[2])
        return size[1] - sign * x[2], room, size[0] + size[1]
    a, b, c = size[0] - abs(x[0]), size[1] - abs(x[1]), size[2] - abs(x[2])
    height = x[0] if k == 0 else x[1] if k == 1 else x[2]
    half = size[0] if k == 0 else size[1] if k == 1 else size[2]
    room = min(b, c) if k == 0 else min(a, c) if k == 1 else min(a, b)
    return half - sign * height, min(room, half + sign * height), size[0] + size[1] + size[2]


@kernel
def clearances_of_hull(m, h, face, x):
    """`clearances` for a face of hull h."""
    depth, room, scale = depth_below(m, face, x), 1e300, 0.0
    below = min(depth, 0.0)
    n = m.hull_normal[face]
    x = x[0] + below * value_of(n[0]), x[1] + below * value_of(n[1]), x[2] + below * value_of(n[2])
    for other in range(m.hull_polyadr[h], m.hull_polyadr[h + 1]):
        if other != face:
            deep = depth_below(m, other, x)
            room, scale = min(room, deep), max(scale, abs(deep))
    return depth, room, scale


@kernel(inline=True)
def depth_below(m, face, x):
    """Distance (m) of a point from the plane of a hull's face, positive on the inner side."""
    n, corner = m.hull_normal[face], m.hull_vert[m.hull_corner[m.hull_corneradr[face]]]
    a, b, c = value_of(corner[0]) - x[0], value_of(corner[1]) - x[1], value_of(corner[2]) - x[2]
    return value_of(n[0]) * a + value_of(n[1]) * b + value_of(n[2]) * c
