"""Contacts of ellipsoids with spheres, capsules, ellipsoids, cylinders and boxes: one for each pair.

The normal is the direction of largest separation (see `saltus.contact.rigid.support_ascent`), the position midway
between the ellipsoid's support point in this direction and the other body. MuJoCo's iterations (GJK and EPA,
engine_collision_gjk.c) converge to the same contact.

The maximum is unique for bodies apart, and for those that overlap by no more than the radius of a ball that rolls all
around inside the ellipsoid: shrunk by the ball, the ellipsoid is apart from the other body, and the distance of
disjoint convex bodies has a single maximum. For deeper penetration the best of nine starts is taken, which is not
proven to be the global maximum: an ellipsoid and a box that overlap by more than the lesser's width may get a normal
with a percent more depth, in one of some thousand poses.
"""

from saltus.contact.contact_list import add_contact, negligible
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rigid.support_ascent import climb, newton_step, separation, symmetric_times_vector, unit
from saltus.model.enums import CAPSULE, CYLINDER, ELLIPSOID, SPHERE
from saltus.number.components import value_of, zero_like
from saltus.number.functions import any_lane, maximum, minimum, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    dot3,
    matrix_times_vector,
    rotate_diagonal,
    scale3,
    sub3,
    transpose_times_vector,
    where3,
)

# ends of the groups of start directions: centre to centre and all axes, towards the second body; the axes, away from
# it; the ellipsoid's axes, projected on the coordinate planes of the second body
AXES, AWAY, TURNED = 7, 13, 22


@kernel
def ellipsoid_pair(m, d, n, c, reach):
    """Contact of an ellipsoid with another convex body, either of which may be the first of pair c."""
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    if m.geom_type[g1] == ELLIPSOID:
        return ellipsoid_convex(m, d, n, c, reach, g1, g2, 1.0)
    return ellipsoid_convex(m, d, n, c, reach, g2, g1, -1.0)


@kernel
def ellipsoid_convex(m, d, n, c, reach, g1, g2, side):
    """Contact of ellipsoid g1 with g2; `side` is 1 if the normal of pair c points from g1 to g2, else -1."""
    mat2 = d.geom_xmat[g2]
    zero = zero_like(mat2[0])
    # relative pose and shape in the axes of g2
    axes = relative_axes(mat2, d.geom_xmat[g1])
    offset = transpose_times_vector(mat2, sub3(d.geom_xpos[g2], d.geom_xpos[g1]))
    size = m.geom_size[g1]
    ellipsoid = rotate_diagonal(axes, (size[0] * size[0], size[1] * size[1], size[2] * size[2]))
    disc, half, radius, rolling = second_body(m, g2)
    rolling = rolling + rolling_radius(size)
    shape = offset, ellipsoid, disc, half
    # search without tangents
    values = values3(offset), values6(ellipsoid), disc, half
    found, sign, touching = farthest(values, values9(axes), rolling, reach + radius)
    if not any_lane(touching):
        return n
    normal = zero + found[0], zero + found[1], zero + found[2]
    # two more Newton steps: they remove the last error and give the tangents
    for _ in range(2):
        step, _ = newton_step(shape, normal, sign)
        sure = touching & (dot3(step, step) < 1e-4)
        normal = unit(add3(normal, where3(sure, step, (zero, zero, zero))))
    dist = separation(shape, normal)
    qn = symmetric_times_vector(ellipsoid, normal)
    # support point of the ellipsoid, relative to the centre of g2
    point = sub3(scale3(1.0 / sqrt(dot3(normal, qn)), qn), offset)
    pos = add_scaled3(point, 0.5 * (dist - radius), normal)
    pos = add3(d.geom_xpos[g2], matrix_times_vector(mat2, pos))
    normal = scale3(side, matrix_times_vector(mat2, normal))
    dist = where(touching, dist - radius, zero + (reach + 1.0))
    return add_contact(m, d, n, c, reach, dist, pos, normal, (zero, zero, zero))


@kernel(inline=True)
def second_body(m, g):
    """D (m²) and b (m) of a geom (see `support_ascent`), its radius (m) and its rolling radius (m)."""
    size = m.geom_size[g]
    none = 0.0 * size[0]
    kind = m.geom_type[g]
    disc, half, radius, rolling = (none, none, none), (none, none, none), none, none
    if kind == SPHERE:
        radius = size[0]
    elif kind == CAPSULE:
        half, radius = (none, none, size[1]), size[0]
    elif kind == ELLIPSOID:
        disc, rolling = (size[0] * size[0], size[1] * size[1], size[2] * size[2]), rolling_radius(size)
    elif kind == CYLINDER:
        disc, half = (size[0] * size[0], size[0] * size[0], none), (none, none, size[1])
    else:
        half = size
    return disc, half, radius, rolling


@kernel(inline=True)
def rolling_radius(size):
    """Least radius of curvature of an ellipsoid: its least half axis squared over its largest."""
    least = minimum(minimum(size[0], size[1]), size[2])
    return least * least / maximum(maximum(size[0], size[1]), size[2])


@kernel
def farthest(shape, axes, rolling, enough):
    """The direction of largest separation s, its signs, and the lanes in which s is at most `enough` (m).

    `rolling` (m): radius of a ball that rolls inside the bodies; `axes`: the ellipsoid's axes as columns. In lanes with
    a larger s the direction is any that separates the bodies by more than `enough`.
    """
    zero = 0.0 * shape[0][0]
    n, s = best_start(shape, axes, 0, AXES)
    near = s <= enough
    if not any_lane(near):
        return n, (zero, zero, zero), near
    # one ascent from the best start
    n, sign, s = climb(shape, n, enough, near)
    # deep penetration may have several maxima: more starts
    deep = near & (s < -rolling)
    if any_lane(deep):
        for k in range(AXES + 2):
            if k < AXES:
                other = start(shape, axes, k)
            elif k == AXES:
                other, _ = best_start(shape, axes, AXES, AWAY)
            else:
                other, _ = best_start(shape, axes, AWAY, TURNED)
            other, signs, reached = climb(shape, other, enough, deep)
            better = deep & (reached > s)
            n, sign, s = where3(better, other, n), where3(better, signs, sign), where(better, reached, s)
    return n, sign, near & (s <= enough)


@kernel
def best_start(shape, axes, first, last):
    """The start direction from number `first` up to `last` (exclusive) with the largest s, and s (m)."""
    n = start(shape, axes, first)
    s = separation(shape, n)
    for k in range(first + 1, last):
        other = start(shape, axes, k)
        reached = separation(shape, other)
        n, s = where3(reached > s, other, n), where(reached > s, reached, s)
    return n, s


@kernel
def start(shape, axes, k):
    """Start direction number k."""
    c = shape[0]
    zero = 0.0 * c[0]
    one = zero + 1.0
    # 0: centre to centre; then axes of both bodies; then axes of the ellipsoid without one component
    n = c
    if k > 0:
        n = axis_of(axes, (k - 1) % 6, one)
    if k >= AWAY:
        n = axis_of(axes, k % 3, one)
        across = (k - AWAY) // 3
        if across == 0:
            n = (zero, n[1], n[2])
        elif across == 1:
            n = (n[0], zero, n[2])
        else:
            n = (n[0], n[1], zero)
    n = unit(where3(negligible(dot3(n, n)), (zero, zero, one), n))
    side = -one if k >= AXES and k < AWAY else one
    return scale3(where(dot3(c, n) < 0.0, -side, side), n)


@kernel(inline=True)
def axis_of(axes, j, one):
    """Axis j of the ellipsoid; from 3 on, axis j - 3 of the other body."""
    zero = 0.0 * one
    if j == 0:
        return axes[0], axes[3], axes[6]
    if j == 1:
        return axes[1], axes[4], axes[7]
    if j == 2:
        return axes[2], axes[5], axes[8]
    if j == 3:
        return one, zero, zero
    if j == 4:
        return zero, one, zero
    return zero, zero, one


@kernel(inline=True)
def relative_axes(mat2, mat1):
    """Axes of frame mat1 in the axes of frame mat2, as columns."""
    x = transpose_times_vector(mat2, (mat1[0], mat1[3], mat1[6]))
    y = transpose_times_vector(mat2, (mat1[1], mat1[4], mat1[7]))
    z = transpose_times_vector(mat2, (mat1[2], mat1[5], mat1[8]))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@kernel(inline=True)
def values3(a):
    """A vector of three numbers without tangents."""
    return value_of(a[0]), value_of(a[1]), value_of(a[2])


@kernel(inline=True)
def values6(a):
    """Six numbers without tangents."""
    return value_of(a[0]), value_of(a[1]), value_of(a[2]), value_of(a[3]), value_of(a[4]), value_of(a[5])


@kernel(inline=True)
def values9(a):
    """Nine numbers without tangents."""
    return (
        value_of(a[0]),
        value_of(a[1]),
        value_of(a[2]),
        value_of(a[3]),
        value_of(a[4]),
        value_of(a[5]),
        value_of(a[6]),
        value_of(a[7]),
        value_of(a[8]),
    )
