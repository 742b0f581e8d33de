"""Tactile sensors: depths of the points of a skin, its taxels, in touched geoms, and their sliding speeds.

The taxels are the vertices of a mesh in the axes of a geom. A sensor feels the geoms in contact with the geom's body or
bodies welded to it. A taxel reads the greatest depth (m) in any of these, and for each of its two tangents the sum of
the sliding speeds (m/s) of the geoms that contain it. Depths follow from signed distances to shapes; the distance in a
box is MuJoCo's, along a field that changes from radial to the faces' normals. (MuJoCo documentation, XML reference,
sensor/tactile; tangents rotate with the geom, and the other body's velocity is that at the taxel.)
"""

from saltus.contact.counts import NCON
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rows.acting import is_contact
from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, MESH, PLANE, SPHERE
from saltus.number.functions import absolute, any_lane, clip, maximum, minimum, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import velocity_at
from saltus.spatial.vectors import add3, dot3, matrix_times_vector, sub3, transpose_times_vector

TINY = 1e-30


@only_with("sense_tactile")
@kernel
def tactile_sensor(m, d, s):
    """Write the reading of tactile sensor s to sensordata: depths of all taxels, then speeds along their tangents."""
    zero = 0.0 * d.time
    for k in range(m.sensor_adr[s], m.sensor_adr[s] + m.sensor_dim[s]):
        d.sensordata[k] = zero
    body = m.body_weldid[m.geom_bodyid[m.sensor_refid[s]]]
    for k in range(d.count[NCON]):
        for side in range(2):
            g = other_geom(m, d, body, k, side)
            if g >= 0 and m.geom_type[g] < MESH and is_first(m, d, body, k, g):
                touched = touched_lanes(m, d, body, k, g)
                if any_lane(touched > 0.5):
                    feel(m, d, s, body, g, touched)


# ---------------------------------------------------------------- touched geoms


@kernel
def other_geom(m, d, body, k, side):
    """The geom of contact k on one side (0: the first), if the other is welded to a body; else -1."""
    c = d.contact_collision[k]
    here, there = pair_geom2(m, d, c), pair_geom1(m, d, c)
    if side > 0:
        here, there = there, here
    if here < 0 or there < 0 or m.body_weldid[m.geom_bodyid[here]] != body:
        return -1
    return there


@kernel
def is_first(m, d, body, k, g):
    """Whether no contact before contact k is with geom g."""
    j = 0
    while j < k and other_geom(m, d, body, j, 0) != g and other_geom(m, d, body, j, 1) != g:
        j += 1
    return j == k


@kernel
def touched_lanes(m, d, body, first, g):
    """1 in lanes in which a body has a contact with geom g, else 0; `first`: the first such contact in any lane."""
    zero = 0.0 * d.time
    found = zero
    for k in range(first, d.count[NCON]):
        if other_geom(m, d, body, k, 0) == g or other_geom(m, d, body, k, 1) == g:
            found = where(is_contact(m, d, k), zero + 1.0, found)
    return found


# ---------------------------------------------------------------- readings


@kernel
def feel(m, d, s, body, g, touched):
    """Add the readings of the taxels of sensor s for geom g to sensordata, in the lanes where it is touched."""
    skin, other, zero = m.sensor_refid[s], m.geom_bodyid[g], 0.0 * d.time
    count, at = m.sensor_taxelnum[s], m.sensor_adr[s]
    channels = m.sensor_dim[s] // count
    for k in range(count):
        taxel = m.sensor_taxeladr[s] + k
        mat = d.geom_xmat[skin]
        place = add3(d.geom_xpos[skin], matrix_times_vector(mat, m.taxel_pos[taxel]))
        local = transpose_times_vector(d.geom_xmat[g], sub3(place, d.geom_xpos[g]))
        depth = where(touched > 0.5, -signed_distance(m.geom_type[g], m.geom_size[g], local), zero)
        inside = depth > 0.0
        if any_lane(inside):
            d.sensordata[at + k] = maximum(d.sensordata[at + k], depth)
            velocity = sub3(velocity_of(m, d, body, place), velocity_of(m, d, other, place))
            t = m.taxel_tangents[taxel]
            for axis in range(1, channels):
                tangent = (t[0], t[1], t[2]) if axis == 1 else (t[3], t[4], t[5])
                speed = absolute(dot3(velocity, matrix_times_vector(mat, tangent)))
                i = at + axis * count + k
                d.sensordata[i] = d.sensordata[i] + where(inside, speed, zero)


@kernel(inline=True)
def velocity_of(m, d, b, place):
    """Velocity (m/s, world axes) of the point of body b at a place (m)."""
    return velocity_at(d.cvel[b], sub3(place, d.subtree_com[m.body_rootid[b]]))


@kernel
def signed_distance(kind, size, x):
    """Signed distance (m) of a point x in a geom's axes, negative inside; outside of boxes and cylinders >= 0."""
    if kind == PLANE:
        return x[2]
    if kind == SPHERE:
        return length(x) - size[0]
    if kind == CAPSULE:
        zero = 0.0 * x[2]
        return length((x[0], x[1], x[2] - clip(x[2], zero - size[1], zero + size[1]))) - size[0]
    if kind == CYLINDER:
        return maximum(length((x[0], x[1], 0.0 * x[2])) - size[0], absolute(x[2]) - size[1])
    if kind == ELLIPSOID:
        return ellipsoid_distance(size, x)
    return box_distance(size, x) if kind == BOX else 0.0 * x[0]


@kernel(inline=True)
def length(a):
    """|a|, with a derivative also at zero."""
    square = dot3(a, a)
    some = square > TINY * TINY
    return where(some, sqrt(where(some, square, 1.0 + 0.0 * square)), 0.0 * square)


@kernel
def ellipsoid_distance(size, x):
    """k (k - 1) / |∇k|, to first order the distance, with k = |x / size|."""
    scaled = (x[0] / size[0], x[1] / size[1], x[2] / size[2])
    k = length(scaled)
    slope = length((scaled[0] / size[0], scaled[1] / size[1], scaled[2] / size[2]))
    some = slope > TINY
    return where(some, k * (k - 1.0) / where(some, slope, 1.0 + 0.0 * slope), 0.0 * slope)


@kernel
def box_distance(size, x):
    """-min t with x + t u on a face, u ∝ size / (distance to the faces) on each axis; zero outside."""
    zero = 0.0 * x[0]
    a0, a1, a2 = size[0] - absolute(x[0]), size[1] - absolute(x[1]), size[2] - absolute(x[2])
    inside = (a0 > 0.0) & (a1 > 0.0) & (a2 > 0.0)
    a0, a1, a2 = where(inside, a0, zero + 1.0), where(inside, a1, zero + 1.0), where(inside, a2, zero + 1.0)
    u0, u1, u2 = size[0] / a0, size[1] / a1, size[2] / a2
    norm = sqrt(u0 * u0 + u1 * u1 + u2 * u2)
    return where(inside, -norm * minimum(a0 / u0, minimum(a1 / u1, a2 / u2)), zero)
