"""Joints at both ends of a step: their rotations, and the motions and forces that they pass on.

A joint turns the body's frame about an anchor, or moves it along an axis. A motion (angular, linear at the frame's
origin) of the frame before the joint becomes, in the frame after it, that of the same rigid body; a force (moment about
the origin, force) goes the other way. Across rotations both are taken at the anchor.
"""

from saltus.model.enums import BALL, FREE
from saltus.number.functions import sincos, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.fields import load4
from saltus.spatial.quaternions import (
    axis_angle_to_quat,
    quat_conjugate,
    quat_normalize,
    quat_rotate,
)
from saltus.spatial.vectors import add3, cross, dot3, scale3, sub3

SMALL = 1e-6  # squared angle below which two terms of the series are exact in double precision


@kernel(inline=True)
def join(w, v):
    """(w, v) as one 6-tuple."""
    return w[0], w[1], w[2], v[0], v[1], v[2]


@kernel(inline=True)
def upper(x):
    """Angular part of a motion, moment of a force."""
    return x[0], x[1], x[2]


@kernel(inline=True)
def lower(x):
    """Linear part of a motion, resultant of a force."""
    return x[3], x[4], x[5]


@kernel
def turn(m, qpos, j):
    """Rotation of a hinge, ball or free joint j at positions qpos [nq], as a quaternion."""
    a = m.jnt_qposadr[j]
    kind = m.jnt_type[j]
    if kind == FREE:
        return quat_normalize(load4(qpos, a + 3))
    if kind == BALL:
        return quat_normalize(load4(qpos, a))
    return axis_angle_to_quat(m.jnt_axis[j], qpos[a] - m.qpos0[a])


@kernel(inline=True)
def slid(m, qpos, j):
    """Displacement (m) along slide j at positions qpos [nq]."""
    a = m.jnt_qposadr[j]
    return scale3(qpos[a] - m.qpos0[a], m.jnt_axis[j])


@kernel(inline=True)
def motion_at(x, r):
    """A motion about the point r instead of the origin."""
    return join(upper(x), add3(lower(x), cross(upper(x), r)))


@kernel(inline=True)
def force_at(f, r):
    """A force about the point r instead of the origin."""
    return join(sub3(upper(f), cross(r, lower(f))), lower(f))


@kernel(inline=True)
def rotated(q, x):
    """Both parts of a 6-tuple rotated by the quaternion q."""
    return join(quat_rotate(q, upper(x)), quat_rotate(q, lower(x)))


@kernel(inline=True)
def into(q, pos, x):
    """A motion x in the axes, and about the origin, of a frame at `pos` with orientation q."""
    return rotated(quat_conjugate(q), motion_at(x, pos))


@kernel(inline=True)
def out_of(q, pos, f):
    """A force f in a frame at `pos` with orientation q, in the axes, and about the origin, of the frame outside."""
    return force_at(rotated(q, f), scale3(-1.0, pos))


@kernel(inline=True)
def mean_rotated(p, q, x):
    """Mean of a 6-tuple rotated by the quaternions p and q."""
    a, b = rotated(p, x), rotated(q, x)
    return (
        0.5 * (a[0] + b[0]),
        0.5 * (a[1] + b[1]),
        0.5 * (a[2] + b[2]),
        0.5 * (a[3] + b[3]),
        0.5 * (a[4] + b[4]),
        0.5 * (a[5] + b[5]),
    )


@kernel(inline=True)
def mean_rotated3(p, q, x):
    """Mean of a vector rotated by the quaternions p and q."""
    return scale3(0.5, add3(quat_rotate(p, x), quat_rotate(q, x)))


@kernel
def cayley_factor(x):
    """tan(|x|/2) / (|x|/2) of a rotation vector x: its Cayley vector is x times this factor."""
    square = dot3(x, x)
    small = square < SMALL
    half = 0.5 * sqrt(where(small, 1.0 + 0.0 * square, square))
    s, c = sincos(half)
    return where(small, 1.0 + square * (1.0 / 12.0 + square / 120.0), s / (c * half))


@kernel(inline=True)
def crossed(a, f):
    """-(ω × n + v × l) of a motion a = (ω, v) and a force f = (n, l): power of f on a as a rotates, per radian."""
    return scale3(-1.0, add3(cross(upper(a), upper(f)), cross(lower(a), lower(f))))
