"""Numbers that remember how they were computed, for gradients in reverse mode.

Each number has a place on a tape, with the numbers that it was computed from and its derivatives by these. Gradients go
back over the tape, from a result to all numbers before it (Griewank & Walther, Evaluating Derivatives (2008), chapter
4).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any, Self

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
        self._count = 0  # of all numbers
        self._steps: Steps = []  # of those that were computed from others, at these places
        self._places: list[int] = []

    def append(self, step: tuple[tuple[int, float], ...]) -> int:
        """Append a number, by places of others and derivatives by them; returns its place."""
        self._steps.append(step)
        self._places.append(self._count)
        self._count += 1
        return self._count - 1

    def array(self, values: ArrayLike) -> tuple[NumberArray, int]:
        """An array of independent numbers, which follow each other on the tape, and the place of the first."""
        plain, first = np.asarray(values, float), self._count
        self._count += plain.size
        return NumberArray(plain, np.arange(first, first + plain.size).reshape(plain.shape), self), first

    def gradient(self, result: ReverseNumber) -> NDArray[np.float64]:
        """The gradient of a number by all on the tape."""
        found = [0.0] * self._count
        found[result.place] = 1.0
        for place, step in zip(reversed(self._places), reversed(self._steps), strict=True):
            here = found[place]
            if here != 0.0:
                for before, slope in step:
                    found[before] += here * slope
        return np.array(found)


class NumberArray(np.lib.mixins.NDArrayOperatorsMixin):
    """Numbers on a tape that are made when they are asked for, since a loss of a long run reads few of them.

    An index gives a number, or an array of objects; whatever else is done with it is done with the array of all.
    """

    __slots__ = ("_all", "_places", "_tape", "_values")

    def __init__(self, values: NDArray[np.float64], places: NDArray[np.int64], tape: Tape):
        self._values, self._places, self._tape = values, places, tape
        self._all: NDArray[np.object_] | None = None

    def __getitem__(self, index: Any) -> Any:
        if self._all is not None:
            return self._all[index]
        values, places = self._values[index], self._places[index]
        if isinstance(places, np.ndarray):
            return self._made(values, places)
        return ReverseNumber(float(values), self._tape, int(places))

    def __setitem__(self, index: Any, value: Any) -> None:
        np.asarray(self)[index] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self._all is None:
            self._all = self._made(self._values, self._places)
        found = self._all if dtype is None else self._all.astype(dtype)
        return found.copy() if copy else found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(_array_of, inputs), **options)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        return function(*map(_array_of, given), **{name: _array_of(value) for name, value in options.items()})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape, for which no numbers are made."""
        return self._values.shape

    def _made(self, values: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.object_]:
        numbers = map(ReverseNumber, values.ravel().tolist(), repeat(self._tape), places.ravel().tolist())
        return np.fromiter(numbers, object, values.size).reshape(values.shape)


def _array_of(value: Any) -> Any:
    """The array of all numbers in place of one that makes them when asked; also inside of lists and tuples."""
    if isinstance(value, NumberArray):
        return np.asarray(value)
    return type(value)(map(_array_of, value)) if type(value) in (list, tuple) else value
