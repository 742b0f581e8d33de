"""Curves of torque by speed in the kernels' Model: the most that a motor's data sheet allows.

A model file declares them in <custom>, in a tuple of pairs: an actuator, and a numeric whose data are speeds of the
actuator in the torque's direction (rad/s, m/s), each followed by a torque (N m, N):

    <numeric name="knee_curve" data="0 2.0  300 2.0  400 0"/>
    <tuple name="drive_torque_curve">
      <element objtype="actuator" objname="knee"/><element objtype="numeric" objname="knee_curve"/>
    </tuple>
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from saltus.errors import ModelError
from saltus.model.actuator_enums import GAIN_DCMOTOR, GAIN_SO3
from saltus.model.compile.drives.declared_pairs import actuator_numerics

TITLE = "drive_torque_curve"
FEATURE = "torque_curve"


def torque_curves(m: mujoco.MjModel) -> dict[int, np.ndarray]:
    """Points [n, 2], speed and torque, by actuator.

    Raises:
        ModelError: a tuple is no list of actuators with their numerics, or a curve is none.
    """
    found: dict[int, np.ndarray] = {}
    for actuator, numeric in actuator_numerics(m, TITLE).items():
        found[actuator] = _points(m, numeric)
        _check_actuator(m, actuator)
    return found


def why_no_curve(points: np.ndarray) -> str:
    """Why points [n, 2] are no curve of torque by speed; "" for one that is."""
    if len(points) < 2 or not np.isfinite(points).all():
        return "expected at least two points, with finite speeds and torques"
    if (np.diff(points[:, 0]) <= 0.0).any():
        return "its speeds must increase"
    return "its torques must be at least 0" if (points[:, 1] < 0.0).any() else ""


def curve_values(m: mujoco.MjModel) -> tuple[dict[str, Any], dict[str, int]]:
    """Fields and sizes of the curves; both empty if there are none."""
    curves = torque_curves(m)
    if not curves:
        return {}, {}
    count = np.array([len(curves.get(k, ())) for k in range(m.nactuator)], int)
    points = np.concatenate([curves[k] for k in sorted(curves)])
    values = {"curve_num": count, "curve_adr": np.cumsum(count) - count}
    return values | {"curve_speed": points[:, 0], "curve_torque": points[:, 1]}, {"ncurvepoint": len(points)}


def _points(m: mujoco.MjModel, numeric: int) -> np.ndarray:
    """The points [n, 2] of a numeric."""
    first, size = m.numeric_adr[numeric], m.numeric_size[numeric]
    name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_NUMERIC, numeric)
    if size % 2:
        raise ModelError("a curve of torque by speed has a torque after each speed", element="numeric", name=name)
    points = m.numeric_data[first : first + size].reshape(-1, 2).copy()
    if why := why_no_curve(points):
        raise ModelError(f"no curve of torque by speed: {why}", element="numeric", name=name)
    return points


def _check_actuator(m: mujoco.MjModel, k: int) -> None:
    """Raise ModelError for an actuator whose force a curve does not limit."""
    if m.actuator_gaintype[k] in (GAIN_DCMOTOR, GAIN_SO3) or m.actuator_outnum[k] != 1:
        raise ModelError(
            "a curve of torque by speed limits actuators with one torque, not dc motors, whose torque falls with speed "
            "by their own law, or servos of orientations",
            element="actuator",
            name=mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_ACTUATOR, k),
        )
