"""Barycentric coordinates of the point of a segment, triangle or tetrahedron nearest to a given point."""

from saltus.number.components import epsilon_of
from saltus.number.functions import any_lane, clip, maximum, minimum, rarely, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3, where3

TINY = 1e-15
FAR = 1e30  # more than any squared distance (m²)
# squared sine of an angle below which a triangle is thin: its width and what rounding makes of weights are alike there
THIN, THIN_SINGLE = 4e-11, 2.4e-5


@kernel
def segment_weights(p, a, b):
    """Weights of the ends a, b for the point of their segment nearest to p."""
    along = sub3(b, a)
    t = clip(dot3(sub3(p, a), along) / maximum(dot3(along, along), TINY), 0.0, 1.0)
    return 1.0 - t, t


@kernel
def triangle_weights(p, a, b, c):
    """Weights of the corners a, b, c for the point of their triangle nearest to p (Ericson 2005, section 5.1.5)."""
    zero = 0.0 * p[0]
    one = zero + 1.0
    ab, ac = sub3(b, a), sub3(c, a)
    ap, bp, cp = sub3(p, a), sub3(p, b), sub3(p, c)
    a1, a2 = dot3(ab, ap), dot3(ac, ap)
    b1, b2 = dot3(ab, bp), dot3(ac, bp)
    c1, c2 = dot3(ab, cp), dot3(ac, cp)
    # unnormalised barycentric coordinates of the projection on the plane
    area_a, area_b, area_c = b1 * c2 - c1 * b2, c1 * a2 - a1 * c2, a1 * b2 - b1 * a2
    # regions: the face, then edges and corners; later ones override
    total = area_a + area_b + area_c
    s = 1.0 / where(total > 0.0, total, one)
    w = (area_a * s, area_b * s, area_c * s)
    along, back = b2 - b1, c1 - c2
    on_bc = (area_a <= 0.0) & (along >= 0.0) & (back >= 0.0)
    t = along / where(on_bc & (along + back > 0.0), along + back, one)
    w = where3(on_bc, (zero, 1.0 - t, t), w)
    on_ac = (area_b <= 0.0) & (a2 >= 0.0) & (c2 <= 0.0)
    t = a2 / where(on_ac & (a2 - c2 > 0.0), a2 - c2, one)
    w = where3(on_ac, (1.0 - t, zero, t), w)
    w = where3((c2 >= 0.0) & (c1 <= c2), (zero, zero, one), w)
    on_ab = (area_c <= 0.0) & (a1 >= 0.0) & (b1 <= 0.0)
    t = a1 / where(on_ab & (a1 - b1 > 0.0), a1 - b1, one)
    w = where3(on_ab, (1.0 - t, t, zero), w)
    w = where3((b1 >= 0.0) & (b2 <= b1), (zero, one, zero), w)
    w = where3((a1 <= 0.0) & (a2 <= 0.0), (one, zero, zero), w)
    # the signs of areas near zero are those of rounding: such a triangle is one of its edges
    normal = cross(ab, ac)
    least = THIN if epsilon_of(zero) < 1e-10 else THIN_SINGLE
    thin = dot3(normal, normal) <= least * (dot3(ab, ab) * dot3(ac, ac))
    if rarely(any_lane(thin)):
        w = where3(thin, edge_weights(p, a, b, c), w)
    return w


@kernel
def edge_weights(p, a, b, c):
    """Weights of the corners a, b, c for the point of their triangle's edges nearest to p."""
    zero = 0.0 * p[0]
    best, least = (zero, zero, zero), zero + FAR
    for k in range(3):
        start, end = (a, b) if k == 0 else (b, c) if k == 1 else (c, a)
        s, t = segment_weights(p, start, end)
        w = (s, t, zero) if k == 0 else (zero, s, t) if k == 1 else (t, zero, s)
        square = _square(p, weighted3(w, a, b, c))
        best, least = where3(square < least, w, best), minimum(square, least)
    return best


@kernel(inline=True)
def weighted3(w, a, b, c):
    """The point with weights w of the corners a, b, c."""
    return add_scaled3(add_scaled3(scale3(w[0], a), w[1], b), w[2], c)


@kernel
def tetrahedron_weights(p, a, b, c, e):
    """Weights of the corners a, b, c, e for the point of their tetrahedron nearest to p."""
    zero = 0.0 * p[0]
    ab, ac, ae, ap = sub3(b, a), sub3(c, a), sub3(e, a), sub3(p, a)
    # barycentric coordinates: ratios of volumes
    volume = dot3(ab, cross(ac, ae))
    s = 1.0 / where(volume == 0.0, volume + 1.0, volume)
    wb, wc, we = s * dot3(ap, cross(ac, ae)), s * dot3(ab, cross(ap, ae)), s * dot3(ab, cross(ac, ap))
    wa = 1.0 - wb - wc - we
    inside = (wa >= 0.0) & (wb >= 0.0) & (wc >= 0.0) & (we >= 0.0) & (volume * volume > 0.0)
    # outside: nearest point of the four faces
    f = triangle_weights(p, a, b, c)
    best, square = (f[0], f[1], f[2], zero), _square(p, weighted3(f, a, b, c))
    f = triangle_weights(p, a, c, e)
    best, square = _nearer((f[0], zero, f[1], f[2]), _square(p, weighted3(f, a, c, e)), best, square)
    f = triangle_weights(p, a, e, b)
    best, square = _nearer((f[0], f[2], zero, f[1]), _square(p, weighted3(f, a, e, b)), best, square)
    f = triangle_weights(p, b, e, c)
    best, square = _nearer((zero, f[0], f[2], f[1]), _square(p, weighted3(f, b, e, c)), best, square)
    return _where4(inside, (wa, wb, wc, we), best)


@kernel(inline=True)
def _square(p, q):
    offset = sub3(p, q)
    return dot3(offset, offset)


@kernel(inline=True)
def _nearer(w, square, best, least):
    """Weights and squared distance of the nearer of two candidates."""
    closer = square < least
    return _where4(closer, w, best), where(closer, square, least)


@kernel(inline=True)
def _where4(condition, a, b):
    return (
        where(condition, a[0], b[0]),
        where(condition, a[1], b[1]),
        where(condition, a[2], b[2]),
        where(condition, a[3], b[3]),
    )
