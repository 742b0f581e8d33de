"""Memory of a search for the contact of two convex shapes, in the frame of the first geom.

Vertices of the Minkowski difference A - B take eight numbers each: w = a - b, a (m), and the numbers of both points.
"""

from saltus.contact.convex.search.support import support
from saltus.number.intrinsics.memory import get3, get9, get_int, put, put3, put_int
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, matrix_times_vector, scale3, sub3, transpose_times_vector

# places in the area of a pair: axes of the second geom as columns and its position (m), sizes (m), kinds, hulls, the
# numbers of the last support points; results: normal, distance (m), point of the first shape (m); a separating
# direction of the cores, and the separation along it (m); numbers of the geoms
ROT, SHIFT, SIZE1, SIZE2 = 0, 9, 12, 15
KIND1, KIND2, HULL1, HULL2, LAST1, LAST2 = range(18, 24)
NORMAL, DIST, POINT = 24, 27, 28
AXIS = 31
GAP = 34
GEOM1, GEOM2 = 35, 36
PAIR_NUMBERS = 37

# places in a vertex
W, A, ID1, ID2 = 0, 3, 6, 7
VERTEX_NUMBERS = 8


@kernel
def find_vertex(m, p, at, u):
    """Write the vertex of A - B farthest in direction u at the address `at`."""
    x = support(m, get_int(p, KIND1), get_int(p, HULL1), get3(p, SIZE1), u, get_int(p, LAST1))
    rot = get9(p, ROT)
    back = scale3(-1.0, transpose_times_vector(rot, u))
    y = support(m, get_int(p, KIND2), get_int(p, HULL2), get3(p, SIZE2), back, get_int(p, LAST2))
    put_int(p, LAST1, x[3])
    put_int(p, LAST2, y[3])
    a = x[0], x[1], x[2]
    b = add3(get3(p, SHIFT), matrix_times_vector(rot, (y[0], y[1], y[2])))
    put3(at, W, sub3(a, b))
    put3(at, A, a)
    put_int(at, ID1, x[3])
    put_int(at, ID2, y[3])


@kernel(inline=True)
def vertex_at(v, k):
    """The address of vertex k of those at address v."""
    return v + 8 * VERTEX_NUMBERS * k


@kernel(inline=True)
def copy_vertex(v, k, to):
    """Copy vertex k to place `to`."""
    if k != to:
        for i in range(VERTEX_NUMBERS):
            put_int(vertex_at(v, to), i, get_int(vertex_at(v, k), i))


@kernel(inline=True)
def is_known(v, n):
    """Whether vertex n is the difference of the same two numbered points as one of the vertices before it."""
    one, two = get_int(vertex_at(v, n), ID1), get_int(vertex_at(v, n), ID2)
    if one < 0 or two < 0:
        return False
    k = n - 1
    while k >= 0 and (get_int(vertex_at(v, k), ID1) != one or get_int(vertex_at(v, k), ID2) != two):
        k -= 1
    return k >= 0


@kernel(inline=True)
def write_result(p, normal, dist, point):
    """Set normal, distance (m) and point of the first core (m)."""
    put3(p, NORMAL, normal)
    put(p, DIST, dist)
    put3(p, POINT, point)
