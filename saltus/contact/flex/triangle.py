"""Contacts of spheres, capsules and boxes with triangles that have a radius, the elements of sheets.

Contacts are MuJoCo's. A sphere touches at the point of the triangle nearest to its centre. A capsule touches like
spheres at its two ends, and like a sphere beside each corner of the triangle that lies beside its segment; a mere
crossing of its segment with an edge gives no contact. A box touches the balls around the triangle's corners, each along
the box axis in which it is farthest out or least deep, and its own corners touch the triangle like points.

A triangle is three points (m) in world axes; `thick` (m) is its radius.
"""

from saltus.contact.barycentric import triangle_weights, weighted3
from saltus.contact.contact_list import add_contact
from saltus.contact.rigid.plane import no_vector
from saltus.contact.rigid.sphere_capsule import add_spheres
from saltus.number.components import zero_like
from saltus.number.functions import MINVAL, absolute, any_lane, where
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
    """The point (m) of a triangle nearest to a given point."""
    a, b, c = triangle
    return weighted3(triangle_weights(point, a, b, c), a, b, c)


@kernel
def sphere_triangle(m, d, n, c, reach, centre, radius, triangle, thick):
    """The contact of a sphere with a triangle; appends contacts of pair c from number n on, returns the new number.

    If the centre is on the triangle the normal is x.
    """
    none = no_vector(centre[0])
    nearest = nearest_on_triangle(centre, triangle)
    return add_spheres(m, d, n, c, reach, (centre, radius, none), (nearest, thick, none))


@kernel
def capsule_triangle(m, d, n, c, reach, capsule, triangle, thick):
    """Contacts of a capsule (centre, axis, half length, radius) with a triangle: five at most."""
    centre, axis, half, radius = capsule
    n = sphere_triangle(m, d, n, c, reach, add_scaled3(centre, -half, axis), radius, triangle, thick)
    n = sphere_triangle(m, d, n, c, reach, add_scaled3(centre, half, axis), radius, triangle, thick)
    n = capsule_corner(m, d, n, c, reach, capsule, triangle[0], thick)
    n = capsule_corner(m, d, n, c, reach, capsule, triangle[1], thick)
    return capsule_corner(m, d, n, c, reach, capsule, triangle[2], thick)


@kernel
def capsule_corner(m, d, n, c, reach, capsule, corner, thick):
    """Contact of a capsule with the ball around a corner that lies beside the segment, not beyond its ends."""
    centre, axis, half, radius = capsule
    none = no_vector(centre[0])
    along = dot3(axis, sub3(corner, centre))
    share = 0.5 * (along + half) / half
    beside = (share > MINVAL) & (share < 1.0 - MINVAL)
    if not any_lane(beside):
        return n
    nearest = add_scaled3(centre, along, axis)
    # other lanes: a point out of reach
    away = 2.0 * (radius + thick + absolute(reach)) + 1.0
    corner = where3(beside, corner, (nearest[0] + away, nearest[1], nearest[2]))
    return add_spheres(m, d, n, c, reach, (nearest, radius, none), (corner, thick, none))


@kernel
def box_triangle(m, d, n, c, reach, box, triangle, thick, there):
    """Contacts of the geom `box` with a triangle, eleven at most; none in lanes that are not `there`."""
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
    """Contact of a box with the ball around a triangle's corner, along the box axis in which that is farthest out."""
    size, mat = m.geom_size[box], d.geom_xmat[box]
    local = transpose_times_vector(mat, sub3(corner, d.geom_xpos[box]))
    zero = zero_like(local[0])
    one = zero + 1.0
    # distances from the faces along the three axes, of which the largest is used
    out = absolute(local[0]) - size[0], absolute(local[1]) - size[1], absolute(local[2]) - size[2]
    second = out[1] > out[0]
    most = where(second, out[1], out[0])
    third = out[2] > most
    most = where(third, out[2], most)
    # `most` is the largest: within reach along this axis means within reach along all
    if not any_lane(there & (most - thick <= reach)):
        return n
    # normal: that axis, away from the centre of the box
    axis = where3(second, (mat[1], mat[4], mat[7]), (mat[0], mat[3], mat[6]))
    axis = where3(third, (mat[2], mat[5], mat[8]), axis)
    along = where(third, local[2], where(second, local[1], local[0]))
    sign = where(along > 0.0, one, -one)
    normal = sign * axis[0], sign * axis[1], sign * axis[2]
    dist = most - thick
    pos = add_scaled3(corner, -(thick + 0.5 * dist), normal)
    dist = where(there, dist, zero + (reach + 1.0))
    return add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(zero))
