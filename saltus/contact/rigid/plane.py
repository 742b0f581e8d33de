"""Contacts of planes with spheres, capsules, ellipsoids, cylinders and boxes.

A plane's normal is its z axis. A contact lies midway between the plane and the point of the body that it represents.
"""

from saltus.contact.contact_list import add_contact, negligible
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.number.components import zero_like
from saltus.number.functions import absolute, any_lane, minimum, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    cross,
    dot3,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
    where3,
    z_axis,
)

SIN60 = 0.8660254037844386


@kernel(inline=True)
def height_over_plane(d, g1, point):
    """The plane's normal, and the signed distance (m) of a point from the plane along it."""
    normal = z_axis(d.geom_xmat[g1])
    return normal, dot3(sub3(point, d.geom_xpos[g1]), normal)


@kernel(inline=True)
def no_vector(like):
    """The zero vector: no preferred tangent."""
    zero = zero_like(like)
    return zero, zero, zero


@kernel
def plane_sphere(m, d, n, c, reach):
    """Contact of a plane with a sphere."""
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    centre, radius = d.geom_xpos[g2], m.geom_size[g2, 0]
    normal, height = height_over_plane(d, g1, centre)
    dist = height - radius
    pos = add_scaled3(centre, -(0.5 * dist + radius), normal)
    return add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(dist))


@kernel
def plane_capsule(m, d, n, c, reach):
    """Contacts of a plane with the spheres at the +z and -z ends of a capsule; the capsule's axis gives the tangent."""
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    centre, radius, half = d.geom_xpos[g2], m.geom_size[g2, 0], m.geom_size[g2, 1]
    axis = z_axis(d.geom_xmat[g2])
    normal, height = height_over_plane(d, g1, centre)
    rise = half * dot3(normal, axis)
    # end at +z of the capsule
    dist = height + rise - radius
    pos = add_scaled3(add_scaled3(centre, half, axis), -(0.5 * dist + radius), normal)
    n = add_contact(m, d, n, c, reach, dist, pos, normal, axis)
    # end at -z
    dist = height - rise - radius
    pos = add_scaled3(add_scaled3(centre, -half, axis), -(0.5 * dist + radius), normal)
    return add_contact(m, d, n, c, reach, dist, pos, normal, axis)


@kernel
def plane_ellipsoid(m, d, n, c, reach):
    """Contact of a plane with an ellipsoid, at its support point opposite to the plane's normal n.

    For the ellipsoid R S B, with B the unit ball and S the diagonal matrix of half axes, the support point is centre -
    R S² Rᵀ n / |S Rᵀ n|, which lies |S Rᵀ n| below the centre.
    """
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    centre, mat, size = d.geom_xpos[g2], d.geom_xmat[g2], m.geom_size[g2]
    normal, height = height_over_plane(d, g1, centre)
    # extent |S Rᵀ n| of the ellipsoid along the normal
    local = transpose_times_vector(mat, normal)
    scaled = (size[0] * local[0], size[1] * local[1], size[2] * local[2])
    depth = sqrt(dot3(scaled, scaled))
    dist = height - depth
    # contact midway between support point and plane
    support = matrix_times_vector(mat, (size[0] * scaled[0], size[1] * scaled[1], size[2] * scaled[2]))
    pos = add_scaled3(add_scaled3(centre, -1.0 / depth, support), -0.5 * dist, normal)
    return add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(dist))


@kernel
def plane_cylinder(m, d, n, c, reach):
    """Contacts of a plane with a cylinder: at most four points of its rims.

    These are the lowest point of the lower rim, the point above it on the upper rim, and the two points of the lower
    rim that form an equilateral triangle with the lowest.

    With a the axis towards the plane, the radius to the lowest point is along a × (a × n), or along x if a is parallel
    to n.
    """
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    centre, mat = d.geom_xpos[g2], d.geom_xmat[g2]
    radius, half = m.geom_size[g2, 0], m.geom_size[g2, 1]
    normal, height = height_over_plane(d, g1, centre)
    zero = zero_like(height)
    # axis towards the plane
    axis = z_axis(mat)
    axis = scale3(where(dot3(normal, axis) > 0.0, zero - 1.0, zero + 1.0), axis)
    fall = half * dot3(normal, axis)
    # radius to the lowest point of the rim
    down = cross(axis, cross(axis, normal))
    square = dot3(down, down)
    upright = negligible(square)
    down = scale3(radius / sqrt(where(upright, zero + 1.0, square)), down)
    down = where3(upright, scale3(radius, (mat[0], mat[3], mat[6])), down)
    drop = minimum(dot3(down, normal), zero)  # not above the centre by rounding
    lowest = add3(centre, down)
    none = no_vector(zero)
    dist = height + fall + drop
    if not any_lane(dist <= reach):
        return n
    # lowest point of the lower rim
    pos = add_scaled3(add_scaled3(lowest, half, axis), -0.5 * dist, normal)
    n = add_contact(m, d, n, c, reach, dist, pos, normal, none)
    # the point above it on the upper rim
    dist = height - fall + drop
    pos = add_scaled3(add_scaled3(lowest, -half, axis), -0.5 * dist, normal)
    n = add_contact(m, d, n, c, reach, dist, pos, normal, none)
    dist = height + fall - 0.5 * drop
    if not any_lane(dist <= reach):
        return n
    # two points of the lower rim, 120 degrees from the lowest
    chord = scale3(SIN60, cross(down, axis))
    middle = add_scaled3(add_scaled3(add_scaled3(centre, half, axis), -0.5, down), -0.5 * dist, normal)
    n = add_contact(m, d, n, c, reach, dist, add3(middle, chord), normal, none)
    return add_contact(m, d, n, c, reach, dist, sub3(middle, chord), normal, none)


@kernel
def plane_box(m, d, n, c, reach):
    """Contacts of a plane with a box: the first four corners that are below the box's centre and within reach.

    Corner i is on the positive side of x, y, z where bit 0, 1, 2 of i is set. Place k of the list holds each lane's own
    k-th corner, given by its signs, 1 or -1.
    """
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    centre, mat, size = d.geom_xpos[g2], d.geom_xmat[g2], m.geom_size[g2]
    normal, height = height_over_plane(d, g1, centre)
    local = transpose_times_vector(mat, normal)
    # height of a corner over the centre: the sum of ±rise
    rise = (size[0] * local[0], size[1] * local[1], size[2] * local[2])
    zero = zero_like(height)
    out_of_reach = zero + (2.0 * absolute(reach) + 1.0)
    for place in range(4):
        # the corner number `place` among those below the centre and within reach
        side, met = (zero, zero, zero), zero
        for i in range(8):
            corner = (2.0 * (i & 1) - 1.0, 1.0 * (i & 2) - 1.0, 0.5 * (i & 4) - 1.0)
            up = dot3(corner, rise)
            touches = (up <= 0.0) & (height + up <= reach)
            chosen = touches & (met == place)
            side = where3(chosen, corner, side)
            met = where(touches, met + 1.0, met)
        if not any_lane(met > place):
            return n
        # contact midway between that corner and the plane
        dist = where(met > place, height + dot3(side, rise), out_of_reach)
        offset = matrix_times_vector(mat, (side[0] * size[0], side[1] * size[1], side[2] * size[2]))
        pos = add_scaled3(add3(centre, offset), -0.5 * dist, normal)
        n = add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(zero))
    return n
