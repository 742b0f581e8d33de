"""Poses of bodies, tendons, flexible surfaces, cameras and centres of mass at a state.

The poses are computed by MuJoCo's kinematics on separate data, so that nothing has to be compiled before drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.draw.scene.paths import path_points, tendon_paths
from saltus.draw.scene.scene import GROUPS, shown_flexes
from saltus.errors import OptionError
from saltus.model.model import Model

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pose:
    """Positions (m) and orientations in world axes.

    xpos [nbody, 3], xquat [nbody, 4] (w x y z); tendons: points [n, 3] of each of `Scene.tendons`; flexes: vertices
    [nvert, 3] of each of `Scene.flexes`; cam_xpos [ncam, 3], cam_xmat [ncam, 3, 3] (columns: right, up, back);
    com [3]: the whole mechanism's centre of mass; subtree_com [nbody, 3].
    """

    xpos: Array
    xquat: Array
    tendons: list[Array]
    flexes: list[Array]
    cam_xpos: Array
    cam_xmat: Array
    com: Array
    subtree_com: Array


class Poses:
    """Computes the poses of a model's states. Not thread-safe.

    mujoco, data: the MjModel and the MjData that it uses.
    """

    def __init__(self, model: Model, groups: Sequence[int] = GROUPS):
        self._m = self.mujoco = model.mujoco
        self._d = self.data = mujoco.MjData(self._m)
        self._paths = tendon_paths(self._m, groups)
        self._flexes = [
            slice(int(self._m.flex_vertadr[i]), int(self._m.flex_vertadr[i] + self._m.flex_vertnum[i]))
            for i in shown_flexes(self._m, groups)
        ]
        self._mocap = self._d.mocap_pos.copy(), self._d.mocap_quat.copy()

    def at(self, qpos: Any, mocap_pos: Any = None, mocap_quat: Any = None) -> Pose:
        """The pose at qpos [nq], with mocap bodies at mocap_pos [nmocap, 3], mocap_quat [nmocap, 4].

        mocap_pos, mocap_quat: None for the model's own values. Raises OptionError for wrong shapes.
        """
        m, d = self._m, self._d
        _put("qpos", d.qpos, qpos)
        for name, place, value, default in zip(
            ("mocap_pos", "mocap_quat"), (d.mocap_pos, d.mocap_quat), (mocap_pos, mocap_quat), self._mocap, strict=True
        ):
            _put(name, place, default if value is None else value)
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_camlight(m, d)
        if self._flexes:
            mujoco.mj_flex(m, d)
        if self._paths:
            mujoco.mj_tendon(m, d)
        return Pose(
            xpos=d.xpos.copy(),
            xquat=d.xquat.copy(),
            tendons=path_points(m, d, self._paths),
            flexes=[d.flexvert_xpos[part].copy() for part in self._flexes],
            cam_xpos=d.cam_xpos.copy(),
            cam_xmat=d.cam_xmat.reshape(-1, 3, 3).copy(),
            com=d.subtree_com[0].copy(),
            subtree_com=d.subtree_com.copy(),
        )


def _put(name, place, value) -> None:
    value = np.asarray(value, float)
    if value.shape != place.shape:
        raise OptionError(f"{name} must have shape {list(place.shape)}, not {list(value.shape)}")
    place[...] = value
