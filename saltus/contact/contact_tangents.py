"""Forward-mode tangents of contacts from functions without derivatives: those of points fixed to geoms or elements."""

from saltus.number.components import chain, frozen, value_of
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, matrix_times_vector, sub3, transpose_times_vector


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
