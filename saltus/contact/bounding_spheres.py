"""Bounding spheres: the broad phase of one pair of geoms."""

from saltus.model.enums import PLANE
from saltus.number.functions import any_lane
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
