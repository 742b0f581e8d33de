"""Schedule of a run: times of its steps and samples."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

ROUNDING = 1e-9  # relative to a step: a sample closer than this to a step's end coincides with it


@dataclass(frozen=True)
class Plan:
    """A run of `duration` s from `start` s in steps of `h` s, with a sample every `sample` s.

    There are `whole` full steps; the last step, of `rest` s (0 if there is none), ends at the duration.
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
        """Number of whole steps that are completed at a time (s after the start)."""
        return min(math.floor(time / self.h + ROUNDING), self.whole)
