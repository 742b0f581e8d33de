"""Where the steps and samples of a run are."""

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from saltus.errors import OptionError

ROUNDING = 1e-9  # of a step: closer than this, a sample is at a step's end


@dataclass(frozen=True)
class Plan:
    """A run of `duration` s from `start` s in steps of `h` s, with a sample every `sample` s.

    Whole steps are `whole` in number; the last step, of `rest` s, ends at the duration and is 0 where there is none.
    Sample k, of `count`, is `times(k, k + 1)` s after the start.
    """

    start: float
    duration: float
    sample: float
    h: float

    @cached_property
    def whole(self) -> int:
        return math.floor(self.duration / self.h + ROUNDING)

    @cached_property
    def rest(self) -> float:
        rest = self.duration - self.whole * self.h
        return 0.0 if rest < ROUNDING * self.h else rest

    @cached_property
    def steps(self) -> int:
        return self.whole + bool(self.rest)

    @cached_property
    def count(self) -> int:
        return math.floor(self.duration / self.sample * (1 + 1e-12)) + 1

    @cached_property
    def beyond(self) -> bool:
        """Whether the run ends after its last sample."""
        return self.duration - (self.count - 1) * self.sample > ROUNDING * self.sample

    def times(self, first: int, last: int) -> np.ndarray:
        """Seconds after the start of samples first to last - 1; one past the last sample is the run's end."""
        times = np.arange(first, last) * self.sample
        if last > self.count:
            times[-1] = self.duration
        return times

    def step_of(self, time: float) -> int:
        """Whole steps that are over at a time (s after the start)."""
        return min(math.floor(time / self.h + ROUNDING), self.whole)


def numbers(name: str, value: Any, dtype: Any = float) -> np.ndarray:
    """An array of numbers; OptionError for anything else."""
    try:
        given = np.asarray(value)
        if given.dtype == object and any(x is None for x in given.flat):
            raise TypeError  # NumPy would make it a NaN
        return np.asarray(given, dtype)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{name} must be numbers, got {value!r}") from None


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """A whole number from `least` on; OptionError for anything else."""
    if type(value) is int and least <= value <= sys.maxsize:
        return value
    try:
        number = int(value)
        whole = bool(number == value)
    except (TypeError, ValueError, OverflowError):
        number, whole = 0, False
    if not whole or number > sys.maxsize:
        raise OptionError(f"{name} must be a whole number, got {value!r}")
    if number < least:
        what = "not be negative" if least == 0 else f"be at least {least}"
        raise OptionError(f"{name} must {what}, got {value!r}")
    return number


def positive(name: str, value: Any) -> float:
    """A positive number of seconds; OptionError for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise OptionError(f"{name} must be a number of seconds, got {value!r}") from None
    if not (number > 0 and math.isfinite(number)):
        raise OptionError(f"{name} must be positive and finite, got {number:g} s")
    return number
