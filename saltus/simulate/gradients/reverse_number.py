"""Numbers that remember how they were computed, for gradients in reverse mode.

Each number has a place on a tape, with the numbers that it was computed from and its derivatives by these. Gradients go
back over the tape, from a result to all numbers before it (Griewank & Walther, Evaluating Derivatives (2008), chapter
4).
"""

from __future__ import annotations

from itertools import repeat
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.simulate.gradients.differentiated_number import DifferentiatedNumber

Steps = list[tuple[tuple[int, float], ...]]


class ReverseNumber(DifferentiatedNumber):
    """A number with its place on a tape."""

    __slots__ = ("place", "tape")

    def __init__(self, value: float, tape: Tape, place: int):
        self.value, self.tape, self.place = value, tape, place

    def through(self, value: float, slope: float, curvature: float) -> Self:
        """A function of this number, by its value and slope."""
        return type(self)(value, self.tape, self.tape.append(((self.place, slope),)))

    def _plus(self, other: ReverseNumber) -> ReverseNumber:
        """The sum of two numbers."""
        place = self.tape.append(((self.place, 1.0), (other.place, 1.0)))
        return ReverseNumber(self.value + other.value, self.tape, place)

    def _times(self, other: ReverseNumber) -> ReverseNumber:
        """The product of two numbers."""
        place = self.tape.append(((self.place, other.value), (other.place, self.value)))
        return ReverseNumber(self.value * other.value, self.tape, place)


class Tape:
    """Numbers in the order of their computation."""

    def __init__(self) -> None:
        self._steps: Steps = []

    def append(self, step: tuple[tuple[int, float], ...]) -> int:
        """Append a number, by places of others and derivatives by them; returns its place."""
        self._steps.append(step)
        return len(self._steps) - 1

    def array(self, values: ArrayLike) -> tuple[NDArray[np.object_], int]:
        """An array of independent numbers, which follow each other on the tape, and the place of the first."""
        plain, first = np.asarray(values, float), len(self._steps)
        numbers = map(ReverseNumber, plain.ravel().tolist(), repeat(self), range(first, first + plain.size))
        out = np.fromiter(numbers, object, plain.size)
        self._steps.extend([()] * plain.size)
        return out.reshape(plain.shape), first

    def gradient(self, result: ReverseNumber) -> NDArray[np.float64]:
        """The gradient of a number by all on the tape."""
        found = [0.0] * len(self._steps)
        found[result.place] = 1.0
        for place in range(result.place, -1, -1):
            here = found[place]
            if here != 0.0:
                for before, slope in self._steps[place]:
                    found[before] += here * slope
        return np.array(found)
