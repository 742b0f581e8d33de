"""Contacts of spheres and capsules with tetrahedra that have a radius, the elements of solids.

Contacts are MuJoCo's, one for each tetrahedron: if the core of the geom (a point or a segment) is outside, along the
shortest line between the two; if it is inside or passes through, along the shortest way out. If a segment is parallel
to a face or an edge there are many of these: MuJoCo's iterations end at any, here the segment's ends are tried first,
then the edges; distance and normal are the same.

A tetrahedron is four points (m) in world axes, in any order; `thick` (m) is its radius.
"""

from saltus.contact.contact_list import add_contact, unit_or_x
from saltus.contact.flex.triangle import nearest_on_triangle
from saltus.contact.rigid.plane import no_vector
from saltus.number.components import zero_like
from saltus.number.functions import any_lane, clip, maximum, minimum, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3, where3

CLOSER = 1e-14  # m: least difference, above rounding, by which a pair of points must be closer to replace another
LEAST = 1e-30  # replaces zero in a divisor
FAR = 1e30  # larger than any distance (m)
PARALLEL = 1e-10  # m²: |d1 × d2| below which a segment and an edge count as parallel


@kernel
def sphere_tetrahedron(m, d, n, c, reach, centre, radius, tetrahedron, thick):
    """The contact of a sphere with a tetrahedron, at the nearest point of its faces."""
    p0, p1, p2, p3 = tetrahedron
    zero = zero_like(centre[0])
    # nearest point of the four faces
    best = zero + FAR, centre, centre
    best = nearer(best, centre, nearest_on_triangle(centre, (p0, p1, p2)))
    best = nearer(best, centre, nearest_on_triangle(centre, (p0, p2, p3)))
    best = nearer(best, centre, nearest_on_triangle(centre, (p0, p3, p1)))
    best = nearer(best, centre, nearest_on_triangle(centre, (p1, p3, p2)))
    # centre inside: signed distance and normal change sign
    side = where(inside(centre, tetrahedron), zero - 1.0, zero + 1.0)
    normal = scale3(side, unit_or_x(sub3(best[2], centre)))
    dist = side * best[0] - radius - thick
    pos = add_scaled3(centre, radius + 0.5 * dist, normal)
    return add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(zero))


@kernel(inline=True)
def inside(point, tetrahedron):
    """Whether a point is in a tetrahedron: on the same side of each face as the opposite corner."""
    p0, p1, p2, p3 = tetrahedron
    volume = dot3(cross(sub3(p1, p0), sub3(p2, p0)), sub3(p3, p0))
    to0, to1, to2, to3 = sub3(p0, point), sub3(p1, point), sub3(p2, point), sub3(p3, point)
    w0 = volume * dot3(cross(to1, to2), to3)
    w1 = volume * dot3(cross(to2, to0), to3)
    w2 = volume * dot3(cross(to0, to1), to3)
    w3 = volume * dot3(cross(to1, to0), to2)
    return (w0 >= 0.0) & (w1 >= 0.0) & (w2 >= 0.0) & (w3 >= 0.0) & (volume * volume > 0.0)


@kernel(inline=True)
def nearer(best, first, second):
    """The closer of `best` and a pair of points: (distance, first, second); see CLOSER."""
    offset = sub3(second, first)
    square = dot3(offset, offset)
    some = square > 0.0
    length = where(some, sqrt(where(some, square, square + 1.0)), square)
    closer = length < best[0] - CLOSER
    return where(closer, length, best[0]), where3(closer, first, best[1]), where3(closer, second, best[2])


@kernel
def capsule_tetrahedron(m, d, n, c, reach, capsule, tetrahedron, thick):
    """The contact of a capsule (centre, axis, half length, radius) with a tetrahedron."""
    centre, axis, half, radius = capsule
    # ends of the segment and their heights over the four faces
    start, end = add_scaled3(centre, -half, axis), add_scaled3(centre, half, axis)
    p0, p1, p2, p3 = tetrahedron
    zero = zero_like(centre[0])
    faces = (
        face_of(start, end, p0, p1, p2, p3),
        face_of(start, end, p0, p2, p3, p1),
        face_of(start, end, p0, p3, p1, p2),
        face_of(start, end, p1, p3, p2, p0),
    )
    meets = passes(faces)
    # segment outside: nearest points
    best = nearest_pair(start, end, tetrahedron)
    normal, dist, at = unit_or_x(sub3(best[2], best[1])), best[0], best[1]
    # segment inside or passing through: shortest way out
    if any_lane(meets):
        depth, place, way = shortest_way(start, end, tetrahedron, faces)
        normal = where3(meets, scale3(-1.0, way), normal)
        dist, at = where(meets, -depth, dist), where3(meets, place, at)
    # contact midway between the two surfaces
    dist = dist - radius - thick
    pos = add_scaled3(at, radius + 0.5 * dist, normal)
    return add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(zero))


@kernel
def nearest_pair(start, end, tetrahedron):
    """(distance, point of the segment, point of the tetrahedron) where they are nearest, for a segment outside.

    The point of the segment is one of its ends, or the point of the tetrahedron is on an edge.
    """
    p0, p1, p2, p3 = tetrahedron
    best = zero_like(start[0]) + FAR, start, end
    best = nearer(best, start, nearest_on_triangle(start, (p0, p1, p2)))
    best = nearer(best, end, nearest_on_triangle(end, (p0, p1, p2)))
    best = nearer(best, start, nearest_on_triangle(start, (p0, p2, p3)))
    best = nearer(best, end, nearest_on_triangle(end, (p0, p2, p3)))
    best = nearer(best, start, nearest_on_triangle(start, (p0, p3, p1)))
    best = nearer(best, end, nearest_on_triangle(end, (p0, p3, p1)))
    best = nearer(best, start, nearest_on_triangle(start, (p1, p3, p2)))
    best = nearer(best, end, nearest_on_triangle(end, (p1, p3, p2)))
    best = nearer_edge(best, start, end, p2, p1)
    best = nearer_edge(best, start, end, p3, p2)
    best = nearer_edge(best, start, end, p3, p1)
    best = nearer_edge(best, start, end, p1, p0)
    best = nearer_edge(best, start, end, p2, p0)
    return nearer_edge(best, start, end, p3, p0)


@kernel
def nearer_edge(best, start, end, a, b):
    """The closer of `best` and the nearest points of two segments (Ericson, 5.1.9)."""
    d1, d2, r = sub3(end, start), sub3(b, a), sub3(start, a)
    zero = zero_like(start[0])
    one = zero + 1.0
    square1, square2, product = dot3(d1, d1), dot3(d2, d2), dot3(d1, d2)
    perpendicular = cross(d1, d2)
    area = dot3(perpendicular, perpendicular)
    # nearest points of the lines; s clamped
    parallel = area <= 1e-15 * square1 * square2
    s = dot3(cross(d2, r), perpendicular) / where(parallel, one, area)
    s = where(parallel, zero, clip(s, zero, one))
    t = (product * s + dot3(d2, r)) / maximum(square2, zero + LEAST)
    # t clamped; s solved anew at its ends
    low, high = t < 0.0, t > 1.0
    s = where(low, clip(-dot3(d1, r) / square1, zero, one), s)
    s = where(high, clip((product - dot3(d1, r)) / square1, zero, one), s)
    t = clip(t, zero, one)
    return nearer(best, add_scaled3(start, s, d1), add_scaled3(a, t, d2))


@kernel(inline=True)
def face_of(start, end, a, b, c, opposite):
    """Outward normal of a face, and heights (m) of a segment's ends over it."""
    normal = unit_or_x(cross(sub3(b, a), sub3(c, a)))
    sign = zero_like(start[0]) + 1.0
    normal = scale3(where(dot3(normal, sub3(opposite, a)) > 0.0, -sign, sign), normal)
    return normal, dot3(normal, sub3(start, a)), dot3(normal, sub3(end, a))


@kernel(inline=True)
def passes(faces):
    """Whether part of a segment is inside of all faces: it enters the last half-space before it leaves the first."""
    zero = zero_like(faces[0][1])
    one = zero + 1.0
    enter, leave = zero, one
    for k in range(4):
        _, first, last = faces[k]
        # parameter at which the segment crosses the plane of the face
        cross_at = first / where((first > 0.0) | (last > 0.0), where(first == last, one, first - last), one)
        beyond = (first > 0.0) & (last > 0.0)
        enter = where(beyond, one + one, where(first > 0.0, maximum(enter, cross_at), enter))
        leave = where((first <= 0.0) & (last > 0.0), minimum(leave, cross_at), leave)
    return enter <= leave


@kernel
def shortest_way(start, end, tetrahedron, faces):
    """Minimum translation of a segment out of a tetrahedron: (depth, point of the segment, direction).

    The direction is a face normal, or perpendicular to the segment and to an edge that is extreme in that direction.
    """
    p0, p1, p2, p3 = tetrahedron
    best = zero_like(start[0]) + FAR, start, end
    for k in range(4):
        # through a face: until the deeper end is out
        normal, first, last = faces[k]
        depth = maximum(-first, -last)
        less = depth < best[0]
        place = where3(-first >= -last, start, end)
        best = where(less, depth, best[0]), where3(less, place, best[1]), where3(less, normal, best[2])
    # over an edge
    best = over_edge(best, start, end, p1, p0, p2, p3)
    best = over_edge(best, start, end, p2, p0, p1, p3)
    best = over_edge(best, start, end, p2, p1, p0, p3)
    best = over_edge(best, start, end, p3, p0, p1, p2)
    best = over_edge(best, start, end, p3, p1, p0, p2)
    return over_edge(best, start, end, p3, p2, p0, p1)


@kernel
def over_edge(best, start, end, a, b, other1, other2):
    """The shorter of `best` and the way out over the edge from a to b, if the other corners are not beyond it."""
    d1, d2 = sub3(end, start), sub3(b, a)
    normal = cross(d1, d2)
    area = dot3(normal, normal)
    zero = zero_like(area)
    one = zero + 1.0
    # unit vector perpendicular to segment and edge; none if they are parallel
    skew = area >= PARALLEL * PARALLEL
    area = where(skew, area, one)
    normal = scale3(1.0 / sqrt(area), normal)
    # outward if the edge supports the tetrahedron in this direction
    above = dot3(normal, sub3(a, other1)), dot3(normal, sub3(a, other2))
    sign = where((above[0] >= 0.0) & (above[1] >= 0.0), one, -one)
    support = skew & (sign * above[0] >= 0.0) & (sign * above[1] >= 0.0)
    normal = scale3(sign, normal)
    # depth, and the point of the segment nearest to the edge
    depth = dot3(normal, sub3(a, start))
    less = support & (depth < best[0])
    s = dot3(cross(sub3(a, start), d2), cross(d1, d2)) / area
    place = add_scaled3(start, s, d1)
    return where(less, depth, best[0]), where3(less, place, best[1]), where3(less, normal, best[2])
