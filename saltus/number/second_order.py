"""Numbers with all their first and second derivatives, for kernels that run as plain Python.

A number carries a value, a gradient [n] and a matrix of second derivatives [n, n] along n directions. Each operation
follows the chain rule of second order, f(x): f' g, f' H + f'' g gᵀ (Griewank & Walther, Evaluating Derivatives (2008),
section 13.1 there for one direction), so that derivatives are exact to rounding. A comparison looks at the value alone.
Kernels know such numbers, as they know symbols, by the attributes `library` and `free_symbols`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SecondOrder:
    """A value with its gradient [n] and its second derivatives [n, n], which are symmetric."""

    __slots__ = ("gradient", "second", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: float, gradient: Array, second: Array):
        self.value, self.gradient, self.second = value, gradient, second

    @property
    def library(self) -> type[Functions]:
        """Functions of these numbers by SymPy's names."""
        return Functions

    def free_symbols(self) -> list[str]:
        """None; kernels' functions know numbers by this attribute."""
        return []

    def chain(self, value: float, slope: float, bend: float) -> SecondOrder:
        """A function of this number, from its value and its first and second derivative."""
        g = self.gradient
        return SecondOrder(value, slope * g, slope * self.second + bend * (g[:, None] * g))

    def __int__(self) -> int:
        return int(self.value)

    def __neg__(self) -> SecondOrder:
        return SecondOrder(-self.value, -self.gradient, -self.second)

    def __abs__(self) -> SecondOrder:
        """Magnitude; at 0, a kink, its derivatives are NaN."""
        return self.chain(abs(self.value), math.copysign(1.0, self.value) if self.value else math.nan, 0.0)

    def __add__(self, other: SecondOrder | float) -> SecondOrder:
        if isinstance(other, SecondOrder):
            return SecondOrder(self.value + other.value, self.gradient + other.gradient, self.second + other.second)
        return SecondOrder(self.value + other, self.gradient, self.second)

    __radd__ = __add__

    def __sub__(self, other: SecondOrder | float) -> SecondOrder:
        if isinstance(other, SecondOrder):
            return SecondOrder(self.value - other.value, self.gradient - other.gradient, self.second - other.second)
        return SecondOrder(self.value - other, self.gradient, self.second)

    def __rsub__(self, other: float) -> SecondOrder:
        return SecondOrder(other - self.value, -self.gradient, -self.second)

    def __mul__(self, other: SecondOrder | float) -> Any:
        """The product; 0.0 for the number 0, which leaves out what has no derivatives."""
        if not isinstance(other, SecondOrder):
            if other == 0.0:
                return 0.0
            return SecondOrder(self.value * other, self.gradient * other, self.second * other)
        x, y = self.value, other.value
        across = self.gradient[:, None] * other.gradient
        second = x * other.second + y * self.second + across + across.T
        return SecondOrder(x * y, x * other.gradient + y * self.gradient, second)

    __rmul__ = __mul__

    def __truediv__(self, other: SecondOrder | float) -> SecondOrder:
        if isinstance(other, SecondOrder):
            return self * other.inverse()
        return SecondOrder(self.value / other, self.gradient / other, self.second / other)

    def __rtruediv__(self, other: float) -> SecondOrder:
        return other * self.inverse()

    def inverse(self) -> SecondOrder:
        """1/x; NaN without an inverse."""
        r = 1.0 / self.value if self.value else math.nan
        return self.chain(r, -r * r, 2.0 * r * r * r)

    def __pow__(self, exponent: float) -> SecondOrder:
        x, y = self.value, float(exponent)
        slope = y * x ** (y - 1.0) if y else 0.0
        return self.chain(x**y, slope, y * (y - 1.0) * x ** (y - 2.0) if slope and y != 1.0 else 0.0)

    def __lt__(self, other: Any) -> bool:
        return self.value < plain(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= plain(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > plain(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= plain(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (SecondOrder, float, int)) and self.value == plain(other)

    def __bool__(self) -> bool:
        return self.value != 0.0

    def __repr__(self) -> str:
        return f"SecondOrder({self.value})"


def plain(x: SecondOrder | float) -> float:
    """The value of a number."""
    return x.value if isinstance(x, SecondOrder) else float(x)


class Functions:
    """Functions of numbers of second order by the names that SymPy's have."""

    @staticmethod
    def sqrt(x: SecondOrder) -> SecondOrder:
        """Square root; derivatives at 0 are NaN."""
        root = math.sqrt(x.value)
        slope = 0.5 / root if root else math.nan
        return x.chain(root, slope, -0.5 * slope / x.value if root else math.nan)

    @staticmethod
    def exp(x: SecondOrder) -> SecondOrder:
        """e to the power x."""
        e = math.exp(x.value)
        return x.chain(e, e, e)

    @staticmethod
    def floor(x: SecondOrder) -> float:
        """Largest integer not above x, a constant."""
        return float(math.floor(x.value))

    @staticmethod
    def sin(x: SecondOrder) -> SecondOrder:
        """Sine."""
        s, c = math.sin(x.value), math.cos(x.value)
        return x.chain(s, c, -s)

    @staticmethod
    def cos(x: SecondOrder) -> SecondOrder:
        """Cosine."""
        s, c = math.sin(x.value), math.cos(x.value)
        return x.chain(c, -s, -c)

    @staticmethod
    def atan2(y: Any, x: Any) -> Any:
        """Angle θ of the point (x, y), from dθ = c dy - s dx over r, with the unit vector (c, s)."""
        a, b = plain(x), plain(y)
        square = a * a + b * b
        # the point turned back to the axis, where θ = y'/x' to second order
        turned = (a * y - b * x) / square
        across = (a * x + b * y) / square
        ratio = turned / across
        return ratio + math.atan2(b, a)


def seeds(values: Sequence[float] | Array, first: int, count: int) -> list[SecondOrder]:
    """Numbers that change by one along directions first, first + 1, ... of `count`."""
    units, none = np.eye(count), np.zeros((count, count))
    return [SecondOrder(float(value), units[first + k], none) for k, value in enumerate(values)]
