"""The registry of integrators by name."""

from typing import TypeAlias

import numpy as np

from saltus.arguments import numbers
from saltus.errors import OptionError
from saltus.integrate.adaptive.dopri5 import dopri5
from saltus.integrate.fixed.euler import EULER
from saltus.integrate.fixed.explicit_euler import EXPLICIT_EULER
from saltus.integrate.fixed.midpoint import MIDPOINT
from saltus.integrate.fixed.moreau_jean import moreau_jean
from saltus.integrate.fixed.rk4 import RK4
from saltus.integrate.fixed.runge_kutta import explicit_runge_kutta
from saltus.integrate.fixed.velocity_verlet import VELOCITY_VERLET
from saltus.integrate.fixed.verlet import VERLET
from saltus.integrate.implicit.discrete import DISCRETE
from saltus.integrate.implicit.energy_momentum import ENERGY_MOMENTUM
from saltus.integrate.implicit.implicit import IMPLICIT
from saltus.integrate.implicit.implicit_midpoint import IMPLICIT_MIDPOINT
from saltus.integrate.implicit.implicit_runge_kutta import implicit_runge_kutta
from saltus.integrate.implicit.implicitfast import IMPLICITFAST
from saltus.integrate.integrator import Integrator
from saltus.integrate.radau.radau import radau
from saltus.integrate.tableau import ButcherTableau
from saltus.terminal.display import notebook_html

_ALL = (
    EXPLICIT_EULER,
    EULER,
    IMPLICIT,
    IMPLICITFAST,
    DISCRETE,
    VERLET,
    VELOCITY_VERLET,
    MIDPOINT,
    RK4,
    dopri5(),
    radau(),
    IMPLICIT_MIDPOINT,
    ENERGY_MOMENTUM,
    moreau_jean(),
)

# methods with error control, by name: functions of the relative and the absolute tolerance
_CONTROLLED = {"dopri5": dopri5, "radau": radau}

#: Choice of an integrator: a name in any case, an Integrator, a ButcherTableau, or None for the file's choice.
IntegratorChoice: TypeAlias = str | Integrator | ButcherTableau | None
#: Relative and absolute tolerance of a step's error; a number is the relative one, with a hundredth as absolute one.
Tolerance: TypeAlias = float | tuple[float, float]


SHARE = 0.01  # absolute tolerance that goes with a relative one


class Integrators(dict[str, Integrator]):
    """Integrators by name; displayed as a table in notebooks."""

    _repr_html_ = notebook_html


def integrators() -> dict[str, Integrator]:
    """All integrators by name, with order, kind and reference."""
    return Integrators({i.name: i for i in _ALL})


def find_integrator(choice: IntegratorChoice, from_file: str, tolerance: Tolerance | None = None) -> Integrator:
    """The integrator selected by a user or a file.

    `choice`: a name in any case, an Integrator, a ButcherTableau, or None for `from_file`, the name in the model file.
    `tolerance`: (relative, absolute), or the relative one alone, for adaptive integrators.

    Raises:
        OptionError: there is no such integrator, or the tolerance is invalid or not applicable.
    """
    found = _find(choice, from_file)
    if tolerance is None:
        return found
    if not found.adaptive:
        raise OptionError(f"tolerance: {found.name} has fixed steps; only {' and '.join(_CONTROLLED)} take a tolerance")
    given = numbers("tolerance", tolerance)
    if given.shape == ():
        given = np.array([float(given), SHARE * float(given)])
    if given.shape != (2,):
        raise OptionError(f"tolerance must be two numbers, relative and absolute, got {tolerance!r}")
    relative, absolute = map(float, given)
    if not (0 < relative < 1 and 0 < absolute < 1):
        raise OptionError(f"tolerance must be two numbers between 0 and 1, got {tolerance}")
    return _CONTROLLED[found.name](relative, absolute)


def _find(choice: IntegratorChoice, from_file: str) -> Integrator:
    if isinstance(choice, Integrator):
        return choice
    if isinstance(choice, ButcherTableau):
        return explicit_runge_kutta(choice) if choice.explicit else implicit_runge_kutta(choice)
    known = integrators()
    if choice is None:
        if from_file == "RK4":
            return RK4
        if from_file not in known:
            raise OptionError(
                f"the model asks for integrator {from_file!r}, which is not simulated yet; "
                f"choose one of: {', '.join(known)}"
            )
        return known[from_file]
    name = choice.casefold() if isinstance(choice, str) else None
    if name not in known:
        raise OptionError.unknown("integrator", choice, known)
    return known[name]
