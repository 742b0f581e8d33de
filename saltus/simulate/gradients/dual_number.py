"""Dual numbers in plain Python: a value and its derivatives, in arrays of objects through which NumPy's functions go.

NumPy calls methods of the names of its functions on objects: `np.sin(x)` is `x.sin()` of each entry. Arithmetic and
functions follow the chain rule (Griewank & Walther, Evaluating Derivatives (2008), table 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class DualNumber:
    """A number with its derivatives along k directions; compares, and prints, as its value."""

    __slots__ = ("tangent", "value")
    __array_priority__ = 1.0  # before arrays of floats
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: float, tangent: NDArray[np.float64]):
        self.value, self.tangent = float(value), tangent

    def __add__(self, other: Any) -> Any:
        if isinstance(other, DualNumber):
            return DualNumber(self.value + other.value, self.tangent + other.tangent)
        return DualNumber(self.value + other, self.tangent) if _plain(other) else NotImplemented

    __radd__ = __add__

    def __neg__(self) -> DualNumber:
        return DualNumber(-self.value, -self.tangent)

    def __pos__(self) -> DualNumber:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other if _plain(other) or isinstance(other, DualNumber) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other if _plain(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, DualNumber):
            return DualNumber(self.value * other.value, self.value * other.tangent + other.value * self.tangent)
        return DualNumber(self.value * other, self.tangent * float(other)) if _plain(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, DualNumber):
            quotient = self.value / other.value
            return DualNumber(quotient, (self.tangent - quotient * other.tangent) / other.value)
        return DualNumber(self.value / other, self.tangent / float(other)) if _plain(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if not _plain(other):
            return NotImplemented
        quotient = other / self.value
        return DualNumber(quotient, -quotient / self.value * self.tangent)

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, DualNumber):
            return (other * self.log()).exp()
        if not _plain(other):
            return NotImplemented
        slope = other * self.value ** (other - 1) if other != 0 else 0.0
        return DualNumber(self.value**other, slope * self.tangent)

    def __rpow__(self, other: Any) -> Any:
        return (self * math.log(other)).exp() if _plain(other) else NotImplemented

    def __abs__(self) -> DualNumber:
        return -self if self.value < 0 else self

    def __float__(self) -> float:
        raise TypeError("a number of the run loses its derivatives as a float; use NumPy's functions on it")

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

    def arctan2(self, other: DualNumber | float) -> DualNumber:
        """The angle of (other, self)."""
        x = other if isinstance(other, DualNumber) else DualNumber(other, 0.0 * self.tangent)
        square = self.value**2 + x.value**2
        tangent = (x.value * self.tangent - self.value * x.tangent) / square
        return DualNumber(math.atan2(self.value, x.value), tangent)

    def hypot(self, other: DualNumber | float) -> DualNumber:
        """√(self² + other²)."""
        return (self * self + other * other).sqrt()

    def conjugate(self) -> DualNumber:
        """The number itself, which is real."""
        return self

    def sqrt(self) -> DualNumber:
        """√x; its derivative at 0 counts as 0 (a subgradient of lengths)."""
        root = math.sqrt(self.value)
        return DualNumber(root, (0.5 / root if root > 0 else 0.0) * self.tangent)

    def __getattr__(self, name: str) -> Callable[[], DualNumber]:
        if name not in _FUNCTIONS:
            raise AttributeError(name)
        function, slope = _FUNCTIONS[name]
        return lambda: DualNumber(function(self.value), slope(self.value) * self.tangent)


_FUNCTIONS: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "sin": (math.sin, math.cos),
    "cos": (math.cos, lambda x: -math.sin(x)),
    "tan": (math.tan, lambda x: 1 + math.tan(x) ** 2),
    "arcsin": (math.asin, lambda x: 1 / math.sqrt(1 - x * x)),
    "arccos": (math.acos, lambda x: -1 / math.sqrt(1 - x * x)),
    "arctan": (math.atan, lambda x: 1 / (1 + x * x)),
    "sinh": (math.sinh, math.cosh),
    "cosh": (math.cosh, math.sinh),
    "tanh": (math.tanh, lambda x: 1 - math.tanh(x) ** 2),
    "exp": (math.exp, math.exp),
    "expm1": (math.expm1, math.exp),
    "log": (math.log, lambda x: 1 / x),
    "log1p": (math.log1p, lambda x: 1 / (1 + x)),
    "log10": (math.log10, lambda x: 1 / (x * math.log(10))),
    "log2": (math.log2, lambda x: 1 / (x * math.log(2))),
}


def _plain(x: Any) -> bool:
    return isinstance(x, (int, float, np.integer, np.floating))


def value_of(x: Any) -> Any:
    """The value of a dual number; anything else as it is."""
    return x.value if isinstance(x, DualNumber) else x


def dual_array(values: ArrayLike, tangents: NDArray[np.float64]) -> NDArray[np.object_]:
    """An array of dual numbers [...] from values [...] and tangents [..., k]."""
    given = np.asarray(values, dtype=float)
    out = np.empty(given.shape, object)
    for place in np.ndindex(given.shape):
        out[place] = DualNumber(float(given[place]), tangents[place])
    return out
