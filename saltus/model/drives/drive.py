"""Drives of joints: a gear, rigid or elastic, and friction, dry or by bristles."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from saltus.arguments import text_of
from saltus.errors import OptionError
from saltus.model.actuator_enums import TRN_JOINT, TRN_JOINTINPARENT
from saltus.model.compile.drives.bristle_friction import bristle_joints
from saltus.model.compile.drives.drive_losses import PREFIX, declared_losses, elastic_gears
from saltus.model.compile.drives.torque_curves import TITLE
from saltus.model.drives.bristles import check_bristles, insert_bristles, lost_bristles
from saltus.model.drives.custom import custom_tuple, put_curve
from saltus.model.drives.motor import Motor, with_motor
from saltus.model.drives.parts import NO_FRICTION, Dahl, Gear, LuGre, Stribeck, TorqueCurve
from saltus.model.drives.rotor import actuators_on, check_free, check_rotor, gear_name, insert_rotor, rotor_name
from saltus.model.enums import HINGE, SLIDE
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.model.xml_overrides import rewritten

BRISTLES = (LuGre, Dahl)
FRICTION = (Stribeck, *BRISTLES)


def drive(
    model: ModelSource,
    joint: str,
    gear: Gear | None = None,
    friction: Stribeck | LuGre | Dahl | None = None,
    curve: TorqueCurve | None = None,
    motor: Motor | None = None,
) -> Model:
    """A copy of a model with a motor, a gear, friction, or limits of its motors, in a hinge or slide.

        model = saltus.drive("arm.xml", "elbow", saltus.Gear(ratio=50, efficiency=0.8), saltus.Stribeck(1.0, 1.6, 0.05))

    Losses are written into the model's MJCF text as `<custom>` tuples, which MuJoCo ignores (see
    `saltus.model.compile.drives.drive_losses`), and act with every integrator and contact law. Under soft contact laws
    friction creeps at rest, as all dry friction there; under `contact="hard"` it sticks, and slipping is located.

    An elastic gear, of `stiffness` or `backlash`, is written as elements of MuJoCo: a body and a hinge `elbow_rotor`
    behind all others, with the motor's angle θ (rad) as the last of `qpos`, and a fixed tendon `elbow_gear` of length
    θ / ratio - q. The joint's actuators, and sensors of their force, move to the rotor; keyframes begin with a gear
    that is not twisted. Friction of the motor is a further drive, `saltus.drive(model, "elbow_rotor", ...)`.

    Friction by bristles, LuGre's or Dahl's, is an actuator `elbow_friction` of MuJoCo behind all others, without
    controls: its state, the deflection, is the last of `act`, and `qfrc_actuator` contains its force. It takes
    the place of the joint's dry friction.

    A motor is an actuator `elbow_motor` behind all others, on a voltage; the gear is between it and the joint.

    Args:
        model: source of MJCF, as for `saltus.load`; a Model keeps its changes, muscles and ignored features.
        joint: the joint's name.
        gear: between the joint and the actuators that act on it; None leaves it as it is.
        friction: in the joint, dry or by bristles; None leaves it as it is.
        curve: greatest torques of the joint's actuators, each by its own speed; None leaves them.
        motor: a further actuator on the joint; None adds none.

    Raises:
        OptionError: no such joint, a joint that is no hinge or slide, a ratio or curve without an actuator on the
            joint, an elastic gear without inertia of the motor or in a joint that has one already, friction by bristles
            beside dry friction, the loss of a rigid gear or a limit of several actuators, or a model without MJCF text.
    """
    for name, value, kinds in (
        ("gear", gear, (Gear,)),
        ("friction", friction, FRICTION),
        ("curve", curve, (TorqueCurve,)),
        ("motor", motor, (Motor,)),
    ):
        if value is not None and not isinstance(value, kinds):
            expected = ", ".join(kind.__name__ for kind in kinds)
            raise OptionError(f"{name} must be a {expected} or None, not {value!r}")
    before = model if isinstance(model, Model) else load(model)
    _check_joint(before, text_of("joint", joint))
    if gear is not None:
        check_free(before, joint)
    given = f"drive of joint {joint!r}"
    if motor is not None:
        model = before = with_motor(model, before, joint, motor, given)
    _check_friction(before, joint, friction, given)
    attributes, losses = _attributes(before, joint, gear, friction), _losses(before, joint, gear, friction)

    def change(root: ElementTree.Element) -> None:
        for element in (e for body in root.iter("worldbody") for e in body.iter("joint") if e.get("name") == joint):
            for name, value in attributes.items():
                # coefficients of higher order that a default gives are not those of the drive
                element.set(name, repr(float(value)) + (" 0 0" if name == "damping" else ""))
        if curve is not None:
            _write_curve(root, joint, curve, given)
        if gear is not None:
            _write_gear(root, before, joint, gear, given)
        if isinstance(friction, BRISTLES):
            insert_bristles(root, before, joint, friction, given)
        for owner, numbers in losses.items():
            for loss, value in numbers.items():
                _declare(root, PREFIX + loss, owner, value)

    found = rewritten(model, change, given)
    _check_written(found, joint, attributes, gear, given)
    if gear is not None and gear.has_rotor:
        check_rotor(before, found, joint, gear)
    if isinstance(friction, BRISTLES) and (lost := lost_bristles(before, found, joint, friction)):
        raise _not_written(given, lost)
    return found


def _check_friction(model: Model, joint: str, friction: Stribeck | LuGre | Dahl | None, given: str) -> None:
    """Raise OptionError where a joint cannot have a friction."""
    if isinstance(friction, BRISTLES):
        check_bristles(model, joint, given)
    elif friction is not None and (k := bristle_joints(model.mj_model).get(model.id("joint", joint))) is not None:
        raise OptionError(
            f"{given}: the joint has friction by bristles, actuator {model.names('actuator')[k]!r}; choose LuGre or "
            "Dahl, or take the actuator out"
        )


def _attributes(
    model: Model, joint: str, gear: Gear | None, friction: Stribeck | LuGre | Dahl | None
) -> dict[str, float]:
    """Attributes of a joint that its drive sets."""
    found = {}
    if gear is not None and gear.has_rotor:
        found["armature"] = 0.0  # the rotor has it
    elif gear is not None:
        if gear.rotor_inertia is not None:
            found["armature"] = (gear.ratio or 1.0) ** 2 * gear.rotor_inertia
        if gear.efficiency < 1.0 and not _of_dof(model, "dof_frictionloss", joint) > 0.0:
            found["frictionloss"] = NO_FRICTION
    if friction is not None:
        found["frictionloss"] = friction.coulomb if isinstance(friction, Stribeck) else _of_gear(model, joint)
        if friction.viscous is not None:
            found["damping"] = friction.viscous
    return found


def _of_gear(model: Model, joint: str) -> float:
    """Dry friction that a joint with bristles keeps: what the losses of a gear need."""
    gears = elastic_gears(model.mj_model)
    rubs = model.id("joint", joint) in declared_losses(model.mj_model)["gear_efficiency"]
    return NO_FRICTION if rubs or int(model.jnt_dofadr[model.id("joint", joint)]) in gears else 0.0


def _losses(
    model: Model, joint: str, gear: Gear | None, friction: Stribeck | LuGre | Dahl | None
) -> dict[str, dict[str, float]]:
    """Losses that a drive declares by kind and name of their object, "joint knee", and their names in `LOSSES`."""
    of_joint: dict[str, float] = {}
    of_gear: dict[str, float] = {}
    declared = declared_losses(model.mj_model)["gear_efficiency"]
    if gear is not None and gear.has_rotor:
        if gear.rubs:
            of_gear["gear_efficiency"] = gear.efficiency
        if gear.rubs and gear.back_efficiency is not None:
            of_gear["gear_back_efficiency"] = gear.back_efficiency
    elif gear is not None and (gear.efficiency < 1.0 or model.id("joint", joint) in declared):
        of_joint["gear_efficiency"] = gear.efficiency
    if isinstance(friction, Stribeck):
        of_joint |= {"static_friction": friction.static, "stribeck_velocity": friction.velocity}
        of_joint |= {"stribeck_exponent": friction.exponent}
    return {f"joint {joint}": of_joint, f"tendon {gear_name(joint)}": of_gear}


def _write_gear(root: ElementTree.Element, model: Model, joint: str, gear: Gear, given: str) -> None:
    """Give the actuators on a joint the gear's ratio, or a rotor."""
    actuators = actuators_on(root, joint)
    if gear.ratio is not None:
        if not actuators and not gear.has_rotor and gear.rotor_inertia is None:
            raise OptionError(f"{given}: no actuator acts on the joint, so that ratio has nothing to act on")
        for element in actuators:
            element.set("gear", repr(_ratio_of_actuators(gear)))
    if gear.has_rotor:
        insert_rotor(root, model, joint, gear)


def _write_curve(root: ElementTree.Element, joint: str, curve: TorqueCurve, given: str) -> None:
    """Declare the limits of the actuators on a joint by their speed; those without a name get one."""
    actuators = actuators_on(root, joint)
    if not actuators:
        raise OptionError(f"{given}: no actuator acts on the joint, so that curve has nothing to limit")
    name = f"{joint}_curve"
    if put_curve(root, TITLE, name, list(zip(curve.speeds, curve.torques, strict=True)), given):
        return
    found = custom_tuple(root, TITLE)
    for k, actuator in enumerate(actuators):
        if actuator.get("name") is None:
            actuator.set("name", f"{joint}_motor{k or ''}")
        ElementTree.SubElement(found, "element", objtype="actuator", objname=str(actuator.get("name")))
        ElementTree.SubElement(found, "element", objtype="numeric", objname=name)


def _ratio_of_actuators(gear: Gear) -> float:
    """Ratio between actuators and the joint on which they act, which is the rotor's if there is one."""
    return 1.0 if gear.has_rotor else float(gear.ratio or 1.0)


def _check_written(model: Model, joint: str, attributes: dict[str, float], gear: Gear | None, given: str) -> None:
    """Raise OptionError where a model has other values than were written into its text."""
    lost = [name for name, value in attributes.items() if _of_dof(model, f"dof_{name}", joint) != value]
    driven = model.id("joint", rotor_name(joint) if gear is not None and gear.has_rotor else joint)
    on_joint = np.isin(model.actuator_trntype, (TRN_JOINT, TRN_JOINTINPARENT)) & (model.actuator_trnid[:, 0] == driven)
    on_joint[list(bristle_joints(model.mj_model).values())] = False  # friction, which has no gear
    gears = model.actuator_gear[model.actuator_outadr[on_joint], 0]
    if gear is not None and gear.ratio is not None and (gears != _ratio_of_actuators(gear)).any():
        lost.append("gear of actuators")
    if lost:
        raise _not_written(given, lost)


def _not_written(given: str, lost: list[str]) -> OptionError:
    return OptionError(
        f"{given}: its {', '.join(lost)} cannot be written: `changed` has set them, or the file makes the joint by "
        "<replicate> or <attach>; call drive before changed, or write frictionloss and <custom> into the file"
    )


def _check_joint(model: Model, joint: str) -> None:
    """Raise OptionError unless a joint is a hinge or slide."""
    if model.jnt_type[model.id("joint", joint)] not in (HINGE, SLIDE):
        raise OptionError(f"a drive acts on a hinge or slide, and joint {joint!r} is none")


def _of_dof(model: Model, field: str, joint: str) -> float:
    """The number of a field [nv] for a hinge or slide."""
    return float(getattr(model, field)[model.jnt_dofadr[model.id("joint", joint)]])


def _declare(root: ElementTree.Element, title: str, owner: str, value: float) -> None:
    """Write the number of an object, "joint knee", into the tuple of a loss, in place of one that stands there."""
    kind, name = owner.split(" ", 1)
    for element in (e for t in root.iter("tuple") if (t.get("name") or "").endswith(title) for e in t):
        if (element.get("objtype"), element.get("objname")) == (kind, name):
            element.set("prm", repr(float(value)))
            return
    ElementTree.SubElement(custom_tuple(root, title), "element", objtype=kind, objname=name, prm=repr(float(value)))
