"""Drives with losses: a gear and dry friction that is greater at rest than in motion, in a joint of a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from saltus.arguments import number, text_of
from saltus.errors import OptionError
from saltus.model.actuator_enums import TRN_JOINT, TRN_JOINTINPARENT
from saltus.model.compile.drive_losses import LOSSES, PREFIX
from saltus.model.enums import HINGE, SLIDE
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.model.xml_overrides import rewritten

NO_FRICTION = 1e-9  # N m or N: dry friction of a joint in which only the gear rubs; see `drive_losses`


@dataclass(frozen=True)
class Gear:
    """Gear between the actuators of a joint and the joint.

    Attributes:
        ratio: turns of the motor for one of the joint, which the actuators on the joint get as their `gear`; None
            leaves theirs.
        efficiency: share of the motor's power that arrives while it drives, above 0 and at most 1. The gear takes
            (1 - efficiency) of the torque as friction, in both directions: where the joint drives the motor, the
            efficiency is 1 / (2 - efficiency). The torque is that of the actuators; inertia of the rotor (`armature`)
            adds nothing to it.
    """

    ratio: float | None = None
    efficiency: float = 1.0

    def __post_init__(self) -> None:
        _check("efficiency", self.efficiency, LOSSES["gear_efficiency"])
        if self.ratio is not None and (not math.isfinite(number("ratio", self.ratio)) or self.ratio == 0.0):
            raise OptionError(f"ratio must be finite and not 0, not {self.ratio!r}")


@dataclass(frozen=True)
class Stribeck:
    """Dry friction that falls from rest to motion: F_C + (F_S - F_C) exp(-|v / v_S|^δ), and viscous friction.

    Source: Olsson, Åström, Canudas de Wit, Gäfvert & Lischinsky, Friction models and friction compensation, European
    Journal of Control 4 (1998) 176.

    Attributes:
        coulomb: F_C, kinetic friction (N m; N in a slide), above 0; the joint's `frictionloss`.
        static: F_S, friction at rest (N m; N), at least `coulomb`.
        velocity: v_S, Stribeck velocity (rad/s; m/s), above 0.
        exponent: δ, 1 or 2.
        viscous: friction by velocity (N m s/rad; N s/m), the joint's `damping`; None leaves it.
    """

    coulomb: float
    static: float
    velocity: float
    exponent: int = 2
    viscous: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 < number("coulomb", self.coulomb) < math.inf:
            raise OptionError(f"coulomb must be above 0, not {self.coulomb!r}")
        _check("static", self.static, LOSSES["static_friction"])
        _check("velocity", self.velocity, LOSSES["stribeck_velocity"])
        _check("exponent", self.exponent, LOSSES["stribeck_exponent"])
        if self.static < self.coulomb:
            raise OptionError(f"static must be at least coulomb, {self.coulomb!r}, not {self.static!r}")
        if self.viscous is not None and not 0.0 <= number("viscous", self.viscous) < math.inf:
            raise OptionError(f"viscous must be at least 0, not {self.viscous!r}")


def _check(name: str, value: Any, loss: Any) -> None:
    """Raise OptionError unless a number may stand for a loss."""
    if not loss.allows(float(number(name, value))):
        raise OptionError(f"{name} must be {loss.meaning}, not {value!r}")


def drive(model: ModelSource, joint: str, gear: Gear | None = None, friction: Stribeck | None = None) -> Model:
    """A copy of a model with a gear, or dry friction by Stribeck's curve, in a hinge or slide.

        model = saltus.drive("arm.xml", "elbow", saltus.Gear(ratio=50, efficiency=0.8), saltus.Stribeck(1.0, 1.6, 0.05))

    The losses are written into the model's MJCF text as `<custom>` tuples, which MuJoCo ignores (see
    `saltus.model.compile.drive_losses`), and act with every integrator and contact law. Under soft contact laws
    friction creeps at rest, as all dry friction there; under `contact="hard"` it sticks, and slipping is located.

    Args:
        model: source of MJCF, as for `saltus.load`; a Model keeps its changes, muscles and ignored features.
        joint: the joint's name.
        gear: between the joint and the actuators that act on it; None leaves it as it is.
        friction: in the joint; None leaves it as it is.

    Raises:
        OptionError: no such joint, a joint that is no hinge or slide, a ratio without an actuator on the joint, or a
            model without MJCF text.
    """
    for name, value, kind in (("gear", gear, Gear), ("friction", friction, Stribeck)):
        if value is not None and not isinstance(value, kind):
            raise OptionError(f"{name} must be a {kind.__name__} or None, not {value!r}")
    rubs = _friction_of(model if isinstance(model, Model) else load(model), text_of("joint", joint)) > 0.0
    given = f"drive of joint {joint!r}"
    losses: dict[str, float] = {} if gear is None else {"gear_efficiency": gear.efficiency}
    attributes = {} if gear is None or rubs else {"frictionloss": NO_FRICTION}
    if friction is not None:
        losses |= {"static_friction": friction.static, "stribeck_velocity": friction.velocity}
        losses |= {"stribeck_exponent": friction.exponent}
        attributes["frictionloss"] = friction.coulomb
        if friction.viscous is not None:
            attributes["damping"] = friction.viscous

    def change(root: ElementTree.Element) -> None:
        for element in (e for body in root.iter("worldbody") for e in body.iter("joint") if e.get("name") == joint):
            for name, value in attributes.items():
                element.set(name, repr(float(value)))
        if gear is not None and gear.ratio is not None:
            _set_ratio(root, joint, gear.ratio, given)
        for loss, value in losses.items():
            _declare(root, PREFIX + loss, joint, value)

    found = rewritten(model, change, given)
    _check_written(found, joint, attributes, None if gear is None else gear.ratio, given)
    return found


def _check_written(model: Model, joint: str, attributes: dict[str, float], ratio: float | None, given: str) -> None:
    """Raise OptionError where a model has other values than were written into its text."""
    j = model.id("joint", joint)
    dof = model.jnt_dofadr[j]
    there = {"frictionloss": model.dof_frictionloss[dof], "damping": model.dof_damping[dof]}
    lost = [name for name, value in attributes.items() if there[name] != value]
    on_joint = np.isin(model.actuator_trntype, (TRN_JOINT, TRN_JOINTINPARENT)) & (model.actuator_trnid[:, 0] == j)
    if ratio is not None and (model.actuator_gear[model.actuator_outadr[on_joint], 0] != ratio).any():
        lost.append("gear of actuators")
    if lost:
        raise OptionError(
            f"{given}: its {', '.join(lost)} cannot be written: `changed` has set them, or the file makes the joint by "
            "<replicate> or <attach>; call drive before changed, or write frictionloss and <custom> into the file"
        )


def _friction_of(model: Model, joint: str) -> float:
    """Kinetic friction of a hinge or slide; OptionError for another joint."""
    j = model.id("joint", joint)
    if model.jnt_type[j] not in (HINGE, SLIDE):
        raise OptionError(f"a drive acts on a hinge or slide, and joint {joint!r} is none")
    return float(model.dof_frictionloss[model.jnt_dofadr[j]])


def _set_ratio(root: ElementTree.Element, joint: str, ratio: float, given: str) -> None:
    """Give the actuators that act on a joint their gear."""
    moved = [e for section in root.iter("actuator") for e in section if e.get("joint") == joint]
    if not moved:
        raise OptionError(f"{given}: no actuator acts on the joint, so that ratio has nothing to act on")
    for element in moved:
        element.set("gear", repr(float(ratio)))


def _declare(root: ElementTree.Element, title: str, joint: str, value: float) -> None:
    """Write a joint's number into the tuple of a loss, in place of one that stands there."""
    for element in (e for t in root.iter("tuple") if (t.get("name") or "").endswith(title) for e in t):
        if element.get("objname") == joint:
            element.set("prm", repr(float(value)))
            return
    found = next((t for t in root.iter("tuple") if t.get("name") == title), None)
    if found is None:
        custom = root.find("custom")
        custom = ElementTree.SubElement(root, "custom") if custom is None else custom
        found = ElementTree.SubElement(custom, "tuple", name=title)
    ElementTree.SubElement(found, "element", objtype="joint", objname=joint, prm=repr(float(value)))
