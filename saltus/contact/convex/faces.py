"""Faces, edges and corners of shapes, by the numbers of points that support functions return.

Faces of a box have the numbers 0 to 5: +x, -x, +y, -y, +z, -z; bits 0, 1, 2 of a corner's number are set on the
positive sides of x, y, z. A mesh's faces and vertices are numbered through all hulls. A capsule is the edge between its
ends. A cylinder is represented, according to the contact normal, by an end, as a polygon that is face 4 or 5, by the
edge along its side, or by its rim, as a corner without faces or edges.
"""

import math

from saltus.contact.convex.search.pair_area import KIND1, KIND2, NORMAL, ROT, SHIFT, SIZE1, SIZE2
from saltus.model.enums import BOX, CAPSULE, CYLINDER, MESH
from saltus.number.components import value_of
from saltus.number.conditions import has
from saltus.number.intrinsics.memory import get3, get9, get_int, put3
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, dot3, matrix_times_vector, transpose_times_vector

FIRST, SECOND = range(2)  # geoms of the pair
FACE, EDGE = 0.996, 0.0888  # cosines of the angles within which faces face each other, and edges lie on faces
ROUND_CORNERS = 16  # corners of the polygon that replaces a cylinder's end
LEAST_TILT = 1e-9  # rad: at smaller angles to a face an end has no nearest point
FIRST_CORNERS = (0, 3, 2, 3, 3, 0)  # MuJoCo's first corners of a box's faces, among the four in order
COSINES = tuple(math.cos(k * (2.0 * math.pi / ROUND_CORNERS)) for k in range(ROUND_CORNERS))
SINES = tuple(math.sin(k * (2.0 * math.pi / ROUND_CORNERS)) for k in range(ROUND_CORNERS))


@kernel(inline=True)
def kind_of(p, side):
    """The type of a geom of the pair."""
    return get_int(p, KIND1 if side == FIRST else KIND2)


@kernel(inline=True)
def size_of(p, side):
    """The sizes (m) of a geom of the pair."""
    return get3(p, SIZE1 if side == FIRST else SIZE2)


@kernel(inline=True)
def turned(p, side, u):
    """A direction in the geom's frame, expressed in that of the first geom."""
    return u if side == FIRST else matrix_times_vector(get9(p, ROT), u)


@kernel(inline=True)
def placed(p, side, x):
    """A point (m) in the geom's frame, expressed in that of the first geom."""
    return x if side == FIRST else add3(get3(p, SHIFT), turned(p, side, x))


@kernel
def outward(p, side):
    """The contact normal away from the geom, in the geom's frame."""
    normal = get3(p, NORMAL)
    if side == FIRST:
        return normal
    x = transpose_times_vector(get9(p, ROT), normal)
    return -x[0], -x[1], -x[2]


@kernel
def corners_of_cylinder(p, side):
    """Three corners for `face_contacts`: of an end, of the edge along the side, or one of the rim."""
    z = outward(p, side)[2]
    if abs(z) > FACE:
        return 0, 1, 2
    if abs(z) < EDGE:
        return 0, 1, 1
    return 0, 0, 0


# ---------------------------------------------------------------- faces


@kernel(inline=True)
def faces_about(m, kind, corner):
    """Number of faces at a corner of a box or a mesh."""
    if kind == BOX:
        return 3
    return m.hull_faceadr[corner + 1] - m.hull_faceadr[corner]


@kernel(inline=True)
def face_about(m, kind, corner, k):
    """Face k at a corner of a box or a mesh."""
    if kind == BOX:
        return 2 * k + 1 - (corner >> k & 1)
    return m.hull_face[m.hull_faceadr[corner] + k]


@kernel
def has_corner(m, kind, face, corner):
    """Whether a corner belongs to a face."""
    k = faces_about(m, kind, corner) - 1
    while k >= 0 and face_about(m, kind, corner, k) != face:
        k -= 1
    return k >= 0


@kernel
def next_face(m, p, side, corners, k):
    """The next face with all three corners, which may be equal, and the place to continue after it.

    The search begins at face k of the first corner; -1 if there are no more.
    """
    kind = kind_of(p, side)
    if kind == CYLINDER and corners[2] == 2 and k == 0:
        return (4 if outward(p, side)[2] > 0.0 else 5), 1
    if kind < BOX:
        return -1, k
    for i in range(k, faces_about(m, kind, corners[0])):
        face = face_about(m, kind, corners[0], i)
        alone = corners[0] == corners[1] and corners[0] == corners[2]
        if alone or (has_corner(m, kind, face, corners[1]) and has_corner(m, kind, face, corners[2])):
            return face, i + 1
    return -1, k


@kernel
def normal_of(m, p, side, face):
    """Outward normal of a face, in the frame of the first geom."""
    if kind_of(p, side) == MESH:
        x = m.hull_normal[face]
        n = 1.0 * value_of(x[0]), 1.0 * value_of(x[1]), 1.0 * value_of(x[2])
    else:
        sign = 1.0 - 2.0 * (face & 1)
        axis = face >> 1
        n = (sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0)
    return turned(p, side, n)


@kernel
def write_corners(m, p, side, face, area, opposite):
    """Write a face's corners (m, first geom's frame), clockwise as seen from outside; returns their number.

    opposite: the outward normal of the face that it meets. If contacts are located in time, the first corner of a
    cylinder's end is the point of its rim nearest to that face.
    """
    kind = kind_of(p, side)
    if kind == MESH:
        first, n = m.hull_corneradr[face], m.hull_corneradr[face + 1] - m.hull_corneradr[face]
        for k in range(n):
            v = m.hull_vert[m.hull_corner[first + n - 1 - k]]
            put3(area, 3 * k, placed(p, side, (1.0 * value_of(v[0]), 1.0 * value_of(v[1]), 1.0 * value_of(v[2]))))
        return n
    if kind == BOX:
        for k in range(4):
            put3(area, 3 * k, place_of(m, p, side, corner_of_box(face, k)))
        return 4
    size = size_of(p, side)
    sign = 1.0 - 2.0 * (face & 1)
    first = nearest_of_rim(p, side, opposite) if has(m, "event") else (1.0, 0.0)
    for k in range(ROUND_CORNERS):
        x = size[0] * COSINES[k], size[0] * (-sign * SINES[k]), sign * size[1]
        if has(m, "event"):
            x = first[0] * x[0] - first[1] * x[1], first[1] * x[0] + first[0] * x[1], x[2]
        put3(area, 3 * k, placed(p, side, x))
    return ROUND_CORNERS


@kernel
def nearest_of_rim(p, side, opposite):
    """Cosine and sine of the place on a cylinder's rim that is nearest to a face with this outward normal."""
    x = opposite if side == FIRST else transpose_times_vector(get9(p, ROT), opposite)
    tilt = math.sqrt(x[0] * x[0] + x[1] * x[1])
    if tilt < LEAST_TILT:
        return 1.0, 0.0
    return -x[0] / tilt, -x[1] / tilt


@kernel
def corner_of_box(face, k):
    """Corner k of a face of a box, beginning with MuJoCo's first, which affects the choice of four of many contacts.

    Corners are ordered (+, +), (+, -), (-, -), (-, +) along the next axes, seen from the positive side.
    """
    axis, down = face >> 1, face & 1
    k = (k + FIRST_CORNERS[face]) % 4
    first, second = 1 if k < 2 else 0, 1 if k == 0 or k == 3 else 0
    if down:
        first, second = second, first
    return (1 - down << axis) | (first << (axis + 1) % 3) | (second << (axis + 2) % 3)


# ---------------------------------------------------------------- corners and edges


@kernel
def place_of(m, p, side, corner):
    """Position (m) of a corner in the frame of the first geom."""
    kind, size = kind_of(p, side), size_of(p, side)
    if kind == MESH:
        v = m.hull_vert[corner]
        x = 1.0 * value_of(v[0]), 1.0 * value_of(v[1]), 1.0 * value_of(v[2])
    elif kind == BOX:
        x = (
            size[0] if corner & 1 else -size[0],
            size[1] if corner & 2 else -size[1],
            size[2] if corner & 4 else -size[2],
        )
    else:
        x = 0.0, 0.0, size[1] if corner else -size[1]
        if kind == CYLINDER:
            u = outward(p, side)
            scale = size[0] / math.sqrt(u[0] * u[0] + u[1] * u[1])
            x = scale * u[0], scale * u[1], x[2]
    return placed(p, side, x)


@kernel(inline=True)
def edges_about(m, p, side, corner):
    """Number of edges at a corner."""
    kind = kind_of(p, side)
    if kind < BOX:
        return 1 if kind == CAPSULE else 0
    return faces_about(m, kind, corner)


@kernel
def other_end(m, p, side, corner, k):
    """The corner at the other end of edge k of a corner."""
    kind = kind_of(p, side)
    if kind < BOX:
        return 1 - corner
    if kind == BOX:
        return corner ^ (1 << k)
    face = face_about(m, kind, corner, k)
    first, last = m.hull_corneradr[face], m.hull_corneradr[face + 1] - 1
    for i in range(first, last + 1):
        if m.hull_corner[i] == corner:
            return m.hull_corner[last if i == first else i - 1]
    return corner


@kernel
def is_on(along, normal):
    """Whether an edge (m) lies on a plane with this normal."""
    rise = dot3(along, normal)
    return rise * rise < EDGE * EDGE * dot3(along, along)
