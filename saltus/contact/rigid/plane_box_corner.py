"""Number of the corner of a box that touches a plane."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.pairs import pair_geom2
from saltus.number.components import lane_get
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, sub3, transpose_times_vector


@kernel
def corner(m, d, k, lane):
    """Number of the box corner of contact k in a lane: bit 0, 1, 2 is set if it is on the positive side of x, y, z."""
    g = pair_geom2(m, d, d.contact_collision[k])
    frame = d.contact_frame[k]
    point = add_scaled3(d.contact_pos[k], 0.5 * d.contact_dist[k], (frame[0], frame[1], frame[2]))
    x, y, z = transpose_times_vector(d.geom_xmat[g], sub3(point, d.geom_xpos[g]))
    x, y, z = lane_get(x, lane), lane_get(y, lane), lane_get(z, lane)
    return (1 if x > 0.0 else 0) + (2 if y > 0.0 else 0) + (4 if z > 0.0 else 0)
