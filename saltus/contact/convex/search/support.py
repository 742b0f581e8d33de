"""Support functions: the point of a convex shape that lies farthest in a direction, in the frame of its geom.

Spheres and capsules are a core, point or segment, with a radius: the distance of two rounded shapes is that of their
cores less the radii, and the normal is the same.
"""

import math

from saltus.contact.convex.search.hull import highest
from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, SPHERE
from saltus.number.components import value_of
from saltus.number.intrinsics.memory import get3
from saltus.number.kernels import kernel


@kernel
def support(m, kind, hull, size, u, last):
    """The farthest point (m) of a core in direction u (of any length, not zero), and its number.

    kind: type of geom, a prism for a height field; hull: number of a mesh's hull, or address of a prism's corners; size
    [3] (m); last: the number of the previous point, or -1. Points of curved surfaces have the number -1.
    """
    if kind == MESH:
        k = highest(m, hull, u, last)
        x = m.hull_vert[k]
        return 1.0 * value_of(x[0]), 1.0 * value_of(x[1]), 1.0 * value_of(x[2]), k
    if kind == BOX:
        x = size[0] if u[0] >= 0.0 else -size[0]
        y = size[1] if u[1] >= 0.0 else -size[1]
        z = size[2] if u[2] >= 0.0 else -size[2]
        return x, y, z, (x > 0.0) + 2 * (y > 0.0) + 4 * (z > 0.0)
    if kind == CAPSULE:
        return 0.0, 0.0, size[1] if u[2] >= 0.0 else -size[1], 1 if u[2] >= 0.0 else 0
    if kind == CYLINDER:
        side = math.sqrt(u[0] * u[0] + u[1] * u[1])
        scale = size[0] / side if side > 1e-15 * abs(u[2]) else 0.0
        return scale * u[0], scale * u[1], size[1] if u[2] >= 0.0 else -size[1], -1
    if kind == ELLIPSOID:
        x, y, z = size[0] * u[0], size[1] * u[1], size[2] * u[2]
        scale = 1.0 / math.sqrt(x * x + y * y + z * z)
        return scale * size[0] * x, scale * size[1] * y, scale * size[2] * z, -1
    if kind == HFIELD:
        return of_prism(hull, u)
    return 0.0, 0.0, 0.0, 0


@kernel
def of_prism(corners, u):
    """The farthest corner of a prism, six points (m) at an address, and its number."""
    best, most = 0, -1e300
    for k in range(6):
        x = get3(corners, 3 * k)
        height = u[0] * x[0] + u[1] * x[1] + u[2] * x[2]
        if height > most:
            best, most = k, height
    x = get3(corners, 3 * best)
    return x[0], x[1], x[2], best


@kernel(inline=True)
def rounding_radius(kind, size):
    """The radius (m) of a shape about its core."""
    if kind == SPHERE or kind == CAPSULE:
        return size[0]
    return 0.0
