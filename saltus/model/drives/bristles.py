"""Friction by bristles in model files: an actuator without controls, behind all others, and its places in keyframes.

A limit of the torque of all actuators on a joint (`actuatorfrcrange`) would limit friction with them, and so becomes
the limit of the one motor on the joint, `forcerange`; several motors are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import mujoco
import numpy as np

from saltus.errors import OptionError
from saltus.model.actuator_enums import DYN_DCMOTOR
from saltus.model.compile.drives.bristle_friction import COULOMB, DAMPING, STATIC, STIFFNESS, VELOCITY, bristle_joints
from saltus.model.drives.rotor import actuators_on

if TYPE_CHECKING:
    from saltus.model.drives.parts import Dahl, LuGre
    from saltus.model.model import Model

NEVER_DISABLED = 31  # the first group of actuators that no option disables
DRY = ("static_friction", "stribeck_velocity", "stribeck_exponent")  # losses of dry friction, which gives way


def bristles_name(joint: str) -> str:
    """Name of the actuator that is a joint's friction."""
    return f"{joint}_friction"


def lugre_numbers(friction: LuGre | Dahl) -> list[float]:
    """Stiffness, damping, kinetic and static friction, Stribeck velocity, as MJCF lists them."""
    names = ("stiffness", "damping", "coulomb", "static", "velocity")
    return [float(getattr(friction, name)) for name in names]


def check_bristles(model: Model, joint: str, given: str) -> None:
    """Raise OptionError where a model's joint cannot have friction by bristles."""
    name, m = bristles_name(joint), model.mj_model
    if name in model.names("actuator") and model.id("joint", joint) not in bristle_joints(m):
        raise OptionError(f"{given}: there is an actuator {name!r} already; rename it")
    if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_ACTUATION.value:
        raise OptionError(
            f"{given}: friction by bristles is an actuator of MuJoCo, and the model disables actuation; choose Stribeck"
        )


def insert_bristles(root: ElementTree.Element, model: Model, joint: str, friction: LuGre | Dahl, given: str) -> None:
    """Write the friction of a joint into a model's text, or its numbers where it is there."""
    numbers = " ".join(repr(x) for x in lugre_numbers(friction))
    for title in DRY:
        _undeclare(root, title, joint)
    k = bristle_joints(model.mj_model).get(model.id("joint", joint))
    if k is not None:
        name = model.names("actuator")[k]
        for element in (e for section in root.iter("actuator") for e in section if e.get("name") == name):
            element.set("lugre", numbers)
        return
    _move_limit(root, model, joint, given)
    section = ElementTree.SubElement(root, "actuator")
    # each attribute that a default may give is set
    given_attributes = {
        **{"name": bristles_name(joint), "joint": joint, "group": str(NEVER_DISABLED), "gear": "1"},
        **{"resistance": "1", "motorconst": "0", "input": "none", "lugre": numbers},
        **{"inductance": "0 0", "thermal": "0 0 0 0 0 0", "saturation": "0 0 0", "cogging": "0 0 0"},
        **{"controller": "0 0 0 0 0 0", "ctrllimited": "false", "delay": "0", "nsample": "0"},
        **{"damping": "0 0 0", "armature": "0"},
    }
    ElementTree.SubElement(section, "dcmotor", given_attributes)
    for key in (e for keys in root.iter("keyframe") for e in keys.iter("key")):
        if text := key.get("act"):
            key.set("act", f"{text} 0")


def lost_bristles(before: Model, after: Model, joint: str, friction: LuGre | Dahl) -> list[str]:
    """Parts of a joint's friction that a model has not got from its text."""
    m = after.mj_model
    k = bristle_joints(m).get(after.id("joint", joint))
    if k is None:
        return ["friction"]
    own = [*m.actuator_dynprm[k, [STIFFNESS, DAMPING]], *m.actuator_biasprm[k, [COULOMB, STATIC, VELOCITY]]]
    lost = []
    if own != lugre_numbers(friction):
        lost.append("friction")
    if (
        after.names("actuator")[: before.nactuator] != before.names("actuator")[: before.nactuator]
        or after.nu != before.nu
    ):
        lost.append("place behind other actuators")
    clean = np.count_nonzero(m.actuator_dynprm[k]) + np.count_nonzero(m.actuator_biasprm[k])
    if clean != np.count_nonzero(own) or m.actuator_delay[k] or m.actuator_actnum[k] != 1:
        lost.append("friction without a winding")
    if m.jnt_actfrclimited[after.id("joint", joint)]:
        lost.append("actuatorfrcrange")
    return lost


def _move_limit(root: ElementTree.Element, model: Model, joint: str, given: str) -> None:
    """Turn the limit of all actuators on a joint into that of its one motor."""
    m, j = model.mj_model, model.id("joint", joint)
    if not m.jnt_actfrclimited[j]:
        return
    views, dof = model.struct().views, int(m.jnt_dofadr[j])
    owner = np.repeat(np.arange(m.nactuator), m.actuator_outnum)
    acting = [
        o
        for o in range(m.nout)
        if dof in views["moment_dof"][views["moment_adr"][o] : views["moment_adr"][o] + views["moment_num"][o]]
    ]
    elements = actuators_on(root, joint)
    if acting and (len(acting) > 1 or len(elements) != 1 or m.actuator_dyntype[owner[acting[0]]] == DYN_DCMOTOR):
        raise OptionError(
            f"{given}: actuatorfrcrange of the joint would limit its friction by bristles as well; limit its actuators "
            "by forcerange instead"
        )
    for o, element in zip(acting, elements, strict=True):
        k = owner[o]
        span = np.sort(m.jnt_actfrcrange[j] / m.actuator_gear[o, 0])
        if m.actuator_forcelimited[k]:
            span = np.clip(m.actuator_forcerange[k], *span)
        element.set("forcelimited", "true")
        element.set("forcerange", " ".join(repr(float(x)) for x in span))
    for element in (e for body in root.iter("worldbody") for e in body.iter("joint") if e.get("name") == joint):
        element.attrib.pop("actuatorfrcrange", None)
        element.set("actuatorfrclimited", "false")


def _undeclare(root: ElementTree.Element, loss: str, joint: str) -> None:
    """Take a joint out of the tuple of a loss, and the tuple out where nothing is left."""
    for section in root.iter("custom"):
        for found in [t for t in section.iter("tuple") if (t.get("name") or "").endswith(f"drive_{loss}")]:
            for element in [e for e in found if (e.get("objtype"), e.get("objname")) == ("joint", joint)]:
                found.remove(element)
            if not len(found):
                section.remove(found)
