"""Parts of drives by their data sheets: gears, dry friction, limits of motors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from saltus.arguments import number, numbers
from saltus.errors import OptionError
from saltus.model.compile.drives.drive_losses import LOSSES
from saltus.model.compile.drives.torque_curves import why_no_curve

NO_FRICTION = 1e-9  # N m or N: dry friction where only the gear rubs; see `saltus.model.compile.drives.drive_losses`
LEAST_INERTIA = 1e-12  # kg m²: of a rotor; far below that of the smallest motors, 1e-9


@dataclass(frozen=True)
class Gear:
    """Gear between the actuators of a joint and the joint: rigid, or elastic with a rotor of its own.

    `stiffness` or `backlash` gives the motor a degree of freedom, a hinge `JOINT_rotor` on which the joint's actuators
    act, and a fixed tendon `JOINT_gear` whose length is the twist φ = θ / ratio - q of the gear: see `saltus.drive`.

    Attributes:
        ratio: turns of the motor for one of the joint (rad/m in a slide), which the actuators on the joint get as their
            `gear`; None leaves theirs, and a rotor turns as much as the joint.
        efficiency: share of the motor's power that arrives while it drives, above 0 and at most 1. The gear takes
            (1 - efficiency) of the torque as friction, in both directions: where the joint drives the motor, the
            efficiency is 1 / (2 - efficiency). The torque is that of the actuators; inertia of the rotor (`armature`)
            adds nothing to it. An elastic gear rubs by the torque τ that it transmits: the motor must bring
            τ / efficiency.
        back_efficiency: share of the joint's power that arrives at the motor while the joint drives it, at most 1: of
            the torque τ, back_efficiency τ remains for the motor to hold. At 0 and below, the gear locks: the motor
            must drive it in either direction. None is 2 - 1 / efficiency, of equal friction both ways. It needs
            `stiffness`: the friction of a rigid gear with two efficiencies is no function of the state.
        stiffness: torque by twist at the joint while the motor is held (N m/rad; N/m in a slide), above 0; None for a
            gear without elasticity.
        hardening: growth of the stiffness with the twist (N m/rad³; N/m³), at least 0: the torque is
            stiffness φ + hardening φ³, as that of harmonic drives (Tuttle & Seering, A nonlinear model of a harmonic
            drive gear transmission, IEEE Trans. Robotics and Automation 12 (1996) 368).
        damping: torque by the rate of the twist (N m s/rad; N s/m), at least 0; within the backlash, too.
        backlash: play of the joint while the motor is held (rad; m), from one end to the other, at least 0. The spring
            has no force within it; without stiffness its ends are limits, where the gear's sides collide.
        rotor_inertia: moment of inertia of the motor and what turns with it (kg m²), at the motor, which takes the
            place of the joint's `armature`: ratio² rotor_inertia in a rigid gear. None keeps the joint's armature: an
            elastic gear moves it to the rotor.
    """

    ratio: float | None = None
    efficiency: float = 1.0
    back_efficiency: float | None = None
    stiffness: float | None = None
    hardening: float = 0.0
    damping: float = 0.0
    backlash: float = 0.0
    rotor_inertia: float | None = None

    def __post_init__(self) -> None:
        check_loss("efficiency", self.efficiency, "gear_efficiency")
        if self.back_efficiency is not None:
            check_loss("back_efficiency", self.back_efficiency, "gear_back_efficiency")
        if self.ratio is not None and (not math.isfinite(number("ratio", self.ratio)) or self.ratio == 0.0):
            raise OptionError(f"ratio must be finite and not 0, not {self.ratio!r}")
        if self.stiffness is not None and not 0.0 < number("stiffness", self.stiffness) < math.inf:
            raise OptionError(f"stiffness must be above 0, not {self.stiffness!r}; None for a gear without elasticity")
        for name in ("hardening", "damping", "backlash"):
            check_at_least(name, getattr(self, name))
        inertia = self.rotor_inertia
        if inertia is not None and not LEAST_INERTIA <= number("rotor_inertia", inertia) < math.inf:
            raise OptionError(f"rotor_inertia must be at least {LEAST_INERTIA:g} kg m², not {inertia!r}")
        self._check_together()

    def _check_together(self) -> None:
        """Raise OptionError where numbers do not belong together."""
        if self.stiffness is None and self.hardening > 0.0:
            raise OptionError("hardening is of a gear with stiffness, and stiffness is None")
        if self.damping > 0.0 and not self.has_rotor:
            raise OptionError("damping is of a gear with stiffness or backlash; that of the joint is Stribeck.viscous")
        if self.stiffness is None and self.backlash > 0.0 and self.efficiency < 1.0:
            raise OptionError("efficiency of a gear with backlash is of the torque of its spring; expected stiffness")
        if self.stiffness is None and self.back_efficiency is not None:
            raise OptionError(
                "back_efficiency is of an elastic gear, whose friction is a function of the twist; expected stiffness"
            )

    @property
    def rubs(self) -> bool:
        """Whether the gear has losses."""
        return self.efficiency < 1.0 or (self.back_efficiency is not None and self.back_efficiency < 1.0)

    @property
    def has_rotor(self) -> bool:
        """Whether the motor has a degree of freedom of its own."""
        return self.stiffness is not None or self.backlash > 0.0


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
        check_above("coulomb", self.coulomb)
        check_loss("static", self.static, "static_friction")
        check_loss("velocity", self.velocity, "stribeck_velocity")
        check_loss("exponent", self.exponent, "stribeck_exponent")
        check_static(self.static, self.coulomb)
        if self.viscous is not None:
            check_at_least("viscous", self.viscous)


@dataclass(frozen=True)
class LuGre:
    """Friction by bristles, which bend before the joint slides and hold it at rest without creep.

    The bristles' mean deflection z follows dz/dt = v - σ₀ |v| z / g(v), g(v) = F_C + (F_S - F_C) exp(-(v / v_S)²), and
    the joint feels -σ₀ z - σ₁ dz/dt - σ₂ v. Source: Canudas de Wit, Olsson, Åström & Lischinsky, A new model for
    control of systems with friction, IEEE Trans. Automatic Control 40 (1995) 419.

    Attributes:
        stiffness: σ₀, of the bristles (N m/rad; N/m in a slide), above 0.
        damping: σ₁, of their bending (N m s/rad; N s/m), at least 0.
        coulomb: F_C, kinetic friction (N m; N), above 0.
        static: F_S, friction at rest (N m; N), at least `coulomb`.
        velocity: v_S, Stribeck velocity (rad/s; m/s), above 0.
        viscous: σ₂, friction by velocity (N m s/rad; N s/m), the joint's `damping`; None leaves it.
    """

    stiffness: float
    damping: float
    coulomb: float
    static: float
    velocity: float
    viscous: float | None = None

    def __post_init__(self) -> None:
        for name in ("stiffness", "coulomb", "static", "velocity"):
            check_above(name, getattr(self, name))
        check_at_least("damping", self.damping)
        check_static(self.static, self.coulomb)
        if self.viscous is not None:
            check_at_least("viscous", self.viscous)


@dataclass(frozen=True)
class Dahl:
    """Friction by bristles that is as great at rest as in motion: dF/dx = σ (1 - F / F_C sign v).

    Source: Dahl, Solid friction damping of mechanical vibrations, AIAA Journal 14 (1976) 1675, with the exponent 1:
    LuGre's law with σ₁ = 0 and F_S = F_C.

    Attributes:
        stiffness: σ, slope of friction by displacement where it is 0 (N m/rad; N/m in a slide), above 0.
        coulomb: F_C, friction after a long displacement (N m; N), above 0.
        viscous: friction by velocity (N m s/rad; N s/m), the joint's `damping`; None leaves it.
    """

    stiffness: float
    coulomb: float
    viscous: float | None = None

    def __post_init__(self) -> None:
        for name in ("stiffness", "coulomb"):
            check_above(name, getattr(self, name))
        if self.viscous is not None:
            check_at_least("viscous", self.viscous)

    @property
    def damping(self) -> float:
        """σ₁ of LuGre's law."""
        return 0.0

    @property
    def static(self) -> float:
        """F_S of LuGre's law."""
        return self.coulomb

    @property
    def velocity(self) -> float:
        """v_S of LuGre's law, which has no effect."""
        return 1.0


@dataclass(frozen=True)
class TorqueCurve:
    """Greatest torque of a motor by its speed, from the points of its data sheet.

    The force of each actuator is clipped between -T(-v) and T(v), with v its speed (`actuator_velocity`, which is the
    motor's through the ratio of a gear) and T(v) linear between the points, constant beyond their ends: the greatest
    torque at rest also brakes.

    Attributes:
        speeds: increasing speeds in the torque's direction (rad/s; m/s), at least two.
        torques: the greatest torque at each (N m; N), at least 0.
    """

    speeds: Sequence[float]
    torques: Sequence[float]

    def __post_init__(self) -> None:
        for name in ("speeds", "torques"):
            object.__setattr__(self, name, tuple(numbers(name, getattr(self, name)).reshape(-1).tolist()))
        if len(self.speeds) != len(self.torques):
            raise OptionError(f"{len(self.speeds)} speeds, but {len(self.torques)} torques; expected as many")
        if why := why_no_curve(np.column_stack([self.speeds, self.torques])):
            raise OptionError(f"no curve of torque by speed: {why}")


def check_loss(name: str, value: Any, loss: str) -> None:
    """Raise OptionError unless a number may stand for a loss in a model file, by its name in `LOSSES`."""
    if not LOSSES[loss].allows(float(number(name, value))):
        raise OptionError(f"{name} must be {LOSSES[loss].meaning}, not {value!r}")


def check_above(name: str, value: Any) -> None:
    """Raise OptionError unless a number is above 0 and finite."""
    if not 0.0 < number(name, value) < math.inf:
        raise OptionError(f"{name} must be above 0, not {value!r}")


def check_at_least(name: str, value: Any) -> None:
    """Raise OptionError unless a number is 0 or above, and finite."""
    if not 0.0 <= number(name, value) < math.inf:
        raise OptionError(f"{name} must be at least 0, not {value!r}")


def check_static(static: float, coulomb: float) -> None:
    """Raise OptionError where friction at rest is less than in motion."""
    if static < coulomb:
        raise OptionError(f"static must be at least coulomb, {coulomb!r}, not {static!r}")
