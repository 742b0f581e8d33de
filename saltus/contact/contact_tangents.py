"""Forward-mode tangents of contacts from functions without derivatives, as of points fixed to geoms or elements."""

from numba.extending import overload

from saltus.model.enums import PLANE
from saltus.number.components import chain, frozen, value_of
from saltus.number.features import looks_at
from saltus.number.functions import absolute
from saltus.number.kernels import kernel
from saltus.number.kinds import dual
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    dot3,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
)

COINCIDE = 1e-9  # m: the direction from point to point is right to 1e-7 above it
NAN = float("nan")


@kernel
def fixed_to(d, g, point):
    """`point` (m) with the tangents of a point fixed to geom g."""
    x, mat = d.geom_xpos[g], d.geom_xmat[g]
    local = transpose_times_vector(mat, sub3(point, x))
    return add3(x, matrix_times_vector(mat, (frozen(local[0]), frozen(local[1]), frozen(local[2]))))


@kernel
def with_tangents(a, b):
    """The value of vector a with the tangents of vector b."""
    return chain(value_of(a[0]), 1.0, b[0]), chain(value_of(a[1]), 1.0, b[1]), chain(value_of(a[2]), 1.0, b[2])


@looks_at()
def carried(m, d, g1, g2, dist, pos, normal):
    """dist, pos and normal with the tangents due to the motion of the geoms; unchanged if not duals."""
    return dist, pos, normal


@overload(carried)
def _carried(m, d, g1, g2, dist, pos, normal):
    if dist == dual:
        return lambda m, d, g1, g2, dist, pos, normal: carried_dual(m, d, g1, g2, dist, pos, normal)
    return lambda m, d, g1, g2, dist, pos, normal: (dist, pos, normal)


@kernel
def carried_dual(m, d, g1, g2, dist, pos, normal):
    """dist = n · (p₂ - p₁) and pos = (p₁ + p₂)/2, with the nearest points p₁ and p₂ fixed to their geoms.

    The nearest points are pos ∓ n dist/2. On a plane p₁ stays below p₂.
    """
    p2 = fixed_to(d, g2, add_scaled3(pos, 0.5 * dist, normal))
    if m.geom_type[g1] == PLANE:
        p1 = add_scaled3(p2, -dot3(normal, sub3(p2, d.geom_xpos[g1])), normal)
    else:
        p1 = fixed_to(d, g1, add_scaled3(pos, -0.5 * dist, normal))
    moved = dot3(normal, sub3(p2, p1))
    middle = scale3(0.5, add3(p1, p2))
    return chain(value_of(dist), 1.0, moved), with_tangents(pos, middle), normal


@looks_at()
def carried_distance(d, g1, g2, dist, p1, p2):
    """The distance of the points p1 and p2, nearest of geoms g1 and g2, with their motion's tangents if a dual."""
    return dist


@overload(carried_distance)
def _carried_distance(d, g1, g2, dist, p1, p2):
    if dist == dual:
        return lambda d, g1, g2, dist, p1, p2: dual_distance(d, g1, g2, dist, p1, p2)
    return lambda d, g1, g2, dist, p1, p2: dist


@kernel
def dual_distance(d, g1, g2, dist, p1, p2):
    """dist (m), negative for overlap, with the tangents of |p2 - p1|, each point fixed to its geom.

    Exact: sliding of nearest points on their surfaces changes the distance to second order only. NaN where the points
    coincide, so that rounding decides their direction.
    """
    apart = sub3(fixed_to(d, g2, p2), fixed_to(d, g1, p1))
    value = value_of(dist)
    slope = 0.5 / value if absolute(value) > COINCIDE else NAN
    return chain(value, slope, dot3(apart, apart))
