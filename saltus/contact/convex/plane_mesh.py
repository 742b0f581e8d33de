"""Contacts of a plane with a mesh: the lowest vertex of its hull, and corners of the face below it.

As in MuJoCo 4.0: the face of the lowest vertex that points most downwards, and if it has more than four corners, the
lowest and three that span a large area with it.
"""

from saltus.contact.convex.clipping import widest_four
from saltus.contact.convex.contact_record import contact_at, write_contact
from saltus.contact.convex.last_axis import ROOM
from saltus.contact.convex.search.hull import along, highest
from saltus.contact.convex.search.pair_area import GAP, HULL2, ROT, SHIFT
from saltus.model.contact.hulls import MOST_CORNERS
from saltus.number.components import value_of
from saltus.number.intrinsics.memory import get, get3, get9, get_int, put, put3, stack_area
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, dot3, matrix_times_vector, sub3

MOST = 4  # most contacts


@kernel
def plane_mesh(m, d, p, last, reach, radius, found):
    """Write the contacts of a plane and a hull, pair p, within `reach` (m) at `found`; returns their number.

    last: place of the remembered contact corners; radius (m): length scale of the hull. If there are no contacts, a
    lower bound of the distance (m) is written.
    """
    rot, h = get9(p, ROT), get_int(p, HULL2)
    down = -rot[6], -rot[7], -rot[8]
    height = get(p, SHIFT + 2)
    lowest = highest(m, h, down, -1)
    if height - along(m, lowest, down) > reach:
        put(p, GAP, height - along(m, lowest, down) - ROOM * (radius + abs(height)))
        return 0
    write_corner(m, p, lowest, height - along(m, lowest, down), found)
    face = lowest_face(m, lowest, down)
    if face < 0:
        return 1
    n, (corners, chosen) = 1, corners_from(m, d, last, face, lowest)
    for k in range(1, corners):
        i = chosen[1] if k == 1 else chosen[2] if k == 2 else chosen[3]
        dist = height - along(m, i, down)
        if dist < reach:
            write_corner(m, p, i, dist, contact_at(found, n))
            n += 1
    return n


@kernel
def write_corner(m, p, i, dist, at):
    """Write the contact of vertex i, at a distance (m) from the plane."""
    x = m.hull_vert[i]
    local = 1.0 * value_of(x[0]), 1.0 * value_of(x[1]), 1.0 * value_of(x[2])
    point = add3(get3(p, SHIFT), matrix_times_vector(get9(p, ROT), local))
    write_contact(at, dist, (point[0], point[1], point[2] - 0.5 * dist), (0.0, 0.0, 1.0))


@kernel
def lowest_face(m, corner, down):
    """The face of a corner that points most downwards; -1 if there is none."""
    best, most = -1, -2.0
    for k in range(m.hull_faceadr[corner], m.hull_faceadr[corner + 1]):
        x = m.hull_normal[m.hull_face[k]]
        cosine = value_of(x[0]) * down[0] + value_of(x[1]) * down[1] + value_of(x[2]) * down[2]
        if cosine > most:
            best, most = m.hull_face[k], cosine
    return best


@kernel
def corners_from(m, d, last, face, corner):
    """Number of contact corners of a face, at most four, and these: a given corner, and those that follow.

    If the four corners that span a large area do not include the given one, it replaces the one nearest to it. The last
    result is remembered, since usually the same face points downwards.
    """
    first = m.hull_corneradr[face]
    n = m.hull_corneradr[face + 1] - first
    start = 0
    for k in range(n):
        if m.hull_corner[first + k] == corner:
            start = k
    if n <= MOST:
        return n, corners_at(m, first, n, start, (0, 1, 2, 3))
    key = (face + 1 << 32) + corner
    if d.last_corners[last, 0] != key:
        chosen = far_corners(m, first, n, start)
        for k in range(MOST):
            d.last_corners[last, k] = key if k == 0 else chosen[1] if k == 1 else chosen[2] if k == 2 else chosen[3]
    return MOST, (corner, d.last_corners[last, 1], d.last_corners[last, 2], d.last_corners[last, 3])


@kernel
def far_corners(m, first, n, start):
    """Four of a face's n corners from `first` on: the one at `start` and three that span a large area with it."""
    polygon = stack_area(3 * MOST_CORNERS)
    for k in range(n):
        x = m.hull_vert[m.hull_corner[first + (start + k) % n]]
        put3(polygon, 3 * k, (1.0 * value_of(x[0]), 1.0 * value_of(x[1]), 1.0 * value_of(x[2])))
    a, b, c, d = widest_four(polygon, n, 0.0)
    of_b, of_c, of_d = square(polygon, b), square(polygon, c), square(polygon, d)
    least = min(min(square(polygon, a), of_b), min(of_c, of_d))
    one, two, three = b, c, d
    if of_d == least:
        three = a
    elif of_c == least:
        two, three = d, a
    elif of_b == least:
        one, two, three = c, d, a
    lower, upper = min(one, two), max(one, two)
    return corners_at(m, first, n, start, (0, min(lower, three), max(lower, min(upper, three)), max(upper, three)))


@kernel(inline=True)
def square(polygon, k):
    """Squared distance (m²) of corner k from corner 0."""
    x = sub3(get3(polygon, 3 * k), get3(polygon, 0))
    return dot3(x, x)


@kernel
def corners_at(m, first, n, start, k):
    """Four corners of the n from `first` on, counted from `start` on, around the face."""
    a, b = m.hull_corner[first + (start + k[0]) % n], m.hull_corner[first + (start + k[1]) % n]
    return a, b, m.hull_corner[first + (start + k[2]) % n], m.hull_corner[first + (start + k[3]) % n]
