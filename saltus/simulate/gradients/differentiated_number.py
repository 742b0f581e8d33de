"""Numbers that carry derivatives, in plain Python: arithmetic and functions of them, in arrays of objects.

NumPy calls methods of the names of its functions on objects: `np.sin(x)` is `x.sin()` of each entry. A kind of number
says how it goes through a function of one number, by its value and two derivatives, and how two are added and
multiplied (Griewank & Walther, Evaluating Derivatives (2008), table 3.1 and section 13.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np

Derivatives = tuple[Any, Any, Any]  # of a function at a number: its value, slope and curvature
Function = Callable[[Any, Any], Derivatives]


class DifferentiatedNumber:
    """A number with derivatives; compares, and prints, as its value."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]
    value: float

    def through(self, value: float, slope: float, curvature: float) -> Self:
        """A function of this number, by its value and derivatives."""
        raise NotImplementedError

    def _plus(self, other: Any) -> Any:
        """The sum with another number of this kind."""
        raise NotImplementedError

    def _times(self, other: Any) -> Any:
        """The product with another number of this kind."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        if isinstance(other, DifferentiatedNumber):
            return self._plus(other)
        return self.through(self.value + other, 1.0, 0.0) if _plain(other) else NotImplemented

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self.through(-self.value, -1.0, 0.0)

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other if _plain(other) or isinstance(other, DifferentiatedNumber) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other if _plain(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, DifferentiatedNumber):
            return self._times(other)
        return self.through(self.value * other, float(other), 0.0) if _plain(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, DifferentiatedNumber):
            return self * other.__rtruediv__(1.0)
        return self.through(self.value / other, 1.0 / float(other), 0.0) if _plain(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        x = self.value
        return self.through(other / x, -other / x**2, 2 * other / x**3) if _plain(other) else NotImplemented

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, DifferentiatedNumber):
            return (other * self.log()).exp()
        if not _plain(other):
            return NotImplemented
        # at 0, infinite derivatives count as 0 (a subgradient of roots)
        x, p = self.value, other
        slope = 0.0 if p == 0 or (x == 0 and 0 < p < 1) else p * x ** (p - 1)
        curvature = 0.0 if p in (0, 1) or (x == 0 and 0 < p < 2) else p * (p - 1) * x ** (p - 2)
        return self.through(x**p, slope, curvature)

    def __rpow__(self, other: Any) -> Any:
        return (self * math.log(other)).exp() if _plain(other) else NotImplemented

    def __abs__(self) -> Any:
        return -self if self.value < 0 else self

    def __float__(self) -> float:
        raise TypeError("a number with derivatives loses them as a float; use NumPy's functions on it")

    def __bool__(self) -> bool:
        return self.value != 0.0

    def __lt__(self, other: Any) -> bool:
        return self.value < value_of(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= value_of(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > value_of(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= value_of(other)

    def __eq__(self, other: object) -> bool:
        return self.value == value_of(other)

    def __repr__(self) -> str:
        return repr(self.value)

    def arctan2(self, other: Self | float) -> Self:
        """The angle of (other, self)."""
        y, x = self.value, value_of(other)
        found = (self / other).arctan() if abs(x) >= abs(y) else -(other / self).arctan()
        return found + (math.atan2(y, x) - found.value)

    def hypot(self, other: Self | float) -> Self:
        """√(self² + other²)."""
        return (self * self + other * other).sqrt()

    def conjugate(self) -> Self:
        """The number itself, which is real."""
        return self

    def __getattr__(self, name: str) -> Callable[[], Any]:
        if name not in _FUNCTIONS:
            raise AttributeError(name)
        of = np if isinstance(self.value, np.ndarray) else math
        return lambda: self.through(*_FUNCTIONS[name](self.value, of))


# Functions by name, of a number and of the module, `math` or `numpy`, whose functions take it.


def _tan(x: Any, of: Any) -> Derivatives:
    t = of.tan(x)
    return t, 1 + t * t, 2 * t * (1 + t * t)


def _tanh(x: Any, of: Any) -> Derivatives:
    t = of.tanh(x)
    return t, 1 - t * t, -2 * t * (1 - t * t)


def _sqrt(x: Any, of: Any) -> Derivatives:
    root = of.sqrt(x)
    if of is math:
        return (root, 0.5 / root, -0.25 / (x * root)) if root > 0 else (0.0, 0.0, 0.0)  # 0: a subgradient of lengths
    some = np.where(root == 0, np.inf, root)
    return root, 0.5 / some, -0.25 / some**3


def _arcsin(x: Any, of: Any) -> Derivatives:
    c = 1 - x * x
    return of.asin(x), c**-0.5, x * c**-1.5


def _arccos(x: Any, of: Any) -> Derivatives:
    _, slope, curvature = _arcsin(x, of)
    return of.acos(x), -slope, -curvature


def _logarithm(name: str, scale: float) -> Function:
    return lambda x, of: (getattr(of, name)(x), 1 / (x * scale), -1 / (x * x * scale))


_FUNCTIONS: dict[str, Function] = {
    "sin": lambda x, of: (of.sin(x), of.cos(x), -of.sin(x)),
    "cos": lambda x, of: (of.cos(x), -of.sin(x), -of.cos(x)),
    "tan": _tan,
    "arcsin": _arcsin,
    "arccos": _arccos,
    "arctan": lambda x, of: (of.atan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
    "sinh": lambda x, of: (of.sinh(x), of.cosh(x), of.sinh(x)),
    "cosh": lambda x, of: (of.cosh(x), of.sinh(x), of.cosh(x)),
    "tanh": _tanh,
    "sqrt": _sqrt,
    "exp": lambda x, of: (of.exp(x), of.exp(x), of.exp(x)),
    "expm1": lambda x, of: (of.expm1(x), of.exp(x), of.exp(x)),
    "log": _logarithm("log", 1.0),
    "log10": _logarithm("log10", math.log(10)),
    "log2": _logarithm("log2", math.log(2)),
    "log1p": lambda x, of: (of.log1p(x), 1 / (1 + x), -1 / (1 + x) ** 2),
}


def _plain(x: Any) -> bool:
    return isinstance(x, (int, float, np.integer, np.floating))


def value_of(x: Any) -> Any:
    """The value of a number with derivatives; anything else as it is."""
    return x.value if isinstance(x, DifferentiatedNumber) else x
