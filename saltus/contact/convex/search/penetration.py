"""Penetration depth of two convex cores: the point of the boundary of A - B nearest to the origin (EPA).

Van den Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3.8: a polytope about the origin
grows by the support point in the direction of its nearest face, until that face is on the boundary. For polytopes the
result is exact; for curved surfaces the depth is accurate to `CURVED` times the size of A - B. If the depth is almost
equal in many directions, which takes many points, the best direction tried so far is taken in the end.
"""

from saltus.contact.convex.search.pair_area import (
    ID1,
    ID2,
    VERTEX_NUMBERS,
    A,
    W,
    find_vertex,
    is_known,
    vertex_at,
    write_result,
)
from saltus.contact.convex.search.polytope import (
    FACE_DIST,
    FACE_NUMBERS,
    FACE_VERTICES,
    MOST_FACES,
    NEVER,
    face_at,
    grow,
    nearest_face,
    tetrahedron,
)
from saltus.number.intrinsics.memory import get, get3, get_int, put_int, stack_area
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3

MOST_VERTICES = 256
CURVED, COPLANAR, ROUNDING = 1e-10, 1e-12, 1e-15  # relative to the size of A - B
VERTEX_AREA = MOST_VERTICES * VERTEX_NUMBERS
FACE_AREA = MOST_FACES * FACE_NUMBERS
EDGE_AREA = 2 * 3 * MOST_FACES
FLAT = 1e-7  # relative threshold of flatness
SIN60 = 0.8660254037844386


@kernel
def penetration(m, p, v, n):
    """Search for the depth of pair p from the n vertices that a search for its distance left at address v.

    Returns whether it was found: normal, distance (m, minus the depth) and point are then written, and the three
    vertices of the nearest face are the first at v.
    """
    f, e = stack_area(FACE_AREA), stack_area(EDGE_AREA)
    if not completed(m, p, v, n):
        return False
    tetrahedron(v, f)
    faces, vertices, size = 4, 4, 0.0
    for k in range(4):
        size = max(size, widest(get3(vertex_at(v, k), W)))
    face = nearest_face(f, faces)
    # the tried direction with the least support function of A - B, and its point of the first core
    least, direction, point = NEVER, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    while True:
        at = face_at(f, face)
        normal, depth = get3(at, 0), get(at, FACE_DIST)
        i, j, o = get_int(at, FACE_VERTICES), get_int(at, FACE_VERTICES + 1), get_int(at, FACE_VERTICES + 2)
        if depth == NEVER:
            return False
        # memory is full, or rounding has reversed a face, so that the origin is outside
        if vertices == MOST_VERTICES or (depth < -CURVED * size and least < NEVER):
            write_result(p, direction, -least, point)
            first_three(v, i, j, o)
            return True
        new = vertex_at(v, vertices)
        find_vertex(m, p, new, normal)
        w = get3(new, W)
        size = max(size, widest(w))
        if dot3(normal, w) < least:
            least, direction, point = dot3(normal, w), normal, get3(new, A)
        numbered = get_int(new, ID1) >= 0 and get_int(new, ID2) >= 0
        if dot3(normal, w) - depth <= (4.0 * ROUNDING if numbered else CURVED) * size or is_known(v, vertices):
            break
        # points of a flat end or of a ruled side are coplanar up to rounding, which is larger for curves
        faces = grow(v, f, e, faces, vertices, (ROUNDING if numbered else COPLANAR) * size)
        if faces == 0:
            break
        vertices += 1
        face = nearest_face(f, faces)
    write_result(p, normal, -depth, point_of_face(v, i, j, o, normal, depth))
    first_three(v, i, j, o)
    return True


@kernel(inline=True)
def widest(w):
    """The largest component of a vector."""
    return max(abs(w[0]), max(abs(w[1]), abs(w[2])))


@kernel
def point_of_face(v, i, j, o, normal, depth):
    """The point of the first core (m) that corresponds to the point of a face nearest to the origin."""
    q = scale3(depth, normal)
    a, b, c = (
        sub3(get3(vertex_at(v, i), W), q),
        sub3(get3(vertex_at(v, j), W), q),
        sub3(get3(vertex_at(v, o), W), q),
    )
    x, y, z = dot3(normal, cross(b, c)), dot3(normal, cross(c, a)), dot3(normal, cross(a, b))
    scale = 1.0 / (x + y + z)
    point = scale3(x * scale, get3(vertex_at(v, i), A))
    point = add_scaled3(point, y * scale, get3(vertex_at(v, j), A))
    return add_scaled3(point, z * scale, get3(vertex_at(v, o), A))


@kernel
def first_three(v, i, j, o):
    """Move vertices i, j, o to the first places."""
    s = stack_area(3 * VERTEX_NUMBERS)
    for k in range(VERTEX_NUMBERS):
        put_int(s, k, get_int(vertex_at(v, i), k))
        put_int(vertex_at(s, 1), k, get_int(vertex_at(v, j), k))
        put_int(vertex_at(s, 2), k, get_int(vertex_at(v, o), k))
    for k in range(3 * VERTEX_NUMBERS):
        put_int(v, k, get_int(s, k))


# ---------------------------------------------------------------- flat simplices


@kernel
def completed(m, p, v, n):
    """Add vertices up to a tetrahedron; returns whether one that is not flat exists.

    The origin is then inside or, if the cores only touch, on the boundary.
    """
    if n == 1:
        n = second_vertex(m, p, v)
    if n == 2:
        n = third_vertex(m, p, v)
    if n == 3:
        n = fourth_vertex(m, p, v)
    return n == 4


@kernel
def second_vertex(m, p, v):
    """Add a vertex away from the first; returns the number of vertices."""
    a = get3(vertex_at(v, 0), W)
    for k in range(6):
        sign = 1.0 - 2.0 * (k % 2)
        u = (sign if k < 2 else 0.0, sign if k == 2 or k == 3 else 0.0, sign if k > 3 else 0.0)
        find_vertex(m, p, vertex_at(v, 1), u)
        ab = sub3(get3(vertex_at(v, 1), W), a)
        if dot3(ab, ab) > FLAT * FLAT * dot3(a, a):
            return 2
    return 1


@kernel
def third_vertex(m, p, v):
    """Add a vertex away from the line of the first two, in one of six directions about it."""
    a = get3(vertex_at(v, 0), W)
    ab = sub3(get3(vertex_at(v, 1), W), a)
    x, y, z = abs(ab[0]), abs(ab[1]), abs(ab[2])
    axis = (1.0, 0.0, 0.0) if x <= y and x <= z else (0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0)
    one = cross(ab, axis)
    length = dot3(ab, ab)
    two = scale3(1.0 / length**0.5, cross(ab, one))
    for k in range(6):
        c = 1.0 if k == 0 else -1.0 if k == 3 else 0.5 if k == 1 or k == 5 else -0.5
        s = 0.0 if k == 0 or k == 3 else SIN60 if k < 3 else -SIN60
        find_vertex(m, p, vertex_at(v, 2), add_scaled3(scale3(c, one), s, two))
        area = cross(ab, sub3(get3(vertex_at(v, 2), W), a))
        if dot3(area, area) > FLAT * FLAT * length * length:
            return 3
    return 2


@kernel
def fourth_vertex(m, p, v):
    """Add a vertex away from the plane of the first three, on the side of the origin if that is off the plane."""
    a, b, c = get3(vertex_at(v, 0), W), get3(vertex_at(v, 1), W), get3(vertex_at(v, 2), W)
    normal = cross(sub3(b, a), sub3(c, a))
    if dot3(normal, a) > 0.0:
        normal = scale3(-1.0, normal)
    for _ in range(2):
        find_vertex(m, p, vertex_at(v, 3), normal)
        ad = sub3(get3(vertex_at(v, 3), W), a)
        volume = dot3(normal, ad)
        if volume * volume > FLAT * FLAT * dot3(normal, normal) * dot3(ad, ad):
            return 4
        normal = scale3(-1.0, normal)
    return 3
