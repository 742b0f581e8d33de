"""Bounds of adaptive steps: those that users give, and those that laws depending on time require."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from saltus.errors import OptionError
from saltus.integrate.adaptive.step_bounds import breaks_of, longest_of, step_bounds
from saltus.integrate.integrator import Integrator
from saltus.number.cache.fingerprint import names_in
from saltus.simulate.laws.contact import Compliant, Law
from saltus.simulate.laws.control import Controller
from saltus.simulate.laws.dynamics import Dynamics
from saltus.simulate.laws.events import UserEvents
from saltus.simulate.laws.motions import MotionLaws


class StepBounds(NamedTuple):
    """`max_step` (s; None: as laws require) and `breaks` (s, ascending), as `saltus.Simulation` takes them."""

    max_step: float | None = None
    breaks: tuple[float, ...] = ()

    def longest(self, timestep: float, timed: Sequence[str]) -> float:
        """The longest step (s): as given, otherwise the timestep if there are laws that depend on time."""
        if self.max_step is not None:
            return self.max_step
        return timestep if timed else np.inf

    def of(self, integrator: Integrator, timestep: float, timed: Sequence[str]) -> Integrator:
        """The integrator with these bounds, if it chooses its own steps."""
        if not integrator.adaptive:
            return integrator
        bounds = step_bounds(self.longest(timestep, timed), self.breaks, timestep)
        return replace(integrator, parameters=(*integrator.parameters[:2], bounds))


def check_bounds(max_step: Any, breaks: Any, integrator: Integrator) -> StepBounds:
    """Bounds of an integrator's steps from a user's options.

    OptionError if they are not valid numbers, or the integrator has steps of fixed length.
    """
    found = StepBounds(longest_of(max_step), breaks_of(breaks))
    fixed = f"every step of {integrator.name} is a timestep"
    if found.max_step is not None and not integrator.adaptive:
        raise OptionError(f"max_step: {fixed}; give timestep, or choose dopri5 or radau")
    if found.breaks and not integrator.adaptive:
        raise OptionError(f"breaks: {fixed}; choose dopri5 or radau, whose steps can end anywhere")
    return found


def laws_of_time(
    control: Controller | None,
    dynamics: Dynamics | None = None,
    events: UserEvents | None = None,
    law: Law | None = None,
    motions: MotionLaws | None = None,
) -> list[str]:
    """Names of a user's laws that read the time, directly or in functions that they call; motions always do."""
    kernels = [] if control is None else [control.law]
    kernels += [] if dynamics is None else [dynamics.inertia, dynamics.bias]
    kernels += [] if events is None else [event.function for event in events.all]
    kernels += [law.force] if isinstance(law, Compliant) else []
    names = [kernel.py_func.__name__ for kernel in kernels if "time" in names_in(kernel.py_func)]
    names += [] if motions is None else [f"motions[{name!r}]" for name in motions.given]
    return list(dict.fromkeys(names))
