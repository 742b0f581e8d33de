"""The support function of a mesh's convex hull: the vertex farthest in a direction, by hill climbing along edges.

A vertex of a convex polytope that is no lower than its neighbours is the highest. The climb begins at the vertex that
is highest in the middle direction of a cell of a cube's surface, which was computed when the model was loaded.
"""

from saltus.model.contact.hulls import CELLS
from saltus.number.components import value_of
from saltus.number.conditions import has_tangents
from saltus.number.intrinsics.blocks import AT_ONCE, higher_of_block
from saltus.number.kernels import kernel


@kernel(inline=True)
def along(m, k, u):
    """Coordinate (m) of vertex k along direction u [3], in the geom's frame."""
    x = m.hull_vert[k]
    return u[0] * value_of(x[0]) + u[1] * value_of(x[1]) + u[2] * value_of(x[2])


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
            if has_tangents(m):
                k, height = higher_of_duals(m, block, u, most)
            else:
                k, height = higher_of_block(m.hull_star, block, u[0], u[1], u[2], most)
            if k >= 0:
                best, most = m.hull_edge[block, k], height
    return best


@kernel
def higher_of_duals(m, block, u, least):
    """`higher_of_block` of a Model of duals, whose numbers do not lie side by side."""
    best = -1
    for k in range(AT_ONCE):
        x = value_of(m.hull_star[block, k])
        y, z = value_of(m.hull_star[block, AT_ONCE + k]), value_of(m.hull_star[block, 2 * AT_ONCE + k])
        height = u[0] * x + u[1] * y + u[2] * z
        if height > least:
            best, least = k, height
    return best, least
