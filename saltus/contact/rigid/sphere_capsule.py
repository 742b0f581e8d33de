"""Contacts of spheres, capsules and cylinders with each other.

A sphere is a point with a radius, a capsule a segment with a radius: they touch at the nearest points of point and
segment.
"""

from saltus.contact.contact_list import add_contact, negligible, unit_or_x
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.number.components import zero_like
from saltus.number.functions import absolute, any_lane, clip, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3, where3, z_axis

SLACK = 1.0 + 1e-5  # pairs discarded by squared distance are then out of reach for any rounding
PARALLEL = 1e-4  # axes at an angle of smaller sine count as parallel, as in MuJoCo


@kernel
def sphere_sphere(m, d, n, c, reach):
    """Contact of two spheres."""
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    axis1, axis2 = z_axis(d.geom_xmat[g1]), z_axis(d.geom_xmat[g2])
    radius1, radius2 = m.geom_size[g1, 0], m.geom_size[g2, 0]
    return add_spheres(m, d, n, c, reach, (d.geom_xpos[g1], radius1, axis1), (d.geom_xpos[g2], radius2, axis2))


@kernel
def sphere_capsule(m, d, n, c, reach):
    """Contact of a sphere with a capsule."""
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    axis1 = z_axis(d.geom_xmat[g1])
    return sphere_to_capsule(m, d, n, c, reach, d.geom_xpos[g1], m.geom_size[g1, 0], axis1, capsule_of(m, d, g2))


@kernel(inline=True)
def capsule_of(m, d, g):
    """Centre (m), axis, half length and radius (m) of a capsule geom."""
    return d.geom_xpos[g], z_axis(d.geom_xmat[g]), m.geom_size[g, 1], m.geom_size[g, 0]


@kernel
def sphere_to_capsule(m, d, n, c, reach, centre, radius, axis, capsule):
    """Contact of a sphere with a capsule: with the sphere around the nearest point of the capsule's segment.

    `axis` of the sphere determines the normal if its centre lies on the capsule's segment.
    """
    p2, a2, half, radius2 = capsule
    along = clip(dot3(a2, sub3(centre, p2)), -half, half)
    return add_spheres(m, d, n, c, reach, (centre, radius, axis), (add_scaled3(p2, along, a2), radius2, a2))


@kernel
def add_spheres(m, d, n, c, reach, first, second):
    """Contact of two spheres (centre (m), radius (m), axis), as one of pair c.

    Where the centres coincide, the normal is the product of the axes, or x if that is zero.
    """
    q1, radius1, axis1 = first
    q2, radius2, axis2 = second
    bound = radius1 + radius2 + reach
    offset = sub3(q2, q1)
    square = dot3(offset, offset)
    if not any_lane(square <= SLACK * bound * bound):
        return n
    zero = zero_like(square)
    # coincident points leave the direction open
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
    """Contacts of two capsule geoms."""
    first = capsule_of(m, d, pair_geom1(m, d, c))
    return capsule_to_capsule(m, d, n, c, reach, first, capsule_of(m, d, pair_geom2(m, d, c)))


@kernel
def capsule_to_capsule(m, d, n, c, reach, first, second):
    """Contacts of two capsules: of spheres at the nearest points of the segments; two contacts if they are parallel.

    The points p1 + s a1 and p2 + t a2 are nearest where s = u + b t and t = v + b s, with b = a1·a2, u = a1·(p2 - p1),
    v = -a2·(p2 - p1). s is clamped to the first segment, then t to the second; s is solved anew if t was clamped
    (Ericson, Real-Time Collision Detection, 5.1.9).
    """
    p1, a1, half1, radius1 = first
    p2, a2, half2, radius2 = second
    offset = sub3(p2, p1)
    b, u, v = dot3(a1, a2), dot3(a1, offset), -dot3(a2, offset)
    # 1 - b² and u + b v without cancellation: sin² and a triple product with the common perpendicular
    perpendicular = cross(a1, a2)
    sine2 = dot3(perpendicular, perpendicular)
    parallel = sine2 < PARALLEL * PARALLEL
    # nearest points of the segments: s, then t, then s again where t was clamped
    s = dot3(cross(offset, a2), perpendicular) / where(parallel, zero_like(b) + 1.0, sine2)
    s = clip(s, -half1, half1)
    wanted = v + b * s
    t = clip(wanted, -half2, half2)
    s = where(t == wanted, s, clip(u + b * t, -half1, half1))
    q1, q2 = add_scaled3(p1, s, a1), add_scaled3(p2, t, a2)
    if any_lane(parallel):
        return add_parallel(m, d, n, c, reach, first, second, (q1, q2), parallel)
    return add_spheres(m, d, n, c, reach, (q1, radius1, a1), (q2, radius2, a2))


@kernel
def add_parallel(m, d, n, c, reach, first, second, nearest, parallel):
    """Contacts of two capsules that are parallel in some lanes: there at both ends of the segments' overlap.

    An end is that of the second segment where it lies beside the first, else that of the first; the lower one on the
    first comes first. Segments without overlap have two contacts at the same place. `nearest` (m): the two nearest
    points in the other lanes.
    """
    q1, q2 = nearest
    p1, a1, half1, radius1 = first
    p2, a2, half2, radius2 = second
    offset = sub3(p2, p1)
    b, u, v = dot3(a1, a2), dot3(a1, offset), -dot3(a2, offset)
    zero = zero_like(b)
    # both ends of the overlap
    lower = where(b > 0.0, zero - half2, zero + half2)
    s, t = side_by_side(b, u, v, lower, half1, half2)
    first1, first2 = add_scaled3(p1, s, a1), add_scaled3(p2, t, a2)
    s, t = side_by_side(b, u, v, -lower, half1, half2)
    last1, last2 = add_scaled3(p1, s, a1), add_scaled3(p2, t, a2)
    first1, first2 = where3(parallel, first1, q1), where3(parallel, first2, q2)
    n = add_spheres(m, d, n, c, reach, (first1, radius1, a1), (first2, radius2, a2))
    # no second contact in the other lanes: points out of reach
    away = zero + 2.0 * (radius1 + radius2 + absolute(reach)) + 1.0
    last2 = where3(parallel, last2, (last1[0] + away, last1[1], last1[2]))
    return add_spheres(m, d, n, c, reach, (last1, radius1, a1), (last2, radius2, a2))


@kernel(inline=True)
def side_by_side(b, u, v, end, half1, half2):
    """Parameters s, t of nearest points on parallel segments, one of which is an end.

    They are an end of the second segment and the point beside it or, if that is beyond the first segment, the nearest
    end of the first and the point beside that.
    """
    wanted = u + b * end
    s = clip(wanted, -half1, half1)
    return s, where(s == wanted, end, clip(v + b * s, -half2, half2))


@kernel
def sphere_cylinder(m, d, n, c, reach):
    """Contact of a sphere with a cylinder's side, cap or rim, whichever is nearest to the sphere's centre.

    In the half-plane from the cylinder's axis through the centre, which lies `above` the cap and `beside` the side (m,
    negative inside): if both are positive the rim is nearest, else the feature with the larger value.
    """
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    p1, radius1 = d.geom_xpos[g1], m.geom_size[g1, 0]
    axis = z_axis(d.geom_xmat[g2])
    offset = sub3(d.geom_xpos[g2], p1)
    zero = zero_like(offset[0])
    one = zero + 1.0
    x = -dot3(axis, offset)
    # components of the offset across and along the axis, towards the cylinder's centre
    inwards = add_scaled3(offset, x, axis)
    square = dot3(inwards, inwards)
    on_axis = negligible(square)
    distance = sqrt(where(on_axis, one, square))
    inwards = scale3(1.0 / distance, inwards)
    downwards = scale3(where(x > 0.0, -one, one), axis)
    # distances from the planes of the caps and from the side
    above = absolute(x) - m.geom_size[g2, 1]
    beside = where(on_axis, zero, distance) - m.geom_size[g2, 0]
    # nearest feature and its distance
    rim = (above >= 0.0) & (beside >= 0.0)
    cap = above > beside
    square = above * above + beside * beside
    on_rim = rim & negligible(square)
    corner = sqrt(where(rim, where(on_rim, one, square), one))
    dist = where(rim, where(on_rim, zero, corner), where(cap, above, beside)) - radius1
    if not any_lane(dist <= reach):
        return n
    # direction to it in the half-plane
    sideways = where(rim, beside / corner, where(cap, zero, one))
    upwards = where(rim, above / corner, where(cap, one, zero))
    normal = add_scaled3(scale3(upwards, downwards), sideways, inwards)
    # no direction: as for spheres at the same point
    lost = on_rim | (on_axis & (sideways == 1.0))
    if any_lane(lost):
        normal = where3(lost, unit_or_x(cross(z_axis(d.geom_xmat[g1]), axis)), normal)
    pos = add_scaled3(p1, radius1 + 0.5 * dist, normal)
    return add_contact(m, d, n, c, reach, dist, pos, normal, (zero, zero, zero))
