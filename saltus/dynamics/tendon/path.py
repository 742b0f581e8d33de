"""Paths of tendons from one site to the next around or through a sphere or cylinder, in world axes."""

from saltus.dynamics.tendon.wrap import sphere_frame, wrap, wrap_by_half_plane
from saltus.dynamics.tree.kinematics import geom_position, site_position
from saltus.model.enums import WRAP_SPHERE
from saltus.number.conditions import has
from saltus.number.functions import where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import cross, distance_direction, matrix_times_matrix, sub3, where3


@kernel
def way_around(m, d, e):
    """Path of element e from one site to another around a sphere or cylinder.

    If the geom is not in the way, the path is straight. Returns its length (m), its unit directions at the first and at
    the last site, the geom's centre (m), and the force and moment about the centre of a unit tension on the geom, with
    the sign of the length's gradient.
    """
    p, q, centre, touches, length, ahead, away, arrival, departure = wrapped_path(m, d, e)
    # straight path where the geom is not in the way
    straight, direction = distance_direction(p, q)
    zero = 0.0 * straight
    none = zero, zero, zero
    ahead = where3(touches, ahead, direction)
    away = where3(touches, away, direction)
    moment = where3(touches, sub3(cross(arrival, ahead), cross(departure, away)), none)
    return where(touches, length, straight), ahead, away, centre, sub3(ahead, away), moment


@kernel
def wrapped_path(m, d, e):
    """Path of element e around its sphere or cylinder, if it touches that.

    Returns the two sites and the geom's centre (m), and the results of `wrap` for the path.
    """
    # sites relative to the geom, and axes of the wrapping circle
    s1, s2, g, s = m.path_obj1[e], m.path_obj2[e], m.path_geom[e], m.path_side[e]
    p, q = site_position(m, d, s1), site_position(m, d, s2)
    b = m.geom_bodyid[g]
    centre = geom_position(m, d, g)
    from_p, from_q = sub3(p, centre), sub3(q, centre)
    if m.path_type[e] == WRAP_SPHERE:
        frame = sphere_frame(from_p, from_q)
    else:
        r = matrix_times_matrix(d.xmat[b], m.geom_mat[g])
        frame = (r[0], r[3], r[6]), (r[1], r[4], r[7]), (r[2], r[5], r[8])
    # wrapped path, past the side site if there is one
    side = from_p
    if s >= 0:
        side = sub3(site_position(m, d, s), centre)
    radius = m.geom_size[g, 0]
    if has(m, "half_plane_sides"):
        path = wrap_by_half_plane(from_p, from_q, side, s >= 0, frame, radius)
    else:
        path = wrap(from_p, from_q, side, s >= 0, frame, radius)
    touches, length, ahead, away, arrival, departure = path
    return p, q, centre, touches, length, ahead, away, arrival, departure
