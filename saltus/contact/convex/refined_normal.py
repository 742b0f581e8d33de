"""Normals of contacts with cylinders and ellipsoids, accurate to rounding, for contacts located in time.

The searches for nearest points stop when distances are accurate; the normal of a curved surface is then known only to
the square root of that accuracy, and step-size control sees its error as a trembling force. The normal is the direction
u of the largest separation s(u), and has few candidates, according to the features that meet: a face's normal, a
cylinder's axis, perpendicular to two edges, from an axis to a corner, or the separation of smooth curves, found by
Newton's method (see `saltus.contact.rigid.support_ascent`). The best candidate near the result of the search is taken.
"""

from saltus.contact.convex.faces import (
    FIRST,
    SECOND,
    edges_about,
    kind_of,
    next_face,
    normal_of,
    other_end,
    place_of,
    placed,
    size_of,
    turned,
)
from saltus.contact.convex.search.pair_area import (
    DIST,
    ID1,
    ID2,
    NORMAL,
    POINT,
    VERTEX_NUMBERS,
    A,
    W,
    find_vertex,
    vertex_at,
)
from saltus.contact.rigid.support_ascent import climb
from saltus.model.enums import BOX, CYLINDER, ELLIPSOID, HFIELD, MESH
from saltus.number.intrinsics.memory import get, get3, get_int, put, put3, put_int, stack_area
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3

CLOSE = 1.0 - 1e-5  # cosine of the angle within which candidates are considered
NOISE = 1e-14  # rounding of separations, relative to the sizes (m)
ACROSS = 5e-3  # cosine of the angle between the normal and edges that may meet there
FLAT = 1e-9  # sine of the angle below which directions count as parallel
# numbers of the best direction so far: direction, separation (m), point (m) of the first core
DIRECTION, SEPARATION, PLACE, FOUND = 0, 3, 4, 7


@kernel
def refine(m, p, v, n):
    """Refine NORMAL, DIST and POINT of pair p to rounding; v: address of the n vertices at its nearest points."""
    if not (is_curved(p, FIRST) or is_curved(p, SECOND)):
        return
    # the distance of the searches is an upper bound, the largest separation a lower one
    best, x = stack_area(FOUND + 1), stack_area(VERTEX_NUMBERS)
    find_vertex(m, p, x, get3(p, NORMAL))
    put(best, SEPARATION, -dot3(get3(p, NORMAL), get3(x, W)) - NOISE * lengths(p))
    put_int(best, FOUND, 0)
    for side in range(2):
        if is_curved(p, side):
            other = 1 - side
            if kind_of(p, other) == CYLINDER:
                with_cylinder(m, p, best, side)
            elif kind_of(p, other) != ELLIPSOID and kind_of(p, other) != HFIELD:
                with_corners(m, p, v, n, best, side)
    if get_int(best, FOUND):
        put3(p, NORMAL, get3(best, DIRECTION))
        put(p, DIST, get(best, SEPARATION))
        put3(p, POINT, get3(best, PLACE))


@kernel(inline=True)
def is_curved(p, side):
    """Whether a geom is a cylinder or an ellipsoid."""
    return kind_of(p, side) == CYLINDER or kind_of(p, side) == ELLIPSOID


@kernel
def lengths(p):
    """Rough upper bound (m) of distances of points of the geoms from the first one's centre."""
    x, a, b = placed(p, SECOND, (0.0, 0.0, 0.0)), size_of(p, FIRST), size_of(p, SECOND)
    return abs(x[0]) + abs(x[1]) + abs(x[2]) + a[0] + a[1] + a[2] + b[0] + b[1] + b[2]


@kernel
def attempt(m, p, best, u, side, anchored, anchor):
    """Accept direction u (of any length) as normal if it is near the normal and separates better than the best so far.

    The contact is at `anchor` (m), a point of geom `side`, if `anchored`, otherwise at that geom's support point.
    """
    length = dot3(u, u) ** 0.5
    if not length > 0.0:
        return
    u = scale3((1.0 if dot3(u, get3(p, NORMAL)) > 0.0 else -1.0) / length, u)
    if dot3(u, get3(p, NORMAL)) < CLOSE:
        return
    x = stack_area(VERTEX_NUMBERS)
    find_vertex(m, p, x, u)
    apart = -dot3(u, get3(x, W))
    if apart <= get(best, SEPARATION):
        return
    point = anchor
    if not anchored:
        point = get3(x, A) if side == FIRST else sub3(get3(x, A), get3(x, W))
    put_int(best, FOUND, 1)
    put3(best, DIRECTION, u)
    put(best, SEPARATION, apart)
    put3(best, PLACE, point if side == FIRST else add_scaled3(point, -apart, u))


@kernel
def with_corners(m, p, v, n, best, side):
    """Try directions of a round geom to the nearest face, edges and corners of the other."""
    other, which = 1 - side, ID2 if side == FIRST else ID1
    i = get_int(v, which)
    j = get_int(vertex_at(v, 1), which) if n > 1 else i
    k = get_int(vertex_at(v, 2), which) if n > 2 else i
    if kind_of(p, side) == CYLINDER:
        attempt(m, p, best, turned(p, side, (0.0, 0.0, 1.0)), other, False, (0.0, 0.0, 0.0))
    about_corner(m, p, best, side, i)
    if j != i:
        about_corner(m, p, best, side, j)
    if k != i and k != j:
        about_corner(m, p, best, side, k)
    if j != i and not get_int(best, FOUND):
        between_corners(m, p, best, side, (i, j, k))


@kernel
def between_corners(m, p, best, side, corners):
    """Try directions of a round geom to the triangle of corners that a search has found, and to its sides.

    They lie within a face where the file's coordinates, which are rounded, bend it.
    """
    other = 1 - side
    a, b, c = (
        place_of(m, p, other, corners[0]),
        place_of(m, p, other, corners[1]),
        place_of(m, p, other, corners[2]),
    )
    with_edge(m, p, best, side, a, b)
    if corners[2] != corners[0] and corners[2] != corners[1]:
        attempt(m, p, best, cross(sub3(b, a), sub3(c, a)), side, False, a)
        with_edge(m, p, best, side, b, c)
        with_edge(m, p, best, side, c, a)


@kernel
def about_corner(m, p, best, side, corner):
    """Try directions of a round geom to the faces and edges of the other at a corner, and to the corner itself."""
    other, normal = 1 - side, get3(p, NORMAL)
    if kind_of(p, other) == BOX or kind_of(p, other) == MESH:
        face, after = next_face(m, p, other, (corner, corner, corner), 0)
        while face >= 0:
            attempt(m, p, best, normal_of(m, p, other, face), side, False, normal)
            face, after = next_face(m, p, other, (corner, corner, corner), after)
    here = place_of(m, p, other, corner)
    for k in range(edges_about(m, p, other, corner)):
        end = place_of(m, p, other, other_end(m, p, other, corner, k))
        along, rise = sub3(end, here), dot3(sub3(end, here), normal)
        if rise * rise < ACROSS * ACROSS * dot3(along, along):
            with_edge(m, p, best, side, here, end)
    with_corner(m, p, best, side, here)


@kernel
def with_edge(m, p, best, side, a, b):
    """Try directions of a round geom to the edge from a to b (m)."""
    along = sub3(b, a)
    middle, half = add_scaled3(a, 0.5, along), 0.5 * dot3(along, along) ** 0.5
    if kind_of(p, side) == CYLINDER:
        across_lines(m, p, best, side, middle, along)
    ascend(m, p, best, side, middle, along, half, 0.0)


@kernel
def with_corner(m, p, best, side, x):
    """Try directions of a round geom to the corner x (m)."""
    if kind_of(p, side) == CYLINDER:
        axis, offset = turned(p, side, (0.0, 0.0, 1.0)), sub3(x, placed(p, side, (0.0, 0.0, 0.0)))
        attempt(m, p, best, add_scaled3(offset, -dot3(offset, axis), axis), 1 - side, True, x)
    ascend(m, p, best, side, x, (0.0, 0.0, 1.0), 0.0, 0.0)


@kernel
def with_cylinder(m, p, best, side):
    """Try directions of a cylinder to another: sides, an end, and rims on rims, sides and ends."""
    other, z = 1 - side, (0.0, 0.0, 1.0)
    if kind_of(p, side) != CYLINDER:
        return
    axis, centre, size = turned(p, other, z), placed(p, other, (0.0, 0.0, 0.0)), size_of(p, other)
    attempt(m, p, best, axis, side, False, centre)
    across_lines(m, p, best, side, centre, axis)
    ascend(m, p, best, side, centre, axis, size[1], 0.0)
    up = dot3(get3(p, NORMAL), axis) * (-1.0 if other == SECOND else 1.0)
    ascend(m, p, best, side, add_scaled3(centre, size[1] if up > 0.0 else -size[1], axis), axis, 0.0, size[0])


@kernel
def across_lines(m, p, best, side, middle, along):
    """Try the direction perpendicular to a cylinder's axis and the line through `middle` (m) along `along`."""
    axis = turned(p, side, (0.0, 0.0, 1.0))
    u = cross(axis, along)
    square, size = dot3(u, u), dot3(along, along)
    if square <= FLAT * FLAT * size:
        return
    # the point of the line nearest to the axis; on another cylinder it is farther by the radius
    offset = sub3(middle, placed(p, side, (0.0, 0.0, 0.0)))
    on_line = add_scaled3(middle, -dot3(cross(axis, offset), u) / square, along)
    if kind_of(p, 1 - side) == CYLINDER:
        towards = (-1.0 if side == FIRST else 1.0) * size_of(p, 1 - side)[0] / square**0.5
        on_line = add_scaled3(on_line, towards if dot3(u, get3(p, NORMAL)) > 0.0 else -towards, u)
    attempt(m, p, best, u, 1 - side, True, on_line)


@kernel
def ascend(m, p, best, side, middle, along, half, radius):
    """Try the direction of largest separation of a round geom (of a cylinder its rim) and a segment, point or disc.

    middle: centre of the body (m); along: its axis, of half length `half` (m); radius: of a disc across it (m).
    """
    size = size_of(p, side)
    towards = scale3(1.0 if side == FIRST else -1.0, get3(p, NORMAL))
    centre, third = placed(p, side, (0.0, 0.0, 0.0)), size[2]
    if kind_of(p, side) == CYLINDER:
        axis = turned(p, side, (0.0, 0.0, 1.0))
        up = dot3(axis, towards)
        if abs(up) > CLOSE or abs(up) < FLAT:
            return
        centre, third = add_scaled3(centre, size[1] if up > 0.0 else -size[1], axis), 0.0
        size = size[0], size[0], 0.0
    # axes of the second body: along the segment, and two across it
    t3 = scale3(1.0 / dot3(along, along) ** 0.5, along)
    flat = abs(t3[0]) > 0.6
    t1 = cross((0.0, 1.0, 0.0) if flat else (1.0, 0.0, 0.0), t3)
    t1 = scale3(1.0 / dot3(t1, t1) ** 0.5, t1)
    t2 = cross(t3, t1)
    xx = yy = zz = xy = xz = yz = 0.0
    for k in range(3):
        own = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        a = turned(p, side, own)
        length = size[0] if k == 0 else size[1] if k == 1 else third
        x, y, z = length * dot3(a, t1), length * dot3(a, t2), length * dot3(a, t3)
        xx, yy, zz, xy, xz, yz = xx + x * x, yy + y * y, zz + z * z, xy + x * y, xz + x * z, yz + y * z
    offset = sub3(middle, centre)
    c = dot3(offset, t1), dot3(offset, t2), dot3(offset, t3)
    shape = c, (xx, yy, zz, xy, xz, yz), (radius * radius, radius * radius, 0.0), (0.0, 0.0, half)
    n = dot3(towards, t1), dot3(towards, t2), dot3(towards, t3)
    n, _, _ = climb(shape, n, 1e300, True)
    u = add_scaled3(add_scaled3(scale3(n[0], t1), n[1], t2), n[2], t3)
    attempt(m, p, best, u, side, False, middle)
