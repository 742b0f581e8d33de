"""`saltus.contact_law`: the meaning of soft-contact parameters for a mass, and parameters for a given behaviour.

For the violation r (m, negative inside), the velocity v and the free acceleration a₀ = -g of a mass m,

    a₁ + d (b v + k r) = (1 - d) a₀,    k = K d(r),    force = m d (g - b v - k r) where that pushes,

with K, b and d(r) from `solref` and `solimp` (`saltus.model.contact.contact_parameters`,
`saltus.contact.rows.soft_law`; MuJoCo documentation, Solver parameters). This is the law of joint limits, frictionless
contacts and, along the normal, contacts with elliptic cones. The effective stiffness is m d k and the effective damping
m d b; at rest g (1 - d) = d k |r|. Accelerations do not depend on the mass.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import flag, positive
from saltus.errors import OptionError
from saltus.model.contact.contact_parameters import DEFAULT_SOLREF
from saltus.simulate.soft_contact.law import SoftContact
from saltus.simulate.soft_contact.point_impact import Impact, impact, stepped_restitution
from saltus.terminal.display import notebook_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_SOLIMP = 0.9, 0.95, 0.001, 0.5, 2.0
SOLIMP_NAMES = "impedance at the surface", "impedance at full width", "width", "midpoint", "power"
DEEPEST = 1000.0  # largest penetration (m) that may be asked for
SAFE = 0.5  # largest step, in shortest times of the law: what `refsafe` ensures for a critically damped contact
WEAK = 0.1  # impedance at rest below which there is a warning


@dataclass(frozen=True)
class ContactLaw(SoftContact):
    """Soft contact of a point mass; made by `saltus.contact_law` and `saltus.contact_parameters`.

    The fields are the given parameters. Other quantities are computed on first access; `print(law)` tabulates them.
    """

    # ------------------------------------------------------------ an impact

    @cached_property
    def impact(self) -> Impact:
        """The impact at `speed` under the continuous law, simulated with error control."""
        return impact(self)

    @property
    def restitution(self) -> float:
        """Ratio of the speeds at which the mass leaves the surface and reached it, by the continuous law."""
        return self.impact.restitution

    @property
    def largest_penetration(self) -> float:
        """Largest depth (m) in an impact."""
        return self.impact.deepest

    @property
    def contact_duration(self) -> float:
        """Seconds from an impact until the contact pushes no more; inf if the mass stays."""
        return self.impact.duration

    @cached_property
    def restitutions_at_timestep(self) -> NDArray[np.float64]:
        """Restitution under `euler` with steps of `timestep`, for touching at several places within a step."""
        return stepped_restitution(self, self.impact)

    @property
    def restitution_at_timestep(self) -> float:
        """The mean of `restitutions_at_timestep`."""
        return float(self.restitutions_at_timestep.mean())

    # ------------------------------------------------------------ text and figure

    @property
    def warnings(self) -> list[str]:
        """Parameters that act differently than given or than expected; one sentence each."""
        return list(_warnings(self))

    def __str__(self) -> str:
        return _table(self)

    _repr_html_ = notebook_html

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw impedance and force over depth, with an impact; also written to `path` (.png, .svg, .pdf).

        Raises:
            OptionError: another suffix.
            RecordError: the file cannot be written.
        """
        from saltus.simulate.soft_contact.plot import plot

        return plot(self, self.impact, path)


def _warnings(law: ContactLaw) -> Iterator[str]:
    first, second = law.solref
    h, shortest = law.timestep, law.shortest_time
    mixed = (first > 0) != (second > 0)
    if mixed:
        default = " ".join(f"{x:g}" for x in DEFAULT_SOLREF)
        yield f"The numbers of solref have different signs, so the default, {default}, is used instead."
    elif first > 0:
        if first < 2 * h and law.refsafe:
            yield f"The time constant {first:g} s is below two timesteps; refsafe raises it to {2 * h:g} s."
        if second > 1:
            yield (
                f"A damping ratio of {second:g} does not add damping: it divides the stiffness by {second**2:g} "
                "and leaves the damping as it is."
            )
    names = zip(SOLIMP_NAMES, law.solimp, law.used_solimp, strict=True)
    for name, given, used in names:
        if given != used:
            yield f"The {name} of solimp is {given:g}, out of range; {used:g} is used."
    if law.used_solimp[0] > law.used_solimp[1] and law.used_solimp[2] > 0:
        yield "The impedance falls with depth: the contact is weaker inside than at the surface."
    if shortest < h / SAFE * (1 - 1e-9):
        yield (
            f"The timestep of {h:g} s is long for this contact, which acts within {shortest:.2g} s: "
            f"use at most {SAFE * shortest:.2g} s."
        )
    if law.rest_penetration == math.inf:
        yield "There is no stiffness: a mass at rest keeps sinking."
    elif law.rest_impedance < WEAK and law.gravity > 0:
        yield (
            f"The impedance at rest is only {law.rest_impedance:.2g}, so the spring carries nearly all of the "
            f"weight, at a depth of {law.rest_penetration:.4g} m."
        )


def law_rows(law: ContactLaw) -> list[tuple[str, str]]:
    """Meaning of the law as names and values; rows that belong to a heading above are indented."""
    spread = law.restitutions_at_timestep
    stepped = f"{_quantity(spread.min())} to {_quantity(spread.max())}, depending on the time of contact within a step"
    if spread.max() - spread.min() < 5e-4:
        stepped = _quantity(law.restitution_at_timestep)
    manner = "oscillates about rest" if law.damping_ratio < 1 - 1e-9 else "comes to rest without oscillation"
    stays = law.contact_duration == math.inf
    return [
        ("at rest", ""),
        ("  penetration", _quantity(law.rest_penetration, "m")),
        ("  impedance d", _quantity(law.rest_impedance)),
        ("  effective stiffness", _quantity(law.stiffness, "N/m")),
        ("  effective damping", _quantity(law.damping, "N s/m")),
        ("  reference stiffness k", _quantity(law.reference_stiffness, "1/s²")),
        ("  reference damping b", _quantity(law.reference_damping, "1/s")),
        ("  time constant", _quantity(law.time_constant, "s")),
        ("  damping ratio", f"{_quantity(law.damping_ratio)}, {manner}"),
        (f"impact at {law.speed:g} m/s", ""),
        ("  largest penetration", _quantity(law.largest_penetration, "m")),
        ("  time in contact", "stays" if stays else _quantity(law.contact_duration, "s")),
        ("  restitution", _quantity(law.restitution)),
        (f"  restitution, euler with {law.timestep:g} s", stepped),
    ]


def law_heading(law: ContactLaw) -> list[str]:
    """Lines with the given parameters."""
    solref, solimp = (" ".join(f"{x:.10g}" for x in values) for values in (law.solref, law.solimp))
    return [f'contact with solref="{solref}" solimp="{solimp}"', f"mass {law.mass:g} kg, gravity {law.gravity:g} m/s²"]


def _table(law: ContactLaw) -> str:
    rows = law_rows(law)
    width = max(len(name) for name, _ in rows)
    lines = [*law_heading(law), *(f"{name.ljust(width)}  {value}".rstrip() for name, value in rows)]
    if law.warnings:
        lines += ["warnings", *(f"  {sentence}" for sentence in law.warnings)]
    return "\n".join(lines)


def _quantity(value: float, unit: str = "") -> str:
    return "infinite" if value == math.inf else f"{value:.4g} {unit}".rstrip()


# ---------------------------------------------------------------- construction


def contact_law(
    solref: Sequence[float] = DEFAULT_SOLREF,
    solimp: Sequence[float] = DEFAULT_SOLIMP,
    mass: float = 1.0,
    *,
    gravity: float = 9.81,
    timestep: float = 0.002,
    refsafe: bool = True,
    speed: float = 1.0,
) -> ContactLaw:
    """Meaning of the parameters of a soft contact or limit for a point mass.

    `solref`: (time constant in s, damping ratio), or (-stiffness in 1/s², -damping in 1/s). `solimp`: (impedance at the
    surface, at full width, width in m, midpoint, power); values left out at its end are the defaults. `mass` in kg,
    `gravity` in m/s², `timestep` in s. `refsafe`: raise time constants to two steps, as MuJoCo does. `speed` (m/s):
    impact speed for restitution, largest penetration and duration.

    Raises:
        OptionError: a value that cannot be used, by its name.
    """
    return ContactLaw(
        solref=_numbers("solref", solref, DEFAULT_SOLREF),  # type: ignore[arg-type]
        solimp=_numbers("solimp", solimp, DEFAULT_SOLIMP),  # type: ignore[arg-type]
        mass=positive("mass", mass, "kg"),
        gravity=positive("gravity", gravity, "m/s²", or_zero=True),
        timestep=positive("timestep", timestep, "s"),
        refsafe=flag("refsafe", refsafe),
        speed=positive("speed", speed, "m/s"),
    )


def contact_parameters(
    penetration: float,
    restitution: float,
    mass: float = 1.0,
    *,
    gravity: float = 9.81,
    timestep: float = 0.002,
    solimp: Sequence[float] = DEFAULT_SOLIMP,
    speed: float = 1.0,
) -> ContactLaw:
    """The soft contact in which a mass rests at a depth of `penetration` (m) and bounces with `restitution` (0 to 1).

    The answer's `solref` is (-stiffness, -damping). The stiffness is K d₁² with K = g (1 - d) / (d² penetration), where
    d and d₁ are the impedances there and at full width. The damping is found by simulating impacts at `speed` (m/s);
    a restitution of 0 gives the smallest damping at which the mass does not come back up. The restitution with discrete
    steps is `restitution_at_timestep`. The other arguments are those of `contact_law`.

    Raises:
        OptionError: a value that cannot be used, by its name; a step too long for the contact, with one that would do.
    """
    depth = positive("penetration", penetration, "m")
    if depth > DEEPEST:
        raise OptionError(f"penetration must be at most {DEEPEST:g} m, got {depth:g} m")
    wanted = positive("restitution", restitution, "", or_zero=True)
    if wanted > 1:
        raise OptionError(f"restitution must be from 0 to 1, got {wanted:g}")
    g = positive("gravity", gravity, "m/s²")
    given = contact_law((0.0, 0.0), solimp, mass, gravity=g, timestep=timestep, speed=speed)
    d, full = float(given.impedance(-depth)), given.used_solimp[1]
    stiffness = g * (1 - d) / (d * d * depth) * full**2

    def law(ratio: float) -> ContactLaw:
        damping = 2 * ratio * math.sqrt(stiffness)
        return replace(given, solref=(-stiffness, 0.0 - damping))

    undamped = law(0.0)
    if not math.isclose(undamped.rest_penetration, depth, rel_tol=1e-6):
        raise OptionError(
            f"solimp: the impedance falls with depth, so the mass rests at {undamped.rest_penetration:.3g} m, above "
            f"the penetration of {depth:g} m"
        )
    _check_step(undamped, f"a rest penetration of {depth:g} m")
    found = undamped if wanted == 1 else law(_ratio_for(wanted, law))
    _check_step(found, f"a rest penetration of {depth:g} m with a restitution of {wanted:g}")
    return found


def _ratio_for(wanted: float, law: Callable[[float], ContactLaw]) -> float:
    """Damping ratio at which an impact under `law(ratio)` has the wanted restitution."""
    from scipy.optimize import brentq

    def excess(ratio: float) -> float:
        this = law(ratio)
        # below the surface: the speed that the mass lacks to reach it
        missing = math.sqrt(2 * this.gravity * this.impact.shortfall) / this.speed
        return this.restitution - missing - wanted

    high = 1.0
    while excess(high) > 0 and high < 1e3:
        high *= 2
    if excess(high) > 0:
        raise OptionError(f"restitution: no damping reduces it to {wanted:g}")
    if not excess(0.0) >= 0:
        raise OptionError(f"restitution: even without damping this contact does not reach {wanted:g}")
    return float(brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-12))  # type: ignore[arg-type]


def _check_step(law: ContactLaw, what: str) -> None:
    longest = SAFE * law.shortest_time
    if law.timestep > longest * (1 + 1e-9):
        raise OptionError(f"timestep: {what} needs a timestep of at most {longest:.3g} s, got {law.timestep:g} s")


def _numbers(name: str, values: Sequence[float], default: Sequence[float]) -> tuple[float, ...]:
    try:
        numbers = tuple(float(x) for x in values)
    except (TypeError, ValueError):
        raise OptionError(f"{name} must be {len(default)} numbers, got {values!r}") from None
    if isinstance(values, str) or not 0 < len(numbers) <= len(default):
        raise OptionError(f"{name} must be {len(default)} numbers, got {values!r}")
    if not all(map(math.isfinite, numbers)):
        raise OptionError(f"{name} must be finite, got {values!r}")
    return (*numbers, *default[len(numbers) :])
