"""Direction of largest separation between an ellipsoid and a convex body, by Newton ascent on support functions.

Along a unit vector n the separation of the bodies is s(n) = c·n - h₁(n) - h₂(n), with c the second's centre relative to
the first's and h their support functions. The largest s is their distance if it is positive, otherwise minus their
penetration depth, and its n is the contact normal (Gilbert and Foo 1990, IEEE Trans. Robotics and Automation 6:53).

All vectors are in the axes of the second body, in which

    s(n) = c·n - √(n·Qn) - √(n·Dn) - Σ bₖ |nₖ|

with Q of the ellipsoid and, for the second body, D = diag(squares of half axes) and half lengths b: an ellipsoid has D,
a segment b₃, a box b, a cylinder D₁ = D₂ (a disc) and b₃. A radius around the body (sphere, capsule) subtracts a
constant, which is left out here. `shape` is the tuple (c, Q, D, b), Q as (xx, yy, zz, xy, xz, yz), in m and m².

s is smooth except on ridges, the great circles nₖ = 0 (face normals lie on two of them), and at the poles ±z of a
cylinder. Newton's method on the sphere ascends s; it stops at each ridge that it meets, continues along it, and leaves
it only if the slope beside the ridge exceeds bₖ (an active-set method; Nocedal and Wright, Numerical Optimization
(2006), chapter 16). In a state, sign[k] is that of nₖ in bₖ |nₖ|, and 0 on a ridge.
"""

from saltus.contact.contact_list import negligible
from saltus.contact.rigid.lane_choice import by_precision
from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, any_lane, minimum, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3, where3

STEPS = 60  # most steps; usually four to ten


@kernel(inline=True)
def symmetric_times_vector(s, a):
    """S a for a symmetric S = (xx, yy, zz, xy, xz, yz)."""
    return (
        s[0] * a[0] + s[3] * a[1] + s[4] * a[2],
        s[3] * a[0] + s[1] * a[1] + s[5] * a[2],
        s[4] * a[0] + s[5] * a[1] + s[2] * a[2],
    )


@kernel(inline=True)
def times3(a, b):
    """Componentwise product of a and b."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@kernel(inline=True)
def unit(a):
    """a / |a|."""
    return scale3(1.0 / sqrt(dot3(a, a)), a)


@kernel
def separation(shape, n):
    """s(n) (m)."""
    c, ellipsoid, disc, half = shape
    zero = 0.0 * n[0]
    square = dot3(n, times3(disc, n))
    flat = negligible(square)
    root = where(flat, zero, sqrt(where(flat, zero + 1.0, square)))
    edges = half[0] * absolute(n[0]) + half[1] * absolute(n[1]) + half[2] * absolute(n[2])
    return dot3(c, n) - sqrt(dot3(n, symmetric_times_vector(ellipsoid, n))) - root - edges


@kernel
def climb(shape, n, enough, running):
    """Ascent from direction n to a local maximum of s in the lanes that are `running`: (n, its signs, s (m)).

    A lane stops as soon as its s exceeds `enough` (m).
    """
    c, ellipsoid, disc, half = shape
    zero = 0.0 * n[0]
    one = zero + 1.0
    sign = ridge_sign(half[0], n[0]), ridge_sign(half[1], n[1]), ridge_sign(half[2], n[2])
    # rounding of s
    lengths = absolute(c[0]) + absolute(c[1]) + absolute(c[2]) + sqrt(ellipsoid[0] + ellipsoid[1] + ellipsoid[2])
    noise = 16.0 * epsilon_of(zero) * (lengths + sqrt(disc[0] + disc[1] + disc[2]) + half[0] + half[1] + half[2])
    small = by_precision(zero, 1e-12, 1e-6)
    s, share = separation(shape, n), one
    k = 0
    while k < STEPS and any_lane(running):
        # Newton step, shortened after failures; at most to the next ridge or pole
        step, free = newton_step(shape, n, sign)
        step = scale3(share, step)
        trial, kept, stopped = stop_at_ridges(half, n, free, step)
        trial, kept, stopped = stop_at_pole(disc, n, trial, kept, stopped)
        trial = unit(trial)
        reached = separation(shape, trial)
        # accept if s has not fallen
        better = running & (reached >= s - noise)
        n, s = where3(better, trial, n), where(better, reached, s)
        sign = where3(better, kept, sign)
        share = where(better, one, 0.25 * share)
        # converged if the step is short and no ridge or pole stopped it
        left = where(dot3(step, step) > small, one, stopped)
        running = running & (left > 0.5) & (s <= enough)
        k += 1
    if any_lane(disc[0] > 0.0) and any_lane(disc[2] == 0.0):
        # rounding can stop the ascent next to a pole: try the pole itself
        pole = (zero, zero, where(n[2] < 0.0, -one, one))
        reached = separation(shape, pole)
        better = reached >= s
        n, s = where3(better, pole, n), where(better, reached, s)
        sign = sign[0], sign[1], where(better, pole[2], sign[2])
    return n, sign, s


@kernel(inline=True)
def ridge_sign(half, x):
    """Sign of component x of n: 1 or -1; 0 on a ridge."""
    zero = 0.0 * x
    return where(x > 0.0, zero + 1.0, where((x < 0.0) | (zero + half <= 0.0), zero - 1.0, zero))


@kernel
def newton_step(shape, n, sign):
    """The Newton step (rad) from n, and the signs after leaving the ridges that are worth leaving.

    Along a tangent t the slope of s is g·t with g = c - Qn/q - Dn/e - (bₖ signₖ), q = √(n·Qn), e = √(n·Dn). The Hessian
    is minus A = tᵀ(Q/q - Qn nᵀQ/q³ + D/e - Dn nᵀD/e³) t + s, which is made positive definite.
    """
    c, ellipsoid, disc, half = shape
    one = 0.0 * c[0] + 1.0
    qn, dn = symmetric_times_vector(ellipsoid, n), times3(disc, n)
    q = 1.0 / sqrt(dot3(n, qn))
    square = dot3(n, dn)
    flat = negligible(square)
    e = where(flat, 0.0 * one, 1.0 / sqrt(where(flat, one, square)))
    # gradient of s; signs of the ridges worth leaving
    slope = add_scaled3(add_scaled3(c, -q, qn), -e, dn)
    free = leave(half[0], slope[0], sign[0]), leave(half[1], slope[1], sign[1]), leave(half[2], slope[2], sign[2])
    slope = sub3(slope, times3(half, free))
    # gradient and A = -Hessian in a tangent basis
    t2 = second_tangent(n, sign)
    t1 = cross(t2, n)
    g1, g2, s = dot3(slope, t1), dot3(slope, t2), dot3(slope, n)
    q1, q2 = symmetric_times_vector(ellipsoid, t1), symmetric_times_vector(ellipsoid, t2)
    d1, d2 = times3(disc, t1), times3(disc, t2)
    qn1, qn2, dn1, dn2 = q * dot3(qn, t1), q * dot3(qn, t2), e * dot3(dn, t1), e * dot3(dn, t2)
    a11, a22, a12 = q * (dot3(t1, q1) - qn1 * qn1), q * (dot3(t2, q2) - qn2 * qn2), q * (dot3(t1, q2) - qn1 * qn2)
    bend = a11 + a22  # curvature of the ellipsoid alone: a disc's is unbounded near its poles
    a11, a22 = a11 + e * (dot3(t1, d1) - dn1 * dn1) + s, a22 + e * (dot3(t2, d2) - dn2 * dn2) + s
    a12 = a12 + e * (dot3(t1, d2) - dn1 * dn2)
    if any_lane(disc[0] > 0.0) and any_lane(disc[2] == 0.0):
        # cylinder's pole: a cone of slope radius; step along the gradient if it is steeper, otherwise not at all
        square = g1 * g1 + g2 * g2
        off = flat & (square > disc[0])
        square = where(off, square, one)
        along = (g1 * g1 * a11 + 2.0 * g1 * g2 * a12 + g2 * g2 * a22) / square
        a11, a12, a22 = where(off, along, a11), where(off, 0.0 * one, a12), where(off, along, a22)
        share = where(off, 1.0 - sqrt(disc[0]) / sqrt(square), where(flat, 0.0 * one, one))
        g1, g2 = share * g1, share * g2
    # steps off a ridge must not turn back to it: decouple them from those along it
    left = moved(sign, free, t1) + moved(sign, free, t2) > 0.5
    along1, along2 = on_ridge(free, t1) > 0.5, on_ridge(free, t2) > 0.5
    zero = 0.0 * one
    a12 = where(left | along1 | along2, zero, a12)
    g1, g2 = where(along1, zero, g1), where(along2, zero, g2)
    a11, a22 = where(along1, bend + absolute(s), a11), where(along2, bend + absolute(s), a22)
    step1, step2 = solve_positive(a11, a12, a22, g1, g2, bend)
    return add_scaled3(scale3(step1, t1), step2, t2), free


@kernel(inline=True)
def leave(half, slope, sign):
    """The sign of a component of n; on a ridge, that of the slope beside it if n should leave it, else 0."""
    one = 0.0 * sign + 1.0
    worth = (sign == 0.0) & (absolute(slope) > half)
    return where(worth, where(slope > 0.0, one, -one), sign)


@kernel(inline=True)
def second_tangent(n, sign):
    """A unit tangent at n; if n is on a ridge, the axis perpendicular to it."""
    zero = 0.0 * n[0]
    one = zero + 1.0
    steep = absolute(n[0]) > 0.6
    x, y = where(steep, zero, one), where(steep, one, zero)
    side = unit(add_scaled3((x, y, zero), -(x * n[0] + y * n[1]), n))
    side = where3(sign[2] == 0.0, (zero, zero, one), side)
    side = where3(sign[1] == 0.0, (zero, one, zero), side)
    return where3(sign[0] == 0.0, (one, zero, zero), side)


@kernel(inline=True)
def on_ridge(sign, t):
    """Squared components of the tangent t across the ridges on which n stays: positive if t leads off one, else 0."""
    zero = 0.0 * sign[0]
    one = zero + 1.0
    a, b, c = where(sign[0] == 0.0, one, zero), where(sign[1] == 0.0, one, zero), where(sign[2] == 0.0, one, zero)
    return a * t[0] * t[0] + b * t[1] * t[1] + c * t[2] * t[2]


@kernel(inline=True)
def moved(sign, free, t):
    """Squared components of the tangent t across the ridges that n is leaving."""
    return on_ridge(sign, t) - on_ridge(free, t)


@kernel(inline=True)
def solve_positive(a11, a12, a22, g1, g2, bend):
    """x of A x = g, limited to |x| <= 1, with A shifted if not positive definite; `bend` > 0 sets the scale."""
    zero = 0.0 * a11
    one = zero + 1.0
    # lower eigenvalue of A
    difference = 0.5 * (a11 - a22)
    square = difference * difference + a12 * a12
    least = 0.5 * (a11 + a22) - where(square > 0.0, sqrt(where(square > 0.0, square, one)), zero)
    shift = where(least < 1e-6 * bend, 0.02 * bend + absolute(least) - least, zero)
    a11, a22 = a11 + shift, a22 + shift
    # Cramer's rule
    scale = 1.0 / (a11 * a22 - a12 * a12)
    x1, x2 = scale * (a22 * g1 - a12 * g2), scale * (a11 * g2 - a12 * g1)
    # steps of at most one radian
    square = x1 * x1 + x2 * x2
    long = square > 1.0
    scale = where(long, 1.0 / sqrt(where(long, square, one)), one)
    return scale * x1, scale * x2


@kernel(inline=True)
def stop_at_ridges(half, n, sign, step):
    """n + step, limited to the first ridge on the way: (direction, signs, 1 if stopped else 0)."""
    zero = 0.0 * n[0]
    one = zero + 1.0
    trial = n[0] + step[0], n[1] + step[1], n[2] + step[2]
    # share of the step to the nearest ridge
    way = way_to_ridge(half[0], n[0], sign[0], step[0]), way_to_ridge(half[1], n[1], sign[1], step[1])
    third = way_to_ridge(half[2], n[2], sign[2], step[2])
    shortest = minimum(minimum(way[0], way[1]), third)
    stopped = shortest < 1.0
    hit = stopped & (way[0] <= shortest), stopped & (way[1] <= shortest), stopped & (third <= shortest)
    trial = where3(stopped, add_scaled3(n, shortest, step), trial)
    # components on a ridge are exactly zero
    trial = where(hit[0], zero, trial[0]), where(hit[1], zero, trial[1]), where(hit[2], zero, trial[2])
    sign = where(hit[0], zero, sign[0]), where(hit[1], zero, sign[1]), where(hit[2], zero, sign[2])
    return trial, sign, where(stopped, one, zero)


@kernel(inline=True)
def way_to_ridge(half, x, sign, step):
    """The fraction of a step after which component x of n is 0; 1 if it does not become 0."""
    one = 0.0 * x + 1.0
    crossed = (sign * (x + step) < 0.0) & (half + 0.0 * x > 0.0)
    return where(crossed, x / where(crossed, -step, one), one)


@kernel(inline=True)
def stop_at_pole(disc, n, trial, sign, stopped):
    """The pole of a cylinder in place of a direction beyond it."""
    if not (any_lane(disc[0] > 0.0) and any_lane(disc[2] == 0.0)):
        return trial, sign, stopped
    zero = 0.0 * n[0]
    one = zero + 1.0
    beyond = (n[0] * trial[0] + n[1] * trial[1] < 0.0) & (sign[2] * sign[2] > 0.5)
    trial = where3(beyond, (zero, zero, sign[2]), trial)
    return trial, sign, where(beyond, one, stopped)
