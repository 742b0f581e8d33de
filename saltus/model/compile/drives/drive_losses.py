"""Losses of drives in the kernels' Model: friction that is greater at rest than in motion, and of gears under load.

A model file declares them in <custom>, where MuJoCo reads names of joints and a number for each, and gives them no
effect. A tuple's name may begin with anything, such as the prefix of an attached model:

    <tuple name="drive_static_friction"><element objtype="joint" objname="knee" prm="1.2"/></tuple>
    <tuple name="drive_stribeck_velocity"><element objtype="joint" objname="knee" prm="0.05"/></tuple>

An elastic gear is a fixed tendon over the joint and, named last, its motor; its efficiencies are numbers of the tendon:

    <tuple name="drive_gear_efficiency"><element objtype="tendon" objname="knee_gear" prm="0.4"/></tuple>
    <tuple name="drive_gear_back_efficiency"><element objtype="tendon" objname="knee_gear" prm="-0.5"/></tuple>
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.errors import ModelError, proposal
from saltus.model.compile.drives import current_limits, torque_curves
from saltus.model.compile.drives.bristle_friction import bristle_joints
from saltus.model.enums import HINGE, SLIDE, WRAP_JOINT

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
    "gear_back_efficiency": Loss(
        math.nan, lambda x: -math.inf < x <= 1.0, "the efficiency of a driven gear, at most 1"
    ),
}
OF_GEARS = ("gear_efficiency", "gear_back_efficiency")  # those that a tendon may have
ALL_NAMES = tuple(f"{PREFIX}{name}" for name in LOSSES)
OF_MOTORS = (torque_curves.TITLE, current_limits.TITLE)  # tuples of limits, which are no losses


def _name_of(m: mujoco.MjModel, kind: mujoco.mjtObj, index: int) -> str:
    return mujoco.mj_id2name(m, kind, int(index)) or f"#{index}"


def declared_losses(m: mujoco.MjModel) -> dict[str, dict[int, float]]:
    """Numbers of drives by their name in `LOSSES` and by joint.

    Raises:
        ModelError: a tuple names an unknown loss or no hinge or slide, or a number is not allowed.
    """
    found: dict[str, dict[int, float]] = {name: {} for name in LOSSES}
    for title, loss, k in _elements(m):
        if m.tuple_objtype[k] != mujoco.mjtObj.mjOBJ_TENDON or loss not in OF_GEARS:
            found[loss][_joint(m, title, k)] = _number(m, title, loss, k)
    _check_together(m, found)
    return found


class ElasticGear(NamedTuple):
    """Efficiencies of a gear whose twist is the length of a tendon: driving, and driven by the joint."""

    tendon: int
    efficiency: float
    back_efficiency: float

    @property
    def friction(self) -> float:
        """Dry friction of the motor by the torque T of the tendon on it: (1/η - η') |T| / 2."""
        return 0.5 * (1.0 / self.efficiency - self.back_efficiency)

    @property
    def shift(self) -> float:
        """Share of T that the mean friction of both directions takes from it: (2 - 1/η - η') / 2."""
        return 0.5 * (2.0 - 1.0 / self.efficiency - self.back_efficiency)


def elastic_gears(m: mujoco.MjModel) -> dict[int, ElasticGear]:
    """Gears of tendons with losses by the motor's degree of freedom.

    Without one of its own, the efficiency of a driven gear is 2 - 1/η, that of equal friction in both directions.

    Raises:
        ModelError: a tendon is no gear, its motor has no dry friction or two gears, or a number is not allowed.
    """
    numbers: dict[int, dict[str, float]] = {}
    for title, loss, k in _elements(m):
        if m.tuple_objtype[k] == mujoco.mjtObj.mjOBJ_TENDON and loss in OF_GEARS:
            numbers.setdefault(int(m.tuple_objid[k]), {})[loss] = _number(m, title, loss, k)
    found: dict[int, ElasticGear] = {}
    for t, given in numbers.items():
        efficiency = given.get("gear_efficiency", 1.0)
        dof = _motor(m, t)
        if dof in found:
            raise _no_gear(m, t, "its motor has another gear with losses")
        found[dof] = ElasticGear(t, efficiency, given.get("gear_back_efficiency", 2.0 - 1.0 / efficiency))
    return found


def _motor(m: mujoco.MjModel, t: int) -> int:
    """The degree of freedom of the motor of a tendon that is a gear."""
    first, count = m.tendon_adr[t], m.tendon_num[t]
    joints = m.wrap_objid[first : first + count]
    if count != 2 or (m.wrap_type[first : first + count] != WRAP_JOINT).any() or joints[0] == joints[1]:
        raise _no_gear(m, t, "expected a fixed tendon over two joints, the motor's last")
    if not m.tendon_stiffness[t] > 0.0:
        raise _no_gear(m, t, "its losses are those of the torque of its spring: give it stiffness")
    dof = int(m.jnt_dofadr[joints[1]])
    if not m.dof_frictionloss[dof] > 0.0:
        raise _no_gear(m, t, "its losses are dry friction of the motor's joint: give that frictionloss, such as 1e-9")
    return dof


def _no_gear(m: mujoco.MjModel, t: int, why: str) -> ModelError:
    return ModelError(
        f"{PREFIX}{OF_GEARS[0]}: {why}", element="tendon", name=_name_of(m, mujoco.mjtObj.mjOBJ_TENDON, t)
    )


def _elements(m: mujoco.MjModel) -> Iterator[tuple[str, str, int]]:
    """Elements of tuples that declare losses: the tuple's name, the loss, the element's number."""
    for t in range(m.ntuple):
        title = _name_of(m, mujoco.mjtObj.mjOBJ_TUPLE, t)
        if loss := _loss_of(title):
            for k in range(m.tuple_adr[t], m.tuple_adr[t] + m.tuple_size[t]):
                yield title, loss, k


def check_losses(m: mujoco.MjModel) -> None:
    """Raise ModelError for losses that a model's file cannot declare."""
    declared_losses(m)
    elastic_gears(m)
    torque_curves.torque_curves(m)
    current_limits.current_limits(m)


def joints_with_losses(m: mujoco.MjModel) -> list[str]:
    """Names of the joints whose drives have losses, friction by bristles among them."""
    dry = set().union(*declared_losses(m).values()) | {int(m.dof_jntid[i]) for i in elastic_gears(m)}
    joints = sorted(dry | bristle_joints(m).keys())
    return [_name_of(m, mujoco.mjtObj.mjOBJ_JOINT, j) for j in joints]


def _loss_of(title: str) -> str:
    """The loss that a tuple declares; "" for tuples of other users. ModelError for one that looks misspelt."""
    for name, loss in zip(ALL_NAMES, LOSSES, strict=True):
        if title.endswith(name):
            return loss
    if title.endswith(OF_MOTORS):
        return ""
    at = title.rfind(PREFIX)
    if at >= 0 and (hint := proposal(title[at:], (*ALL_NAMES, *OF_MOTORS))):
        known = ", ".join((*ALL_NAMES, *OF_MOTORS))
        raise ModelError(f"not a loss of a drive{hint}; expected {known}", element="tuple", name=title)
    return ""


def _joint(m: mujoco.MjModel, title: str, k: int) -> int:
    """The joint that an element of a tuple names."""
    kind, j = m.tuple_objtype[k], int(m.tuple_objid[k])
    if title.endswith(PREFIX + "gear_back_efficiency"):
        raise ModelError(
            "the friction of a rigid gear whose efficiencies differ is no function of the state; declare it for the "
            "tendon of an elastic gear",
            element="tuple",
            name=title,
        )
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
        if found["gear_efficiency"].get(j, 1.0) < 1.0 and j in bristle_joints(m):
            why = (
                "a rigid gear's loss is that of all actuators on its joint, and friction by bristles is one of them; "
                "give the gear stiffness, and the friction to its motor or its joint"
            )
        elif kinetic <= 0.0:
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
    found, gears = declared_losses(m), elastic_gears(m)
    if not any(found.values()) and not gears:
        return {}
    joints = [int(m.dof_jntid[i]) for i in dofs]
    of_joints = {name: [found[name].get(j, LOSSES[name].none) for j in joints] for name in LOSSES}
    loss = {name: np.array(values + [LOSSES[name].none] * len(tendons)) for name, values in of_joints.items()}
    rest = [None] * len(tendons)
    elastic = [*(gears.get(i) for i in dofs), *rest]
    return {
        "friction_static": loss["static_friction"],
        "friction_stribeck_velocity": loss["stribeck_velocity"],
        "friction_stribeck_exponent": loss["stribeck_exponent"].astype(int),
        "friction_of_load": 1.0 - loss["gear_efficiency"],
        "friction_tendon": np.array([-1 if gear is None else gear.tendon for gear in elastic]),
        "friction_of_twist": np.array([0.0 if gear is None else gear.friction for gear in elastic]),
        "friction_shift": np.array([0.0 if gear is None else gear.shift for gear in elastic]),
    }
