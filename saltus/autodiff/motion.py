"""The interface of what moves in differentiated steps: one simulation or a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from saltus.autodiff.inputs import Inputs
from saltus.errors import EventError
from saltus.model.model import Model

Array = NDArray[np.float64]


class Motion(Protocol):
    """A copy of a simulation or batch, which is moved from given states and differentiated there.

    model: the mechanism. n: number of simulations, None for a single one without a leading axis. nact: number of
    actuator states, those of the controller included.
    """

    model: Model
    n: int | None
    nact: int

    def counts(self, names: Sequence[str]) -> list[int]:
        """Numbers of columns of P of each parameter; OptionError for a name without derivatives."""
        ...

    def check(self, names: Sequence[str], steps: int) -> None:
        """OptionError if a motion over so many steps has no derivatives, whatever the state."""
        ...

    def begin(self, start: Any, names: Sequence[str], inputs: Inputs) -> None:
        """Go to the start, with the state and the parameters of `inputs`; controls are those of the start."""
        ...

    def set_control(self, ctrl: Array) -> None:
        """Set the controls [..., nu] of the next step."""
        ...

    def advance(self) -> None:
        """Take a step."""
        ...

    def state(self) -> tuple[Array, Array, Array]:
        """Copies of qpos, qvel and act at present."""
        ...

    def derivatives(self, names: Sequence[str]) -> tuple[Array, Array, Array]:
        """A [..., states, states], B [..., states, nu] and P [..., states, columns] of the next step."""
        ...

    def kept(self) -> Any:
        """A copy of all that further steps depend on."""
        ...

    def go_to(self, kept: Any) -> None:
        """Restore what `kept` returned."""
        ...


def ended_early(time: float) -> EventError:
    """The error for a step that a terminal event cut short, so that its length depends on the state."""
    return EventError(
        "a terminal event ended the step: its end is at no fixed time; leave `terminal` out of differentiated steps",
        time=time,
    )
