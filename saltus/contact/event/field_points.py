"""Contact points of a convex shape with the surface of a height field, for gap functions.

MuJoCo's contacts of a height field are those of the prisms under its triangles, one each, which distinguish neither
spots nor seams from ridges. A gap function needs points that persist while a body slides. These are

- the lowest points of the shape over each triangle, its contacts with the triangle's plane: one for a sphere or an
  ellipsoid, the ends of a capsule, four for a cylinder, the corners of a box or a mesh,
- the shape's points nearest to convex edges and corners, and to the sides and the base of the field.

See `saltus.contact.convex.field_surface` for convexity. A point has the number of the field's feature that it is on:
`FACE`, `OUTSIDE` (sides and base), or the number of an edge or corner.
"""

import math

from saltus.contact.contact_list import add_contact
from saltus.contact.convex.contacts import nearest_points
from saltus.contact.convex.convex_pair import relative_pose
from saltus.contact.convex.field_contacts import cell_top, cells, centred, extent, triangle_top, write_corner
from saltus.contact.convex.field_surface import (
    DIAGONAL,
    FLAT,
    ON,
    corner_number,
    corner_of,
    corner_place,
    edge_number,
    is_met,
    is_ridged,
    leaves_corner,
    leaves_edge,
    slack,
    triangle_normal,
)
from saltus.contact.convex.search.pair_area import (
    DIST,
    HULL1,
    HULL2,
    KIND1,
    KIND2,
    LAST1,
    LAST2,
    NORMAL,
    PAIR_NUMBERS,
    POINT,
    ROT,
    SHIFT,
    SIZE2,
)
from saltus.contact.convex.search.penetration import VERTEX_AREA
from saltus.contact.convex.search.support import support
from saltus.model.contact.pair_table import MOST_OF_PAIR
from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, SPHERE
from saltus.number.intrinsics.memory import get, get3, get9, get_int, put, put3, put_int, stack_area
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    cross,
    dot3,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
)

FACE, OUTSIDE = 0, -1
NEARBY = 0.5  # initial search distance, relative to the shape's bounding radius
FARTHEST = 4.0  # largest search distance, relative to the field's size and its distance
# a point in memory: distance (m), position (m), normal, number; in the field's frame
POINT_NUMBERS = 8
POINTS_AREA = MOST_OF_PAIR * POINT_NUMBERS
SAME = 1e-6  # relative to the shape's size, and between unit normals: nearer points are equal
SIN60 = 0.8660254037844386


@only_with("fieldgaps", otherwise="n")
@kernel
def field_points(m, d, n, c):
    """Contacts of pair c, of a height field and a convex shape, from number n on; returns the new number of contacts.

    The points are the nearest ones: none that is left out is nearer. Writes contact_feature.
    """
    p, found = stack_area(PAIR_NUMBERS), stack_area(POINTS_AREA)
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    field = m.geom_hull[g1]
    write_pair(m, d, p, g1, g2)
    # increase the distance until points are found
    shift, size = get3(p, SHIFT), m.hfield_size[field]
    farthest = FARTHEST * (size[0] + size[1] + size[2] + size[3] + m.geom_rbound[g2] + math.sqrt(dot3(shift, shift)))
    reach, count = NEARBY * m.geom_rbound[g2], 0
    while count == 0 and reach < farthest:
        count = points_within(m, p, field, reach, SAME * m.geom_rbound[g2], found)
        reach = 2.0 * reach
    mat, zero = d.geom_xmat[g1], 0.0 * d.time
    for k in range(count):
        at = point_at(found, k)
        pos = add3(d.geom_xpos[g1], matrix_times_vector(mat, get3(at, 1)))
        normal = matrix_times_vector(mat, get3(at, 4))
        d.contact_feature[n] = get_int(at, 7)
        n = add_contact(m, d, n, c, 1e300, zero + get(at, 0), pos, normal, (zero, zero, zero))
    return n


@kernel
def write_pair(m, d, p, g1, g2):
    """Write the data that the search of a pair reads."""
    rot, shift = relative_pose(d, g1, g2)
    for k in range(9):
        put(p, ROT + k, rot[k])
    put3(p, SHIFT, shift)
    size = m.geom_size[g2]
    put3(p, SIZE2, (1.0 * size[0], 1.0 * size[1], 1.0 * size[2]))
    put_int(p, KIND1, HFIELD)
    put_int(p, KIND2, m.geom_type[g2])
    put_int(p, HULL1, m.geom_hull[g1])
    put_int(p, HULL2, m.geom_hull[g2])
    put_int(p, LAST1, -1)
    put_int(p, LAST2, -1)


@kernel
def points_within(m, p, field, reach, same, found):
    """Write the points within `reach` (m) at `found`; returns their number. Points within `same` (m) may be merged."""
    v, prism = stack_area(VERTEX_AREA), stack_area(18)
    size, base = m.hfield_size[field], -1.0 * m.hfield_size[field][3]
    low = extent(m, p, (-1.0, 0.0, 0.0)), extent(m, p, (0.0, -1.0, 0.0)), extent(m, p, (0.0, 0.0, -1.0))
    high = extent(m, p, (1.0, 0.0, 0.0)), extent(m, p, (0.0, 1.0, 0.0)), extent(m, p, (0.0, 0.0, 1.0))
    if -low[2] - reach > size[2] or high[2] + reach < base:
        return 0
    first_column, last_column = cells(-low[0] - reach, high[0] + reach, size[0], m.hfield_ncol[field])
    first_row, last_row = cells(-low[1] - reach, high[1] + reach, size[1], m.hfield_nrow[field])
    under, count = get(p, SHIFT + 2) < base, 0
    for r in range(first_row, last_row):
        for j in range(first_column, last_column):
            near = cell_top(m, field, r, j + 1) + reach >= -low[2]
            for half in range(2 if near else 0):
                if triangle_top(m, field, r, j + 1, half) + reach >= -low[2]:
                    if not under:
                        count = face_points(m, p, (field, r, j, half), reach, same, found, count)
                    if under or is_ridged(m, field, r, j, half):
                        count = nearest_point(m, p, v, prism, (field, r, j, half), reach, same, found, count)
    return count


# ---------------------------------------------------------------- faces


@kernel
def face_points(m, p, triangle, reach, same, found, count):
    """Add the lowest points of the shape over a triangle (field, row, column, half); returns the new number."""
    field, r, j, half = triangle
    normal = triangle_normal(m, field, r, j, half)
    where = (r, j, half, same)
    kind, shift, rot, size = get_int(p, KIND2), get3(p, SHIFT), get9(p, ROT), get3(p, SIZE2)
    if kind == SPHERE:
        return face_point(m, field, where, normal, add_scaled3(shift, -size[0], normal), reach, found, count)
    if kind == CAPSULE:
        for k in range(2):
            end = add_scaled3(shift, (1 - 2 * k) * size[1], (rot[2], rot[5], rot[8]))
            count = face_point(m, field, where, normal, add_scaled3(end, -size[0], normal), reach, found, count)
    elif kind == ELLIPSOID:
        x = support(m, kind, -1, size, scale3(-1.0, transpose_times_vector(rot, normal)), -1)
        x = add3(shift, matrix_times_vector(rot, (x[0], x[1], x[2])))
        count = face_point(m, field, where, normal, x, reach, found, count)
    elif kind == CYLINDER:
        for k in range(4):
            x = cylinder_point(shift, rot, size, normal, k)
            count = face_point(m, field, where, normal, x, reach, found, count)
    elif kind == BOX:
        for k in range(8):
            x = size[0] * (2.0 * (k & 1) - 1.0), size[1] * (1.0 * (k & 2) - 1.0), size[2] * (0.5 * (k & 4) - 1.0)
            x = add3(shift, matrix_times_vector(rot, x))
            count = face_point(m, field, where, normal, x, reach, found, count)
    elif kind == MESH:
        hull = get_int(p, HULL2)
        for k in range(m.hull_vertadr[hull], m.hull_vertadr[hull + 1]):
            x = m.hull_vert[k]
            x = add3(shift, matrix_times_vector(rot, (1.0 * x[0], 1.0 * x[1], 1.0 * x[2])))
            count = face_point(m, field, where, normal, x, reach, found, count)
    return count


@kernel
def cylinder_point(shift, rot, size, normal, k):
    """Point k of a cylinder that may touch a plane: see `saltus.contact.rigid.plane.plane_cylinder`."""
    axis = rot[2], rot[5], rot[8]
    if dot3(normal, axis) > 0.0:
        axis = scale3(-1.0, axis)
    down = cross(axis, cross(axis, normal))
    square = dot3(down, down)
    if square > 1e-30:
        down = scale3(size[0] / math.sqrt(square), down)
    else:
        down = scale3(size[0], (rot[0], rot[3], rot[6]))
    x = add_scaled3(shift, -size[1] if k == 1 else size[1], axis)
    if k < 2:
        return add3(x, down)
    chord = scale3(SIN60 if k == 2 else -SIN60, cross(down, axis))
    return add3(add_scaled3(x, -0.5, down), chord)


@kernel
def face_point(m, field, where, normal, x, reach, found, count):
    """Add a point of the shape (m) that is within `reach` (m) of a triangle; returns the new number of points."""
    r, j, half, same = where
    dist = dot3(normal, sub3(x, corner_of(m, field, r, j, half, DIAGONAL)))
    if dist > reach or not is_met(m, field, r, j, half, add_scaled3(x, -dist, normal)):
        return count
    return add_point(found, count, dist, add_scaled3(x, -0.5 * dist, normal), normal, FACE, same)


# ---------------------------------------------------------------- edges, corners, sides


@kernel
def nearest_point(m, p, v, prism, triangle, reach, same, found, count):
    """Add the shape's point nearest to the prism under a triangle, unless it is on the face; returns the number."""
    field, r, j, half = triangle
    write_corner(m, field, prism, 0, r + 1 - half, j)
    write_corner(m, field, prism, 1, r + half, j + half)
    write_corner(m, field, prism, 2, r + 1 - half, j + 1)
    shift, centre = get3(p, SHIFT), centred(prism)
    put3(p, SHIFT, sub3(shift, centre))
    put_int(p, HULL1, prism)
    put_int(p, LAST1, -1)
    put_int(p, LAST2, -1)
    some = nearest_points(m, p, v, reach)[0] > 0
    put3(p, SHIFT, shift)
    if not some:
        return count
    normal, dist, x = get3(p, NORMAL), get(p, DIST), add3(centre, get3(p, POINT))
    number = number_of(m, field, r, j, half, x, normal)
    if number == FACE:
        return count
    return add_point(found, count, dist, add_scaled3(x, 0.5 * dist, normal), normal, number, same)


@kernel
def number_of(m, field, r, j, half, x, normal):
    """Number of the feature of the field at point x (m) of a prism; `FACE` if other features cover the contact.

    `normal`: the direction in which the contact leaves the field at the point.
    """
    up = triangle_normal(m, field, r, j, half)
    size = m.hfield_size[field]
    scale = size[0] / (m.hfield_ncol[field] - 1) + size[1] / (m.hfield_nrow[field] - 1)
    if dot3(up, sub3(x, corner_of(m, field, r, j, half, DIAGONAL))) < -ON * scale:
        return OUTSIDE if is_outside(size, x, normal, ON * scale) else FACE
    on_edge, edges = DIAGONAL, 0
    off_edge = DIAGONAL
    for k in range(3):
        if slack(m, field, r, j, half, k, x) <= ON:
            on_edge, edges = k, edges + 1
        else:
            off_edge = k
    if edges == 1 and leaves_edge(m, field, r, j, half, on_edge, normal):
        return edge_number(m, field, r, j, half, on_edge)
    if edges > 1:
        # two edges meet in the corner opposite to the third
        r0, c0 = corner_place(r, j, half, off_edge)
        if leaves_corner(m, field, r0, c0, normal):
            return corner_number(m, field, r0, c0)
    return FACE


@kernel
def is_outside(size, x, normal, near):
    """Whether a normal leaves the field's sides or its base at a point (m)."""
    if normal[2] > FLAT:
        return False
    side = (abs(x[0]) > size[0] - near and normal[0] * x[0] > 0.0) or (
        abs(x[1]) > size[1] - near and normal[1] * x[1] > 0.0
    )
    return side or (x[2] < near - size[3] and normal[2] < 0.0)


# ---------------------------------------------------------------- the list


@kernel(inline=True)
def point_at(found, k):
    """The address of point k of those at an address."""
    return found + 8 * POINT_NUMBERS * k


@kernel
def add_point(found, count, dist, pos, normal, number, same):
    """Add a point to a list unless it is there; a full list loses its farthest. Returns the number of points."""
    farthest, most = -1, dist
    for k in range(count):
        at = point_at(found, k)
        if get_int(at, 7) == number and (number != FACE or is_same(at, dist, pos, normal, same)):
            if number != FACE and dist < get(at, 0):
                write_point(at, dist, pos, normal, number)
            return count
        if get(at, 0) > most:
            farthest, most = k, get(at, 0)
    if count < MOST_OF_PAIR:
        write_point(point_at(found, count), dist, pos, normal, number)
        return count + 1
    if farthest >= 0:
        write_point(point_at(found, farthest), dist, pos, normal, number)
    return count


@kernel
def is_same(at, dist, pos, normal, same):
    """Whether a point of a face is in the list: at the same place, with the same normal."""
    away, turn = sub3(get3(at, 1), pos), sub3(get3(at, 4), normal)
    return dot3(away, away) < same * same and dot3(turn, turn) < SAME * SAME and abs(get(at, 0) - dist) < same


@kernel(inline=True)
def write_point(at, dist, pos, normal, number):
    """Write a point."""
    put(at, 0, dist)
    put3(at, 1, pos)
    put3(at, 4, normal)
    put_int(at, 7, number)
