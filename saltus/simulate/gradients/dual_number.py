"""Dual numbers in plain Python: a value and its derivatives along some directions."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.simulate.gradients.differentiated_number import DifferentiatedNumber


class DualNumber(DifferentiatedNumber):
    """A number with its derivatives [k] along k directions."""

    __slots__ = ("tangent",)

    def __init__(self, value: float, tangent: NDArray[np.float64]):
        self.value, self.tangent = float(value), tangent

    def through(self, value: float, slope: float, curvature: float) -> Self:
        """A function of this number, by its value and slope."""
        return type(self)(value, slope * self.tangent)

    def _plus(self, other: DualNumber) -> DualNumber:
        """The sum of two numbers."""
        return DualNumber(self.value + other.value, self.tangent + other.tangent)

    def _times(self, other: DualNumber) -> DualNumber:
        """The product of two numbers."""
        return DualNumber(self.value * other.value, self.value * other.tangent + other.value * self.tangent)


def dual_array(values: ArrayLike, tangents: NDArray[np.float64]) -> NDArray[np.object_]:
    """An array of dual numbers [...] from values [...] and tangents [..., k]."""
    given = np.asarray(values, dtype=float)
    out = np.empty(given.shape, object)
    for place in np.ndindex(given.shape):
        out[place] = DualNumber(float(given[place]), tangents[place])
    return out
