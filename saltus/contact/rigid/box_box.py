"""Contacts of boxes with boxes, by the separating axis test and clipping of faces.

Contacts are MuJoCo's (engine_collision_box.c): the axis of largest separation (see `saltus.contact.rigid.box_axes`) is
the normal. If it is a face normal, the contacts are corners of the other box's face clipped against that face (see
`saltus.contact.rigid.box_faces`); if it is a product of edges, there is one contact, between the edges.

Lanes may differ in this. The contacts wait in free places of the contact list until all lanes have theirs: place n + q
holds each lane's contact number q.
"""

from saltus.contact.contact_list import add_contact, contact_end
from saltus.contact.counts import NLOST
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rigid.box_axes import face_stands_for, widest_edge_axis, widest_face_axis
from saltus.contact.rigid.box_faces import face_contacts
from saltus.contact.rigid.lane_choice import (
    by_precision,
    cycled,
    cycled_columns,
    cycled_rows,
    half_sizes,
    transposed,
    uncycled,
)
from saltus.number.functions import any_lane, clip, maximum, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    dot3,
    matrix_times_matrix,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
    where3,
)

PLACES = 8  # most contacts: corners of a rectangle clipped by another


@kernel
def box_box(m, d, n, c, reach):
    """The contacts of two boxes; appends contacts of pair c from number n on, returns the new number of contacts."""
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    mat1, mat2 = d.geom_xmat[g1], d.geom_xmat[g2]
    apart = sub3(d.geom_xpos[g2], d.geom_xpos[g1])
    zero = 0.0 * apart[0]
    size1, size2 = half_sizes(m, g1, zero), half_sizes(m, g2, zero)
    # relative pose of the boxes
    rot = matrix_times_matrix(transposed(mat1), mat2)
    offset = transpose_times_vector(mat1, apart)  # the second's centre in the first's axes
    back = transpose_times_vector(mat2, scale3(-1.0, apart))  # the first's centre in the second's axes
    # rounding must not separate boxes that touch
    rounding = by_precision(zero, 1e-13, 1e-6)
    slack = reach + rounding * (size1[0] + size1[1] + size1[2] + size2[0] + size2[1] + size2[2])
    # separating axes: normals of the faces of both boxes
    separation, face = widest_face_axis(rot, offset, size1, size2)
    separation2, face2 = widest_face_axis(transposed(rot), back, size2, size1)
    face = where(separation2 > separation, face2 + 3.0, face)
    separation = maximum(separation, separation2)
    if not any_lane(separation <= slack):
        return n
    # products of edges
    closest, found, i, j, largest = widest_edge_axis(rot, offset, size1, size2, separation)
    touching = (separation <= slack) & (largest <= slack)
    if not any_lane(touching):
        return n
    if n == contact_end(m, d):
        d.count[NLOST] = d.count[NLOST] + 1
        return n
    found = where(face_stands_for(rot, face, i, j, separation, closest, edge_slack(m, d)), zero, found)
    on_edge, on_face = touching & (found > 0.5), touching & (found < 0.5)
    # clear the free places of the list
    for q in range(min(PLACES, contact_end(m, d) - n)):
        d.contact_dist[n + q] = zero
        d.contact_pos[n + q] = (zero, zero, zero)
    count, normal = zero, (zero, zero, zero + 1.0)
    if any_lane(on_face):
        count, normal = face_contacts(m, d, n, c, reach, on_face, face, (rot, offset, back))
    if any_lane(on_edge):
        dist, pos, axis = edge_contact(rot, offset, size1, size2, i, j)
        touches = on_edge & (dist <= slack)
        count = where(touches, zero + 1.0, count)
        normal = where3(on_edge, matrix_times_vector(mat1, axis), normal)
        pos = add3(d.geom_xpos[g1], matrix_times_vector(mat1, pos))
        d.contact_dist[n] = where(touches, dist, d.contact_dist[n])
        d.contact_pos[n] = where3(touches, pos, d.contact_pos[n])
    return add_waiting(m, d, n, c, reach, count, normal)


@only_with("event", "stepping", otherwise="1e-15")
@kernel(inline=True)
def edge_slack(m, d):
    """Difference (m) below which separations along edges and faces count as equal; MuJoCo's, unless contact is hard.

    Boxes in hard contact touch within rounding and the tolerance of gaps, too little to distinguish the two.
    """
    return 1e-9


@kernel
def add_waiting(m, d, n, c, reach, count, normal):
    """Append the contacts that wait from place n on: the first `count` of each lane."""
    zero = 0.0 * count
    room = min(PLACES, contact_end(m, d) - n)
    end = n
    q = 0
    while q < room and any_lane(count > 1.0 * q):
        # read from n + q, which is never before the place `end` that is written
        dist = where(count > 1.0 * q, d.contact_dist[n + q], zero + (reach + 1.0))
        end = add_contact(m, d, end, c, reach, dist, d.contact_pos[n + q], normal, (zero, zero, zero))
        q += 1
    return end


# ---------------------------------------------------------------- edge against edge


@kernel
def edge_contact(rot, offset, size1, size2, i, j):
    """Contact of edge i of the first box with edge j of the second: distance (m), position (m) and normal.

    Position and normal are in the first box's axes.

    The normal is the product of the edges, pointing away from the first box; the contact is midway between the nearest
    points of the two edges. All is computed in the cyclic order of axes that begins with i and j.
    """
    rot = cycled_columns(j, cycled_rows(i, rot))
    offset, size1, size2 = cycled(i, offset), cycled(i, size1), cycled(j, size2)
    zero = 0.0 * offset[0]
    one = zero + 1.0
    # common perpendicular (0, a, b) of the edges, towards the second box
    a, b = -rot[6], rot[3]
    square = a * a + b * b
    scale = 1.0 / sqrt(where(square > 0.0, square, one))
    a, b = a * scale, b * scale
    away = a * offset[1] + b * offset[2] < 0.0
    axis = (zero, where(away, -a, a), where(away, -b, b))
    turned = transpose_times_vector(rot, axis)
    # the two edges that face each other, and their nearest points
    middle1 = support(axis[1], axis[2], size1, one)
    middle2 = add3(offset, matrix_times_vector(rot, support(turned[1], turned[2], size2, -one)))
    first, second = nearest_points(middle1, size1[0], middle2, size2[0], (rot[0], rot[3], rot[6]))
    dist = dot3(sub3(second, first), axis)
    return dist, uncycled(i, scale3(0.5, add3(first, second))), uncycled(i, axis)


@kernel(inline=True)
def support(a, b, size, sign):
    """Middle of the edge along the box's axis 0 that is farthest along sign (0, a, b)."""
    return 0.0 * a, where(a >= 0.0, sign, -sign) * size[1], where(b >= 0.0, sign, -sign) * size[2]


@kernel
def nearest_points(p, length1, q, length2, direction):
    """Nearest points of two segments: p + s (1, 0, 0), |s| <= length1, and q + t direction, |t| <= length2.

    Clamps s, then t for that s, then s for that t (Ericson, Real-Time Collision Detection (2005), section 5.1.9).
    """
    zero = 0.0 * p[0]
    gap = sub3(q, p)
    b = direction[0]
    along = dot3(direction, gap)
    square = 1.0 - b * b
    distinct = square >= 1e-15
    s = where(distinct, (gap[0] - b * along) / where(distinct, square, zero + 1.0), zero)
    s = clip(s, -length1, length1)
    t = clip(b * s - along, -length2, length2)
    s = clip(gap[0] + b * t, -length1, length1)
    return (p[0] + s, p[1], p[2]), add_scaled3(q, t, direction)
