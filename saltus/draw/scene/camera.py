"""Cameras of pictures, and projection of points to pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from saltus.draw.scene.poses import Pose
from saltus.draw.scene.scene import Scene
from saltus.draw.scene.view import Camera, View
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.model.sensor_enums import FIXED, ORTHOGRAPHIC

Array = NDArray[np.float64]

#: Distance (extents) of the perspective camera that stands for an orthographic one: rays are parallel to 0.03 degrees.
FAR_AWAY = 1000.0
HAZE = 4.0  # distance of half haze, in distances of the camera to its target, of at least 1.5 extents


@dataclass(frozen=True, eq=False)
class Eye:
    """A pinhole camera; pixels need not be square.

    A point p is at depth w = forward·(p - pos) and seen at x = cx + fx right·(p - pos)/w, y = cy - fy up·(p - pos)/w,
    in pixels from the picture's top left corner, so that the centre of the first pixel is at (0.5, 0.5).
    pos (m), right, up, forward: [3] in world axes; near: depth of the near clipping plane (m).
    """

    pos: NDArray[np.float64]
    right: NDArray[np.float64]
    up: NDArray[np.float64]
    forward: NDArray[np.float64]
    fx: float
    fy: float
    cx: float
    cy: float
    near: float

    def pixels(self, points) -> NDArray[np.float64]:
        """Project points [..., 3] (m) to x, y (pixels) and depth (m), [..., 3]."""
        relative = np.asarray(points, float) - self.pos
        depth = relative @ self.forward
        x = self.cx + self.fx * (relative @ self.right) / depth
        y = self.cy - self.fy * (relative @ self.up) / depth
        return np.stack([x, y, depth], axis=-1)

    def numbers(self) -> NDArray[np.float64]:
        """The camera as 17 numbers for compiled code: pos, right, up, forward, fx, fy, cx, cy, near."""
        return np.array(
            [*self.pos, *self.right, *self.up, *self.forward, self.fx, self.fy, self.cx, self.cy, self.near]
        )


class Viewpoint:
    """The camera of a view of a model, which may move with the model's state. OptionError: no such camera or body.

    number: index of the camera in the model; None if it is not one of the model's.
    """

    def __init__(self, model: Model, scene: Scene, view: View):
        self._m, self._scene, self._view = model.mujoco, scene, view
        self._near = float(self._m.vis.map.znear) * max(scene.extent, 1e-9)
        self._follow = None if view.follow is None else _index("body", view.follow, list(scene.bodies))
        camera = view.camera
        self.number = None if camera is None or isinstance(camera, Camera) else _camera_number(model, camera)
        self._free = camera if isinstance(camera, Camera) else scene.camera

    def at(self, pose: Pose) -> Eye:
        """The camera at a pose."""
        if self.number is not None:
            return self._models(self.number, pose.cam_xpos[self.number], pose.cam_xmat[self.number])
        return free_eye(self._free, self._view.width, self._view.height, self._near, self.target(pose))

    def target(self, pose: Pose) -> NDArray[np.float64]:
        """The point that the camera looks at (m); for a camera of the model, the model's centre."""
        if self._follow is not None:
            return pose.subtree_com[self._follow]
        return np.array(self._scene.center if self.number is not None else self._free.lookat)

    @property
    def on_body(self) -> bool:
        """Whether `at_each` applies: the camera is free, or one of the model's that is fixed on its body."""
        return self.number is None or self._m.cam_mode[self.number] == FIXED

    def at_each(self, xpos: Array, xquat: Array, subtree_com: Array) -> tuple[Array, Array]:
        """Numbers of cameras [n, 17] and the distance of half haze [n] (m) at poses of bodies, if `on_body`.

        xpos [n, nbody, 3], subtree_com [n, nbody, 3] (m), xquat [n, nbody, 4].
        """
        n, target = len(xpos), np.array(self._scene.center if self.number is not None else self._free.lookat)
        if self.number is None:
            follow = self._follow
            targets = np.broadcast_to(target, (n, 3)) if follow is None else subtree_com[:, follow]
            eye = free_eye(self._free, self._view.width, self._view.height, self._near, target)
            numbers = np.tile(eye.numbers(), (n, 1))
            numbers[:, :3] += targets - target
        else:
            i, targets = self.number, np.broadcast_to(target, (n, 3))
            body = self._m.cam_bodyid[i]
            turned = Rotation.from_quat(xquat[:, body], scalar_first=True)
            mounted = Rotation.from_quat(self._m.cam_quat[i], scalar_first=True).as_matrix()
            eye = self._models(i, self._m.cam_pos[i], mounted)
            numbers = np.tile(eye.numbers(), (n, 1))
            numbers[:, :3] = xpos[:, body] + turned.apply(eye.pos)
            for first, axis in ((3, eye.right), (6, eye.up), (9, eye.forward)):
                numbers[:, first : first + 3] = turned.apply(axis)
        return numbers, haze(self._scene, numbers[:, :3], targets)

    def _models(self, i: int, pos: Array, xmat: Array) -> Eye:
        """Camera i of the model at a position (m), with axes right, up and back in the columns of xmat [3, 3]."""
        m, width, height = self._m, self._view.width, self._view.height
        right, up, back = xmat.T
        near, fovy = self._near, float(m.cam_fovy[i])
        cx, cy = width / 2, height / 2
        if m.cam_projection[i] == ORTHOGRAPHIC:
            away = FAR_AWAY * self._scene.extent
            # fovy is the height of the picture in m
            fx = fy = height * away / fovy
            return Eye(pos + away * back, right, up, -back, fx, fy, cx, cy, away + near)
        sensor = m.cam_sensorsize[i]
        if sensor[1] > 0:
            fx, fy = m.cam_intrinsic[i, :2] / sensor * (width, height)
            cx -= m.cam_intrinsic[i, 2] / sensor[0] * width
            cy -= m.cam_intrinsic[i, 3] / sensor[1] * height
        else:
            fx = fy = _focal(fovy, height)
        return Eye(pos, right, up, -back, float(fx), float(fy), float(cx), float(cy), near)


def free_eye(camera: Camera, width: int, height: int, near: float, lookat=None) -> Eye:
    """The pinhole camera of a `Camera`; `lookat` (m) replaces the camera's own point."""
    a, e = math.radians(camera.azimuth), math.radians(camera.elevation)
    forward = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
    right = np.array([math.sin(a), -math.cos(a), 0.0])
    up = np.array([-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e)])
    pos = np.asarray(camera.lookat if lookat is None else lookat, float) - camera.distance * forward
    focal = _focal(camera.fovy, height)
    return Eye(pos, right, up, forward, focal, focal, width / 2, height / 2, min(near, 0.1 * camera.distance))


def haze(scene: Scene, eye: Array, target: Array) -> Array:
    """Distance (m) of half haze from cameras [..., 3] (m) that look at targets [..., 3] (m)."""
    return HAZE * np.maximum(1.5 * scene.extent, np.linalg.norm(eye - target, axis=-1))


def _focal(fovy: float, height: int) -> float:
    """Focal length in pixels for a vertical field of view in degrees."""
    return 0.5 * height / math.tan(0.5 * math.radians(fovy))


def _camera_number(model: Model, camera: str | int) -> int:
    if isinstance(camera, str):
        return _index("camera", camera, model.names("camera"))
    if not 0 <= camera < model.ncam:
        there = f"its cameras are 0 to {model.ncam - 1}" if model.ncam else "it has none"
        raise OptionError(f"the model has no camera {int(camera)}; {there}")
    return int(camera)


def _index(kind: str, name: str, names: list[str]) -> int:
    if name not in names:
        if not names:
            raise OptionError(f"the model has no {kind} '{name}'; it has none")
        raise OptionError.unknown(kind, name, names)
    return names.index(name)
