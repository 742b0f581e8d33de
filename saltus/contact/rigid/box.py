"""Contacts of spheres and capsules with boxes.

Contacts are MuJoCo's (engine_collision_box.c): a sphere touches at the point of the box nearest to its centre.
A capsule touches like a sphere at the point of its axis nearest to the box, and like a second sphere where its axis,
followed from there over the box, ends or leaves the box.

For a capsule parallel to a face within rounding, MuJoCo's second contact depends on rounding; here such a capsule
counts as parallel and always has it.
"""

from saltus.contact.contact_list import add_contact
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rigid.lane_choice import by_precision, component, cycled, half_sizes, largest3, pick3
from saltus.contact.rigid.sphere_capsule import capsule_of
from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, any_lane, clip, maximum, minimum, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    dot3,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
    where3,
)

TINY = 1e-15  # m: a sphere's centre at most this far from the box counts as inside
FAR = 1e30  # larger than any squared distance
LEVEL, LEVEL_SINGLE = 1e-12, 1e-5  # sine of an angle to a face below which its sign is rounding
LEAST = 1e-30  # replaces zero in a divisor


@kernel
def sphere_box(m, d, n, c, reach):
    """The contact of a sphere with a box; appends contacts of pair c from number n on, returns the new number."""
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    centre = transpose_times_vector(d.geom_xmat[g2], sub3(d.geom_xpos[g1], d.geom_xpos[g2]))
    return sphere_on_box(m, d, n, c, reach, (centre, m.geom_size[g1, 0]), g2, 1.0, centre[0] == centre[0])


@kernel
def sphere_on_box(m, d, n, c, reach, sphere, box, sign, there):
    """The contact of a sphere (centre in the box's axes (m), radius (m)) with the geom `box`, as one of pair c.

    Lanes that are not `there` have no contact. The normal is `sign` times the direction from the centre to the nearest
    point of the box or, for a centre inside, times the inward normal of the nearest face.
    """
    centre, radius = sphere
    size = m.geom_size[box]
    zero = 0.0 * centre[0]
    # nearest point of the box: the centre, clamped
    nearest = (
        clip(centre[0], zero - size[0], zero + size[0]),
        clip(centre[1], zero - size[1], zero + size[1]),
        clip(centre[2], zero - size[2], zero + size[2]),
    )
    gap = sub3(nearest, centre)
    square = dot3(gap, gap)
    inside = square <= TINY * TINY
    length = sqrt(where(inside, zero + 1.0, square))
    # centre inside the box: nearest face instead
    depth, inward = nearest_face(centre, size)
    normal = where3(inside, inward, scale3(1.0 / length, gap))
    dist = where(inside, -depth, length)
    # midway between the sphere's deepest point and the box's surface
    pos = add_scaled3(centre, 0.5 * (radius + dist), normal)
    frame = d.geom_xmat[box]
    pos = add3(d.geom_xpos[box], matrix_times_vector(frame, pos))
    normal = matrix_times_vector(frame, scale3(sign, normal))
    dist = where(there, dist - radius, zero + (reach + 1.0))
    return add_contact(m, d, n, c, reach, dist, pos, normal, (zero, zero, zero))


@kernel(inline=True)
def nearest_face(point, size):
    """(distance (m), inward normal) of the face of a box that is nearest to a point inside it."""
    zero = 0.0 * point[0]
    one = zero + 1.0
    depth = size[0] + point[0]
    normal = (one, zero, zero)
    for k in range(3):
        unit = (where(k == 0, one, zero), where(k == 1, one, zero), where(k == 2, one, zero))
        low, high = pick3(k, size) + pick3(k, point), pick3(k, size) - pick3(k, point)
        normal = where3(low < depth, unit, normal)
        depth = minimum(low, depth)
        normal = where3(high < depth, scale3(-1.0, unit), normal)
        depth = minimum(high, depth)
    return depth, normal


# ---------------------------------------------------------------- capsules


@kernel
def capsule_box(m, d, n, c, reach):
    """The contacts of a capsule with a box."""
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    return capsule_on_box(m, d, n, c, reach, capsule_of(m, d, g1), g2, 1.0)


@kernel(inline=True)
def beside(centre, half, size):
    """Largest separation (m) of a capsule's axis from a box along the box's axes, at most their distance."""
    x = absolute(centre[0]) - absolute(half[0]) - size[0]
    y = absolute(centre[1]) - absolute(half[1]) - size[1]
    z = absolute(centre[2]) - absolute(half[2]) - size[2]
    return maximum(x, maximum(y, z))


@kernel
def capsule_on_box(m, d, n, c, reach, capsule, box, sign):
    """Contacts of a capsule with the geom `box`, two at most; normals are `sign` times those into the box.

    Points of the capsule's axis are centre + s half, -1 <= s <= 1, in the box's axes. Appends contacts of pair c from
    number n on; returns the new number of contacts.
    """
    centre, axis, length, radius = capsule
    frame = d.geom_xmat[box]
    centre = transpose_times_vector(frame, sub3(centre, d.geom_xpos[box]))
    axis = transpose_times_vector(frame, axis)
    zero = 0.0 * centre[0]
    size = half_sizes(m, box, zero)
    half = scale3(length, axis)
    # far beside the box in all lanes
    slack = 16.0 * epsilon_of(zero) * (absolute(centre[0]) + absolute(centre[1]) + absolute(centre[2]))
    if not any_lane(beside(centre, half, size) <= radius + reach + slack):
        return n
    # nearest point of the axis to the box: over a face, a corner or an edge
    square, s, face = nearest_end(centre, half, size)
    s, feature, edge, along, corner = nearest_edge(centre, half, size, length, square, s)
    # step from there to a second contact, by the feature below
    step1, there1 = from_face(centre, half, size, s, face)
    step2, there2 = from_corner(axis, half, size, s, corner)
    step3, there3 = from_edge(axis, half, size, s, corner, edge, along)
    on_face, on_corner = feature < 0.5, (feature > 0.5) & (feature < 1.5)
    step = where(on_face, step1, where(on_corner, step2, step3))
    second = where(on_face, there1, where(on_corner, there2, there3)) > 0.5
    # spheres at both points
    at = add_scaled3(centre, s, half)
    n = sphere_on_box(m, d, n, c, reach, (at, radius), box, sign, zero == zero)
    at = add_scaled3(centre, s + where(second, step, zero), half)
    return sphere_on_box(m, d, n, c, reach, (at, radius), box, sign, second)


@kernel
def nearest_end(centre, half, size):
    """The end of the axis nearest to the box, among ends inside the box or straight above a face.

    Returns (squared distance (m²), FAR if there is none; s of the end; axis of the face, -1 inside the box).
    """
    zero = 0.0 * centre[0]
    best, at, face = zero + FAR, zero, zero
    for end in range(2):
        s = 2.0 * end - 1.0
        point = add_scaled3(centre, s, half)
        # over a face if outside in a single coordinate, inside if in none
        outside, square, across = zero, zero, zero - 1.0
        for k in range(3):
            over = absolute(pick3(k, point)) - pick3(k, size)
            out = over > 0.0
            outside = outside + where(out, 1.0 + zero, zero)
            square = square + where(out, over * over, zero)
            across = where(out, k + zero, across)
        closer = (outside < 1.5) & (square < best)
        best = where(closer, square, best)
        at = where(closer, s + zero, at)
        face = where(closer, across, face)
    return best, at, face


@kernel
def nearest_edge(centre, half, size, length, best, at):
    """The point of the axis nearest to any of the twelve edges, if it is nearer than `best` (m²) at s = `at`.

    Returns (s; feature: 0 for the old point, 1 for a corner of the box, 2 for an edge; axis along that edge; coordinate
    along it, from -1 to 1; signs of the nearest corner). Of equally near edges, the first is taken.
    """
    zero = 0.0 * centre[0]
    one = zero + 1.0
    feature, edge, along, corner = zero, zero, zero, (one, one, one)
    # four edges along each axis j, one for each pair of signs of the other two coordinates
    for j in range(3):
        for k in range(8):
            if (k >> j) & 1 == 0:
                sign = (side(k, 0) + zero, side(k, 1) + zero, side(k, 2) + zero)
                square, x, s, end = edge_to_axis(centre, half, size, length, j, sign)
                # strictly nearer, by more than rounding
                closer = square < best - (TINY + by_precision(zero, 0.0, 2e-6) * best)
                best = where(closer, square, best)
                at = where(closer, s, at)
                feature = where(closer, where(end == 0.0, one + 1.0, one), feature)
                edge = where(closer, j + zero, edge)
                along = where(closer, x, along)
                # corner at the end of the edge that x was clamped to
                upper = where(end > 0.5, one, -one)
                here = (
                    upper if j == 0 else sign[0],
                    upper if j == 1 else sign[1],
                    upper if j == 2 else sign[2],
                )
                corner = where3(closer, here, corner)
    return at, feature, edge, along, corner


@kernel(inline=True)
def side(k, axis):
    """1 if bit number `axis` is set in k, else -1."""
    return 2.0 * ((k >> axis) & 1) - 1.0


@kernel
def edge_to_axis(centre, half, size, length, j, sign):
    """Nearest points of the capsule's axis and the box's edge along axis j with given signs of other coordinates.

    Minimises |e + x size_j u_j - s half|², with e from the capsule's centre to the edge's middle, over -1 <= x, s <= 1.
    If the unconstrained minimum is outside, first x is clamped, then s; each time the other is solved anew (Ericson,
    Real-Time Collision Detection (2005), section 5.1.9).

    Returns (squared distance (m²), FAR for parallel lines; x; s; the end of the edge that x was clamped to, or 0).
    """
    zero = 0.0 * centre[0]
    one = zero + 1.0
    unit = (where(j == 0, one, zero), where(j == 1, one, zero), where(j == 2, one, zero))
    width, advance = pick3(j, size), pick3(j, half)
    offset = (
        sign[0] * size[0] * (1.0 - unit[0]) - centre[0],
        sign[1] * size[1] * (1.0 - unit[1]) - centre[1],
        sign[2] * size[2] * (1.0 - unit[2]) - centre[2],
    )
    # both free: drop the component along the edge (minimum over x), then minimise over s
    flat = add_scaled3(half, -advance, unit)
    across = dot3(flat, flat)
    parallel = across * width * width < TINY
    s = dot3(flat, offset) / where(parallel, one, across)
    # x for this s, clamped to the edge; s solved anew at the edge's ends
    x = (s * advance - pick3(j, offset)) / width
    end = where(x > 1.0, one, where(x < -1.0, -one, zero))
    x = clip(x, -one, one)
    s = where(end == 0.0, s, (dot3(half, offset) + end * width * advance) / (length * length))
    # s clamped to the axis; x solved anew at its ends
    beyond = (s > 1.0) | (s < -1.0)
    s = clip(s, -one, one)
    again = (s * advance - pick3(j, offset)) / width
    x = where(beyond, clip(again, -one, one), x)
    end = where(beyond & (again > 1.0), one, where(beyond & (again < -1.0), -one, end))
    gap = add_scaled3(add_scaled3(offset, x * width, unit), -s, half)
    return where(parallel, zero + FAR, dot3(gap, gap)), x, s, end


# ---------------------------------------------------------------- a capsule's second contact
# Each of these kernels returns the step in s to it, and 1 where there is one, else 0.


@kernel
def from_face(centre, half, size, s, face):
    """Second contact from an end above a face: the other end, or where the axis leaves the region above the face."""
    zero = 0.0 * s
    step = zero + 2.0
    start = add_scaled3(centre, s, half)
    for k in range(3):
        move = -s * pick3(k, half)
        room = pick3(k, size) - where(move > 0.0, pick3(k, start), -pick3(k, start))
        leave = room / maximum(absolute(move), zero + LEAST)
        step = where((face == 1.0 * k) | (leave <= 0.0), step, minimum(leave, step))
    return -s * step, where(face < -0.5, zero, zero + 1.0)


@kernel
def from_corner(axis, half, size, s, corner):
    """Second contact from a corner: along an edge or over a face, if the axis lies above one.

    The axis does if one direction along it leads inwards in one coordinate and outwards in two: in that direction it
    follows an edge, in the other a face.
    """
    one = 0.0 * s + 1.0
    least = by_precision(one, LEVEL, LEVEL_SINGLE)
    level = absolute(axis[0]) < least, absolute(axis[1]) < least, absolute(axis[2]) < least
    inward = inward_signs(half, corner)
    # a constant coordinate counts as leading out where the main one leads in, and vice versa
    main = component(largest3(axis), inward)
    inward = where(level[0], -main, inward[0]), where(level[1], -main, inward[1]), where(level[2], -main, inward[2])
    total = inward[0] + inward[1] + inward[2]
    way = -total
    single = where(inward[0] == way, 0.0 * one, where(inward[1] == way, one, one + one))
    axis, width = cycled(single, axis), cycled(single, widths(half, size))
    step = where(
        axis[0] * axis[0] > 0.5,
        way * minimum(one - way * s, width[0]),
        -way * minimum(one + way * s, minimum(width[1], width[2])),
    )
    apart = absolute(step) > where(level[0] | level[1] | level[2], 0.0 * one, -one)
    return step, where((absolute(total) < 2.0) & apart, one, 0.0 * one)


@kernel
def from_edge(axis, half, size, s, corner, edge, along):
    """Second contact from an edge that the axis crosses: over the adjacent face at the smaller angle, if above one."""
    one = 0.0 * s + 1.0
    inward = cycled(edge, inward_signs(half, corner))
    axis, half, size = cycled(edge, axis), cycled(edge, half), cycled(edge, size)
    width = widths(half, size)
    steeper = absolute(axis[1]) > absolute(axis[2])
    way = where(steeper, inward[1], inward[2])
    step = minimum(one - way * s, where(steeper, width[1], width[2]))
    # not beyond the end of the edge
    ahead = where(half[0] > 0.0, way, -way)
    step = minimum(step, size[0] * (1.0 - ahead * along) / maximum(absolute(half[0]), 0.0 * one + LEAST))
    level = minimum(absolute(axis[1]), absolute(axis[2])) < by_precision(one, LEVEL, LEVEL_SINGLE)
    opposite = inward[1] * inward[2] < 0.0
    return way * step, where(level, where(step > 0.0, one, 0.0 * one), where(opposite, one, 0.0 * one))


@kernel(inline=True)
def inward_signs(half, corner):
    """For each coordinate, 1 where moving along the axis from a corner leads into the box, else -1."""
    return (
        where(half[0] > 0.0, -corner[0], corner[0]),
        where(half[1] > 0.0, -corner[1], corner[1]),
        where(half[2] > 0.0, -corner[2], corner[2]),
    )


@kernel(inline=True)
def widths(half, size):
    """For each coordinate, the step in s that crosses the whole box."""
    zero = 0.0 * half[0]
    return (
        2.0 * size[0] / maximum(absolute(half[0]), zero + LEAST),
        2.0 * size[1] / maximum(absolute(half[1]), zero + LEAST),
        2.0 * size[2] / maximum(absolute(half[2]), zero + LEAST),
    )
