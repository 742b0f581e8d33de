"""Display of a model: the message that describes it once, and the arrays of each frame."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.draw.scene.poses import Poses
from saltus.draw.scene.scene import Scene, scene
from saltus.lab.view.marks import camera_poses, cameras, joints
from saltus.model.enums import FREE, HINGE, SLIDE

if TYPE_CHECKING:
    from saltus.model.model import Model


class Show:
    """Appearance and poses of a model. Not thread-safe."""

    def __init__(self, model: Model):
        self.model = model
        self.scene: Scene = scene(model)
        self._mujoco = model.mujoco
        self._poses = Poses(model)
        self.dofs, places = _dofs(model)
        self.places = places  # indices of each in qpos and qvel
        self._q, self._v = np.array(places, int).reshape(-1, 2).T

    def message(self, name: str, title: str, kind: str, **more: Any) -> dict[str, Any]:
        """The `scene` message; `more`: sliders, ghosts, keyboard, ... ."""
        s, m = self.scene, self.model
        return {
            **{"type": "scene", "name": name, "title": title, "kind": kind},
            **{"bodies": list(s.bodies), "moving": list(s.moving)},
            "shapes": [dataclasses.asdict(shape) for shape in s.shapes],
            "meshes": [{"vertices": _packed(x.vertices, "<f4"), "faces": _packed(x.faces, "<u4")} for x in s.meshes],
            **{"center": s.center, "extent": s.extent, "camera": dataclasses.asdict(s.camera)},
            "gravity": [float(g) for g in m.opt.gravity],
            "tendons": [dataclasses.asdict(tendon) for tendon in s.tendons],
            "flexes": [
                {
                    **{"name": f.name, "rgba": f.rgba, "nvert": f.nvert, "radius": f.radius},
                    **{"faces": _packed(f.faces, "<u4"), "edges": _packed(f.edges, "<u4")},
                }
                for f in s.flexes
            ],
            "dofs": self.dofs,
            **{"cameras": cameras(m), "joints": joints(m)},
            **{
                "ghosts": [],
                "integrators": [],
                "contacts": [],
                "keys": [],
                "sliders": [],
                "keyboard": [],
                "motors": [],
                "actions": [],
            },
            **{"steps_per_frame": False, "duration": None, "phase": None},
            **more,
        }

    def pose(self, qpos: NDArray[Any], mocap_pos: NDArray[Any], mocap_quat: NDArray[Any]) -> dict[str, Any]:
        """The fields bodies, com, tendons, flexes, cameras and joints of a `Frame` at a state."""
        pose = self._poses.at(qpos, mocap_pos, mocap_quat)
        bodies = np.concatenate([pose.xpos, pose.xquat], axis=1)
        tendons = [_tendon(p, t.points) for p, t in zip(pose.tendons, self.scene.tendons, strict=True)]
        axes = np.concatenate([self._poses.data.xanchor, self._poses.data.xaxis], axis=1)
        found = {"bodies": bodies, "com": pose.com, "tendons": tendons, "flexes": pose.flexes}
        return {**found, "cameras": camera_poses(pose), "joints": axes}

    def coordinates(self, qpos: NDArray[Any], qvel: NDArray[Any]) -> NDArray[Any]:
        """Position and velocity [n, 2] of each of `dofs`."""
        return np.stack([qpos[self._q], qvel[self._v]], axis=1)

    def between(self, before: NDArray[Any], after: NDArray[Any], fraction: float) -> NDArray[Any]:
        """Positions [nq] interpolated along the shortest path from `before` to `after`."""
        if fraction >= 1.0:
            return after
        way, found = np.zeros(self.model.nv), before.copy()
        mujoco.mj_differentiatePos(self._mujoco, way, 1.0, before, after)
        mujoco.mj_integratePos(self._mujoco, found, way, fraction)
        return found


def _dofs(model: Model) -> tuple[list[dict[str, Any]], list[tuple[int, int]]]:
    """Scalar coordinates, hinges and slides first, and their indices in qpos and qvel.

    For hinges, "turns" says whether they have no limits, "relative" names the moving body they are measured from.
    """
    found: list[tuple[dict[str, Any], tuple[int, int]]] = []
    for j, name in enumerate(model.names("joint")):
        joint, q, v = (int(x[j]) for x in (model.jnt_type, model.jnt_qposadr, model.jnt_dofadr))
        if joint == FREE:
            for i, axis in enumerate("xyz"):
                found.append(({"name": f"{name}.{axis}", "unit": "m", "kind": "other"}, (q + i, v + i)))
        elif joint in (SLIDE, HINGE):
            slides = joint == SLIDE
            unit, kind = ("m", "slide") if slides else ("rad", "hinge")
            parent = int(model.body_parentid[model.jnt_bodyid[j]])
            turning: dict[str, Any] = {"turns": not slides and not model.jnt_limited[j]}
            turning["relative"] = None if slides or parent == 0 else model.names("body")[parent]
            found.append(({"name": name, "unit": unit, "kind": kind, **turning}, (q, v)))
    found.sort(key=lambda dof: dof[0]["kind"] == "other")
    return [dof for dof, _ in found], [place for _, place in found]


def _tendon(points: NDArray[Any], room: int) -> NDArray[Any]:
    """A row of the frame for a tendon: its number of points, then their coordinates (m), padded with zeros."""
    row = np.zeros(1 + 3 * room)
    row[0] = len(points)
    row[1 : 1 + points.size] = points.ravel()
    return row


def _packed(array: NDArray[Any], dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array).astype(dtype).tobytes()).decode()


def stack(rows: Sequence[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[Any]:
    """Stack arrays of a shape along a new first axis, which may be empty."""
    return np.stack(rows) if rows else np.zeros((0, *shape))
