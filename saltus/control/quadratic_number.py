"""Numbers with first and second derivatives in plain Python, for costs.

A number f carries its gradient g [k] and Hessian H [k, k]; a function s of it has the gradient s' g and the Hessian
s' H + s'' g gᵀ (Griewank & Walther, Evaluating Derivatives (2008), 13.3).
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.simulate.gradients.differentiated_number import DifferentiatedNumber

Array = NDArray[np.float64]


class QuadraticNumber(DifferentiatedNumber):
    """A number with its gradient [k] and Hessian [k, k], or 0 for a Hessian of zeros."""

    __slots__ = ("gradient", "hessian")

    def __init__(self, value: float, gradient: Array, hessian: Array | float):
        self.value, self.gradient, self.hessian = float(value), gradient, hessian

    def through(self, value: float, slope: float, curvature: float) -> Self:
        """A function of this number, by its value and two derivatives."""
        bent = slope * self.hessian
        if curvature:
            bent = bent + curvature * np.outer(self.gradient, self.gradient)
        return type(self)(value, slope * self.gradient, bent)

    def _plus(self, other: QuadraticNumber) -> QuadraticNumber:
        """The sum of two numbers."""
        return QuadraticNumber(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)

    def _times(self, other: QuadraticNumber) -> QuadraticNumber:
        """The product of two numbers."""
        mixed = np.outer(self.gradient, other.gradient)
        return QuadraticNumber(
            self.value * other.value,
            self.value * other.gradient + other.value * self.gradient,
            self.value * other.hessian + other.value * self.hessian + mixed + mixed.T,
        )


def quadratic_array(values: ArrayLike, gradients: Array) -> NDArray[np.object_]:
    """An array of numbers [n] from values [n] and gradients [n, k], without curvature."""
    given = np.asarray(values, dtype=float)
    out = np.empty(given.shape, object)
    for k, (value, gradient) in enumerate(zip(given.tolist(), gradients, strict=True)):
        out[k] = QuadraticNumber(value, gradient, 0.0)
    return out
