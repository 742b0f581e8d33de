"""Compliant contact laws with names: Hunt and Crossley's, Hertz's, Kelvin and Voigt's, with friction by two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

from scipy.optimize import brentq

from saltus.arguments import number
from saltus.errors import OptionError
from saltus.number.functions import exp, maximum, power, sqrt, where
from saltus.number.kernels import kernel
from saltus.simulate.laws.contact import Compliant

LEAST_DEPTH = 1e-30  # m: powers of depths have derivatives above it
LEAST, MOST = 1e-20, 1e20  # SI units: bounds of what powers and products are taken of
NEAR = 1e-14  # relative distance from the end of a logarithm's domain
STRIBECK = 0.01  # m/s, default velocity over which friction falls from rest to motion
SLIP = 1e-4  # m/s, default velocity below which friction is less than Coulomb's


class NormalLaw(Compliant):
    """A law for the normal force F of a depth δ and its rate, with friction |F_T| = μ(v) F v / √(v² + v₀²).

    μ(v) = μ + (μ_S - μ) exp(-(v / v_S)²): μ is the kinetic coefficient `friction`, μ_S `static_friction`, v_S
    `stribeck_velocity`, v₀ `slip_velocity` (m/s), below which bodies creep instead of sticking. Coefficients of the
    model are ignored.
    """

    def __init__(
        self,
        normal: Callable[[float, float], float],
        numbers: tuple[float, ...],
        friction: float,
        static_friction: float | None,
        stribeck_velocity: float,
        slip_velocity: float,
    ):
        kinetic = _not_negative("friction", friction)
        static = kinetic if static_friction is None else _not_negative("static_friction", static_friction)
        if static < kinetic:
            raise OptionError(f"static_friction must be at least friction, {kinetic:g}, not {static:g}")
        fall, slow = _positive("stribeck_velocity", stribeck_velocity), _positive("slip_velocity", slip_velocity)
        push = kernel(normal, inline=True)

        def rubbing(m: Any, d: Any, gap: Any, velocity: Any) -> tuple[Any, Any, Any]:
            pushing = push(maximum(-gap, 0.0 * gap + LEAST_DEPTH), -velocity[0])
            force = where(gap < 0.0, maximum(pushing, 0.0 * gap), 0.0 * gap)
            square = velocity[1] * velocity[1] + velocity[2] * velocity[2]
            coefficient = kinetic + (static - kinetic) * exp(-square / (fall * fall))
            share = -coefficient * force / sqrt(square + slow * slow)
            return force, share * velocity[1], share * velocity[2]

        self._given = (*numbers, kinetic, static, fall, slow)
        super().__init__(rubbing)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{x:g}' for x in self._given)})"

    def __reduce__(self) -> Any:
        return type(self), self._given


class HuntCrossley(NormalLaw):
    """Force F = k δⁿ (1 + a δ̇) at contacts, where that pushes: `contact=saltus.HuntCrossley(1e6, dissipation=0.3)`.

    Source: Hunt & Crossley, Coefficient of restitution interpreted as damping in vibroimpact, J. Applied Mechanics 42
    (1975) 440. With n = 3/2 and a = 0 it is Hertz's law. The force begins and ends at zero.

    Args:
        stiffness: k (N/mⁿ), above 0; see `hertz_stiffness`.
        dissipation: a (s/m), at least 0. A mass that comes at the speed v leaves at e v, where
            a v (1 + e) = ln((1 + a v) / (1 - e a v)), whatever mass, stiffness and exponent are.
        exponent: n, 1 to 10.
        friction, static_friction, stribeck_velocity, slip_velocity: see `NormalLaw`.
    """

    def __init__(
        self,
        stiffness: float,
        dissipation: float = 0.0,
        exponent: float = 1.5,
        friction: float = 0.0,
        static_friction: float | None = None,
        stribeck_velocity: float = STRIBECK,
        slip_velocity: float = SLIP,
    ):
        k, a = _positive("stiffness", stiffness), _not_negative("dissipation", dissipation)
        n = _exponent(exponent)

        def hunt_crossley(depth: Any, rate: Any) -> Any:
            return k * power(depth, n) * (1.0 + a * rate)

        self.stiffness, self.dissipation, self.exponent = k, a, n
        super().__init__(hunt_crossley, (k, a, n), friction, static_friction, stribeck_velocity, slip_velocity)

    @classmethod
    def fitted(
        cls,
        restitution: float,
        penetration: float,
        *,
        mass: float,
        speed: float,
        exponent: float = 1.5,
        **friction: float,
    ) -> Self:
        """The law by which a mass (kg) that comes at a speed (m/s) goes so deep (m) and leaves at e times its speed.

        `saltus.contact_parameters` finds soft contact's numbers, and `KelvinVoigt.fitted` a spring and a damper.
        """
        e, depth, m, v = _impact(restitution, penetration, mass, speed)
        scaled, n = _dissipation_for(e), _exponent(exponent)
        return cls((n + 1.0) * m * _work(scaled, v) / depth ** (n + 1.0), scaled / v, n, **friction)

    def restitution(self, speed: float) -> float:
        """Ratio of the speeds (m/s) after and before an impact of a mass on a body at rest."""
        scaled = self.dissipation * _positive("speed", speed)
        if scaled == 0.0:
            return 1.0
        left = lambda e: scaled * (1.0 + e) - math.log1p(scaled) + math.log1p(-e * scaled)  # noqa: E731
        return _root(left, 0.0, min(1.0, (1.0 - NEAR) / scaled))

    def penetration(self, mass: float, speed: float) -> float:
        """Greatest depth (m) of a mass (kg) that comes at a speed (m/s), without other forces."""
        m, v, n = _positive("mass", mass), _positive("speed", speed), self.exponent
        return ((n + 1.0) * m * _work(self.dissipation * v, v) / self.stiffness) ** (1.0 / (n + 1.0))


class KelvinVoigt(NormalLaw):
    """Force F = k δ + c δ̇ of a spring and a damper at contacts, where that pushes.

    The force begins with a jump. Damping ratio ζ = c / (2 √(k m)) of a mass m on a body at rest: it leaves at e times
    its speed, e = exp(-2 ζ arccos(ζ) / √(1 - ζ²)), when the force would pull (Schwager & Pöschel, Coefficient of
    restitution and linear-dashpot model revisited, Granular Matter 9 (2007) 465).

    Args:
        stiffness: k (N/m), above 0.
        damping: c (N s/m), at least 0.
        friction, static_friction, stribeck_velocity, slip_velocity: see `NormalLaw`.
    """

    def __init__(
        self,
        stiffness: float,
        damping: float = 0.0,
        friction: float = 0.0,
        static_friction: float | None = None,
        stribeck_velocity: float = STRIBECK,
        slip_velocity: float = SLIP,
    ):
        k, c = _positive("stiffness", stiffness), _not_negative("damping", damping)

        def kelvin_voigt(depth: Any, rate: Any) -> Any:
            return k * depth + c * rate

        self.stiffness, self.damping = k, c
        super().__init__(kelvin_voigt, (k, c), friction, static_friction, stribeck_velocity, slip_velocity)

    @classmethod
    def fitted(cls, restitution: float, penetration: float, *, mass: float, speed: float, **friction: float) -> Self:
        """The law by which a mass (kg) that comes at a speed (m/s) goes so deep (m) and leaves at e times its speed."""
        e, depth, m, v = _impact(restitution, penetration, mass, speed)
        ratio = 0.0 if e == 1.0 else _root(lambda z: -math.log(e) - _decay(z), 0.0, 2.0 / math.sqrt(e) + 1.0)
        frequency = v / depth * _deepest(ratio)
        return cls(m * frequency**2, 2.0 * ratio * m * frequency, **friction)

    def restitution(self, mass: float) -> float:
        """Ratio of the speeds after and before an impact of a mass (kg) on a body at rest."""
        return math.exp(-_decay(self.damping / (2.0 * math.sqrt(self.stiffness * _positive("mass", mass)))))

    def penetration(self, mass: float, speed: float) -> float:
        """Greatest depth (m) of a mass (kg) that comes at a speed (m/s), without other forces."""
        frequency = math.sqrt(self.stiffness / _positive("mass", mass))
        ratio = self.damping / (2.0 * mass * frequency)
        return _positive("speed", speed) / frequency * _deepest(ratio)


def hertz_stiffness(radius: float, young: float, poisson: float = 0.3) -> float:
    """Stiffness k (N/m^(3/2)) of a sphere on a rigid plane, 4/3 √R E/(1 - ν²) (Johnson, Contact Mechanics (1985), 4.2).

    `radius` (m), or that of two spheres, 1/(1/R₁ + 1/R₂); `young` (Pa), `poisson`: of its material. Two bodies of one
    material have half of E.
    """
    share = number("poisson", poisson)
    if not -1.0 < share <= 0.5:
        raise OptionError(f"poisson must be above -1 and at most 0.5, not {share:g}")
    return 4.0 / 3.0 * math.sqrt(_positive("radius", radius)) * _positive("young", young) / (1.0 - share**2)


# ---------------------------------------------------------------- an impact of a mass on a body at rest


def _impact(restitution: float, penetration: float, mass: float, speed: float) -> tuple[float, float, float, float]:
    """Checked numbers of an impact."""
    e = number("restitution", restitution)
    if not 0.0 < e <= 1.0:
        raise OptionError(f"restitution must be above 0 and at most 1, not {e:g}")
    return e, _positive("penetration", penetration), _positive("mass", mass), _positive("speed", speed)


def _dissipation_for(e: float) -> float:
    """Dissipation times speed of Hunt and Crossley's law with restitution e."""
    if e == 1.0:
        return 0.0
    left = lambda x: x * (1.0 + e) - math.log1p(x) + math.log1p(-e * x)  # noqa: E731
    return _root(left, 1e-9 * (1.0 - e), (1.0 - NEAR) / e)


def _work(scaled: float, v: float) -> float:
    """Work of the elastic force on a unit mass until the speed v is gone: ∫ v / (1 + a v) dv, with a v = `scaled`."""
    return 0.5 * v**2 if scaled == 0.0 else (scaled - math.log1p(scaled)) * (v / scaled) ** 2


def _decay(ratio: float) -> float:
    """-ln e of a spring and a damper that do not pull, by their damping ratio."""
    if abs(ratio - 1.0) < 1e-8:
        return 2.0
    if ratio < 1.0:
        return 2.0 * ratio * math.acos(ratio) / math.sqrt(1.0 - ratio**2)
    return 2.0 * ratio * math.acosh(ratio) / math.sqrt(ratio**2 - 1.0)


def _deepest(ratio: float) -> float:
    """Greatest depth of a spring and a damper, in units of speed over natural frequency."""
    return math.exp(-0.5 * _decay(ratio))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """The root of a falling function between two numbers, to rounding; `high` where the root is as near to it."""
    if function(high) > 0.0:
        return high
    return float(brentq(function, low, high, xtol=1e-15))  # type: ignore[arg-type]


def _not_negative(name: str, value: float) -> float:
    found = number(name, value)
    if not 0.0 <= found <= MOST:
        raise OptionError(f"{name} must be at least 0 and at most {MOST:g}, not {found:g}")
    return found


def _positive(name: str, value: float) -> float:
    found = number(name, value)
    if not LEAST <= found <= MOST:
        raise OptionError(f"{name} must be above 0, and between {LEAST:g} and {MOST:g}, not {found:g}")
    return found


def _exponent(value: float) -> float:
    found = number("exponent", value)
    if not 1.0 <= found <= 10.0:
        raise OptionError(f"exponent must be at least 1 and at most 10, not {found:g}")
    return found
