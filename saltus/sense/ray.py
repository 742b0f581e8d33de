"""Ray casting: the nearest intersection of a ray with geoms, and the surface normal there.

A ray is a point and a unit direction; the results are the distance x >= 0 (m), -1 for a miss, and the outward surface
normal. Each shape's equation along the ray is linear or quadratic in x (Ericson, Real-Time Collision Detection (2005),
section 5.3); a ray from inside a shape hits it where it leaves. As in MuJoCo, planes are hit only from the front and
within their rendered size.
"""

from saltus.contact.mujoco.rays import foreign_ray
from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from saltus.number.functions import MINVAL, absolute, any_lane, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import (
    add_scaled3,
    dot3,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
    where3,
)


@kernel
def cast_ray(m, d, point, direction, body):
    """Distance (m) to the nearest visible geom on a ray, -1 for none, and its normal; geoms of `body` are excluded."""
    zero = 0.0 * d.time
    x, normal = foreign_ray(m, d, point, direction, body)
    for g in range(m.ngeom):
        if m.geom_visible[g] and m.geom_bodyid[g] != body and has_ray(m.geom_type[g]):
            x, normal = nearer(
                x, normal, ray_shape(m.geom_type[g], m.geom_size[g], d.geom_xpos[g], d.geom_xmat[g], point, direction)
            )
    miss = x < 0.0
    return x, where3(miss, (zero, zero, zero), normal)


@kernel(inline=True)
def has_ray(kind):
    """Whether intersections with a geom type are computed here; MuJoCo's functions compute others."""
    return kind == PLANE or SPHERE <= kind <= BOX


@kernel(inline=True)
def nearer(x, normal, other):
    """The nearer of two intersections (distance, normal), either of which may be a miss."""
    closer = (other[0] >= 0.0) & ((x < 0.0) | (other[0] < x))
    return where(closer, other[0], x), where3(closer, other[1], normal)


@kernel
def ray_shape(kind, size, pos, mat, point, direction):
    """Distance (m) and world normal of a ray's intersection with a shape of a geom type and size (m), at a pose."""
    p = transpose_times_vector(mat, sub3(point, pos))
    v = transpose_times_vector(mat, direction)
    if kind == PLANE:
        x, normal = ray_plane(size, p, v)
    elif kind == SPHERE:
        x, normal = ray_ellipsoid((size[0], size[0], size[0]), p, v)
    elif kind == CAPSULE:
        x, normal = ray_capsule(size, p, v)
    elif kind == ELLIPSOID:
        x, normal = ray_ellipsoid(size, p, v)
    elif kind == CYLINDER:
        x, normal = ray_cylinder(size, p, v)
    else:
        x, normal = ray_box(size, p, v)
    return x, matrix_times_vector(mat, normal)


@kernel(inline=True)
def roots(a, b, c):
    """Both solutions of a x² + 2 b x + c = 0, the smaller first; -1 if there are none."""
    zero = 0.0 * b
    one = zero + 1.0
    square = b * b - a * c
    real = (square >= 0.0) & (a >= MINVAL)
    root = where(square > 0.0, sqrt(where(square > 0.0, square, one)), zero)
    a = where(real, a, one)
    return where(real, (-b - root) / a, -one), where(real, (-b + root) / a, -one)


@kernel(inline=True)
def first_root(a, b, c):
    """The smallest solution of a x² + 2 b x + c = 0 that is not negative, -1 for none."""
    x0, x1 = roots(a, b, c)
    return where(x0 >= 0.0, x0, where(x1 >= 0.0, x1, -1.0 + 0.0 * b))


@kernel(inline=True)
def unit(a):
    """a / |a|, or x where a is zero."""
    zero = 0.0 * a[0]
    square = dot3(a, a)
    lost = square <= 0.0
    return where3(lost, (zero + 1.0, zero, zero), scale3(1.0 / sqrt(where(lost, zero + 1.0, square)), a))


@kernel
def ray_plane(size, p, v):
    """Intersection with the plane z = 0 from above, within its size in x and y, where 0 is infinite."""
    zero = 0.0 * v[2]
    one = zero + 1.0
    faces = v[2] <= -MINVAL
    x = -p[2] / where(faces, v[2], -one)
    hit = faces & (x >= 0.0)
    if any_lane(size[0] > 0.0):
        hit = hit & (absolute(p[0] + x * v[0]) <= size[0])
    if any_lane(size[1] > 0.0):
        hit = hit & (absolute(p[1] + x * v[1]) <= size[1])
    return where(hit, x, -one), (zero, zero, one)


@kernel
def ray_ellipsoid(size, p, v):
    """Intersection with an ellipsoid: |S⁻¹ (p + x v)| = 1; the normal is along S⁻² (p + x v)."""
    sx, sy, sz = 1.0 / (size[0] * size[0]), 1.0 / (size[1] * size[1]), 1.0 / (size[2] * size[2])
    a = sx * v[0] * v[0] + sy * v[1] * v[1] + sz * v[2] * v[2]
    b = sx * v[0] * p[0] + sy * v[1] * p[1] + sz * v[2] * p[2]
    c = sx * p[0] * p[0] + sy * p[1] * p[1] + sz * p[2] * p[2] - 1.0
    x = first_root(a, b, c)
    s = add_scaled3(p, x, v)
    return x, unit((sx * s[0], sy * s[1], sz * s[2]))


@kernel
def ray_side(size, p, v):
    """Distance to the lateral surface of a cylinder along z, size (radius, half-length), by the first intersection."""
    x = first_root(v[0] * v[0] + v[1] * v[1], v[0] * p[0] + v[1] * p[1], p[0] * p[0] + p[1] * p[1] - size[0] * size[0])
    return where(absolute(p[2] + x * v[2]) <= size[1], x, -1.0 + 0.0 * x)


@kernel
def ray_capsule(size, p, v):
    """Intersection with a capsule along z: the lateral surface and the two hemispheres."""
    # lateral surface
    zero = 0.0 * v[0]
    x = ray_side(size, p, v)
    end = p[2] + x * v[2]  # height of the normal's origin on the axis: the point's own, or the hemisphere's centre
    # hemispheres
    for side in range(-1, 2, 2):
        height = side * size[1]
        q = (p[0], p[1], p[2] - height)
        x0, x1 = roots(dot3(v, v), dot3(v, q), dot3(q, q) - size[0] * size[0])
        for k in range(2):
            other = x0 if k == 0 else x1
            outer = side * (p[2] + other * v[2]) >= size[1]
            closer = outer & (other >= 0.0) & ((x < 0.0) | (other < x))
            x = where(closer, other, x)
            end = where(closer, zero + height, end)
    s = add_scaled3(p, x, v)
    return x, unit((s[0], s[1], s[2] - end))


@kernel
def ray_cylinder(size, p, v):
    """Intersection with a cylinder along z: two discs and the lateral surface."""
    # end discs
    zero = 0.0 * v[0]
    one = zero + 1.0
    x, normal = -one, (zero, zero, one)
    crosses = absolute(v[2]) > MINVAL
    for side in range(-1, 2, 2):
        other = (side * size[1] - p[2]) / where(crosses, v[2], one)
        q0, q1 = p[0] + other * v[0], p[1] + other * v[1]
        inside = crosses & (q0 * q0 + q1 * q1 <= size[0] * size[0])
        x, normal = nearer(x, normal, (where(inside, other, -one), (zero, zero, side * one)))
    # lateral surface
    other = ray_side(size, p, v)
    outward = unit((p[0] + other * v[0], p[1] + other * v[1], zero))
    return nearer(x, normal, (other, outward))


@kernel
def ray_box(size, p, v):
    """Intersection with a box: its six faces, with axes permuted cyclically."""
    zero = 0.0 * v[0]
    one = zero + 1.0
    x, normal = -one, (one, zero, zero)
    for side in range(-1, 2, 2):
        s = side * one
        x, normal = nearer(x, normal, (ray_face(size, p, v, side), (s, zero, zero)))
    for side in range(-1, 2, 2):
        s = side * one
        turned = ray_face((size[1], size[2], size[0]), (p[1], p[2], p[0]), (v[1], v[2], v[0]), side)
        x, normal = nearer(x, normal, (turned, (zero, s, zero)))
    for side in range(-1, 2, 2):
        s = side * one
        turned = ray_face((size[2], size[0], size[1]), (p[2], p[0], p[1]), (v[2], v[0], v[1]), side)
        x, normal = nearer(x, normal, (turned, (zero, zero, s)))
    return x, normal


@kernel(inline=True)
def ray_face(size, p, v, side):
    """Distance to the face of a box perpendicular to its first axis, -1 for a miss."""
    one = 0.0 * v[0] + 1.0
    crosses = absolute(v[0]) > MINVAL
    x = (side * size[0] - p[0]) / where(crosses, v[0], one)
    hit = crosses & (absolute(p[1] + x * v[1]) <= size[1]) & (absolute(p[2] + x * v[2]) <= size[2]) & (x >= 0.0)
    return where(hit, x, -one)
