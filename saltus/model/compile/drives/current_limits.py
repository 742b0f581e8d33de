"""Limits of the current of dc motors in the kernels' Model, which may fall as the winding warms.

A model file declares them in <custom>, in a tuple of pairs: a dc motor, and a numeric with the greatest current (A)
and, where that falls with the winding's temperature, those at which it begins to fall and is zero (°C):

    <numeric name="knee_current" data="6.0  100 125"/>
    <tuple name="drive_current_limit">
      <element objtype="actuator" objname="knee"/><element objtype="numeric" objname="knee_current"/>
    </tuple>
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from saltus.errors import ModelError
from saltus.model.actuator_enums import GAIN_DCMOTOR
from saltus.model.compile.drives.declared_pairs import actuator_numerics

TITLE = "drive_current_limit"
FEATURE = "current_limit"
NEVER = 1e9  # °C at which a current is zero that does not fall
THERMAL_RESISTANCE = 2  # place in actuator_dynprm


def current_limits(m: mujoco.MjModel) -> dict[int, tuple[float, ...]]:
    """Greatest current (A), and temperatures (°C) at which it begins to fall and is zero, if it does, by actuator.

    Raises:
        ModelError: a tuple is no list of dc motors with their numerics, or the numbers are no limit.
    """
    found: dict[int, tuple[float, ...]] = {}
    for k, numeric in actuator_numerics(m, TITLE).items():
        first = m.numeric_adr[numeric]
        numbers = tuple(m.numeric_data[first : first + m.numeric_size[numeric]].tolist())
        if why := why_no_limit(numbers):
            name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_NUMERIC, numeric)
            raise ModelError(f"no limit of a current: {why}", element="numeric", name=name)
        _check_motor(m, k, len(numbers) > 1)
        found[k] = numbers
    return found


def why_no_limit(numbers: tuple[float, ...]) -> str:
    """Why numbers are no limit of a current; "" for those that are."""
    if len(numbers) not in (1, 3) or not np.isfinite(numbers).all():
        return "expected a current or, if it falls with the temperature, a current and two temperatures"
    if not numbers[0] > 0.0:
        return "the current must be above 0"
    if len(numbers) == 3 and not numbers[1] < numbers[2]:
        return "the current must begin to fall at a lower temperature than that at which it is zero"
    return ""


def limit_values(m: mujoco.MjModel) -> dict[str, Any]:
    """The field of the limits [nactuator, 3]; none if there are none.

    Greatest current (A), temperature at which it is zero (°C), share by which it falls with each kelvin before (1/K). A
    current of 0 is no limit.
    """
    limits = current_limits(m)
    if not limits:
        return {}
    rows = np.zeros((m.nactuator, 3))
    for k, numbers in limits.items():
        begin, end = numbers[1:] or (NEVER - 1.0, NEVER)
        rows[k] = numbers[0], end, 1.0 / (end - begin)
    return {"actuator_currentlimit": rows}


def _check_motor(m: mujoco.MjModel, k: int, falls: bool) -> None:
    """Raise ModelError for an actuator without the current, or the temperature, that a limit needs."""
    name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_ACTUATOR, k)
    if m.actuator_gaintype[k] != GAIN_DCMOTOR:
        raise ModelError("a limit of the current is for dc motors (<dcmotor>)", element="actuator", name=name)
    if falls and not m.actuator_dynprm[k, THERMAL_RESISTANCE] > 0.0:
        raise ModelError(
            "a current that falls with the temperature needs that as a state: give the motor `thermal`, its resistance "
            "and capacity",
            element="actuator",
            name=name,
        )
