"""Numbers of a whole run, such as the drift of its energy, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Number:
    """Number of a whole run: a function of the recording and of the seconds that the run took.

    `fields`: columns of the recording that it needs; runs side by side have no events.
    """

    about: str
    of: Callable[[Any, float], float]
    unit: str = ""
    fields: tuple[str, ...] = ()


NUMBERS: dict[str, Number] = {
    "energy_drift": Number(
        "the largest change of the energy, relative to the energy exchanged",
        lambda t, _: t.energy_drift,
        fields=("energy",),
    ),
    "events": Number("the number of located events", lambda t, _: len(t.events)),
    "wall_time": Number("computing time of the run, without compiling", lambda _, seconds: seconds, "s"),
}
