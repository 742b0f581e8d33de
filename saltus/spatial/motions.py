"""Spatial vectors as 6-tuples: motions (angular, linear) and forces (torque, force).

Vectors are expressed in world axes about one point for a whole kinematic tree (its centre of mass), so that quantities
of different bodies add without transformation, as in MuJoCo. A rigid-body inertia is ten numbers: the inertia matrix
about that point (xx, yy, zz, xy, xz, yz), mass times offset of the centre of mass (x, y, z), mass. See Featherstone,
Rigid Body Dynamics Algorithms (2008), chapter 2.
"""

from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, cross


@kernel(inline=True)
def add6(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@kernel(inline=True)
def sub6(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5]


@kernel(inline=True)
def scale6(s, a):
    """s a."""
    return s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5]


@kernel(inline=True)
def add_scaled6(a, s, b):
    """a + s b."""
    return (
        a[0] + s * b[0],
        a[1] + s * b[1],
        a[2] + s * b[2],
        a[3] + s * b[3],
        a[4] + s * b[4],
        a[5] + s * b[5],
    )


@kernel(inline=True)
def dot6(a, b):
    """Power of a force on a motion, a · b."""
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@kernel(inline=True)
def velocity_at(v, r):
    """Velocity of a point at r from the reference point, for a spatial velocity v: linear part + angular part × r."""
    return add3((v[3], v[4], v[5]), cross((v[0], v[1], v[2]), r))


@kernel(inline=True)
def acceleration_at(v, a, r):
    """Acceleration of a body's point at r, for its velocity v and spatial acceleration a: a + α × r + ω × velocity."""
    return add3(velocity_at(a, r), cross((v[0], v[1], v[2]), velocity_at(v, r)))


@kernel(inline=True)
def add10(a, b):
    """Sum of two rigid-body inertias."""
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
        a[9] + b[9],
    )


@kernel(inline=True)
def cross_motion(v, s):
    """Rate of change of a motion s fixed in a body moving with v: v × s (Featherstone 2008, eq. 2.31)."""
    return (
        v[1] * s[2] - v[2] * s[1],
        v[2] * s[0] - v[0] * s[2],
        v[0] * s[1] - v[1] * s[0],
        v[1] * s[5] - v[2] * s[4] + v[4] * s[2] - v[5] * s[1],
        v[2] * s[3] - v[0] * s[5] + v[5] * s[0] - v[3] * s[2],
        v[0] * s[4] - v[1] * s[3] + v[3] * s[1] - v[4] * s[0],
    )


@kernel(inline=True)
def cross_force(v, f):
    """Rate of change of a force f fixed in a body moving with v: v ×* f (Featherstone 2008, eq. 2.32)."""
    return (
        v[1] * f[2] - v[2] * f[1] + v[4] * f[5] - v[5] * f[4],
        v[2] * f[0] - v[0] * f[2] + v[5] * f[3] - v[3] * f[5],
        v[0] * f[1] - v[1] * f[0] + v[3] * f[4] - v[4] * f[3],
        v[1] * f[5] - v[2] * f[4],
        v[2] * f[3] - v[0] * f[5],
        v[0] * f[4] - v[1] * f[3],
    )


@kernel(inline=True)
def inertia_times_motion(i, v):
    """Spatial momentum I v of a rigid-body inertia moving with v."""
    return (
        i[0] * v[0] + i[3] * v[1] + i[4] * v[2] - i[8] * v[4] + i[7] * v[5],
        i[3] * v[0] + i[1] * v[1] + i[5] * v[2] + i[8] * v[3] - i[6] * v[5],
        i[4] * v[0] + i[5] * v[1] + i[2] * v[2] - i[7] * v[3] + i[6] * v[4],
        i[8] * v[1] - i[7] * v[2] + i[9] * v[3],
        i[6] * v[2] - i[8] * v[0] + i[9] * v[4],
        i[7] * v[0] - i[6] * v[1] + i[9] * v[5],
    )


@kernel(inline=True)
def unit_wrench(arm, direction):
    """Spatial force (torque, force) of the force `direction` at `arm` from the reference point."""
    torque = cross(arm, direction)
    return torque[0], torque[1], torque[2], direction[0], direction[1], direction[2]
