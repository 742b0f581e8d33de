"""Geometric sensors: rangefinders, camera projections, containment in sites, distances.

Readings are those of MuJoCo (XML reference, sensor/rangefinder, camprojection, insidesite, distance, normal, fromto).
"""

from saltus.contact.contact_list import unit_or_x
from saltus.contact.contact_tangents import carried_distance
from saltus.contact.mujoco.rays import foreign_distance
from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from saltus.model.sensor_enums import (
    CAMPROJECTION,
    GEOMDIST,
    GEOMFROMTO,
    INERTIA,
    INSIDESITE,
    RANGEFINDER,
    RAY_DEPTH,
    RAY_DIR,
    RAY_DIST,
    RAY_NORMAL,
    RAY_ORIGIN,
    RAY_POINT,
    REPORTED,
    SITE,
)
from saltus.number.functions import MINVAL, absolute, any_lane, clip, where
from saltus.number.kernels import kernel, only_with
from saltus.sense.camera import camera_axes, camera_position, pixel_ray, projection
from saltus.sense.objects import object_position
from saltus.sense.ray import cast_ray
from saltus.spatial.fields import store3
from saltus.spatial.vectors import add_scaled3, dot3, sub3, transpose_times_vector, where3, z_axis


@only_with("sense_geometry")
@kernel
def geometry_sensor(m, d, s):
    """Write the reading of geometric sensor s to sensordata."""
    kind, at = m.sensor_type[s], m.sensor_adr[s]
    if kind == RANGEFINDER:
        rangefinder(m, d, s)
    elif kind == CAMPROJECTION:
        point = d.site_xpos[m.sensor_objid[s]]
        d.sensordata[at], d.sensordata[at + 1] = projection(m, d, m.sensor_refid[s], point)
    elif kind == INSIDESITE:
        site = m.sensor_refid[s]
        point = object_middle(m, d, m.sensor_objtype[s], m.sensor_objid[s])
        local = transpose_times_vector(d.site_xmat[site], sub3(point, d.site_xpos[site]))
        d.sensordata[at] = inside(m.site_type[site], m.site_size[site], local)
    else:
        distance_sensor(m, d, s)


# ---------------------------------------------------------------- rays


@only_with("rangefinder")
@kernel
def rangefinder(m, d, s):
    """Write the data of the ray along a site's z-axis, or of the rays through a camera's pixels, row by row."""
    at, obj = m.sensor_adr[s], m.sensor_objid[s]
    if m.sensor_objtype[s] == SITE:
        point, direction = d.site_xpos[obj], z_axis(d.site_xmat[obj])
        x, normal = cast_ray(m, d, point, direction, m.site_bodyid[obj])
        ray_data(m, d, s, at, x, point, direction, normal, x)
    else:
        camera_rays(m, d, s)


@only_with("camera")
@kernel
def camera_rays(m, d, s):
    """Write the data of the rays through the pixels of sensor s's camera; depth is along the optical axis."""
    at, c = m.sensor_adr[s], m.sensor_objid[s]
    z = z_axis(camera_axes(m, d, c))
    for row in range(m.cam_resolution[c, 1]):
        for column in range(m.cam_resolution[c, 0]):
            point, direction = pixel_ray(m, d, c, row, column)
            x, normal = cast_ray(m, d, point, direction, m.cam_bodyid[c])
            met = add_scaled3(point, x, direction)
            depth = -dot3(sub3(met, camera_position(m, d, c)), z)
            at = ray_data(m, d, s, at, x, point, direction, normal, depth)


@kernel
def ray_data(m, d, s, at, x, point, direction, normal, depth):
    """Write the data that sensor s requests of a ray that hits a surface at distance x (m, -1: miss) from `at` on.

    Returns the index after these data.
    """
    # a miss has zero vectors and a depth of -1
    zero = 0.0 * x
    nothing = (zero, zero, zero)
    wanted, miss = m.sensor_intprm[s, REPORTED], x < 0.0
    # requested data, in the order of the bits
    if wanted & RAY_DIST:
        d.sensordata[at] = x
        at += 1
    if wanted & RAY_DIR:
        store3(d.sensordata, at, where3(miss, nothing, direction))
        at += 3
    if wanted & RAY_ORIGIN:
        store3(d.sensordata, at, point)
        at += 3
    if wanted & RAY_POINT:
        store3(d.sensordata, at, where3(miss, nothing, add_scaled3(point, x, direction)))
        at += 3
    if wanted & RAY_NORMAL:
        store3(d.sensordata, at, where3(miss, nothing, normal))
        at += 3
    if wanted & RAY_DEPTH:
        d.sensordata[at] = where(miss, zero - 1.0, depth)
        at += 1
    return at


# ---------------------------------------------------------------- containment


@kernel
def object_middle(m, d, kind, i):
    """Position (m) of object i of a type; for a massless body, the centre of mass of its subtree."""
    if kind == INERTIA and i > 0 and any_lane(m.body_mass[i] < MINVAL) and any_lane(m.body_inv_subtreemass[i] > 0.0):
        return d.subtree_com[i]
    return object_position(m, d, kind, i)


@kernel
def inside(kind, size, p):
    """1 where a point (m, in the shape's frame) is inside a shape of a geom type and size (m), else 0."""
    zero = 0.0 * p[0]
    one = zero + 1.0
    x, y, z = p
    if kind == PLANE:
        return where(z < 0.0, one, zero)
    if kind == SPHERE:
        return where(dot3(p, p) < size[0] * size[0], one, zero)
    if kind == CAPSULE:
        end = z - clip(z, -size[1], size[1])
        return where(x * x + y * y + end * end < size[0] * size[0], one, zero)
    if kind == ELLIPSOID:
        q = (x / size[0], y / size[1], z / size[2])
        return where(dot3(q, q) < 1.0, one, zero)
    if kind == CYLINDER:
        return where((absolute(z) < size[1]) & (x * x + y * y < size[0] * size[0]), one, zero)
    if kind == BOX:
        return where((absolute(x) < size[0]) & (absolute(y) < size[1]) & (absolute(z) < size[2]), one, zero)
    return zero


# ---------------------------------------------------------------- distances


@only_with("distance")
@kernel
def distance_sensor(m, d, s):
    """Write the smallest distance (m) between two geoms or those of two bodies, its direction, or the segment.

    Beyond the sensor's cutoff (m) the distance is the cutoff, and direction and segment are zero.
    """
    # closest pair of geoms within the cutoff
    at, kind = m.sensor_adr[s], m.sensor_type[s]
    zero = 0.0 * d.time
    most = m.sensor_cutoff[s]
    x = zero + most
    start = end = (zero, zero, zero)
    first, count = geoms_of(m, m.sensor_objtype[s], m.sensor_objid[s])
    other, others = geoms_of(m, m.sensor_reftype[s], m.sensor_refid[s])
    for g1 in range(first, first + count):
        for g2 in range(other, other + others):
            found, a, b = foreign_distance(m, d, g1, g2, most)
            closer = found < x
            found = carried_distance(d, g1, g2, found, a, b)
            x, start, end = where(closer, found, x), where3(closer, a, start), where3(closer, b, end)
    # distance, segment or unit direction
    if kind == GEOMDIST:
        d.sensordata[at] = x
    elif kind == GEOMFROMTO:
        store3(d.sensordata, at, start)
        store3(d.sensordata, at + 3, end)
    else:
        along = sub3(end, start)
        none = dot3(along, along) == 0.0
        store3(d.sensordata, at, where3(none, along, unit_or_x(along)))


@kernel
def geoms_of(m, kind, i):
    """First geom and number of geoms of a body, or the geom itself."""
    if kind == INERTIA:
        return m.body_geomadr[i], m.body_geomnum[i]
    return i, 1
