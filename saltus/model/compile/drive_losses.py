"""Losses of drives in the kernels' Model: friction that is greater at rest than in motion, and of gears under load.

A model file declares them in <custom>, where MuJoCo reads names of joints and a number for each, and gives them no
effect. A tuple's name may begin with anything, such as the prefix of an attached model:

    <tuple name="drive_static_friction"><element objtype="joint" objname="knee" prm="1.2"/></tuple>
    <tuple name="drive_stribeck_velocity"><element objtype="joint" objname="knee" prm="0.05"/></tuple>
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.errors import ModelError, proposal
from saltus.model.enums import HINGE, SLIDE

PREFIX = "drive_"


class Loss(NamedTuple):
    """A number of a joint's drive: its value without a drive, whether another is allowed, and which are."""

    none: float
    allows: Callable[[float], bool]
    meaning: str


#: Numbers of a joint's drive by the end of the name of the tuple that declares them.
LOSSES = {
    "static_friction": Loss(0.0, lambda x: 0.0 <= x < math.inf, "friction at rest (N m or N), at least 0"),
    "stribeck_velocity": Loss(1.0, lambda x: 0.0 < x < math.inf, "the velocity (rad/s or m/s) of its fall, above 0"),
    "stribeck_exponent": Loss(2.0, lambda x: x in (1.0, 2.0), "the exponent of its fall, 1 or 2"),
    "gear_efficiency": Loss(1.0, lambda x: 0.0 < x <= 1.0, "the efficiency of a gear, above 0 and at most 1"),
}
ALL_NAMES = tuple(f"{PREFIX}{name}" for name in LOSSES)


def _name_of(m: mujoco.MjModel, kind: mujoco.mjtObj, index: int) -> str:
    return mujoco.mj_id2name(m, kind, int(index)) or f"#{index}"


def declared_losses(m: mujoco.MjModel) -> dict[str, dict[int, float]]:
    """Numbers of drives by their name in `LOSSES` and by joint.

    Raises:
        ModelError: a tuple names an unknown loss or no hinge or slide, or a number is not allowed.
    """
    found: dict[str, dict[int, float]] = {name: {} for name in LOSSES}
    for t in range(m.ntuple):
        title = _name_of(m, mujoco.mjtObj.mjOBJ_TUPLE, t)
        loss = _loss_of(title)
        if not loss:
            continue
        for k in range(m.tuple_adr[t], m.tuple_adr[t] + m.tuple_size[t]):
            found[loss][_joint(m, title, k)] = _number(m, title, loss, k)
    _check_together(m, found)
    return found


def joints_with_losses(m: mujoco.MjModel) -> list[str]:
    """Names of the joints whose drives have losses."""
    joints = sorted(set().union(*declared_losses(m).values()))
    return [_name_of(m, mujoco.mjtObj.mjOBJ_JOINT, j) for j in joints]


def _loss_of(title: str) -> str:
    """The loss that a tuple declares; "" for tuples of other users. ModelError for one that looks misspelt."""
    for name, loss in zip(ALL_NAMES, LOSSES, strict=True):
        if title.endswith(name):
            return loss
    at = title.rfind(PREFIX)
    if at >= 0 and (hint := proposal(title[at:], ALL_NAMES)):
        known = ", ".join(ALL_NAMES)
        raise ModelError(f"not a loss of a drive{hint}; expected {known}", element="tuple", name=title)
    return ""


def _joint(m: mujoco.MjModel, title: str, k: int) -> int:
    """The joint that an element of a tuple names."""
    kind, j = m.tuple_objtype[k], int(m.tuple_objid[k])
    if kind != mujoco.mjtObj.mjOBJ_JOINT or m.jnt_type[j] not in (HINGE, SLIDE):
        raise ModelError("a drive acts on a joint of type hinge or slide", element="tuple", name=title)
    return j


def _number(m: mujoco.MjModel, title: str, loss: str, k: int) -> float:
    """The number that an element of a tuple gives to its joint."""
    value = float(m.tuple_objprm[k])
    if not LOSSES[loss].allows(value):
        joint = _name_of(m, mujoco.mjtObj.mjOBJ_JOINT, m.tuple_objid[k])
        text = f"prm of joint {joint!r} is {value:g}; expected {LOSSES[loss].meaning}"
        raise ModelError(text, element="tuple", name=title)
    return value


def _check_together(m: mujoco.MjModel, found: dict[str, dict[int, float]]) -> None:
    """Raise ModelError where the numbers of a joint do not belong together."""
    for j in sorted(set().union(*found.values())):
        kinetic = float(m.dof_frictionloss[m.jnt_dofadr[j]])
        static = found["static_friction"].get(j)
        if kinetic <= 0.0:
            why = (
                "its drive has losses, which are part of dry friction: give it frictionloss, 1e-9 if only the gear rubs"
            )
        elif static is not None and static < kinetic:
            why = f"friction at rest, {static:g}, is less than in motion, frictionloss {kinetic:g}"
        elif static is not None and j not in found["stribeck_velocity"]:
            why = f"{PREFIX}static_friction needs {PREFIX}stribeck_velocity, over which it falls to frictionloss"
        elif static is None and (found["stribeck_velocity"].keys() | found["stribeck_exponent"].keys()) & {j}:
            why = f"{PREFIX}stribeck_velocity and {PREFIX}stribeck_exponent need {PREFIX}static_friction"
        else:
            continue
        raise ModelError(why, element="joint", name=_name_of(m, mujoco.mjtObj.mjOBJ_JOINT, j))


def drive_values(m: Any, dofs: Sequence[int], tendons: Sequence[int]) -> dict[str, np.ndarray]:
    """Losses of drives for rows of dry friction of degrees of freedom, then of tendons; empty if there are none."""
    found = declared_losses(m)
    if not any(found.values()):
        return {}
    joints = [int(m.dof_jntid[i]) for i in dofs]
    loss = lambda name: [found[name].get(j, LOSSES[name].none) for j in joints] + [LOSSES[name].none] * len(tendons)  # noqa: E731
    return {
        "friction_static": np.array(loss("static_friction")),
        "friction_stribeck_velocity": np.array(loss("stribeck_velocity")),
        "friction_stribeck_exponent": np.array(loss("stribeck_exponent"), int),
        "friction_of_load": 1.0 - np.array(loss("gear_efficiency")),
    }
