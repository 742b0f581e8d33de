"""Dc motors by the numbers of their data sheets, written into models as actuators of MuJoCo."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self
from xml.etree import ElementTree

from saltus.arguments import number, numbers
from saltus.errors import OptionError
from saltus.model.compile.drives.current_limits import TITLE, why_no_limit
from saltus.model.drives.custom import custom_tuple, put_numbers
from saltus.model.drives.parts import check_above, check_at_least
from saltus.model.xml_overrides import rewritten

if TYPE_CHECKING:
    from saltus.model.load import ModelSource
    from saltus.model.model import Model

COPPER = 0.0039  # 1/K, by which the resistance of copper grows
REFERENCE = AMBIENT = 25.0  # °C, at which data sheets give the resistance; of the surroundings where none is given
#: Numbers of a motor above 0, if it has them, and those of at least 0.
POSITIVE = ("resistance", "torque_constant", "voltage", "current_limit", "thermal_resistance", "thermal_capacity")
NOT_NEGATIVE = ("inductance", "temperature_coefficient", "cogging", "cogs")


@dataclass(frozen=True)
class Motor:
    """A dc motor on a voltage, with the limits of its controller, by the numbers of its data sheet.

    In a joint it is an actuator `JOINT_motor`, MuJoCo's `dcmotor`, whose control is the voltage (V). With inductance
    the current (A), and with a thermal resistance the temperature above the surroundings (K), are states in `act`, in
    the order temperature, current. MuJoCo does not know `current_limit` and `derating`, and ignores them.

    Attributes:
        resistance: of the winding at 25 °C (Ω), above 0.
        torque_constant: torque by current, and voltage by speed without load (N m/A = V s/rad; N/A = V s/m in a
            slide), above 0.
        inductance: of the winding (H), at least 0.
        voltage: greatest control (V) in both directions, above 0; None for no limit.
        current_limit: greatest current (A) that the controller drives, above 0; None for no limit. The voltage is
            clipped so that the current tends to no more, also where a fast motor brakes.
        derating: temperatures of the winding (°C) at which the current's limit begins to fall and is zero; the limit is
            linear between them. None where it does not fall. It needs `current_limit` and `thermal_resistance`.
        thermal_resistance: from the winding to the surroundings (K/W), above 0; None for a winding that does not warm.
        thermal_capacity: of the winding (J/K), above 0; given with the resistance, whose product is the time constant.
        temperature_coefficient: growth of the resistance by temperature (1/K), at least 0; that of copper.
        ambient: temperature of the surroundings (°C).
        cogging: amplitude of the cogging torque (N m), at least 0.
        cogs: periods of the cogging torque in a turn, a whole number above 0 where there is an amplitude.
    """

    resistance: float
    torque_constant: float
    inductance: float = 0.0
    voltage: float | None = None
    current_limit: float | None = None
    derating: tuple[float, float] | None = None
    thermal_resistance: float | None = None
    thermal_capacity: float | None = None
    temperature_coefficient: float = COPPER
    ambient: float = AMBIENT
    cogging: float = 0.0
    cogs: float = 0.0

    def __post_init__(self) -> None:
        given = [name for name in POSITIVE if getattr(self, name) is not None]
        for name in given:
            check_above(name, getattr(self, name))
        for name in NOT_NEGATIVE:
            check_at_least(name, getattr(self, name))
        if not math.isfinite(number("ambient", self.ambient)):
            raise OptionError(f"ambient must be finite, not {self.ambient!r}")
        for name in (*given, *NOT_NEGATIVE, "ambient"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if self.derating is not None:
            ends = tuple(numbers("derating", self.derating).reshape(-1).tolist())
            object.__setattr__(self, "derating", ends)
        self._check_together()

    def _check_together(self) -> None:
        """Raise OptionError where numbers do not belong together."""
        if (self.thermal_resistance is None) != (self.thermal_capacity is None):
            raise OptionError("a winding that warms needs thermal_resistance and thermal_capacity, and one is None")
        if self.derating is not None and (self.current_limit is None or self.thermal_resistance is None):
            raise OptionError("derating is of a current_limit by the temperature, which needs thermal_resistance")
        if self.limit_numbers and (why := why_no_limit(self.limit_numbers)):
            raise OptionError(f"derating: {why}")
        if bool(self.cogging) != bool(self.cogs) or self.cogs != round(self.cogs):
            raise OptionError("cogging needs an amplitude `cogging` and whole `cogs` in a turn, both above 0")

    @classmethod
    def of_speed_and_torque(cls, voltage: float, no_load_speed: float, stall_torque: float, **others: object) -> Self:
        """The motor that turns with a speed (rad/s) without load and stalls at a torque (N m) on a voltage (V).

        The torque constant is V/ω₀ and the resistance V²/(ω₀ τ): friction of the motor, which makes the speed without
        load a little less, is not taken out. `others`: the other numbers, as of `Motor`.
        """
        for name, value in (("voltage", voltage), ("no_load_speed", no_load_speed), ("stall_torque", stall_torque)):
            check_above(name, value)
        constant = voltage / no_load_speed
        return replace(cls(constant * voltage / stall_torque, constant, voltage=voltage), **others)

    @property
    def limit_numbers(self) -> tuple[float, ...]:
        """Numbers of the current's limit, as a model file has them; none if there is no limit."""
        return () if self.current_limit is None else (self.current_limit, *(self.derating or ()))


def motor_name(joint: str) -> str:
    """Name of the actuator that is a joint's motor."""
    return f"{joint}_motor"


def with_motor(source: ModelSource, before: Model, joint: str, motor: Motor, given: str) -> Model:
    """A copy of the model of a source, which has been loaded as `before`, with a motor on a joint.

    Raises:
        OptionError: its name is taken, or the text does not bring it where it belongs.
    """
    if motor_name(joint) in before.names("actuator"):
        raise OptionError(f"{given}: there is an actuator {motor_name(joint)!r} already; rename it, or leave motor out")
    found = rewritten(source, lambda root: _insert(root, joint, motor, given), given)
    if [*before.names("actuator"), motor_name(joint)] != [*found.names("actuator")] or found.nu != before.nu + 1:
        raise OptionError(
            f"{given}: its motor cannot be written behind all other actuators: `changed` has set some, or a file is "
            "attached; call drive before changed, or write <dcmotor> into the file"
        )
    return found


def _attributes(joint: str, motor: Motor) -> dict[str, str]:
    """Attributes of a motor as MuJoCo's `dcmotor`, with each that a default of the file may give."""
    heat = (motor.thermal_resistance, motor.thermal_capacity)
    thermal = (*heat, 0.0, motor.temperature_coefficient, REFERENCE, motor.ambient) if None not in heat else (0.0,) * 6
    numbers_of = {
        "gear": (1.0,),
        "resistance": (motor.resistance,),
        "motorconst": (motor.torque_constant,),
        "inductance": (motor.inductance, 0.0),
        "thermal": thermal,
        "cogging": (motor.cogging, motor.cogs, 0.0),
        **{"saturation": (0.0,) * 3, "lugre": (0.0,) * 5, "controller": (0.0,) * 6},
        **{"delay": (0.0,), "damping": (0.0,) * 3, "armature": (0.0,)},
    }
    if motor.voltage is not None:
        numbers_of["ctrlrange"] = (-motor.voltage, motor.voltage)
    words = {"name": motor_name(joint), "joint": joint, "input": "voltage", "nsample": "0", "group": "0"}
    limited = {"ctrllimited": "false" if motor.voltage is None else "true"}
    texts = {name: " ".join(map(repr, values)) for name, values in numbers_of.items()}
    return {**words, **limited, **texts}


def _insert(root: ElementTree.Element, joint: str, motor: Motor, given: str) -> None:
    """Write a joint's motor into a model's text, as its last actuator."""
    ElementTree.SubElement(ElementTree.SubElement(root, "actuator"), "dcmotor", _attributes(joint, motor))
    states = (motor.thermal_resistance is not None) + (motor.inductance > 0.0)
    for key in (e for keys in root.iter("keyframe") for e in keys.iter("key")):
        for name, count in (("act", states), ("ctrl", 1)):
            if text := key.get(name):
                key.set(name, f"{text}{' 0' * count}")
    name = f"{joint}_current"
    if motor.limit_numbers and not put_numbers(root, TITLE, name, motor.limit_numbers, given):
        found = custom_tuple(root, TITLE)
        ElementTree.SubElement(found, "element", objtype="actuator", objname=motor_name(joint))
        ElementTree.SubElement(found, "element", objtype="numeric", objname=name)
