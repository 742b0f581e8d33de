"""Normals of contacts between faces at a small angle, each from the features that meet there.

If contacts are located in time, the normal must be the gradient of the gap: a body sliding on a corner under the normal
of its own tilted face would sink or rise. A corner of one geom over the other's face has that face's normal, and two
crossing edges have the normal perpendicular to both.
"""

from saltus.contact.convex.faces import FACE
from saltus.number.intrinsics.memory import get3
from saltus.number.kernels import kernel
from saltus.spatial.vectors import cross, dot3, scale3, sub3

SAME = 1e-9  # relative to an edge's length: nearer points are on the edge
PARALLEL = 1e-6  # sine of the angle of edges that count as parallel


@kernel
def corner_normal(base, corners, normal, own, count, outward, x):
    """Unit normal of a contact at the point x (m) of a clipped face, or edge, towards the face that clipped it.

    base: the `corners` corners of the clipping face, with the outward unit `normal`. own: the `count` corners of the
    clipped face or edge, with the unit normal `outward`; the normal of an edge is opposite to the face's.
    """
    opposite = scale3(-1.0, normal)
    for i in range(count):
        apart = sub3(x, get3(own, 3 * i))
        if dot3(apart, apart) == 0.0:
            return opposite
    # edges of the face below the point
    found, along = 0, opposite
    for i in range(corners):
        a, b = get3(base, 3 * i), get3(base, 3 * (i + 1) if i + 1 < corners else 0)
        edge = sub3(b, a)
        inward = cross(edge, normal)
        length = dot3(edge, edge) ** 0.5
        if abs(dot3(sub3(x, a), inward)) <= SAME * length * length:
            found, along = found + 1, scale3(1.0 / length, edge)
    if found > 1:
        return outward
    if found == 1:
        return across_edges(own, count, along, normal, x)
    return opposite


@kernel
def across_edges(own, count, along, normal, x):
    """Unit normal perpendicular to a direction and to the edge, of those between corners at `own`, at point x (m)."""
    opposite = scale3(-1.0, normal)
    for i in range(count):
        a, b = get3(own, 3 * i), get3(own, 3 * (i + 1) if i + 1 < count else 0)
        edge, apart = sub3(b, a), sub3(x, a)
        length = dot3(edge, edge) ** 0.5
        off = cross(apart, edge)
        if dot3(off, off) <= (SAME * length * length) ** 2:
            over = cross(scale3(1.0 / length, edge), along)
            size = dot3(over, over) ** 0.5
            if size > PARALLEL:
                over = scale3((-1.0 if dot3(over, normal) > 0.0 else 1.0) / size, over)
                if dot3(over, opposite) > FACE:
                    return over
    return opposite
