"""Contacts of spheres, capsules and boxes with triangles that have a thickness around them, elements of sheets.

The same contacts as MuJoCo's. A sphere touches where the triangle is nearest to its centre. A capsule touches like the
spheres at its two ends, and like a sphere beside each corner of the triangle that is beside its segment; where only its
segment and an edge cross there is no contact. A box touches the balls around the triangle's corners, each along the
axis of the box in which it is farthest out or least deep, and its own corners touch the triangle like points.

A triangle is three points (m) in world axes; `thick` (m) is the radius around it.
"""

from saltus.contact.barycentric import triangle_weights, weighted3
from saltus.contact.contact_list import add_contact
from saltus.contact.rigid.plane import no_vector
from saltus.contact.rigid.sphere_capsule import add_spheres
from saltus.number.functions import MINVAL, absolute, any_lane, where, zero_like
from saltus.number.kernels import kernel
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    dot3,
    matrix_times_vector,
    sub3,
    transpose_times_vector,
    where3,
)


@kernel(inline=True)
def nearest_on_triangle(point, triangle):
    """The point of a triangle that is nearest to a point (m)."""
    a, b, c = triangle
    return weighted3(triangle_weights(point, a, b, c), a, b, c)


@kernel
def sphere_triangle(m, d, n, c, reach, centre, radius, triangle, thick):
    """The contact of a sphere with a triangle; appends contacts of pair c from number n on, returns their number then.

    Where the centre is on the triangle the normal is x.
    """
    none = no_vector(centre[0])
    nearest = nearest_on_triangle(centre, triangle)
    return add_spheres(m, d, n, c, reach, centre, radius, none, nearest, thick, none)


@kernel
def capsule_triangle(m, d, n, c, reach, capsule, triangle, thick):
    """The contacts of a capsule (centre, direction, half length, radius) with a triangle, five at most."""
    centre, axis, half, radius = capsule
    n = sphere_triangle(m, d, n, c, reach, add_scaled3(centre, -half, axis), radius, triangle, thick)
    n = sphere_triangle(m, d, n, c, reach, add_scaled3(centre, half, axis), radius, triangle, thick)
    n = capsule_corner(m, d, n, c, reach, capsule, triangle[0], thick)
    n = capsule_corner(m, d, n, c, reach, capsule, triangle[1], thick)
    return capsule_corner(m, d, n, c, reach, capsule, triangle[2], thick)


@kernel
def capsule_corner(m, d, n, c, reach, capsule, corner, thick):
    """The contact of a capsule with the ball around a corner, if that is beside the segment and not beyond its ends."""
    centre, axis, half, radius = capsule
    none = no_vector(centre[0])
    along = dot3(axis, sub3(corner, centre))
    share = 0.5 * (along + half) / half
    beside = (share > MINVAL) & (share < 1.0 - MINVAL)
    if not any_lane(beside):
        return n
    nearest = add_scaled3(centre, along, axis)
    # in the other lanes: a place out of reach
    away = 2.0 * (radius + thick + absolute(reach)) + 1.0
    corner = where3(beside, corner, (nearest[0] + away, nearest[1], nearest[2]))
    return add_spheres(m, d, n, c, reach, nearest, radius, none, corner, thick, none)


@kernel
def box_triangle(m, d, n, c, reach, box, triangle, thick, there):
    """The contacts of the geom `box` with a triangle, eleven at most; none in lanes that are not `there`."""
    n = box_corner(m, d, n, c, reach, box, triangle[0], thick, there)
    n = box_corner(m, d, n, c, reach, box, triangle[1], thick, there)
    n = box_corner(m, d, n, c, reach, box, triangle[2], thick, there)
    size = m.geom_size[box]
    for i in range(8):
        local = (size[0] * (2.0 * (i & 1) - 1.0), size[1] * (1.0 * (i & 2) - 1.0), size[2] * (0.5 * (i & 4) - 1.0))
        corner = add3(d.geom_xpos[box], matrix_times_vector(d.geom_xmat[box], local))
        n = sphere_triangle(m, d, n, c, reach, corner, 0.0, triangle, thick)
    return n


@kernel
def box_corner(m, d, n, c, reach, box, corner, thick, there):
    """The contact of a box with the ball around a triangle's corner: along the first of the box's axes in which that is
    farthest out.
    """
    size, mat = m.geom_size[box], d.geom_xmat[box]
    local = transpose_times_vector(mat, sub3(corner, d.geom_xpos[box]))
    zero = zero_like(local[0])
    one = zero + 1.0
    out = absolute(local[0]) - size[0], absolute(local[1]) - size[1], absolute(local[2]) - size[2]
    second = out[1] > out[0]
    most = where(second, out[1], out[0])
    third = out[2] > most
    most = where(third, out[2], most)
    # `most` is the largest: the corner is within reach along all axes where it is along this one
    if not any_lane(there & (most - thick <= reach)):
        return n
    axis = where3(second, (mat[1], mat[4], mat[7]), (mat[0], mat[3], mat[6]))
    axis = where3(third, (mat[2], mat[5], mat[8]), axis)
    along = where(third, local[2], where(second, local[1], local[0]))
    sign = where(along > 0.0, one, -one)
    normal = sign * axis[0], sign * axis[1], sign * axis[2]
    dist = most - thick
    pos = add_scaled3(corner, -(thick + 0.5 * dist), normal)
    dist = where(there, dist, zero + (reach + 1.0))
    return add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(zero))
