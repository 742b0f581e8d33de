"""Distance of two convex cores: the point of their Minkowski difference A - B nearest to the origin (GJK).

Gilbert, Johnson, Keerthi (1988): a simplex of A - B approaches the origin, by the support point in the direction from
its nearest point v to the origin. Every support point w bounds the distance from below, by v·w/|v|, and the search ends
when that exceeds the requested distance.
"""

import math

from saltus.contact.convex.search.pair_area import (
    AXIS,
    GAP,
    SHIFT,
    A,
    W,
    copy_vertex,
    find_vertex,
    is_known,
    vertex_at,
    write_result,
)
from saltus.contact.convex.search.simplex import weights_of_segment, weights_of_tetrahedron, weights_of_triangle
from saltus.number.intrinsics.memory import get3, put, put3
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, dot3, scale3

APART, SEPARATE, OVERLAP = range(3)  # beyond the requested distance; separate; touching or overlapping
MOST = 100  # most steps
EXACT = 1e-13  # relative gap between the bounds of the squared distance at which the search ends
TOUCHING = 1e-11  # relative to the size of A - B: smaller distances are left to EPA, which needs no direction


@kernel
def distance(m, p, v, enough):
    """Search for the distance of pair p up to `enough` (m); returns the kind of result and the last simplex's size.

    v: address of four vertices. If the cores are separate, normal, distance and point are written; if they are beyond
    the requested distance, a separating direction.
    """
    x = scale3(-1.0, get3(p, SHIFT))
    if dot3(x, x) == 0.0:
        x = (1.0, 0.0, 0.0)
    n, largest, point = 0, 0.0, (0.0, 0.0, 0.0)
    square, reach = dot3(x, x), max(enough, 0.0)
    for k in range(MOST):
        find_vertex(m, p, vertex_at(v, n), scale3(-1.0, x))
        w = get3(vertex_at(v, n), W)
        ahead = dot3(x, w)
        if ahead > 0.0 and ahead * ahead > reach * reach * square:
            put3(p, AXIS, x)
            put(p, GAP, ahead / math.sqrt(square))
            return APART, 0
        if k > 0 and (square - ahead <= EXACT * square or is_known(v, n)):
            break
        n, weights, inside = reduced(v, n + 1)
        if inside:
            return OVERLAP, 4
        largest = max(largest, dot3(w, w))
        nearer = weighted(v, n, weights, W)
        if k > 0 and dot3(nearer, nearer) >= square:
            break  # rounding: with simplices of almost no volume points may even be farther away
        x, square, point = nearer, dot3(nearer, nearer), weighted(v, n, weights, A)
        if square <= TOUCHING * TOUCHING * largest:
            return OVERLAP, n
    dist = math.sqrt(square)
    write_result(p, scale3(-1.0 / dist, x), dist, point)
    return SEPARATE, n


@kernel(inline=True)
def weighted(v, n, weights, part):
    """The combination of vertices, of their differences w or points a (m), with given weights."""
    x = scale3(weights[0], get3(vertex_at(v, 0), part))
    if n > 1:
        x = add_scaled3(x, weights[1], get3(vertex_at(v, 1), part))
    if n > 2:
        x = add_scaled3(x, weights[2], get3(vertex_at(v, 2), part))
    return x


@kernel
def reduced(v, n):
    """Keep the vertices that determine the point nearest to the origin: number, weights, whether it is the origin."""
    a = get3(vertex_at(v, 0), W)
    if n == 1:
        return 1, (1.0, 0.0, 0.0, 0.0), False
    b = get3(vertex_at(v, 1), W)
    inside = False
    if n == 2:
        s = weights_of_segment(a, b)
        w = (s[0], s[1], 0.0, 0.0)
    else:
        c = get3(vertex_at(v, 2), W)
        if n == 3:
            t = weights_of_triangle(a, b, c)
            w = (t[0], t[1], t[2], 0.0)
        else:
            w, inside = weights_of_tetrahedron(a, b, c, get3(vertex_at(v, 3), W))
    if inside:
        return 4, w, True
    kept, t0, t1, t2 = 0, 0.0, 0.0, 0.0
    for k in range(n):
        t = w[0] if k == 0 else w[1] if k == 1 else w[2] if k == 2 else w[3]
        if t > 0.0:
            copy_vertex(v, k, kept)
            t0, t1, t2 = t if kept == 0 else t0, t if kept == 1 else t1, t if kept == 2 else t2
            kept += 1
    return kept, (t0, t1, t2, 0.0), False
