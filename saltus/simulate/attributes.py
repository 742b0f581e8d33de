"""Attributes of a simulation: fields that users assign to, and what it is made with, which cannot be changed.

They are for a class that has an `engine`, and a `_turn` as `in_turn` takes it.
"""

from typing import Any

import numpy as np

from saltus.arguments import numbers
from saltus.errors import OptionError
from saltus.simulate.engine.turn import in_turn


def put(name: str, view: np.ndarray, value: Any) -> None:
    """Write into a field that users set; OptionError for what is no number or has another shape."""
    values = numbers(name, value)
    try:
        view[...] = values
    except ValueError:
        raise OptionError(f"{name} has shape {view.shape}, not {values.shape}") from None


def state_property(name: str, unit: str) -> Any:
    """A field of the state or the inputs as an attribute: reading gives a view, assigning writes into it."""

    def read(self: Any) -> np.ndarray:
        return self.engine.d.views[name]

    @in_turn
    def write(self: Any, value: Any) -> None:
        put(name, self.engine.d.views[name], value)

    return property(read, write, doc=f"{name} ({unit}): a view to read and write.")


def made_with(name: str, option: str, about: str) -> Any:
    """What a simulation is made with, as an attribute that cannot be changed."""

    def write(self: Any, value: Any) -> None:
        raise OptionError(f"{name} cannot be changed; make another simulation: saltus.Simulation({option})")

    return property(lambda self: getattr(self.engine, name), write, doc=about)
