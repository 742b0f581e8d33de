"""Cameras: poses, projections of points, rays of pixels."""

from saltus.contact.contact_list import unit_or_x
from saltus.model.sensor_enums import FIXED, PERSPECTIVE, TARGET_BODY_COM, TRACK, TRACK_COM
from saltus.number.functions import MINVAL, absolute, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    cross,
    matrix_times_matrix,
    matrix_times_vector,
    sub3,
    transpose_times_vector,
)


@only_with("camera", otherwise="d.xpos[0]")
@kernel
def camera_position(m, d, c):
    """Position (m) of camera c in world axes: fixed to its body, or offset from it or its subtree's centre of mass."""
    b, mode = m.cam_bodyid[c], m.cam_mode[c]
    if mode == TRACK:
        return add3(d.xpos[b], m.cam_pos0[c])
    if mode == TRACK_COM:
        return add3(d.subtree_com[b], m.cam_poscom0[c])
    return add3(d.xpos[b], matrix_times_vector(d.xmat[b], m.cam_pos[c]))


@only_with("camera", otherwise="d.xmat[0]")
@kernel
def camera_axes(m, d, c):
    """Rotation matrix of camera c: fixed to its body, to the world, or with -z towards a target and x horizontal."""
    # tracking: the reference orientation in the world
    b, mode = m.cam_bodyid[c], m.cam_mode[c]
    zero = 0.0 * d.time
    if mode == TRACK or mode == TRACK_COM:
        a = m.cam_mat0[c]
        return (
            zero + a[0],
            zero + a[1],
            zero + a[2],
            zero + a[3],
            zero + a[4],
            zero + a[5],
            zero + a[6],
            zero + a[7],
            zero + a[8],
        )
    # fixed to the body
    target = m.cam_targetbodyid[c]
    if target < 0 or mode == FIXED:
        return matrix_times_matrix(d.xmat[b], m.cam_mat[c])
    # z away from the target, x horizontal
    aim = d.xpos[target]
    if mode == TARGET_BODY_COM:
        aim = d.subtree_com[target]
    z = unit_or_x(sub3(camera_position(m, d, c), aim))
    x = unit_or_x((-z[1], z[0], zero))
    y = unit_or_x(cross(z, x))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@kernel
def projection(m, d, c, point):
    """Image coordinates (pixels from the left and from the top) of a point (m, world axes) in camera c."""
    local = transpose_times_vector(camera_axes(m, d, c), sub3(point, camera_position(m, d, c)))
    zero = 0.0 * d.time
    # depth along the optical axis, away from zero
    least = where(local[2] < 0.0, zero - MINVAL, zero + MINVAL)
    depth = where(absolute(local[2]) < MINVAL, least, local[2])
    right = 0.5 * m.cam_resolution[c, 0] - m.cam_focal[c, 0] * (local[0] / depth)
    down = 0.5 * m.cam_resolution[c, 1] + m.cam_focal[c, 1] * (local[1] / depth)
    return right, down


@kernel
def pixel_ray(m, d, c, row, column):
    """Origin (m) and unit direction of the ray through the centre of a pixel; row 0 is at the top."""
    axes, origin = camera_axes(m, d, c), camera_position(m, d, c)
    lens = m.cam_lens[c]
    one = 0.0 * d.time + 1.0
    right = one * ((column + 0.5 - lens[2]) / lens[0])
    up = one * (-(row + 0.5 - lens[3]) / lens[1])
    # perspective: rays from the camera; orthographic: parallel rays
    if m.cam_projection[c] == PERSPECTIVE:
        return origin, unit_or_x(matrix_times_vector(axes, (right, up, -one)))
    origin = add_scaled3(origin, 1.0, matrix_times_vector(axes, (right, up, 0.0 * one)))
    return origin, (-axes[2], -axes[5], -axes[8])
