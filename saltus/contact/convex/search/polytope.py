"""A polytope inside A - B that grows towards its boundary: its faces, as triangles seen from outside.

A face has eight numbers: outward normal, distance of its plane from the origin (m), and its three vertices. Faces are
contiguous in memory; the last one replaces a removed one.
"""

import math

from saltus.contact.convex.search.pair_area import W, vertex_at
from saltus.number.intrinsics.memory import get, get3, get_int, put, put3, put_int
from saltus.number.kernels import kernel
from saltus.spatial.vectors import cross, dot3, scale3, sub3

FACE_NUMBERS, FACE_DIST, FACE_VERTICES = 8, 3, 4
NEVER = 1e300  # distance of a face without a normal
MOST_FACES = 768


@kernel(inline=True)
def face_at(f, k):
    """The address of face k of those at address f."""
    return f + 8 * FACE_NUMBERS * k


@kernel
def write_face(v, f, k, i, j, o):
    """Write face k with vertices i, j, o in this order, counterclockwise as seen from outside."""
    a, b, c = get3(vertex_at(v, i), W), get3(vertex_at(v, j), W), get3(vertex_at(v, o), W)
    ab, ac = sub3(b, a), sub3(c, a)
    normal = cross(ab, ac)
    square = dot3(normal, normal)
    at = face_at(f, k)
    if square > 1e-28 * dot3(ab, ab) * dot3(ac, ac):
        normal = scale3(1.0 / math.sqrt(square), normal)
        put(at, FACE_DIST, dot3(normal, a))
    else:
        normal = (0.0, 0.0, 0.0)
        put(at, FACE_DIST, NEVER)
    put3(at, 0, normal)
    put_int(at, FACE_VERTICES, i)
    put_int(at, FACE_VERTICES + 1, j)
    put_int(at, FACE_VERTICES + 2, o)


@kernel
def tetrahedron(v, f):
    """The faces of vertices 0 to 3."""
    a, b, c, d = get3(vertex_at(v, 0), W), get3(vertex_at(v, 1), W), get3(vertex_at(v, 2), W), get3(vertex_at(v, 3), W)
    i, j = (1, 2) if dot3(cross(sub3(b, a), sub3(c, a)), sub3(d, a)) < 0.0 else (2, 1)
    write_face(v, f, 0, 0, i, j)
    write_face(v, f, 1, 0, 3, i)
    write_face(v, f, 2, 0, j, 3)
    write_face(v, f, 3, 3, j, i)


@kernel(inline=True)
def nearest_face(f, n):
    """The face whose plane is nearest to the origin."""
    best, least = 0, get(f, FACE_DIST)
    for k in range(1, n):
        dist = get(face_at(f, k), FACE_DIST)
        if dist < least:
            best, least = k, dist
    return best


@kernel
def grow(v, f, e, n, new, rounding):
    """Replace the faces visible from vertex `new` by those from it to their outline; returns the number of faces.

    e: address for edges, two numbers each; a face is visible from points more than `rounding` (m) beyond its plane. The
    result is 0 if rounding has left no outline, or memory is full.
    """
    w = get3(vertex_at(v, new), W)
    edges, k = 0, 0
    while k < n:
        at = face_at(f, k)
        if dot3(get3(at, 0), w) - get(at, FACE_DIST) > rounding or get(at, FACE_DIST) == NEVER:
            edges = outline_with(e, edges, get_int(at, FACE_VERTICES), get_int(at, FACE_VERTICES + 1))
            edges = outline_with(e, edges, get_int(at, FACE_VERTICES + 1), get_int(at, FACE_VERTICES + 2))
            edges = outline_with(e, edges, get_int(at, FACE_VERTICES + 2), get_int(at, FACE_VERTICES))
            n -= 1
            for part in range(FACE_NUMBERS):
                put_int(at, part, get_int(face_at(f, n), part))
        else:
            k += 1
    if edges < 3 or n + edges > MOST_FACES:
        return 0
    for k in range(edges):
        write_face(v, f, n + k, get_int(e, 2 * k), get_int(e, 2 * k + 1), new)
    return n + edges


@kernel
def outline_with(e, edges, i, j):
    """Add the edge from vertex i to j to the outline, or remove its reverse, which is inside; returns their number."""
    for k in range(edges):
        if get_int(e, 2 * k) == j and get_int(e, 2 * k + 1) == i:
            put_int(e, 2 * k, get_int(e, 2 * edges - 2))
            put_int(e, 2 * k + 1, get_int(e, 2 * edges - 1))
            return edges - 1
    put_int(e, 2 * edges, i)
    put_int(e, 2 * edges + 1, j)
    return edges + 1
