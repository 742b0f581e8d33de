"""Sine, cosine and arc tangent on lanes, from polynomials, with the rounding under control.

Arguments are reduced by multiples of pi/2 in three parts with fused multiply-adds (Cody & Waite 1980): the first
subtraction is exact, the next two round once each. The polynomials on [-pi/4, pi/4] are the minimax ones of fdlibm
(double) and Cephes (single). Beyond |x| = 1e9, 1e4 in single precision, the C library's functions serve, lane by lane.
"""

import math

from numba.extending import overload

from saltus.number.components import chain, lane_count, lane_get, lane_set, lowest_bits, value_of
from saltus.number.functions import absolute, any_lane, atan2, fma, multiply_add, rarely, sincos, where
from saltus.number.kernels import kernel
from saltus.number.kinds import LaneType, dual, is_real

TWO_OVER_PI = 2.0 / math.pi
# pi/2 in parts of one double, and of one single, each
HALF_PI_1, HALF_PI_2, HALF_PI_3 = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
SINGLE_1, SINGLE_2, SINGLE_3 = 1.57079637050628662109375, -4.37113882867379114e-8, -1.7151244994428829e-15
# adding these rounds to the nearest integer, which then stands in the last bits
ROUND_DOUBLE, ROUND_SINGLE = 1.5 * 2.0**52, 1.5 * 2.0**23
FAR_DOUBLE, FAR_SINGLE = 1e9, 1e4  # beyond these the C library's functions serve


@kernel(strict=True)
def sincos_double(x):
    """(sin x, cos x) in double precision."""
    # x = k π/2 + r with |r| <= π/4, π/2 in three parts (Cody and Waite)
    count = multiply_add(x, TWO_OVER_PI, ROUND_DOUBLE)
    k = count - ROUND_DOUBLE
    r = fma(-k, HALF_PI_1, x)
    r = fma(-k, HALF_PI_2, r)
    r = fma(-k, HALF_PI_3, r)
    # sin r and cos r by polynomials
    z = r * r
    s = multiply_add(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08)
    s = multiply_add(z, s, 2.75573137070700676789e-06)
    s = multiply_add(z, s, -1.98412698298579493134e-04)
    s = multiply_add(z, s, 8.33333333332248946124e-03)
    s = multiply_add(z, s, -1.66666666666666324348e-01)
    s = multiply_add(r * z, s, r)
    c = multiply_add(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09)
    c = multiply_add(z, c, -2.75573143513906633035e-07)
    c = multiply_add(z, c, 2.48015872894767294178e-05)
    c = multiply_add(z, c, -1.38888888888741095749e-03)
    c = multiply_add(z, c, 4.16666666666666019037e-02)
    w = multiply_add(z, -0.5, 1.0)
    c = w + multiply_add(z * z, c, multiply_add(z, -0.5, 1.0 - w))
    # k mod 4 swaps them and changes signs; for large x the C library serves
    s, c = _by_quadrant(count, s, c)
    far = absolute(x) > FAR_DOUBLE
    if rarely(any_lane(far)):
        s, c = _sincos_far(x, FAR_DOUBLE, s, c)
    return s, c


@kernel(strict=True)
def sincos_single(x):
    """(sin x, cos x) in single precision."""
    count = multiply_add(x, TWO_OVER_PI, ROUND_SINGLE)
    k = count - ROUND_SINGLE
    r = fma(-k, SINGLE_1, x)
    r = fma(-k, SINGLE_2, r)
    r = fma(-k, SINGLE_3, r)
    z = r * r
    s = multiply_add(z, -1.9515295891e-4, 8.3321608736e-3)
    s = multiply_add(z, s, -1.6666654611e-1)
    s = multiply_add(r * z, s, r)
    c = multiply_add(z, 2.443315711809948e-5, -1.388731625493765e-3)
    c = multiply_add(z, c, 4.166664568298827e-2)
    w = multiply_add(z, -0.5, 1.0)
    c = w + multiply_add(z * z, c, multiply_add(z, -0.5, 1.0 - w))
    s, c = _by_quadrant(count, s, c)
    far = absolute(x) > FAR_SINGLE
    if rarely(any_lane(far)):
        s, c = _sincos_far(x, FAR_SINGLE, s, c)
    return s, c


@kernel(strict=True, inline=True)
def _by_quadrant(count, s, c):
    """Sine and cosine of r + k pi/2 from those of r; the last bits of count are those of the integer k."""
    odd = lowest_bits(count, 1)
    sine = where(odd, c, s)
    cosine = where(odd, s, c)
    sine = where(lowest_bits(count, 2), -sine, sine)
    cosine = where(lowest_bits(count + 1.0, 2), -cosine, cosine)
    return sine, cosine


@kernel(strict=True)
def _sincos_far(x, limit, s, c):
    """Replace the lanes of (s, c) whose argument is beyond the limit of the reduction."""
    for i in range(lane_count(x)):
        xi = lane_get(x, i)
        if not abs(xi) <= limit:
            s = lane_set(s, i, math.sin(xi))
            c = lane_set(c, i, math.cos(xi))
    return s, c


@kernel
def sincos_dual(x):
    """d sin = cos dx, d cos = -sin dx."""
    s, c = sincos(value_of(x))
    return chain(s, c, x), chain(c, -s, x)


@kernel(strict=True)
def atan2_real(y, x):
    """Angle of (x, y): the arc tangent of the smaller over the larger magnitude, folded out to the octant.

    Rational approximation on [0, 0.66] of Cephes, error below 2 ulp.
    """
    ax, ay = absolute(x), absolute(y)
    swap = ay > ax
    small, large = where(swap, ax, ay), where(swap, ay, ax)
    t = small / where(large == 0.0, 1.0, large)
    t = where((ax == ay) & (large > 0.0), 1.0, t)  # of two infinities too
    big = t > 0.66
    t = where(big, (t - 1.0) / (t + 1.0), t)
    z = t * t
    p = multiply_add(z, -8.750608600031904122785e-1, -1.615753718733365076637e1)
    p = multiply_add(z, p, -7.500855792314704667340e1)
    p = multiply_add(z, p, -1.228866684490136173410e2)
    p = multiply_add(z, p, -6.485021904942025371773e1)
    q = z + 2.485846490142306297962e1
    q = multiply_add(z, q, 1.650270098316988542046e2)
    q = multiply_add(z, q, 4.328810604912902668951e2)
    q = multiply_add(z, q, 4.853903996359136964868e2)
    q = multiply_add(z, q, 1.945506571482613964425e2)
    a = multiply_add(t * z, p / q, t)
    a = where(big, a + (0.25 * math.pi + 3.061616997868383e-17), a)
    a = where(swap, (0.5 * math.pi - a) + 6.123233995736766e-17, a)
    a = where(x < 0.0, (math.pi - a) + 1.2246467991473532e-16, a)
    return where(y < 0.0, -a, a)


@kernel
def atan2_dual(y, x):
    """d atan2(y, x) = (x dy - y dx) / (x² + y²)."""
    yv, xv = value_of(y), value_of(x)
    r = 1.0 / (xv * xv + yv * yv)
    dy = chain(atan2(yv, xv), xv * r, y + 0.0 * x)
    return dy + chain(0.0, -yv * r, x + 0.0 * y)


@overload(sincos)
def _sincos(x):
    if x == dual:
        return lambda x: sincos_dual(x)
    if isinstance(x, LaneType):
        if x.bits == 32:
            return lambda x: sincos_single(x)
        return lambda x: sincos_double(x)
    if is_real(x):
        return lambda x: sincos_double(1.0 * x)


@overload(atan2)
def _atan2(y, x):
    if dual in (x, y):
        return lambda y, x: atan2_dual(y, x)
    if is_real(y) and is_real(x):
        return lambda y, x: atan2_real(1.0 * y, 1.0 * x)
    return lambda y, x: atan2_real(y, x)
