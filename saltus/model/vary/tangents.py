"""Derivatives of the kernels' Model by numbers of MuJoCo's model, by complex steps.

f(x + i h) = f(x) + i h f'(x) - ... for real analytic f: with a step far below rounding the imaginary part is the
derivative to rounding, without subtraction (Squire & Trapp, Using complex variables to estimate derivatives of real
functions (1998)). Maxima and limits compare real parts first and imaginary ones where these are equal, so that at a
kink steps of both signs disagree; there the derivative is NaN.
"""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from saltus.model.compile.actuators import setpoint_periods
from saltus.model.compile.constraints.constraints import safe_timestep
from saltus.model.layout import VARIED
from saltus.model.tree.body_inertia import STORED_IN
from saltus.model.vary.columns import Column
from saltus.model.vary.constants import reference_constants
from saltus.model.vary.fields import needs_constants, value_of
from saltus.model.vary.inertia_steps import step_inertias, turned_axes
from saltus.model.vary.stack import Stack
from saltus.model.vary.values import kernel_values
from saltus.number.structs import Struct

STEP = 2.0**-200
KINK = 1e-9  # relative difference of one-sided derivatives that differ
_FIELDS = VARIED | {"tendon_armature"}
_FRAMES = ("body_sameframe", "geom_sameframe", "site_sameframe")


def model_tangents(model: Any, columns: Sequence[Column], timestep: float, struct: Struct) -> dict[str, np.ndarray]:
    """Derivatives of fields of the kernels' Model by the numbers `columns`: by field, [columns, ...], NaN for none.

    Quaternions and axes are of length 1: derivatives are along the sphere. `model`: a Model; `timestep` (s): that of
    the constraints' laws; `struct`: the kernels' Model, of floats, in which the columns' fields vary.
    """
    up, down = (_imaginary(model, columns, timestep, struct, step) for step in (STEP, -STEP))
    return {name: np.where(_differ(up[name], down[name]), np.nan, up[name]) for name in up}


def _imaginary(
    model: Any, columns: Sequence[Column], timestep: float, struct: Struct, step: float
) -> dict[str, np.ndarray]:
    """One-sided derivatives, on the side of the step's sign."""
    m = model.mj_model
    arrays: dict[str, Any] = _stepped(m, columns, step)
    if needs_constants(arrays):
        # frames that coincide come apart
        arrays |= {name: np.full_like(getattr(m, name), mujoco.mjtSameFrame.mjSAMEFRAME_NONE.value) for name in _FRAMES}
        for name, value in reference_constants(Stack(m, arrays)).items():
            arrays[name] = np.broadcast_to(value, (len(columns), *np.shape(getattr(m, name)))).astype(complex)
    stack = Stack(m, arrays)
    values = kernel_values(stack, struct, model.left_out, safe_timestep(m, timestep), _FIELDS)
    turned = turned_axes(m, columns)
    if turned.any():
        values["body_iquat"] = np.asarray(values.get("body_iquat", m.body_iquat)) + 1j * step * turned
    periods = setpoint_periods(stack)
    if periods.ndim > 1:
        values["actuator_period"] = periods
    return {name: np.imag(value) / step for name, value in values.items() if np.iscomplexobj(value)}


def _stepped(m: mujoco.MjModel, columns: Sequence[Column], step: float) -> dict[str, np.ndarray]:
    """The columns' fields [columns, ...], each with an imaginary step in its own number."""
    arrays: dict[str, np.ndarray] = {}
    for row, (_, field, place) in enumerate(columns):
        if field in STORED_IN:
            continue
        if field not in arrays:
            value = np.asarray(value_of(m, field), complex)
            arrays[field] = np.broadcast_to(value, (len(columns), *value.shape)).copy()
        arrays[field].reshape(len(columns), -1)[row, place] += 1j * step
    for field, values in arrays.items():
        if field.endswith(("quat", "axis")):
            arrays[field] = values / np.sqrt((values * values).sum(axis=-1, keepdims=True))
    return arrays | step_inertias(m, columns, step, arrays)


def _differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether one-sided derivatives differ, or there are none."""
    return ~(np.abs(a - b) <= KINK * (np.abs(a) + np.abs(b)))
