"""Bounding spheres: the broad phase of one pair of geoms."""

from saltus.model.enums import PLANE
from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, any_lane, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import dot3, sub3


@kernel(inline=True)
def near(m, d, g1, g2, reach):
    """Whether, in any lane, the geoms' bounding spheres are within `reach` (m); a plane has none."""
    offset = sub3(d.geom_xpos[g2], d.geom_xpos[g1])
    if m.geom_type[g1] == PLANE:
        mat = d.geom_xmat[g1]
        height = dot3(offset, (mat[2], mat[5], mat[8]))
        return any_lane(height <= reach + m.geom_rbound[g2])
    bound = m.geom_rbound[g1] + m.geom_rbound[g2] + reach
    return any_lane(dot3(offset, offset) <= bound * bound)


@kernel(inline=True)
def may_touch(m, d, g1, g2, reach):
    """1 in lanes where the geoms' bounding spheres are within reach (m) of each other, else 0.

    Slightly stricter than the broad phase for all lanes together (see `near`), so that its rounding cannot make a
    lane's contacts depend on its neighbours. Also 0 for poses that are not finite, which might cause an error.
    """
    zero = 0.0 * d.time
    one = zero + 1.0
    rounding = 16.0 * epsilon_of(d.time)
    offset = sub3(d.geom_xpos[g2], d.geom_xpos[g1])
    nan = 0.0 * (d.geom_xmat[g1, 0] + d.geom_xmat[g2, 0])  # or 0
    if m.geom_type[g1] == PLANE:
        mat = d.geom_xmat[g1]
        height = dot3(offset, (mat[2], mat[5], mat[8]))
        slack = rounding * (absolute(offset[0]) + absolute(offset[1]) + absolute(offset[2]))
        return where(height + slack + nan <= (1.0 - rounding) * (reach + m.geom_rbound[g2]), one, zero)
    bound = m.geom_rbound[g1] + m.geom_rbound[g2] + reach
    return where(dot3(offset, offset) + nan <= (1.0 - rounding) * (bound * bound), one, zero)


@kernel(inline=True)
def smaller_radius(m, g1, g2):
    """The smaller bounding radius (m) of two geoms; a plane has none."""
    one, other = m.geom_rbound[g1], m.geom_rbound[g2]
    return other if one <= 0.0 or (other > 0.0 and other < one) else one
