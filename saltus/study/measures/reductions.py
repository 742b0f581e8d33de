"""Reductions of a quantity over time to one number, such as its largest value, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEAR = 0.01  # share of the range, added to the largest change between samples: values this near the least count as low
BOUNCE = 0.02  # share of the range: a smaller rise after a low point is not a bounce


@dataclass(frozen=True)
class Reduction:
    """Reduction of a quantity over time [T] to one number; `unit` where it differs from the quantity's."""

    about: str
    of: Callable[[NDArray[Any]], float]
    unit: str = ""


def apex(values: NDArray[Any]) -> float:
    """Largest value from the first low point on; the least value itself where no rise follows.

    A low point is where the values turn upwards, or the first of them, near the least of all: between samples it may
    have been as much lower as the values change there from one to the next.
    """
    low = values.min()
    near = low + NEAR * (values.max() - low)
    before, here, after = values[:-2], values[1:-1], values[2:]
    reach = np.maximum(before - here, after - here)
    turns = (here <= before) & (here < after) & (here - reach <= near)
    first = 0 if values[0] <= near else 1 + int(np.argmax(turns)) if turns.any() else int(np.argmin(values))
    return float(values[first:].max())


def bounces(values: NDArray[Any]) -> int:
    """Number of low points followed by a rise of more than `BOUNCE` of the range."""
    worth = BOUNCE * np.ptp(values)
    count, extreme, falling = 0, values[0], True
    for value in values if worth > 0 else ():
        if falling:
            extreme = min(extreme, value)
            if value > extreme + worth:
                count, extreme, falling = count + (extreme < values[0]), value, False
        else:
            extreme = max(extreme, value)
            if value < extreme - worth:
                extreme, falling = value, True
    return count


REDUCTIONS: dict[str, Reduction] = {
    "initial": Reduction("the initial value", lambda x: x[0]),
    "final": Reduction("the final value", lambda x: x[-1]),
    "min": Reduction("the least", np.min),
    "max": Reduction("the largest", np.max),
    "mean": Reduction("the mean over the samples", np.mean),
    "rms": Reduction("the root mean square", lambda x: np.sqrt(np.mean(x * x))),
    "range": Reduction("the largest minus the smallest value", np.ptp),
    "apex": Reduction("the largest value after the first minimum: the rebound height, or the minimum itself", apex),
    "loss": Reduction("the initial value minus the apex: the loss in a bounce", lambda x: x[0] - apex(x)),
    "bounces": Reduction("the number of rises", bounces, unit=" "),
}
