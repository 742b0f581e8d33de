"""Mocap bodies under hard contact: velocities from the poses that users set, with which they carry and hit.

A body reaches a pose that is set at the end of the next steps, moving at constant velocity. Velocities that are set
(`mocap_vel`) are kept: the body moves on with them, and a pose that is set as well takes effect at once. See
`saltus.dynamics.tree.guided.movers` for the kernels.
"""

from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.model import Model

Views = Mapping[str, NDArray[np.float64]]
ROUNDING = 1e-9  # relative to 1 and to the velocities: smaller changes are ignored
NEAR = 1e-12  # s, relative to 1 s and to the time: an end this close counts as reached


def place(views: Views) -> bool:
    """Move mocap bodies to their poses instantly, with the given velocities; returns whether any changed."""
    before = (*poses(views), views["mover_vel"].copy())
    advance(views)
    _note_given(views)
    views["mocap_vel"][views["mover_given"] < 0.5] = 0.0
    _set_out(views, slice(None), views["mocap_pos"], views["mocap_quat"], float(views["time"]))
    views["mover_vel"][...] = views["mocap_vel"]
    return not all(map(np.array_equal, before, (*poses(views), views["mover_vel"])))


def advance(views: Views) -> None:
    """Advance the visible poses of bodies with given velocities to the present time."""
    given = np.flatnonzero(views["mover_given"] > 0.5)
    if given.size and np.array_equal(views["mocap_vel"], views["mover_vel"]):
        pos, quat = poses(views)
        for k in given[~_was_set(views)[given]]:
            views["mocap_pos"][k], views["mocap_quat"][k] = pos[k], quat[k]
            _set_out(views, k, pos[k], quat[k], float(views["time"]))


def set_out(views: Views, duration: float) -> tuple[bool, bool]:
    """Start moving bodies to the poses set for them, over `duration` (s); those that have arrived stop.

    Returns whether any velocity has changed, and whether any body has moved instantly.
    """
    time = float(views["time"])
    before, jumped = views["mover_vel"].copy(), False
    advance(views)
    _note_given(views)
    was_set, (pos, quat) = _was_set(views), poses(views)
    for k in range(len(was_set)):
        if views["mover_given"][k] > 0.5:
            if was_set[k]:
                jumped = True
                _set_out(views, k, views["mocap_pos"][k], views["mocap_quat"][k], time)
            else:
                _set_out(views, k, pos[k], quat[k], time)
                views["mocap_pos"][k], views["mocap_quat"][k] = pos[k], quat[k]
        elif was_set[k]:
            views["mocap_vel"][k, :3] = (views["mocap_pos"][k] - pos[k]) / duration
            views["mocap_vel"][k, 3:] = _rotation_vector(quat[k], views["mocap_quat"][k]) / duration
            _set_out(views, k, views["mocap_pos"][k], views["mocap_quat"][k], time + duration)
        elif time > views["mover_time"][k] - NEAR * (1.0 + abs(time)):
            views["mocap_vel"][k] = 0.0
    views["mover_vel"][...] = views["mocap_vel"]
    change = np.abs(views["mover_vel"] - before).max(initial=0.0)
    return bool(change > ROUNDING * (1.0 + np.abs(before).max(initial=0.0))), jumped


def poses(views: Views) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Poses of the bodies at the present time: positions [nmocap, 3] (m), unit quaternions [nmocap, 4]."""
    age, vel = float(views["time"]) - views["mover_time"][:, None], views["mover_vel"]
    still = (vel == 0.0).all(axis=1)[:, None]
    pos = np.where(still, views["mover_pos"], views["mover_pos"] + age * vel[:, :3])
    quat = [_turned(turn, _unit(q)) for turn, q in zip(age * vel[:, 3:], views["mover_quat"], strict=True)]
    return pos, np.where(still, views["mover_quat"], np.reshape(quat, (-1, 4)))


def unfelt(model: Model) -> list[str]:
    """Bodies with joints, and tendons, that mocap bodies carry and that do not feel their velocities, as in MuJoCo."""
    m = model.mj_model
    carried = m.body_mocapid[m.body_rootid] >= 0
    bodies, tendons = model.names("body"), model.names("tendon")
    found = [f"the joints of body {bodies[b]!r}" for b in np.flatnonzero(carried & (m.body_jntnum > 0))]
    for k, (first, count) in enumerate(zip(m.tendon_adr, m.tendon_num, strict=True)):
        wraps = range(first, first + count)
        sites = [m.wrap_objid[w] for w in wraps if m.wrap_type[w] == mujoco.mjtWrap.mjWRAP_SITE]
        if carried[m.site_bodyid[sites]].any():
            found.append(f"tendon {tendons[k]!r}")
    return found


def _note_given(views: Views) -> None:
    """Mark velocities as given by the user that differ from those that bodies have."""
    views["mover_given"][(views["mocap_vel"] != views["mover_vel"]).any(axis=1)] = 1.0


def _was_set(views: Views) -> NDArray[np.bool_]:
    """Mask of poses that differ from the bodies' targets [nmocap]."""
    moved = (views["mocap_pos"] != views["mover_pos"]).any(axis=1)
    return moved | (views["mocap_quat"] != views["mover_quat"]).any(axis=1)


def _set_out(views: Views, k: int | slice, pos: NDArray[np.float64], quat: NDArray[np.float64], time: float) -> None:
    views["mover_pos"][k], views["mover_quat"][k], views["mover_time"][k] = pos, quat, time


def _unit(quat: NDArray[np.float64]) -> NDArray[np.float64]:
    size = np.linalg.norm(quat)
    return quat / size if size > 0.0 else np.array([1.0, 0.0, 0.0, 0.0])


def _multiply(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product of quaternions."""
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.append(scalar, a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))


def _turned(turn: NDArray[np.float64], quat: NDArray[np.float64]) -> NDArray[np.float64]:
    """A quaternion after a further rotation, given by its rotation vector (rad)."""
    angle = np.linalg.norm(turn)
    return _multiply(np.append(np.cos(0.5 * angle), 0.5 * np.sinc(0.5 * angle / np.pi) * turn), quat)


def _rotation_vector(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotation (rad, world axes) from one orientation to another, the shorter way round."""
    turn = _multiply(_unit(end), _unit(start) * np.array([1.0, -1.0, -1.0, -1.0]))
    turn = turn if turn[0] >= 0.0 else -turn
    sine = np.linalg.norm(turn[1:])
    return turn[1:] * (2.0 * np.arctan2(sine, turn[0]) / sine if sine > 0.0 else 2.0)
