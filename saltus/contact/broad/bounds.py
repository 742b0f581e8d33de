"""Bounds of geoms along the world's axes, from which the broad phase finds geoms near each other."""

from saltus.dynamics.awake.walks import awake_grid
from saltus.number.functions import absolute, minimum
from saltus.number.kernels import kernel


@kernel
def bound_geoms(m, d):
    """broad_extent [ngeom, 3] (m): half sizes of a box about each geom's origin that contains the geom.

    The box contains the geom's own rotated box, but is at most that of its bounding sphere. Reads geom_xmat.
    """
    for k in awake_grid(m, d):
        bound_geom(m, d, m.grid_geom[k])


@kernel(inline=True)
def bound_geom(m, d, g):
    """broad_extent of geom g."""
    box, mat, radius = m.broad_box[g], d.geom_xmat[g], m.geom_rbound[g]
    d.broad_extent[g] = (
        half_extent(box, mat[0], mat[1], mat[2], radius),
        half_extent(box, mat[3], mat[4], mat[5], radius),
        half_extent(box, mat[6], mat[7], mat[8], radius),
    )


@kernel(inline=True)
def half_extent(box, x, y, z, radius):
    """Reach (m) of a box (centre, half sizes), or at most its sphere, from the origin along ±(x, y, z)."""
    centre = absolute(box[0] * x + box[1] * y + box[2] * z)
    half = box[3] * absolute(x) + box[4] * absolute(y) + box[5] * absolute(z)
    return minimum(centre + half, radius + 0.0 * x)


@kernel(inline=True)
def bounds_meet(m, d, g1, g2):
    """Lanes in which the boxes of two geoms are within the sum of their margins and gaps."""
    p1, p2, e1, e2 = d.geom_xpos[g1], d.geom_xpos[g2], d.broad_extent[g1], d.broad_extent[g2]
    reach = m.broad_reach[g1] + m.broad_reach[g2]
    x = absolute(p2[0] - p1[0]) <= e1[0] + e2[0] + reach
    y = absolute(p2[1] - p1[1]) <= e1[1] + e2[1] + reach
    return x & y & (absolute(p2[2] - p1[2]) <= e1[2] + e2[2] + reach)
