"""Contacts of a corner with a flat face, which are known without a search.

Let b be the point of B that reaches farthest into A, or comes nearest to it, along the outward normal of a face of A. The
face is h deep beneath b. If b is farther than h from all other parts of A's surface, then A - B, which holds A - b, is
farther than h from the origin in every other direction, and in this one just as far: this is the least depth. Outside of
A, b is nearest to the face that it lies above. Everything here depends on the pose alone.
"""

import math

from saltus.contact.convex.faces import FACE, FIRST, SECOND, corner_of_box, kind_of, size_of
from saltus.contact.convex.search.pair_area import (
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
from saltus.number.intrinsics.memory import get, get3, get9, get_int, put3, put_int
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, matrix_times_vector, scale3, sub3, transpose_times_vector

ROOM = 1e-9  # margin for rounding, relative to the size of the face's geom


@kernel
def met_face(m, p, v, reach):
    """Whether a corner of pair p meets the inside of a box's face or of a cylinder's end, within `reach` (m).

    If so, the normal is written, and the numbers of the three vertices of A - B, at address v, that a search would find.
    """
    kind1, kind2 = kind_of(p, FIRST), kind_of(p, SECOND)
    if kind1 < CYLINDER or kind2 < CYLINDER or not reach >= 0.0:
        return False
    if kind2 < MESH and corner_meets(m, p, v, SECOND, reach):
        return True
    return kind1 < MESH and corner_meets(m, p, v, FIRST, reach)


@kernel
def corner_meets(m, p, v, side, reach):
    """`met_face` for faces of one geom and corners of the other."""
    face = facing(m, p, side)
    k, sign = face >> 1, 1.0 - 2.0 * (face & 1)
    # the face's axis in the frame of the other geom
    if side == FIRST:
        axis = get3(p, ROT + 3 * k)
    else:
        axis = get(p, ROT + k), get(p, ROT + 3 + k), get(p, ROT + 6 + k)
    kind = kind_of(p, 1 - side)
    if kind == CYLINDER and not abs(axis[2]) > FACE:
        return False
    hull = get_int(p, HULL2 if side == FIRST else HULL1)
    deepest = support(m, kind, hull, size_of(p, 1 - side), scale3(-sign, axis), -1)
    x = within(p, side, (deepest[0], deepest[1], deepest[2]))
    depth, room, scale = clearances(p, side, k, sign, x)
    if not (room > max(depth, 0.0) + ROOM * scale and depth > -reach):
        return False
    if side == FIRST:
        unit = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        put3(p, NORMAL, scale3(sign, unit))
    else:
        put3(p, NORMAL, scale3(-sign, axis))
    for i in range(3):
        put_int(vertex_at(v, i), ID1 if side == FIRST else ID2, corner_of_box(face, i))
        put_int(vertex_at(v, i), ID2 if side == FIRST else ID1, deepest[3])
    return True


@kernel(inline=True)
def within(p, side, x):
    """A point (m) in the frame of the other geom, expressed in that of the given one."""
    if side == FIRST:
        return add3(get3(p, SHIFT), matrix_times_vector(get9(p, ROT), x))
    return transpose_times_vector(get9(p, ROT), sub3(x, get3(p, SHIFT)))


@kernel
def facing(m, p, side):
    """The face of a box, or end of a cylinder, along whose normal boxes about both geoms overlap least."""
    size, rot = size_of(p, side), get9(p, ROT)
    centre, half = middle_of(m, p, 1 - side)
    x = within(p, side, centre)
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


@kernel(inline=True)
def clearances(p, side, k, sign, x):
    """Distances (m) of a point from a face, negative outside, and from the nearest other part of the surface; a size (m).

    The face is on the side `sign` of axis k.
    """
    size = size_of(p, side)
    if kind_of(p, side) == CYLINDER:
        room = min(size[0] - math.sqrt(x[0] * x[0] + x[1] * x[1]), size[1] + sign * x[2])
        return size[1] - sign * x[2], room, size[0] + size[1]
    a, b, c = size[0] - abs(x[0]), size[1] - abs(x[1]), size[2] - abs(x[2])
    height = x[0] if k == 0 else x[1] if k == 1 else x[2]
    half = size[0] if k == 0 else size[1] if k == 1 else size[2]
    room = min(b, c) if k == 0 else min(a, c) if k == 1 else min(a, b)
    return half - sign * height, min(room, half + sign * height), size[0] + size[1] + size[2]
