"""Contacts of a box's face with another box: the incident face, clipped against the reference face.

The reference face belongs to the box with the axis of largest separation; the incident face is the face of the other
box most opposed to it. In the projection along the reference axis the reference face is a rectangle, |x| <= width, |y|
<= depth, and the incident face a parallelogram, centre + s u + t v, |s|, |t| <= 1. Corners of their intersection are

  - ends of the parts of the parallelogram's sides within the rectangle, and
  - corners of the rectangle within the parallelogram.

Both are widened by a little more than rounding, so that no corner is lost between the two kinds; duplicates are
removed.
"""

from saltus.contact.contact_list import contact_end
from saltus.contact.counts import NLOST
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rigid.lane_choice import (
    by_precision,
    cycled,
    cycled_columns,
    cycled_rows,
    half_sizes,
    largest3,
    transposed,
    where9,
)
from saltus.number.functions import absolute, any_lane, maximum, minimum, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, add_scaled3, scale3, sub3, where3

PLACES = 8  # most contacts: corners of a rectangle clipped by a parallelogram
LEAST = 1e-30  # replaces zero in a divisor


@kernel
def face_contacts(m, d, n, c, reach, wanted, face, pose):
    """Contacts of pair c on a face, in lanes where they are `wanted`.

    face: 0 to 2 for the first box's axes, 3 to 5 for the second's. pose: the second's axes in the first's, as columns
    [9]; the second's centre in the first's axes (m); the first's centre in the second's axes (m).

    Writes contact_dist (m), contact_pos (m, world axes) from place n on; returns (number of contacts, normal in world
    axes). A contact is a corner of the intersection that lies less than `reach` (m) over the reference face: its
    distance is that height, its position midway between.
    """
    rot, offset, back = pose
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    zero = 0.0 * face
    one = zero + 1.0
    size1, size2 = half_sizes(m, g1, zero), half_sizes(m, g2, zero)
    own = face < 2.5
    axis = where(own, face, face - 3.0)
    # rows: the reference box's z (the normal), x, y; columns: the incident box's axes, the one nearest to z first
    rot = cycled_rows(axis, where9(own, rot, transposed(rot)))
    offset = cycled(axis, where3(own, offset, back))
    size = cycled(axis, where3(own, size1, size2))
    incident = largest3((rot[0], rot[1], rot[2]))
    rot = cycled_columns(incident, rot)
    other = cycled(incident, where3(own, size2, size1))
    up = where(offset[0] >= 0.0, one, -one)
    # the incident face: centre and half sides, as x, y and height over the reference face
    towards = where(up * rot[0] > 0.0, -other[0], other[0])
    centre = (
        offset[1] + towards * rot[3],
        offset[2] + towards * rot[6],
        up * (offset[0] + towards * rot[0]) - size[0],
    )
    u = (other[1] * rot[4], other[1] * rot[7], up * other[1] * rot[1])
    v = (other[2] * rot[5], other[2] * rot[8], up * other[2] * rot[2])
    count = common_corners(m, d, n, reach, wanted, (centre, u, v), (size[1], size[2]))
    # to world axes
    frame = cycled_columns(axis, where9(own, d.geom_xmat[g1], d.geom_xmat[g2]))
    origin = where3(own, d.geom_xpos[g1], d.geom_xpos[g2])
    z = scale3(up, (frame[0], frame[3], frame[6]))
    x, y = (frame[1], frame[4], frame[7]), (frame[2], frame[5], frame[8])
    q = 0
    while q < PLACES and any_lane(count > 1.0 * q):
        point = d.contact_pos[n + q]
        pos = add_scaled3(origin, size[0] + 0.5 * point[2], z)
        d.contact_pos[n + q] = add_scaled3(add_scaled3(pos, point[0], x), point[1], y)
        d.contact_dist[n + q] = point[2]
        q += 1
    return count, where3(own, z, scale3(-1.0, z))


@kernel
def common_corners(m, d, n, reach, wanted, parallelogram, rectangle):
    """Corners (x, y, height) of the intersection of parallelogram and rectangle, from place n on.

    parallelogram: centre and half sides; rectangle: width and depth. Writes contact_pos; returns their number.
    """
    centre, u, v = parallelogram
    width, depth = rectangle
    zero = 0.0 * width
    one = zero + 1.0
    # tolerances: rounding of the coordinates, and of s and t
    across1, across2 = absolute(u[0]) + absolute(u[1]), absolute(v[0]) + absolute(v[1])
    extent = width + depth + absolute(centre[0]) + absolute(centre[1]) + across1 + across2
    rounding = by_precision(zero, 1e-15, 5e-7) * extent
    radius2 = by_precision(zero, 1e-14, 1e-10) * (width * width + depth * depth)  # m²: nearer points are equal
    inverse = 1.0 / (u[0] * v[1] - u[1] * v[0])
    wide = one + rounding * (across1 + across2) * absolute(inverse)
    count, x, y = zero, width, depth
    for k in range(4):
        # a side of the parallelogram
        start, side = add3(centre, add3(u, v)), scale3(-2.0, u)
        enter1, leave1 = span(start[0], side[0], width + rounding)
        enter2, leave2 = span(start[1], side[1], depth + rounding)
        enter, leave = maximum(maximum(enter1, enter2), zero), minimum(minimum(leave1, leave2), one)
        within = wanted & (enter <= leave)
        count = keep(m, d, n, reach, count, within, add_scaled3(start, enter, side), radius2)
        # also its end: by rounding, the next side may start outside
        count = keep(m, d, n, reach, count, within, add_scaled3(start, leave, side), radius2)
        # a corner of the rectangle
        dx, dy = x - centre[0], y - centre[1]
        s, t = (dx * v[1] - dy * v[0]) * inverse, (u[0] * dy - u[1] * dx) * inverse
        within = wanted & (absolute(s) <= wide) & (absolute(t) <= wide)
        count = keep(m, d, n, reach, count, within, (x, y, centre[2] + s * u[2] + t * v[2]), radius2)
        u, v = v, scale3(-1.0, u)
        if k & 1:
            y = -y
        else:
            x = -x
    return count


@kernel(inline=True)
def span(start, side, limit):
    """The interval of t in which |start + t side| <= limit.

    For side = 0 it contains [0, 1] if the inequality holds there, else it lies far outside.
    """
    zero = 0.0 * start
    flat = absolute(side) < LEAST
    inverse = 1.0 / where(flat, zero + LEAST, side)
    a, b = (-limit - start) * inverse, (limit - start) * inverse
    return minimum(a, b), maximum(a, b)


@kernel
def keep(m, d, n, reach, count, found, point, radius2):
    """Store a point (x, y, height) at place n + count if it is found, within reach (m) and not stored yet.

    Returns the new count. Places are counted lane by lane.
    """
    zero = 0.0 * count
    room = min(PLACES, contact_end(m, d) - n)
    fresh = where(found & (point[2] <= reach), zero + 1.0, zero)
    q = 0
    # a corner found twice counts once
    while q < room and any_lane(count > 1.0 * q):
        gap = sub3(d.contact_pos[n + q], point)
        same = (count > 1.0 * q) & (gap[0] * gap[0] + gap[1] * gap[1] < radius2)
        fresh = where(same, zero, fresh)
        q += 1
    # each lane stores at its own place
    fits = (fresh > 0.5) & (count < 1.0 * room)
    for q in range(room):
        here = fits & (count == 1.0 * q)
        if any_lane(here):
            d.contact_pos[n + q] = where3(here, point, d.contact_pos[n + q])
    if room < PLACES and any_lane((fresh > 0.5) & (count >= 1.0 * room)):
        d.count[NLOST] = d.count[NLOST] + 1
    return where(fits, count + 1.0, count)
