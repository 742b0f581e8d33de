"""The default view of a model.

The default is MuJoCo's free camera, unless it would cut off moving geoms or show the whole model as a speck on its
ground. Moving geoms are considered in the initial state and in keyframes, with each hinge without limit or spring
turned through a full circle, so that a pendulum that goes over the top stays in the picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from saltus.draw.scene.view import Camera
from saltus.model.enums import HFIELD, HINGE, PLANE

ELEVATION = -20.0  # degrees, if the model has MuJoCo's default of -45, which foreshortens motion in a vertical plane
ASPECT = 4 / 3
TURNS = 8  # angles of a hinge that are considered
POSES = 10  # keyframes that are considered
SPECK = 0.33  # least size of a model as a fraction of the picture
EDGE, AIR = 1.12, 2.2  # distance relative to the least that shows all: for models that were cut off, for specks
GROUND = (PLANE, HFIELD)


def default_camera(m: mujoco.MjModel, groups: Sequence[int]) -> Camera:
    """The default view of a model with the geoms and flexes of some groups."""
    usual = _mujocos(m)
    balls = _moving(m, groups)
    if not len(balls):
        return usual
    left, right, bottom, top = _angles(balls, usual)
    if max(-left, right) > 1 or max(-bottom, top) > 1:
        return _around(balls, usual, EDGE)
    everything = np.concatenate([balls, _fixed(m, groups)])
    left, right, bottom, top = _angles(everything, usual)
    speck = max(right - left, top - bottom) < 2 * SPECK
    return _around(everything, usual, AIR) if speck else usual


def _mujocos(m: mujoco.MjModel) -> Camera:
    """MuJoCo's free camera, less steep if the model does not set its direction."""
    view = m.vis.global_
    untouched = (view.azimuth, view.elevation) == (90.0, -45.0)
    x, y, z = (float(c) for c in m.stat.center)
    return Camera(
        lookat=(x, y, z),
        distance=1.5 * max(float(m.stat.extent), 1e-6),
        azimuth=float(view.azimuth),
        elevation=ELEVATION if untouched else float(view.elevation),
        fovy=float(view.fovy),
    )


def _moving(m: mujoco.MjModel, groups: Sequence[int]) -> np.ndarray:
    """Bounding balls [n, 4] (centre and radius, m) of visible moving geoms and flexes in all considered poses."""
    chosen = np.flatnonzero(_shown(m, groups) & (m.body_weldid[m.geom_bodyid] != 0))
    data, balls = mujoco.MjData(m), []
    for qpos in _poses(m):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(m, data)
        balls.append(np.column_stack([data.geom_xpos[chosen], m.geom_rbound[chosen]]))
        if m.nflex:
            mujoco.mj_comPos(m, data)
            mujoco.mj_flex(m, data)
            balls.append(np.column_stack([data.flexvert_xpos, np.zeros(len(data.flexvert_xpos))]))
    return np.concatenate(balls)


def _fixed(m: mujoco.MjModel, groups: Sequence[int]) -> np.ndarray:
    """Bounding balls [n, 4] (centre and radius, m) of visible fixed geoms."""
    chosen = _shown(m, groups) & (m.body_weldid[m.geom_bodyid] == 0)
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    return np.column_stack([data.geom_xpos, m.geom_rbound])[chosen]


def _shown(m: mujoco.MjModel, groups: Sequence[int]) -> np.ndarray:
    """Mask [ngeom] of visible geoms except ground."""
    return np.isin(m.geom_group, groups) & (m.geom_rgba[:, 3] > 0) & ~np.isin(m.geom_type, GROUND)


def _poses(m: mujoco.MjModel):
    for start in [m.qpos0, *m.key_qpos[:POSES]]:
        yield start
        for joint in np.flatnonzero((m.jnt_type == HINGE) & (m.jnt_limited == 0) & (m.jnt_stiffness == 0)):
            for turn in range(1, TURNS):
                qpos = start.copy()
                qpos[m.jnt_qposadr[joint]] += 2 * math.pi * turn / TURNS
                yield qpos


def _axes(camera: Camera):
    """The camera's axes as columns: right, up and forward."""
    a, e = math.radians(camera.azimuth), math.radians(camera.elevation)
    right = (math.sin(a), -math.cos(a), 0.0)
    up = (-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e))
    forward = (math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e))
    return np.array([right, up, forward]).T


def _tangents(camera: Camera):
    """Tangents of half the field of view, horizontal and vertical."""
    tangent = math.tan(0.5 * math.radians(camera.fovy))
    return tangent * ASPECT, tangent


def _angles(balls, camera):
    """Left, right, bottom and top of balls in a picture from -1 to 1; infinite if a ball contains the camera."""
    x, y, depth = ((balls[:, :3] - camera.lookat) @ _axes(camera)).T
    depth = depth + camera.distance
    radius = balls[:, 3]
    if (depth <= radius).any():
        return -math.inf, math.inf, -math.inf, math.inf
    across, up = _tangents(camera)
    return (
        ((x - radius) / (depth * across)).min(),
        ((x + radius) / (depth * across)).max(),
        ((y - radius) / (depth * up)).min(),
        ((y + radius) / (depth * up)).max(),
    )


def _around(balls, camera, margin) -> Camera:
    """A camera in the direction of another that shows all balls, `margin` times the least distance away."""
    radius = balls[:, 3:]
    middle = 0.5 * ((balls[:, :3] - radius).min(axis=0) + (balls[:, :3] + radius).max(axis=0))
    x, y, depth = ((balls[:, :3] - middle) @ _axes(camera)).T
    across, up = _tangents(camera)
    radius = balls[:, 3]
    needed = np.maximum((np.abs(x) + radius) / across, (np.abs(y) + radius) / up) - depth
    a, b, c = (float(v) for v in middle)
    return Camera((a, b, c), margin * max(float(needed.max()), 1e-6), camera.azimuth, camera.elevation, camera.fovy)
