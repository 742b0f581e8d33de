"""Selection of vectors, rows and columns, lane by lane, for the kernels of boxes.

A matrix is nine numbers, row by row. The cyclic order of axes is 0, 1, 2, 0, 1.
"""

from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, maximum, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import where3


@kernel(inline=True)
def half_sizes(m, g, zero):
    """Half sizes (m) of a box, as numbers of the same kind as `zero`."""
    size = m.geom_size[g]
    return zero + size[0], zero + size[1], zero + size[2]


@kernel(inline=True)
def pick3(k, a):
    """Component a[k]; k is equal in all lanes."""
    if k == 0:
        return a[0]
    if k == 1:
        return a[1]
    return a[2]


@kernel(inline=True)
def largest3(a):
    """Index of the component of largest magnitude, the first of equal ones: 0, 1 or 2, lane by lane."""
    x, y, z = absolute(a[0]), absolute(a[1]), absolute(a[2])
    return where(z > maximum(x, y), 0.0 * x + 2.0, where(y > x, 0.0 * x + 1.0, 0.0 * x))


@kernel(inline=True)
def component(k, a):
    """a[k]; k is 0, 1 or 2, lane by lane."""
    return where(k < 0.5, a[0], where(k < 1.5, a[1], a[2]))


@kernel(inline=True)
def row(k, r):
    """Row k of a matrix; k is equal in all lanes."""
    if k == 0:
        return r[0], r[1], r[2]
    if k == 1:
        return r[3], r[4], r[5]
    return r[6], r[7], r[8]


@kernel(inline=True)
def column(k, r):
    """Column k of a matrix; k is 0, 1 or 2, lane by lane."""
    return component(k, (r[0], r[1], r[2])), component(k, (r[3], r[4], r[5])), component(k, (r[6], r[7], r[8]))


@kernel(inline=True)
def transposed(r):
    """Rᵀ."""
    return r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]


@kernel(inline=True)
def where9(condition, a, b):
    """a where the condition holds, else b."""
    return (
        where(condition, a[0], b[0]),
        where(condition, a[1], b[1]),
        where(condition, a[2], b[2]),
        where(condition, a[3], b[3]),
        where(condition, a[4], b[4]),
        where(condition, a[5], b[5]),
        where(condition, a[6], b[6]),
        where(condition, a[7], b[7]),
        where(condition, a[8], b[8]),
    )


@kernel(inline=True)
def cycled(k, a):
    """(a[k], a[k+1], a[k+2]) in cyclic order; k is 0, 1 or 2, lane by lane."""
    return where3(k < 0.5, a, where3(k < 1.5, (a[1], a[2], a[0]), (a[2], a[0], a[1])))


@kernel(inline=True)
def uncycled(k, a):
    """Inverse of `cycled`."""
    return where3(k < 0.5, a, where3(k < 1.5, (a[2], a[0], a[1]), (a[1], a[2], a[0])))


@kernel(inline=True)
def cycled_columns(k, r):
    """Columns k, k+1, k+2 of a matrix in cyclic order; k is 0, 1 or 2, lane by lane."""
    a = cycled(k, (r[0], r[1], r[2]))
    b = cycled(k, (r[3], r[4], r[5]))
    c = cycled(k, (r[6], r[7], r[8]))
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@kernel(inline=True)
def cycled_rows(k, r):
    """Rows k, k+1, k+2 of a matrix in cyclic order; k is 0, 1 or 2, lane by lane."""
    a = cycled(k, (r[0], r[3], r[6]))
    b = cycled(k, (r[1], r[4], r[7]))
    c = cycled(k, (r[2], r[5], r[8]))
    return a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]


@kernel(inline=True)
def by_precision(x, double, single):
    """A constant that depends on the precision of x: `double` or `single`."""
    if epsilon_of(x) > 1e-10:
        return single
    return double
