"""The support function of a mesh's convex hull: the vertex farthest in a direction, by hill climbing along edges.

A vertex of a convex polytope that is no lower than its neighbours is the highest. The climb begins at the vertex that
is highest in the middle direction of a cell of a cube's surface, which was computed when the model was loaded.
"""

from saltus.model.contact.hulls import CELLS
from saltus.number.intrinsics.blocks import higher_of_block
from saltus.number.kernels import kernel


@kernel(inline=True)
def along(m, k, u):
    """Coordinate (m) of vertex k along direction u [3], in the geom's frame."""
    x = m.hull_vert[k]
    return u[0] * x[0] + u[1] * x[1] + u[2] * x[2]


@kernel(inline=True)
def seed(m, h, u):
    """The vertex of hull h at which the climb in direction u begins."""
    x, y, z = abs(u[0]), abs(u[1]), abs(u[2])
    if x >= y and x >= z:
        side, main, a, b = 0, u[0], u[1], u[2]
    elif y >= z:
        side, main, a, b = 2, u[1], u[2], u[0]
    else:
        side, main, a, b = 4, u[2], u[0], u[1]
    if main < 0.0:
        side += 1
    scale = 0.5 * CELLS / abs(main)
    i = min(max(int(0.5 * CELLS + scale * a), 0), CELLS - 1)
    j = min(max(int(0.5 * CELLS + scale * b), 0), CELLS - 1)
    return m.hull_seed[((h * 6 + side) * CELLS + i) * CELLS + j]


@kernel
def highest(m, h, u, last):
    """The vertex of hull h that is farthest in direction u; `last`: a vertex to begin with, or -1."""
    best = seed(m, h, u)
    most = along(m, best, u)
    if last >= 0:
        other = along(m, last, u)
        if other > most:
            best, most = last, other
    at = -1
    while at != best:
        at = best
        for block in range(m.hull_edgeadr[at], m.hull_edgeadr[at + 1]):
            k, height = higher_of_block(m.hull_star, block, u[0], u[1], u[2], most)
            if k >= 0:
                best, most = m.hull_edge[block, k], height
    return best
