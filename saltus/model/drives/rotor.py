"""Elastic gears in model files: a rotor with a hinge of its own, and a fixed tendon from it to the joint.

The rotor's kinetic energy is J θ'² / 2, with θ' its speed in the motor: that the motor moves with its body adds
nothing, as with MuJoCo's `armature` (Spong, Modeling and control of elastic joint robots, J. Dyn. Syst. Meas. Control
109 (1987) 310). So a rotor may stand behind all other bodies, in the world, where no index of another object changes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import mujoco
import numpy as np

from saltus.errors import OptionError
from saltus.model.drives.parts import LEAST_INERTIA, NO_FRICTION

if TYPE_CHECKING:
    from saltus.model.drives.parts import Gear
    from saltus.model.model import Model

BODY_MASS = 1e-12  # kg; MuJoCo wants a mass and inertia of each moving body
BODY_INERTIA = 0.01 * LEAST_INERTIA  # kg m²


def rotor_name(joint: str) -> str:
    """Name of the body of a joint's rotor, and of its hinge."""
    return f"{joint}_rotor"


def gear_name(joint: str) -> str:
    """Name of the tendon whose length is the twist of a joint's gear."""
    return f"{joint}_gear"


def check_free(model: Model, joint: str) -> None:
    """Raise OptionError where a joint has a rotor, or the names of one are taken."""
    names = {"body": rotor_name(joint), "joint": rotor_name(joint), "tendon": gear_name(joint)}
    if taken := [f"{kind} {name!r}" for kind, name in names.items() if name in model.names(kind)]:
        raise OptionError(
            f"drive of joint {joint!r}: there is {' and '.join(taken)} already; a joint has one gear, whose numbers "
            "`changed` changes, and friction of the motor is that of a drive of the rotor's joint"
        )


def rotor_inertia(model: Model, joint: str, gear: Gear) -> float:
    """Moment of inertia of a joint's rotor (kg m²): the gear's, or the joint's armature seen from the motor.

    Raises:
        OptionError: neither gives one.
    """
    if gear.rotor_inertia is not None:
        return gear.rotor_inertia
    inertia = float(model.dof_armature[model.jnt_dofadr[model.id("joint", joint)]]) / (gear.ratio or 1.0) ** 2
    if not inertia >= LEAST_INERTIA:
        raise OptionError(
            f"drive of joint {joint!r}: an elastic gear needs a rotor with inertia; expected rotor_inertia (kg m²)"
        )
    return inertia


def insert_rotor(root: ElementTree.Element, model: Model, joint: str, gear: Gear) -> None:
    """Write a rotor and the tendon to its joint into a model's text, and move actuators and their sensors to the rotor.

    Args:
        root: the model's text.
        model: the model of this text, for numbers that its defaults may give.
        joint: name of a hinge or slide.
        gear: an elastic one.
    """
    ratio = float(gear.ratio or 1.0)
    _add_body(root, model, joint, gear)
    tendon = {"name": gear_name(joint)} | _spring(gear)
    fixed = ElementTree.SubElement(ElementTree.SubElement(root, "tendon"), "fixed", tendon)
    ElementTree.SubElement(fixed, "joint", joint=joint, coef="-1")
    ElementTree.SubElement(fixed, "joint", joint=rotor_name(joint), coef=repr(1.0 / ratio))
    _move_actuators(root, joint)
    _extend_keys(root, int(model.jnt_qposadr[model.id("joint", joint)]), _dof(model, joint), ratio)


def check_rotor(before: Model, after: Model, joint: str, gear: Gear) -> None:
    """Raise OptionError where a model has another rotor or gear than were written into its text."""
    rotor, tendon = after.id("joint", rotor_name(joint)), after.id("tendon", gear_name(joint))
    lost = []
    if not math.isclose(after.dof_M0[_dof(after, rotor_name(joint))], rotor_inertia(before, joint, gear)):
        lost.append("inertia of the rotor")
    if after.tendon_stiffness[tendon] != (gear.stiffness or 0.0):
        lost.append("stiffness")
    if after.tendon_num[tendon] != 2 or rotor != after.njnt - 1 or after.names("joint")[:-1] != before.names("joint"):
        lost.append("joints")
    if lost:
        raise OptionError(
            f"drive of joint {joint!r}: its {', '.join(lost)} cannot be written: `changed` has set them, or the file "
            "makes the joint by <replicate> or <attach>; call drive before changed"
        )


def _dof(model: Model, joint: str) -> int:
    return int(model.jnt_dofadr[model.id("joint", joint)])


def _add_body(root: ElementTree.Element, model: Model, joint: str, gear: Gear) -> None:
    """Add the rotor's body behind all others. Each attribute that a default may give is set."""
    j = model.id("joint", joint)
    at = mujoco.MjData(model.mj_model)
    mujoco.mj_kinematics(model.mj_model, at)
    body = ElementTree.SubElement(root.findall("worldbody")[-1], "body", name=rotor_name(joint))
    body.set("pos", _numbers(at.xanchor[j]))
    ElementTree.SubElement(
        body, "inertial", pos="0 0 0", mass=repr(BODY_MASS), diaginertia=_numbers([BODY_INERTIA] * 3)
    )
    ratio = float(gear.ratio or 1.0)
    start = ratio * float(model.qpos0[model.jnt_qposadr[j]])
    limited = bool(model.jnt_actfrclimited[j])
    given = {
        "name": rotor_name(joint),
        "type": "hinge",
        "axis": "0 0 1",
        "pos": "0 0 0",
        "ref": repr(start if _radians(root) else math.degrees(start)),
        "armature": repr(float(rotor_inertia(model, joint, gear) - BODY_INERTIA)),
        "damping": "0 0 0",
        "frictionloss": repr(NO_FRICTION if gear.rubs else 0.0),
        "stiffness": "0 0 0",
        "springref": "0",
        "limited": "false",
        "actuatorfrclimited": "true" if limited else "false",
        "actuatorgravcomp": "false",
    }
    if limited:  # of the torques of all actuators together
        given["actuatorfrcrange"] = _numbers(sorted(model.jnt_actfrcrange[j] / ratio))
    ElementTree.SubElement(body, "joint", given)


def _spring(gear: Gear) -> dict[str, str]:
    """Attributes of the tendon; each that a default may give is set."""
    half = 0.5 * gear.backlash
    given = {
        "stiffness": _numbers([gear.stiffness or 0.0, 0.0, gear.hardening]),
        "damping": _numbers([gear.damping, 0.0, 0.0]),
        "frictionloss": "0",
        "armature": "0",
        "margin": "0",
        "actuatorfrclimited": "false",
    }
    if gear.stiffness is None:
        return given | {"limited": "true", "range": _numbers([-half, half]), "springlength": "0"}
    return given | {"limited": "false", "springlength": _numbers([-half, half])}


def actuators_on(root: ElementTree.Element, joint: str) -> list[ElementTree.Element]:
    """Actuators of a model's text that act on a joint, but for friction by bristles."""
    elements = (e for section in root.iter("actuator") for e in section)
    return [e for e in elements if joint in (e.get("joint"), e.get("jointinparent")) and not _is_friction(e)]


def _is_friction(element: ElementTree.Element) -> bool:
    """Whether an actuator of a model's text exerts friction by bristles alone."""
    brake = element.tag == "dcmotor" and element.get("input") == "none" and element.get("lugre") is not None
    return brake and float(element.get("motorconst", "1").split()[0]) == 0.0


def _move_actuators(root: ElementTree.Element, joint: str) -> None:
    """Let a joint's actuators act on its rotor, and sensors of their force read it there."""
    sensors = [e for section in root.iter("sensor") for e in section.iter("jointactuatorfrc")]
    for element in [*actuators_on(root, joint), *(e for e in sensors if e.get("joint") == joint)]:
        element.attrib.pop("jointinparent", None)
        element.set("joint", rotor_name(joint))


def _extend_keys(root: ElementTree.Element, qpos: int, dof: int, ratio: float) -> None:
    """Append the rotor's position and velocity to keyframes, so that the gear is not twisted."""
    for key in (e for section in root.iter("keyframe") for e in section.iter("key")):
        for attribute, place in (("qpos", qpos), ("qvel", dof)):
            if (text := key.get(attribute)) and len(text.split()) > place:
                key.set(attribute, f"{text} {float(text.split()[place]) * ratio!r}")


def _radians(root: ElementTree.Element) -> bool:
    """Whether angles of a model's text are in radians."""
    units = [e.get("angle") for e in root.findall("compiler") if e.get("angle")]
    return bool(units) and units[-1] == "radian"


def _numbers(values: object) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(np.asarray(values)))
