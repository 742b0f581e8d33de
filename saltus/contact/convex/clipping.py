"""Clipping of a polygon, or an edge, by a face (Sutherland and Hodgman, 1974).

Polygons are lists of corners (m), three numbers each; corners of faces are clockwise as seen from outside.
"""

from saltus.model.contact.hulls import MOST_CORNERS
from saltus.number.intrinsics.memory import get, get3, put, put3, stack_area
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, scale3, sub3

ROOM = 2 * MOST_CORNERS  # most corners of a clipped polygon: each edge may add one
POLYGON_AREA = 3 * ROOM
ON_EDGE = 1e-15  # m
SLACK = 1e-9  # relative


@kernel
def clip(face, corners, normal, reach, polygon, n, spare):
    """Clip a polygon of n corners by the edges of a face with `corners` corners.

    Parts farther than `reach` (m) in front of the face are also cut off. `spare`: memory for another polygon. Returns
    the number of corners of the result, and its address, which is one of the two polygons.
    """
    heights = stack_area(ROOM)
    source, target, first = polygon, spare, 0  # the first corner is number `first` in memory
    # edges that are farther than its radius from the polygon's middle cut off nothing
    middle, radius = middle_and_radius(polygon, n)
    for i in range(corners):
        a = get3(face, 3 * i)
        b = get3(face, 3 * (i + 1) if i + 1 < corners else 0)
        inward = cross(sub3(b, a), normal)
        inward = scale3(1.0 / dot3(inward, inward) ** 0.5, inward)
        height = dot3(sub3(middle, a), inward)
        if height > radius:
            least, most = height - radius, height + radius
        else:
            least, most = write_heights(source, n, a, inward, heights)
        if most <= -ON_EDGE:
            return 0, polygon
        if least > -ON_EDGE:
            first = first + 1 if first + 1 < n else 0
        else:
            n = clip_by_plane(source, n, first, heights, target)
            source, target, first = target, source, 0
    kept, origin = 0, get3(face, 0)
    for k in range(n):
        x = get3(source, 3 * (first + k if first + k < n else first + k - n))
        if dot3(sub3(x, origin), normal) <= reach:
            put3(target, 3 * kept, x)
            kept += 1
    return kept, target


@kernel
def middle_and_radius(polygon, n):
    """Mean of a polygon's corners, and a distance (m) from there beyond which no corner lies, nor would by rounding."""
    middle, most = get3(polygon, 0), 0.0
    for k in range(1, n):
        middle = add3(middle, get3(polygon, 3 * k))
    middle = scale3(1.0 / n, middle)
    for k in range(n):
        x = sub3(get3(polygon, 3 * k), middle)
        most = max(most, dot3(x, x))
    return middle, (1.0 + SLACK) * most**0.5


@kernel
def write_heights(source, n, point, inward, heights):
    """Write the corners' distances (m) to the inner side of a plane; returns the least and the largest."""
    least, most = 1e300, -1e300
    for k in range(n):
        height = dot3(sub3(get3(source, 3 * k), point), inward)
        put(heights, k, height)
        least, most = min(least, height), max(most, height)
    return least, most


@kernel
def clip_by_plane(source, n, first, heights, target):
    """Write the part of a polygon, from corner `first` on, inside a plane; returns its number of corners."""
    made, k = 0, first
    for _ in range(n):
        other = k + 1 if k + 1 < n else 0
        from_a, from_b = get(heights, k), get(heights, other)
        inside_a, inside_b = from_a > -ON_EDGE, from_b > -ON_EDGE
        if made + 2 > ROOM:
            return made
        b = get3(source, 3 * other)
        if inside_a != inside_b:
            t = from_a / (from_a - from_b)
            if t >= 0.0 and t <= 1.0:
                a = get3(source, 3 * k)
                put3(target, 3 * made, add_scaled3(a, t, sub3(b, a)))
                made += 1
        if inside_b:
            put3(target, 3 * made, b)
            made += 1
        k = other
    return made


@kernel
def ends_of(polygon, n):
    """The two corners of a clipped edge that are farthest from each other."""
    one, two, most = 0, 1, 0.0
    for i in range(n):
        for j in range(i + 1, n):
            between = sub3(get3(polygon, 3 * j), get3(polygon, 3 * i))
            if dot3(between, between) > most:
                one, two, most = i, j, dot3(between, between)
    return one, two


@kernel
def area(polygon, i, j, k, o):
    """Area (m²) of the quadrilateral of four corners in their order: half the product of its diagonals."""
    a, b, c, d = get3(polygon, 3 * i), get3(polygon, 3 * j), get3(polygon, 3 * k), get3(polygon, 3 * o)
    product = cross(sub3(c, a), sub3(d, b))
    return 0.5 * dot3(product, product) ** 0.5


@kernel
def widest_four(polygon, n, margin):
    """Four corners of a convex polygon that span a large area, by rotating calipers.

    For each first corner the last three advance while that increases the area by more than `margin` times the area.
    """
    i, j, k, o = 0, 1, 2, 3
    most, best = area(polygon, i, j, k, o), (0, 1, 2, 3)
    for first in range(n):
        i = first
        turning = True
        while turning:
            wider = area(polygon, i, j, k, (o + 1) % n)
            turning = wider > most + margin * most
            if turning:
                most, o = wider, (o + 1) % n
                wider = area(polygon, i, j, (k + 1) % n, o)
                while wider > most + margin * most:
                    most, k = wider, (k + 1) % n
                    wider = area(polygon, i, j, (k + 1) % n, o)
                wider = area(polygon, i, (j + 1) % n, k, o)
                while wider > most + margin * most:
                    most, j = wider, (j + 1) % n
                    wider = area(polygon, i, (j + 1) % n, k, o)
                best = (i, j, k, o)
        if j == i:
            j = (j + 1) % n
            if k == j:
                k = (k + 1) % n
                if o == k:
                    o = (o + 1) % n
    return best
