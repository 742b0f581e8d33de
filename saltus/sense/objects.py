"""Frames that sensors are attached to, of bodies, geoms, sites and cameras: pose, velocity, acceleration.

A body has two frames: its own and the inertial frame (at the centre of mass, along the principal axes).
"""

from saltus.model.sensor_enums import CAMERA, GEOM, INERTIA, SITE
from saltus.number.kernels import kernel
from saltus.sense.camera import camera_axes, camera_position
from saltus.spatial.motions import acceleration_at, velocity_at
from saltus.spatial.quaternions import quat_multiply
from saltus.spatial.vectors import sub3


@kernel
def object_body(m, kind, i):
    """The body that an object is fixed to."""
    if kind == GEOM:
        return m.geom_bodyid[i]
    if kind == SITE:
        return m.site_bodyid[i]
    if kind == CAMERA:
        return m.cam_bodyid[i]
    return i


@kernel
def object_position(m, d, kind, i):
    """Origin (m) of an object's frame in world axes."""
    if kind == INERTIA:
        return d.xipos[i]
    if kind == GEOM:
        return d.geom_xpos[i]
    if kind == SITE:
        return d.site_xpos[i]
    if kind == CAMERA:
        return camera_position(m, d, i)
    return d.xpos[i]


@kernel
def object_axes(m, d, kind, i):
    """Rotation matrix of an object's frame in the world."""
    if kind == INERTIA:
        return d.ximat[i]
    if kind == GEOM:
        return d.geom_xmat[i]
    if kind == SITE:
        return d.site_xmat[i]
    if kind == CAMERA:
        return camera_axes(m, d, i)
    return d.xmat[i]


@kernel
def object_quaternion(m, d, kind, i):
    """Orientation of an object's frame in the world; for tracking and targeting cameras, as if fixed to the body."""
    own = d.xquat[object_body(m, kind, i)]
    if kind == INERTIA:
        return quat_multiply(own, m.body_iquat[i])
    if kind == GEOM:
        return quat_multiply(own, m.geom_quat[i])
    if kind == SITE:
        return quat_multiply(own, m.site_quat[i])
    if kind == CAMERA:
        return quat_multiply(own, m.cam_quat[i])
    return own


@kernel
def object_velocity(m, d, kind, i):
    """Angular (rad/s) and linear velocity (m/s) of an object's frame, in world axes. Reads cvel [nbody, 6]."""
    b = object_body(m, kind, i)
    v = d.cvel[b]
    return (v[0], v[1], v[2]), velocity_at(v, sub3(object_position(m, d, kind, i), d.subtree_com[m.body_rootid[b]]))


@kernel
def object_acceleration(m, d, kind, i):
    """Angular (rad/s²) and linear acceleration (m/s²) of an object's frame, in world axes, -gravity at rest.

    Linear acceleration is that of the frame's origin as a point of its body. Reads cvel and cacc [nbody, 6].
    """
    b = object_body(m, kind, i)
    a = d.cacc[b]
    arm = sub3(object_position(m, d, kind, i), d.subtree_com[m.body_rootid[b]])
    return (a[0], a[1], a[2]), acceleration_at(d.cvel[b], a, arm)
