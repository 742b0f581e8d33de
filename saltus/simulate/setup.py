"""Setup and sampling of a run as two values: what decides a motion but its start, and what is recorded of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from saltus.arguments import positive

if TYPE_CHECKING:
    from saltus.integrate.registry import IntegratorChoice, Tolerance
    from saltus.model.load import ModelSource
    from saltus.simulate.laws.contact import ContactChoice
    from saltus.simulate.laws.control import Controller
    from saltus.simulate.laws.dynamics import Dynamics
    from saltus.simulate.laws.events import Event
    from saltus.simulate.laws.motions import Motions


@dataclass(frozen=True, eq=False)
class Setup:
    """Arguments of `saltus.Simulation`, which describes them, as one value; `dataclasses.replace` gives another one.

    Simulations, batches, engines and studies take it and hand it on whole.
    """

    model: ModelSource
    integrator: IntegratorChoice = None
    contact: ContactChoice = "soft"
    timestep: float | None = None
    tolerance: Tolerance | None = None
    control: Controller | None = None
    dynamics: Dynamics | None = None
    events: Sequence[Event] = ()
    actuation_states: int | Sequence[float] | None = None
    max_step: float | None = None
    breaks: Sequence[float] = ()
    motions: Motions | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments by name."""
        return dict(vars(self))


SAMPLES = 2000  # of a run, about, where no sampling period is asked for


@dataclass(frozen=True)
class Sampling:
    """Duration of a run (s), and its sampling period (s; None: at the ends of steps).

    OptionError for what is no positive number.
    """

    duration: float
    sample: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "duration", positive("duration", self.duration))
        if self.sample is not None:
            object.__setattr__(self, "sample", positive("sample", self.sample))

    def period(self, timestep: float, about: int = SAMPLES) -> float:
        """The sampling period (s) for steps of `timestep` s.

        Where none is given: a whole number of steps, so that none is cut, for `about` as many samples.
        """
        if self.sample is not None:
            return self.sample
        every = max(1, math.ceil(self.duration / timestep / about))
        return min(every * timestep, self.duration)
