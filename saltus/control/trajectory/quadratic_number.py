"""Numbers with first and second derivatives by few inputs, at one stage of a plan or at all stages together, for costs.

A function s of a number f with gradient g and Hessian H has the gradient s' g and the Hessian s' H + s'' g gᵀ (Griewank
& Walther, Evaluating Derivatives (2008), 13.3). Entries that are zero are left out. Values and entries are numbers,
or arrays over stages; entries that are the same at all stages stay numbers, so that quadratic terms cost little.
"""

from __future__ import annotations

from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from saltus.simulate.gradients.differentiated_number import DifferentiatedNumber, value_of

Array = NDArray[np.float64]
Entry: TypeAlias = "float | Array"


class StagesDiffer(Exception):
    """A comparison has another outcome at some stages than at others."""


class QuadraticNumber(DifferentiatedNumber):
    """A number, or one for each stage [M], with derivatives by inputs, which are numbered.

    gradient: {i: entry}; hessian: {(i, j): entry} with i ≤ j. Compared at several stages it raises StagesDiffer unless
    the outcome is the same at all.
    """

    __slots__ = ("gradient", "hessian")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, value: float | Array, gradient: dict[int, Entry], hessian: dict[tuple[int, int], Entry] | None = None
    ):
        # an array over stages stands for the number of each
        self.value: float | Array = value if isinstance(value, np.ndarray) else float(value)  # pyright: ignore[reportIncompatibleVariableOverride]
        self.gradient, self.hessian = gradient, hessian or {}

    def through(self, value: Entry, slope: Entry, curvature: Entry) -> Self:
        """A function of this number, by its value and two derivatives."""
        g = self.gradient
        if not g:
            return type(self)(value, g)
        bends = isinstance(curvature, np.ndarray) or curvature != 0.0
        if not bends and not isinstance(slope, np.ndarray) and slope == 1.0:
            return type(self)(value, g, self.hessian)
        hessian = {key: slope * entry for key, entry in self.hessian.items()}
        if bends:
            bent = {i: curvature * entry for i, entry in g.items()}
            for i in g:
                for j in g:
                    if i <= j:
                        _add(hessian, (i, j), bent[i] * g[j])
        return type(self)(value, {i: slope * entry for i, entry in g.items()}, hessian)

    def _plus(self, other: QuadraticNumber) -> QuadraticNumber:
        """The sum of two numbers."""
        if not other.gradient:
            return QuadraticNumber(self.value + other.value, self.gradient, self.hessian)
        found = QuadraticNumber(self.value + other.value, dict(self.gradient), dict(self.hessian))
        for i, entry in other.gradient.items():
            _add(found.gradient, i, entry)
        for key, entry in other.hessian.items():
            _add(found.hessian, key, entry)
        return found

    def _times(self, other: QuadraticNumber) -> QuadraticNumber:
        """The product of two numbers."""
        a, b = self.value, other.value
        if not self.gradient and not other.gradient:
            return QuadraticNumber(a * b, {})
        found = QuadraticNumber(a * b, {i: b * entry for i, entry in self.gradient.items()})
        for i, entry in other.gradient.items():
            _add(found.gradient, i, a * entry)
        for factor, number in ((b, self), (a, other)):
            for key, entry in number.hessian.items():
                _add(found.hessian, key, factor * entry)
        for i, mine in self.gradient.items():
            for j, theirs in other.gradient.items():
                _add(found.hessian, (min(i, j), max(i, j)), mine * theirs * (2.0 if i == j else 1.0))
        return found

    def __pow__(self, other: Any) -> Any:
        if not isinstance(self.value, np.ndarray) or isinstance(other, DifferentiatedNumber):
            return super().__pow__(other)
        x, p = self.value, other
        if p in (0, 1, 2):
            return self.through(x**p, (0.0, 1.0, 2.0 * x)[p], (0.0, 0.0, 2.0)[p])
        # at 0, infinite derivatives count as 0, as in the base class
        slope = np.where((x == 0) & (0 < p < 1), 0.0, p * x ** (p - 1))
        return self.through(x**p, slope, np.where((x == 0) & (0 < p < 2), 0.0, p * (p - 1) * x ** (p - 2)))

    def __abs__(self) -> Any:
        if not isinstance(self.value, np.ndarray):
            return super().__abs__()
        return self.through(np.abs(self.value), np.where(self.value < 0, -1.0, 1.0), 0.0)

    def arctan2(self, other: DifferentiatedNumber | float) -> Self:
        """The angle of (other, self)."""
        y, x = self.value, value_of(other)
        steep = not _agreed(abs(x) >= abs(y))
        found = -(other / self).arctan() if steep else (self / other).arctan()
        return found + QuadraticNumber(np.arctan2(y, x) - found.value, {})

    def __bool__(self) -> bool:
        return _agreed(self.value != 0.0)

    def __lt__(self, other: Any) -> bool:
        return _agreed(self.value < value_of(other))

    def __le__(self, other: Any) -> bool:
        return _agreed(self.value <= value_of(other))

    def __gt__(self, other: Any) -> bool:
        return _agreed(self.value > value_of(other))

    def __ge__(self, other: Any) -> bool:
        return _agreed(self.value >= value_of(other))

    def __eq__(self, other: object) -> bool:
        return _agreed(self.value == value_of(other))


def _add(entries: dict[Any, Entry], key: Any, entry: Entry) -> None:
    """Add to an entry; entries that are missing are zero."""
    entries[key] = entries[key] + entry if key in entries else entry


def _agreed(outcome: Any) -> bool:
    """The outcome of a comparison, which must be the same at all stages."""
    if np.all(outcome):
        return True
    if np.any(outcome):
        raise StagesDiffer("a comparison has different outcomes at different stages")
    return False


def numbers_of(values: Array, keys: range, derivatives: bool) -> NDArray[np.object_]:
    """Array of numbers [n] from values [n], or [n, M] at stages; with derivatives each is the input of a key."""
    out = np.empty(len(values), object)
    rows = values if values.ndim > 1 else values.tolist()
    for k, (value, key) in enumerate(zip(rows, keys, strict=True)):
        out[k] = QuadraticNumber(value, {key: 1.0} if derivatives else {})
    return out
