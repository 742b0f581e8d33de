"""Unit quaternions (w, x, y, z) as active rotations, in MuJoCo's convention; exponential and logarithm.

The exponential and logarithm relate a quaternion to the rotation vector (axis times angle). See Solà, Deray &
Atchuthan, A micro Lie theory for state estimation in robotics (2018), section IV and appendix B.
"""

from saltus.number.functions import atan2, sincos, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3

SHORTEST = 1e-15  # mjMINVAL: a shorter quaternion counts as zero
SMALL = 1e-12  # squared angle below which the first terms of the series are exact in double precision


@kernel(inline=True)
def quat_multiply(a, b):
    """Hamilton product a b: first b, then a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel(inline=True)
def quat_conjugate(q):
    """Conjugate: the inverse rotation of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


@kernel(inline=True)
def quat_normalize(q):
    """q / |q|; the identity if |q| is below 1e-15, as in mju_normalize4."""
    q = quat_or_one(q)
    s = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return s * q[0], s * q[1], s * q[2], s * q[3]


@kernel(inline=True)
def quat_or_one(q):
    """q, or the identity if q is too short to have a direction."""
    none = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < SHORTEST * SHORTEST
    zero = 0.0 * q[0]
    return where(none, 1.0 + zero, q[0]), where(none, zero, q[1]), where(none, zero, q[2]), where(none, zero, q[3])


@kernel(inline=True)
def quat_rotate(q, a):
    """Rotate a by q: a + 2 w (v × a) + 2 v × (v × a)."""
    v = (q[1], q[2], q[3])
    t = cross(v, a)
    u = cross(v, t)
    w = q[0]
    return (
        a[0] + 2.0 * (w * t[0] + u[0]),
        a[1] + 2.0 * (w * t[1] + u[1]),
        a[2] + 2.0 * (w * t[2] + u[2]),
    )


@kernel(inline=True)
def quat_to_matrix(q):
    """Rotation matrix of a unit quaternion."""
    xx, yy, zz = 2.0 * q[1] * q[1], 2.0 * q[2] * q[2], 2.0 * q[3] * q[3]
    xy, xz, yz = 2.0 * q[1] * q[2], 2.0 * q[1] * q[3], 2.0 * q[2] * q[3]
    wx, wy, wz = 2.0 * q[0] * q[1], 2.0 * q[0] * q[2], 2.0 * q[0] * q[3]
    return (
        1.0 - (yy + zz),
        xy - wz,
        xz + wy,
        xy + wz,
        1.0 - (xx + zz),
        yz - wx,
        xz - wy,
        yz + wx,
        1.0 - (xx + yy),
    )


@kernel(inline=True)
def axis_angle_to_quat(axis, angle):
    """Rotation by an angle about a unit axis."""
    s, c = sincos(0.5 * angle)
    return c, s * axis[0], s * axis[1], s * axis[2]


@kernel
def quat_exp(v):
    """Exponential: the rotation with rotation vector v, (cos |v|/2, sin(|v|/2) v/|v|)."""
    square = dot3(v, v)
    small = square < SMALL
    angle = sqrt(where(small, 1.0 + 0.0 * square, square))
    s, c = sincos(0.5 * angle)
    # first terms of the series near zero
    s = where(small, 0.5 - square / 48.0, s / angle)
    c = where(small, 1.0 - 0.125 * square, c)
    return c, s * v[0], s * v[1], s * v[2]


@kernel
def quat_log(q):
    """Logarithm: rotation vector of a unit quaternion, of length at most pi."""
    v = (q[1], q[2], q[3])
    square = dot3(v, v)
    small = square < SMALL
    sine = sqrt(where(small, 1.0 + 0.0 * square, square))
    # the shorter of the two rotations
    sign = where(q[0] < 0.0, -1.0 + 0.0 * sine, 1.0 + 0.0 * sine)
    w = sign * q[0]
    factor = where(small, 2.0 + square / 3.0, 2.0 * atan2(sine, w) / sine)
    return scale3(sign * factor, v)


@kernel
def dexp_inverse(v, w):
    """Inverse of the right Jacobian of the exponential at v, applied to w.

    If q(t) = q0 exp(v(t)) rotates with angular velocity w in body axes, then dv/dt = dexp_inverse(v, w) = w +
    v×w/2 + c v×(v×w) with c = (1 - (|v|/2) cot(|v|/2)) / |v|² (Iserles et al., Lie-group methods (2000), eq. 2.46
    and B.11). c is the sum of 2/(4π² - |v|²), which diverges towards a full turn, and a series whose coefficients are
    2 (ζ(2k) - 1)/(2π)^2k: accurate to 1e-14 up to |v| = 2 and to 1e-10 up to pi.
    """
    z = dot3(v, v)
    c = 2.0742872904166046e-11 + z * (1.3000482138698974e-13 + z * (8.1960520556910086e-16 + z * 5.180118196169724e-18))
    c = 1.0564110705334699e-4 + z * (5.6373702828768453e-7 + z * (3.3571419266574514e-9 + z * c))
    c = 0.032672741512164448 + z * c + 2.0 / (39.47841760435743 - z)
    a = cross(v, w)
    return add_scaled3(add_scaled3(w, 0.5, a), c, cross(v, a))


@kernel
def dexp(v, w):
    """Right Jacobian of the exponential at v, applied to w: the inverse of `dexp_inverse`.

    w - a v×w + b v×(v×w) with a = (1 - cos|v|)/|v|², b = (|v| - sin|v|)/|v|³, from their series: exact to rounding for
    |v| up to 0.3; the error grows as |v|¹², to 2e-10 at 1.
    """
    z = dot3(v, v)
    a = 0.5 - z * (1.0 / 24.0 - z * (1.0 / 720.0 - z * (1.0 / 40320.0 - z * (1.0 / 3628800.0 - z / 479001600.0))))
    b = 1.0 / 6.0 - z * (1.0 / 120.0 - z * (1.0 / 5040.0 - z * (1.0 / 362880.0 - z * (1.0 / 39916800.0))))
    turn = cross(v, w)
    return add_scaled3(add_scaled3(w, -a, turn), b, cross(v, turn))
