"""The default view of a model.

The default is MuJoCo's free camera, unless it would cut off moving geoms or show the whole model as a speck on its
ground. Moving geoms are considered in the initial state and in keyframes, with each hinge without limit or spring
turned through a full circle, so that a pendulum that goes over the top stays in the picture. Models that can go
nowhere else fill the picture. A recording is shown from where its whole motion is seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import mujoco
import numpy as np

from saltus.draw.scene.view import Camera
from saltus.model.enums import HFIELD, HINGE, PLANE, SLIDE

State = tuple[np.ndarray, np.ndarray, np.ndarray]  # qpos, mocap_pos, mocap_quat

ELEVATION = -20.0  # degrees, if the model has MuJoCo's default of -45, which foreshortens motion in a vertical plane
ASPECT = 4 / 3
TURNS = 8  # angles of a hinge that are considered
POSES = 10  # keyframes that are considered
SPECK = 0.33  # least size of a model as a fraction of the picture
FULL = 0.8  # size of a model that cannot leave its place, as a fraction of the picture, below which it is too small
EDGE, AIR = 1.12, 2.2  # distance relative to the least that shows all: where nothing leaves, where specks may
FARTHEST = 50.0  # distance relative to that of the default view beyond which a motion is not shown as a whole
GEOM_POSES, MOST_SAMPLES = 20_000, 200  # poses of geoms, and samples, of a recording that are considered
GROUND = (PLANE, HFIELD)


def default_camera(m: mujoco.MjModel, groups: Sequence[int]) -> Camera:
    """The default view of a model with the geoms and flexes of some groups."""
    usual = _mujocos(m)
    balls = _moving(m, groups, _poses(m))
    if not len(balls):
        return usual
    left, right, bottom, top = _angles(balls, usual)
    if max(-left, right) > 1 or max(-bottom, top) > 1:
        return _around(balls, usual, EDGE)
    everything = np.concatenate([balls, _fixed(m, groups)])
    left, right, bottom, top = _angles(everything, usual)
    size = 0.5 * max(right - left, top - bottom)
    if size < FULL and _stays(m):
        return _around(everything, usual, EDGE)
    return _around(everything, usual, AIR) if size < SPECK else usual


def motion_camera(m: mujoco.MjModel, groups: Sequence[int], states: Sequence[State], aspect: float = ASPECT) -> Camera:
    """The view of a recorded motion: the default one unless geoms or flexes leave it, else one that shows them all.

    `states`: qpos [nq], mocap_pos [nmocap, 3] and mocap_quat [nmocap, 4] of each sample, of which some are considered.
    `aspect`: width of the picture by its height. A motion so wide that the model would be a speck has the default view.
    """
    usual = default_camera(m, groups)
    most = max(2, min(MOST_SAMPLES, GEOM_POSES // max(m.ngeom + m.nflexvert, 1)))
    places = np.unique(np.linspace(0, len(states) - 1, most).astype(int)) if len(states) else []
    balls = _moving(m, groups, (states[k] for k in places))
    if not len(balls) or not np.isfinite(balls).all():
        return usual
    left, right, bottom, top = _angles(balls, usual, aspect)
    if max(-left, right, -bottom, top) <= 1:
        return usual
    found = _around(balls, usual, EDGE, aspect)
    return found if found.distance <= FARTHEST * usual.distance else usual


def _stays(m: mujoco.MjModel) -> bool:
    """Whether a model can go nowhere but to the considered poses: all that moves are hinges and limited slides."""
    slides = (m.jnt_type == SLIDE) & (m.jnt_limited == 0)
    return not m.nflex and not m.nmocap and not slides.any() and bool(np.isin(m.jnt_type, (HINGE, SLIDE)).all())


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


def _moving(m: mujoco.MjModel, groups: Sequence[int], states: Iterable[State]) -> np.ndarray:
    """Bounding balls [n, 4] (centre and radius, m) of visible moving geoms and flexes in some states."""
    guided = m.body_mocapid[m.body_rootid] >= 0
    chosen = np.flatnonzero(_shown(m, groups) & ((m.body_weldid != 0) | guided)[m.geom_bodyid])
    data, balls = mujoco.MjData(m), [np.zeros((0, 4))]
    for qpos, mocap_pos, mocap_quat in states:
        data.qpos[:] = qpos
        data.mocap_pos[:], data.mocap_quat[:] = mocap_pos, mocap_quat
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


def _poses(m: mujoco.MjModel) -> Iterable[State]:
    """The considered poses; mocap bodies are where the model's file puts them."""
    data = mujoco.MjData(m)
    for qpos in _positions(m):
        yield qpos, data.mocap_pos, data.mocap_quat


def _positions(m: mujoco.MjModel) -> Iterable[np.ndarray]:
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


def _tangents(camera: Camera, aspect: float):
    """Tangents of half the field of view, horizontal and vertical."""
    tangent = math.tan(0.5 * math.radians(camera.fovy))
    return tangent * aspect, tangent


def _angles(balls, camera, aspect=ASPECT):
    """Left, right, bottom and top of balls in a picture from -1 to 1; infinite if a ball contains the camera."""
    x, y, depth = ((balls[:, :3] - camera.lookat) @ _axes(camera)).T
    depth = depth + camera.distance
    radius = balls[:, 3]
    if (depth <= radius).any():
        return -math.inf, math.inf, -math.inf, math.inf
    across, up = _tangents(camera, aspect)
    return (
        ((x - radius) / (depth * across)).min(),
        ((x + radius) / (depth * across)).max(),
        ((y - radius) / (depth * up)).min(),
        ((y + radius) / (depth * up)).max(),
    )


def _around(balls, camera, margin, aspect=ASPECT) -> Camera:
    """A camera in the direction of another that shows all balls, `margin` times the least distance away."""
    radius = balls[:, 3:]
    middle = 0.5 * ((balls[:, :3] - radius).min(axis=0) + (balls[:, :3] + radius).max(axis=0))
    x, y, depth = ((balls[:, :3] - middle) @ _axes(camera)).T
    across, up = _tangents(camera, aspect)
    radius = balls[:, 3]
    needed = np.maximum((np.abs(x) + radius) / across, (np.abs(y) + radius) / up) - depth
    a, b, c = (float(v) for v in middle)
    return Camera((a, b, c), margin * max(float(needed.max()), 1e-6), camera.azimuth, camera.elevation, camera.fovy)
