"""The point of a simplex nearest to the origin, by the regions that its corners, edges and faces own.

Ericson, Real-Time Collision Detection (2005), section 5.1. Weights sum to 1; those of unneeded corners are zero.
"""

from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, cross, dot3, scale3, sub3


@kernel
def weights_of_segment(a, b):
    """Weights of the points a, b (m) of a segment."""
    ab = sub3(b, a)
    t, length = -dot3(a, ab), dot3(ab, ab)
    if t <= 0.0:
        return 1.0, 0.0
    if t >= length:
        return 0.0, 1.0
    return 1.0 - t / length, t / length


@kernel
def weights_of_triangle(a, b, c):
    """Weights of the corners a, b, c (m) of a triangle."""
    ab, ac = sub3(b, a), sub3(c, a)
    ab_a, ac_a = -dot3(ab, a), -dot3(ac, a)
    if ab_a <= 0.0 and ac_a <= 0.0:
        return 1.0, 0.0, 0.0
    ab_b, ac_b = -dot3(ab, b), -dot3(ac, b)
    if ab_b >= 0.0 and ac_b <= ab_b:
        return 0.0, 1.0, 0.0
    ab_c, ac_c = -dot3(ab, c), -dot3(ac, c)
    if ac_c >= 0.0 and ab_c <= ac_c:
        return 0.0, 0.0, 1.0
    # areas seen from the nearest point of the plane, by the normal: accurate even for small triangles
    normal = cross(ab, ac)
    of_a, of_b, of_c = dot3(normal, cross(b, c)), dot3(normal, cross(c, a)), dot3(normal, cross(a, b))
    if of_c <= 0.0 and ab_a >= 0.0 and ab_b <= 0.0:
        t = ab_a / (ab_a - ab_b)
        return 1.0 - t, t, 0.0
    if of_b <= 0.0 and ac_a >= 0.0 and ac_c <= 0.0:
        t = ac_a / (ac_a - ac_c)
        return 1.0 - t, 0.0, t
    if of_a <= 0.0 and ac_b >= ab_b and ab_c >= ac_c:
        t = (ac_b - ab_b) / ((ac_b - ab_b) + (ab_c - ac_c))
        return 0.0, 1.0 - t, t
    scale = 1.0 / (of_a + of_b + of_c)
    return of_a * scale, of_b * scale, of_c * scale


@kernel(inline=True)
def combination(a, b, c, weights):
    """The point with these weights (m)."""
    return add3(scale3(weights[0], a), add3(scale3(weights[1], b), scale3(weights[2], c)))


@kernel
def beyond(a, b, c, d):
    """Whether the origin is on the other side of the plane of a, b, c than d, or d is in the plane up to rounding."""
    normal = cross(sub3(b, a), sub3(c, a))
    own, other = dot3(normal, sub3(d, a)), -dot3(normal, a)
    size = dot3(normal, normal) * (dot3(d, d) + dot3(a, a))
    return own * other < 0.0 or own * own <= 1e-24 * size


@kernel
def weights_of_tetrahedron(a, b, c, d):
    """Weights of a, b, c, d (m), and whether the origin is inside, which leaves them zero."""
    best, w = 1e300, (0.0, 0.0, 0.0, 0.0)
    inside = True
    if beyond(a, b, c, d):
        inside = False
        t = weights_of_triangle(a, b, c)
        x = combination(a, b, c, t)
        if dot3(x, x) < best:
            best, w = dot3(x, x), (t[0], t[1], t[2], 0.0)
    if beyond(a, b, d, c):
        inside = False
        t = weights_of_triangle(a, b, d)
        x = combination(a, b, d, t)
        if dot3(x, x) < best:
            best, w = dot3(x, x), (t[0], t[1], 0.0, t[2])
    if beyond(a, c, d, b):
        inside = False
        t = weights_of_triangle(a, c, d)
        x = combination(a, c, d, t)
        if dot3(x, x) < best:
            best, w = dot3(x, x), (t[0], 0.0, t[1], t[2])
    if beyond(b, c, d, a):
        inside = False
        t = weights_of_triangle(b, c, d)
        x = combination(b, c, d, t)
        if dot3(x, x) < best:
            best, w = dot3(x, x), (0.0, t[0], t[1], t[2])
    return w, inside
