"""The surface of a height field: its triangles, and the edges and corners at which it is convex.

Cell (r, j) lies between rows r, r + 1 and columns j, j + 1 of the grid. Its diagonal, from corner (r, j) to
(r + 1, j + 1), divides it into triangle 0, at larger y, and triangle 1. The edges of a triangle are numbered: the
diagonal, the one along y, the one along x. All positions are in the field's frame.

If two triangles meet in a flat or concave edge, an object that touches the edge touches a triangle; edges and corners
touch by themselves only where the surface is convex, and only along normals between those of the triangles around them
(their Voronoi regions). Contacts that follow this rule act on the surface as a whole: its cells have no effect where it
is flat.
"""

import math

from saltus.contact.convex.field_contacts import height
from saltus.number.kernels import kernel
from saltus.spatial.vectors import cross, dot3, scale3, sub3

DIAGONAL, ALONG_Y, ALONG_X = range(3)
FLAT = 1e-6  # rad: triangles at a smaller angle are coplanar
ON = 1e-7  # relative to a cell: a point this near to an edge is on it
BORDER = -1e300  # result of `bend` if there is no other triangle
CORNERS_ABOUT = 6  # neighbours of a corner of the grid


@kernel
def grid_point(m, field, r, c):
    """A corner of the grid (m)."""
    size = m.hfield_size[field]
    x = 2.0 * size[0] / (m.hfield_ncol[field] - 1) * c - size[0]
    y = 2.0 * size[1] / (m.hfield_nrow[field] - 1) * r - size[1]
    return x, y, height(m, field, r, c)


@kernel
def corner_of(m, field, r, j, half, k):
    """The corner of a triangle opposite to its edge k."""
    if k == DIAGONAL:
        return grid_point(m, field, r + 1 - half, j + half)
    if k == ALONG_Y:
        return grid_point(m, field, r + 1 - half, j + 1 - half)
    return grid_point(m, field, r + half, j + half)


@kernel
def triangle_normal(m, field, r, j, half):
    """The upward unit normal of a triangle."""
    origin = grid_point(m, field, r, j)
    to_far = sub3(grid_point(m, field, r + 1, j + 1), origin)
    to_side = sub3(corner_of(m, field, r, j, half, DIAGONAL), origin)
    normal = cross(to_far, to_side) if half == 0 else cross(to_side, to_far)
    return scale3(1.0 / math.sqrt(dot3(normal, normal)), normal)


@kernel
def neighbour(r, j, half, k):
    """The triangle across edge k, which need not exist."""
    if k == DIAGONAL:
        return r, j, 1 - half
    way = 2 * half - 1
    return (r, j + way, 1 - half) if k == ALONG_Y else (r - way, j, 1 - half)


@kernel
def exists(m, field, triangle):
    """Whether a triangle exists."""
    r, j, _ = triangle
    return 0 <= r and r < m.hfield_nrow[field] - 1 and 0 <= j and j < m.hfield_ncol[field] - 1


@kernel
def bend(m, field, r, j, half, k):
    """Angle (rad) by which the triangle across edge k rises over the plane of this one; negative for a convex edge."""
    other = neighbour(r, j, half, k)
    if not exists(m, field, other):
        return BORDER
    normal = triangle_normal(m, field, r, j, half)
    rise = sub3(corner_of(m, field, other[0], other[1], other[2], k), corner_of(m, field, r, j, half, (k + 1) % 3))
    return dot3(normal, rise) / math.sqrt(dot3(rise, rise))


@kernel
def is_ridged(m, field, r, j, half):
    """Whether a triangle has an edge or a corner at which the surface may be convex."""
    for k in range(3):
        if bend(m, field, r, j, half, k) < -FLAT:
            return True
        r0, c0 = corner_place(r, j, half, k)
        if is_peak(m, field, r0, c0):
            return True
    return False


@kernel
def is_peak(m, field, r, c):
    """Whether the grid is convex at a corner in some direction."""
    here = grid_point(m, field, r, c)
    for k in range(3):
        r1, c1 = corner_about(r, c, k)
        r2, c2 = corner_about(r, c, k + 3)
        if not (on_grid(m, field, r1, c1) and on_grid(m, field, r2, c2)):
            return True
        rise = height(m, field, r1, c1) + height(m, field, r2, c2) - 2.0 * here[2]
        step = sub3(grid_point(m, field, r1, c1), here)
        if rise < -FLAT * math.sqrt(dot3(step, step)):
            return True
    return False


@kernel
def corner_place(r, j, half, k):
    """Row and column of the corner of a triangle opposite to its edge k."""
    if k == DIAGONAL:
        return r + 1 - half, j + half
    if k == ALONG_Y:
        return r + 1 - half, j + 1 - half
    return r + half, j + half


@kernel
def corner_about(r, c, k):
    """Row and column of the k-th neighbour of grid corner (r, c) along an edge; k + 3 is opposite to k."""
    if k == 0 or k == 3:
        return r, c + (1 if k == 0 else -1)
    if k == 1 or k == 4:
        return r + (1 if k == 1 else -1), c
    way = 1 if k == 2 else -1
    return r + way, c + way


@kernel(inline=True)
def on_grid(m, field, r, c):
    """Whether a corner of the grid exists."""
    return 0 <= r and r < m.hfield_nrow[field] and 0 <= c and c < m.hfield_ncol[field]


# ---------------------------------------------------------------- positions of points


@kernel
def slack(m, field, r, j, half, k, x):
    """Distance of point x inside edge k of a triangle, seen from above, in cells; negative outside."""
    size = m.hfield_size[field]
    u = (x[0] + size[0]) * (m.hfield_ncol[field] - 1) / (2.0 * size[0]) - j
    w = (x[1] + size[1]) * (m.hfield_nrow[field] - 1) / (2.0 * size[1]) - r
    if k == DIAGONAL:
        return w - u if half == 0 else u - w
    if k == ALONG_Y:
        return u if half == 0 else 1.0 - u
    return 1.0 - w if half == 0 else w


@kernel
def is_over(m, field, triangle, x):
    """Whether point x lies over a triangle or its edges, seen from above."""
    r, j, half = triangle
    over = True
    for k in range(3):
        over = over and slack(m, field, r, j, half, k, x) >= -ON
    return over


@kernel
def is_met(m, field, r, j, half, x):
    """Whether point x of a triangle's plane is on the surface, or beyond a concave edge, where it is below."""
    if is_over(m, field, (r, j, half), x):
        return True
    for k in range(3):
        if slack(m, field, r, j, half, k, x) < -ON:
            other = neighbour(r, j, half, k)
            if exists(m, field, other) and is_over(m, field, other, x) and bend(m, field, r, j, half, k) > FLAT:
                return True
    return False


# ---------------------------------------------------------------- Voronoi regions


@kernel
def leaves_edge(m, field, r, j, half, k, normal):
    """Whether a normal at edge k, which is convex or at the border, lies between those of the adjacent faces."""
    start = corner_of(m, field, r, j, half, (k + 1) % 3)
    along = sub3(corner_of(m, field, r, j, half, (k + 2) % 3), start)
    inward = sub3(corner_of(m, field, r, j, half, k), start)
    rise = bend(m, field, r, j, half, k)
    if rise > -FLAT or not points_away(normal, inward, along):
        return False
    if rise == BORDER:
        return normal[2] >= 0.0
    other = neighbour(r, j, half, k)
    return points_away(normal, sub3(corner_of(m, field, other[0], other[1], other[2], k), start), along)


@kernel
def points_away(normal, inward, along):
    """Whether a normal has no component along the part of `inward` perpendicular to an edge."""
    side = sub3(inward, scale3(dot3(inward, along) / dot3(along, along), along))
    return dot3(normal, side) <= 1e-9 * math.sqrt(dot3(side, side))


@kernel
def leaves_corner(m, field, r, c, normal):
    """Whether a normal at a grid corner lies between those of the adjacent faces, and the corner is not flat."""
    here, least, border = grid_point(m, field, r, c), 0.0, False
    for k in range(CORNERS_ABOUT):
        r1, c1 = corner_about(r, c, k)
        if on_grid(m, field, r1, c1):
            step = sub3(grid_point(m, field, r1, c1), here)
            rise = dot3(normal, step) / math.sqrt(dot3(step, step))
            if rise > 1e-9:
                return False
            least = min(least, rise)
        else:
            border = True
    return least < -FLAT and (not border or normal[2] >= 0.0)


# ---------------------------------------------------------------- numbers of edges and corners


@kernel
def edge_number(m, field, r, j, half, k):
    """A number of edge k of a triangle, equal for both triangles there, from 1 on."""
    if k == DIAGONAL:
        return 1 + 4 * (r * m.hfield_ncol[field] + j)
    if k == ALONG_Y:
        return 2 + 4 * (r * m.hfield_ncol[field] + j + half)
    return 3 + 4 * ((r + 1 - half) * m.hfield_ncol[field] + j)


@kernel
def corner_number(m, field, r, c):
    """A number of a corner of the grid, distinct from those of edges."""
    return 4 + 4 * (r * m.hfield_ncol[field] + c)
