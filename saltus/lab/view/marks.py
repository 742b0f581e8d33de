"""Cameras and joint axes for the view."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.enums import JOINT_NAMES
from saltus.model.sensor_enums import ORTHOGRAPHIC

if TYPE_CHECKING:
    from saltus.draw.scene.poses import Pose
    from saltus.model.model import Model


def cameras(model: Model) -> list[dict[str, Any]]:
    """The model's cameras in the `scene` message: name, fovy, height, shift.

    fovy (degrees): vertical field of view. height (m): vertical extent of an orthographic camera's picture, else None.
    shift [2]: offset of the picture's centre to the right and down, as fractions of the picture.
    """
    m = model.mujoco
    found = []
    for i, name in enumerate(model.names("camera")):
        fovy, height, shift = float(m.cam_fovy[i]), None, [0.0, 0.0]
        sensor, (_, fy, x, y) = m.cam_sensorsize[i], map(float, m.cam_intrinsic[i])
        if m.cam_projection[i] == ORTHOGRAPHIC:
            height = fovy
        elif sensor[1] > 0:
            fovy = math.degrees(2.0 * math.atan(0.5 * float(sensor[1]) / fy))
            shift = [-x / float(sensor[0]), y / float(sensor[1])]
        found.append({"name": name or f"camera {i}", "fovy": fovy, "height": height, "shift": shift})
    return found


def camera_poses(pose: Pose) -> NDArray[Any]:
    """Poses of the cameras [ncam, 7]: x y z (m), then w x y z of their frames (right, up, back)."""
    out = np.zeros((len(pose.cam_xpos), 7))
    for row, place, frame in zip(out, pose.cam_xpos, pose.cam_xmat, strict=True):
        row[:3] = place
        mujoco.mju_mat2Quat(row[3:], frame.ravel())
    return out


def joints(model: Model) -> list[dict[str, Any]]:
    """The model's joints in the `scene` message: name, kind, body."""
    names = model.names("joint")
    kinds = (JOINT_NAMES[int(kind)] for kind in model.jnt_type)
    bodies = (int(body) for body in model.jnt_bodyid)
    rows = zip(names, kinds, bodies, strict=True)
    return [{"name": name, "kind": kind, "body": body} for name, kind, body in rows]
