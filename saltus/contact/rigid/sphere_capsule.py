"""Contacts of spheres, capsules and cylinders with each other.

A sphere is a point, a capsule a segment, both with a radius around: they touch where these are nearest to each other.
"""

from saltus.contact.contact_list import add_contact, negligible, unit_or_x
from saltus.number.functions import absolute, any_lane, clip, sqrt, where, zero_like
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3, where3, z_axis

SLACK = 1.0 + 1e-5  # so that what is left out before its distance is known is out of reach in any rounding
PARALLEL = 1e-4  # sine of the angle of axes that count as parallel, as in MuJoCo


@kernel
def sphere_sphere(m, d, n, c, reach):
    """Contact of two spheres."""
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    axis1, axis2 = z_axis(d.geom_xmat[g1]), z_axis(d.geom_xmat[g2])
    radius1, radius2 = m.geom_size[g1, 0], m.geom_size[g2, 0]
    return add_spheres(m, d, n, c, reach, d.geom_xpos[g1], radius1, axis1, d.geom_xpos[g2], radius2, axis2)


@kernel
def sphere_capsule(m, d, n, c, reach):
    """Contact of a sphere with a capsule."""
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    axis1 = z_axis(d.geom_xmat[g1])
    return sphere_to_capsule(m, d, n, c, reach, d.geom_xpos[g1], m.geom_size[g1, 0], axis1, capsule_of(m, d, g2))


@kernel(inline=True)
def capsule_of(m, d, g):
    """Centre (m), direction, half length and radius (m) of a geom that is a capsule."""
    return d.geom_xpos[g], z_axis(d.geom_xmat[g]), m.geom_size[g, 1], m.geom_size[g, 0]


@kernel
def sphere_to_capsule(m, d, n, c, reach, centre, radius, axis, capsule):
    """Contact of a sphere with a capsule: with the sphere around the nearest point of its segment.

    The sphere has an axis, which is of use where it is on the capsule's.
    """
    p2, a2, half, radius2 = capsule
    along = clip(dot3(a2, sub3(centre, p2)), -half, half)
    return add_spheres(m, d, n, c, reach, centre, radius, axis, add_scaled3(p2, along, a2), radius2, a2)


@kernel
def add_spheres(m, d, n, c, reach, q1, radius1, axis1, q2, radius2, axis2):
    """Contact of the spheres with these radii (m) around the points q1 and q2 (m), as one of pair c.

    Where the points are the same, the normal is axis1 × axis2, or x if that is nothing.
    """
    bound = radius1 + radius2 + reach
    offset = sub3(q2, q1)
    square = dot3(offset, offset)
    if not any_lane(square <= SLACK * bound * bound):
        return n
    zero = zero_like(square)
    same = negligible(square)
    length = sqrt(where(same, zero + 1.0, square))
    normal = scale3(1.0 / length, offset)
    if any_lane(same):
        length = where(same, zero, length)
        normal = where3(same, unit_or_x(cross(axis1, axis2)), normal)
    dist = length - radius1 - radius2
    pos = add_scaled3(q1, radius1 + 0.5 * dist, normal)
    return add_contact(m, d, n, c, reach, dist, pos, normal, (zero, zero, zero))


@kernel
def capsule_capsule(m, d, n, c, reach):
    """Contacts of two geoms that are capsules."""
    first = capsule_of(m, d, m.collision_geom1[c])
    return capsule_to_capsule(m, d, n, c, reach, first, capsule_of(m, d, m.collision_geom2[c]))


@kernel
def capsule_to_capsule(m, d, n, c, reach, first, second):
    """Contacts of two capsules: of the spheres where the segments are nearest; two if they are parallel.

    The points p1 + s a1 and p2 + t a2 are nearest where s = u + b t and t = v + b s, with b = a1·a2, u = a1·(p2 - p1),
    v = -a2·(p2 - p1). s is limited to the first segment, then t to the second; s is found again if t was limited
    (Ericson, Real-Time Collision Detection, 5.1.9).
    """
    p1, a1, half1, radius1 = first
    p2, a2, half2, radius2 = second
    offset = sub3(p2, p1)
    b, u, v = dot3(a1, a2), dot3(a1, offset), -dot3(a2, offset)
    # 1 - b² and u + b v without their cancellation: sin² and the offset along the common perpendicular
    perpendicular = cross(a1, a2)
    sine2 = dot3(perpendicular, perpendicular)
    parallel = sine2 < PARALLEL * PARALLEL
    s = dot3(cross(offset, a2), perpendicular) / where(parallel, zero_like(b) + 1.0, sine2)
    s = clip(s, -half1, half1)
    wanted = v + b * s
    t = clip(wanted, -half2, half2)
    s = where(t == wanted, s, clip(u + b * t, -half1, half1))
    q1, q2 = add_scaled3(p1, s, a1), add_scaled3(p2, t, a2)
    if any_lane(parallel):
        return add_parallel(m, d, n, c, reach, first, second, q1, q2, parallel)
    return add_spheres(m, d, n, c, reach, q1, radius1, a1, q2, radius2, a2)


@kernel
def add_parallel(m, d, n, c, reach, first, second, q1, q2, parallel):
    """Contacts of two capsules, parallel in some lanes: there at both ends of what the segments have side by side.

    Each is where the second segment ends beside the first, or else at the end of the first; the lower one on the first
    comes first. Not side by side at all, they touch twice in one place. q1 and q2 (m) are the nearest points in the
    other lanes.
    """
    p1, a1, half1, radius1 = first
    p2, a2, half2, radius2 = second
    offset = sub3(p2, p1)
    b, u, v = dot3(a1, a2), dot3(a1, offset), -dot3(a2, offset)
    zero = zero_like(b)
    lower = where(b > 0.0, zero - half2, zero + half2)
    s, t = side_by_side(b, u, v, lower, half1, half2)
    first1, first2 = add_scaled3(p1, s, a1), add_scaled3(p2, t, a2)
    s, t = side_by_side(b, u, v, -lower, half1, half2)
    last1, last2 = add_scaled3(p1, s, a1), add_scaled3(p2, t, a2)
    first1, first2 = where3(parallel, first1, q1), where3(parallel, first2, q2)
    n = add_spheres(m, d, n, c, reach, first1, radius1, a1, first2, radius2, a2)
    # the other lanes have no second contact: points out of reach
    away = zero + 2.0 * (radius1 + radius2 + absolute(reach)) + 1.0
    last2 = where3(parallel, last2, (last1[0] + away, last1[1], last1[2]))
    return add_spheres(m, d, n, c, reach, last1, radius1, a1, last2, radius2, a2)


@kernel(inline=True)
def side_by_side(b, u, v, end, half1, half2):
    """Places s, t on parallel segments: the second's end and what is beside it, else the nearest end of the first and
    what is beside that.
    """
    wanted = u + b * end
    s = clip(wanted, -half1, half1)
    return s, where(s == wanted, end, clip(v + b * s, -half2, half2))


@kernel
def sphere_cylinder(m, d, n, c, reach):
    """Contact of a sphere with a cylinder's side, cap or rim, whichever is nearest to the sphere's centre.

    In the half-plane from the cylinder's axis through the centre, which lies `above` the cap and `beside` the side (m,
    negative inside): outside both the rim is nearest, else the one with the larger of the two.
    """
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    p1, radius1 = d.geom_xpos[g1], m.geom_size[g1, 0]
    axis = z_axis(d.geom_xmat[g2])
    offset = sub3(d.geom_xpos[g2], p1)
    zero = zero_like(offset[0])
    one = zero + 1.0
    x = -dot3(axis, offset)
    # the parts of the offset across and along the axis, towards the cylinder's centre
    inwards = add_scaled3(offset, x, axis)
    square = dot3(inwards, inwards)
    on_axis = negligible(square)
    distance = sqrt(where(on_axis, one, square))
    inwards = scale3(1.0 / distance, inwards)
    downwards = scale3(where(x > 0.0, -one, one), axis)
    above = absolute(x) - m.geom_size[g2, 1]
    beside = where(on_axis, zero, distance) - m.geom_size[g2, 0]
    rim = (above >= 0.0) & (beside >= 0.0)
    cap = above > beside
    square = above * above + beside * beside
    on_rim = rim & negligible(square)
    corner = sqrt(where(rim, where(on_rim, one, square), one))
    dist = where(rim, where(on_rim, zero, corner), where(cap, above, beside)) - radius1
    if not any_lane(dist <= reach):
        return n
    sideways = where(rim, beside / corner, where(cap, zero, one))
    upwards = where(rim, above / corner, where(cap, one, zero))
    normal = add_scaled3(scale3(upwards, downwards), sideways, inwards)
    # without a direction, as for spheres at the same point
    lost = on_rim | (on_axis & (sideways == 1.0))
    if any_lane(lost):
        normal = where3(lost, unit_or_x(cross(z_axis(d.geom_xmat[g1]), axis)), normal)
    pos = add_scaled3(p1, radius1 + 0.5 * dist, normal)
    return add_contact(m, d, n, c, reach, dist, pos, normal, (zero, zero, zero))
