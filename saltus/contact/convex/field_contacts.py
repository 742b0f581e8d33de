"""Contacts of a height field with a convex shape: one for each touched prism under a triangle of its surface.

As in MuJoCo, the prisms reach down to the field's base, and are visited row by row in the part of the grid below the
shape. Each has its own nearest points, so that there may be several contacts at the same spot.
"""

import math

from saltus.contact.convex.contact_record import contact_at
from saltus.contact.convex.contacts import nearest_points, write_nearest
from saltus.contact.convex.search.pair_area import HULL1, HULL2, KIND2, LAST1, LAST2, ROT, SHIFT, SIZE2
from saltus.contact.convex.search.penetration import VERTEX_AREA
from saltus.contact.convex.search.support import rounding_radius, support
from saltus.model.contact.pair_table import MOST_OF_PAIR
from saltus.number.components import value_of
from saltus.number.intrinsics.memory import get, get3, get9, get_int, put3, put_int, stack_area
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, dot3, matrix_times_vector, sub3, transpose_times_vector


@kernel
def field_contacts(m, p, field, reach, found):
    """Write the contacts of a height field and a shape, pair p, within `reach` (m) at `found`; returns their number."""
    v, prism = stack_area(VERTEX_AREA), stack_area(18)
    shift, size = get3(p, SHIFT), size_of_field(m, field)
    low = extent(m, p, (-1.0, 0.0, 0.0)), extent(m, p, (0.0, -1.0, 0.0)), extent(m, p, (0.0, 0.0, -1.0))
    high = extent(m, p, (1.0, 0.0, 0.0)), extent(m, p, (0.0, 1.0, 0.0)), extent(m, p, (0.0, 0.0, 1.0))
    if -low[2] - reach > size[2] or high[2] + reach < -size[3]:
        return 0
    columns, rows = m.hfield_ncol[field], m.hfield_nrow[field]
    first_column, last_column = cells(-low[0] - reach, high[0] + reach, size[0], columns)
    first_row, last_row = cells(-low[1] - reach, high[1] + reach, size[1], rows)
    put_int(p, HULL1, prism)
    n = 0
    for r in range(first_row, last_row):
        for c in range(first_column + 1, last_column + 1):
            # triangles of a cell, the one at lower columns first
            near = cell_top(m, field, r, c) + reach >= -low[2]
            for half in range(2 if near else 0):
                top = triangle_top(m, field, r, c, half)
                if top + reach >= -low[2] and n < MOST_OF_PAIR:
                    write_corner(m, field, prism, 0, r + 1 - half, c - 1)
                    write_corner(m, field, prism, 1, r + half, c - 1 + half)
                    write_corner(m, field, prism, 2, r + 1 - half, c)
                    centre = centred(prism)
                    put3(p, SHIFT, sub3(shift, centre))
                    put_int(p, LAST1, -1)
                    put_int(p, LAST2, -1)
                    if nearest_points(m, p, v, reach)[0] > 0:
                        at = contact_at(found, n)
                        write_nearest(p, at)
                        put3(at, 1, add3(centre, get3(at, 1)))
                        n += 1
    put3(p, SHIFT, shift)
    return n


@kernel
def extent(m, p, u):
    """Support function (m) of the second geom in direction u, in the first geom's frame."""
    rot = get9(p, ROT)
    local = transpose_times_vector(rot, u)
    x = support(m, get_int(p, KIND2), get_int(p, HULL2), get3(p, SIZE2), local, -1)
    point = add3(get3(p, SHIFT), matrix_times_vector(rot, (x[0], x[1], x[2])))
    return dot3(u, point) + rounding_radius(get_int(p, KIND2), get3(p, SIZE2))


@kernel
def cells(low, high, half, number):
    """The first and the last of `number` grid lines around an interval (m); half (m): half the grid's extent."""
    scale = (number - 1) / (2.0 * half)
    first, last = math.floor((low + half) * scale), math.ceil((high + half) * scale)
    return int(max(0.0, first)), int(min(number - 1.0, last))


@kernel(inline=True)
def height(m, field, r, c):
    """Height of the field (m) at a row and a column of the grid."""
    share = m.hfield_data[m.hfield_adr[field] + r * m.hfield_ncol[field] + c]
    return 1.0 * value_of(m.hfield_size[field][2]) * value_of(share)


@kernel(inline=True)
def size_of_field(m, field):
    """Half widths, height and depth of the base (m) of a height field."""
    size = m.hfield_size[field]
    return value_of(size[0]), value_of(size[1]), value_of(size[2]), value_of(size[3])


@kernel(inline=True)
def triangle_top(m, field, r, c, half):
    """The highest corner (m) of a triangle of the cell from row r on, up to column c."""
    corners = height(m, field, r + half, c - 1 + half), height(m, field, r + 1 - half, c)
    return max(height(m, field, r + 1 - half, c - 1), max(corners[0], corners[1]))


@kernel(inline=True)
def cell_top(m, field, r, c):
    """The highest corner (m) of a cell."""
    return max(triangle_top(m, field, r, c, 0), height(m, field, r, c))


@kernel
def write_corner(m, field, prism, k, r, c):
    """Write corner k of a prism's base and top (m), at a row and a column of the grid."""
    size, columns = size_of_field(m, field), m.hfield_ncol[field]
    x = 2.0 * size[0] / (columns - 1) * c - size[0]
    y = 2.0 * size[1] / (m.hfield_nrow[field] - 1) * r - size[1]
    put3(prism, 3 * k, (x, y, -1.0 * size[3]))
    put3(prism, 9 + 3 * k, (x, y, height(m, field, r, c)))


@kernel
def centred(prism):
    """Move a prism's corners so that their mean is the origin; returns the previous mean (m)."""
    x = y = z = 0.0
    for k in range(6):
        x, y, z = x + get(prism, 3 * k), y + get(prism, 3 * k + 1), z + get(prism, 3 * k + 2)
    centre = x / 6.0, y / 6.0, z / 6.0
    for k in range(6):
        put3(prism, 3 * k, sub3(get3(prism, 3 * k), centre))
    return centre
