"""Duals in plain Python: a value and its derivatives along 8 directions, for `helpers.plain_python`.

The chain rule is that of Griewank & Walther, Evaluating Derivatives (2008), table 3. Comparisons look at values alone.
"""

import math
from typing import Any

import numpy as np

from saltus.number import components, functions
from saltus.number.kinds import NTANGENT

NONE = np.zeros(NTANGENT)  # tangents of a number without any
NONE.flags.writeable = False


class Dual:
    """A value and its tangents [8]."""

    __slots__ = ("tangents", "value")
    __array_ufunc__ = None  # NumPy's floats leave operations to this class

    def __init__(self, value: Any, tangents: Any = NONE):
        self.value, self.tangents = value, tangents

    def __add__(self, other):
        return Dual(self.value + value_of(other), self.tangents + tangents_of(other))

    __radd__ = __add__

    def __sub__(self, other):
        return Dual(self.value - value_of(other), self.tangents - tangents_of(other))

    def __rsub__(self, other):
        return Dual(other - self.value, -self.tangents)

    def __mul__(self, other):
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.value * other.tangents + other.value * self.tangents)
        return Dual(self.value * other, other * self.tangents)

    __rmul__ = __mul__

    def __truediv__(self, other):
        by = np.float64(value_of(other))
        quotient = self.value / by
        return Dual(quotient, (self.tangents - quotient * tangents_of(other)) / by)

    def __rtruediv__(self, other):
        return Dual(np.float64(other)) / self

    def __neg__(self):
        return Dual(-self.value, -self.tangents)

    def __pos__(self):
        return self

    def __abs__(self):
        return -self if self.value < 0.0 else self

    def __pow__(self, y):
        value = self.value**y
        return Dual(value, y * value / self.value * self.tangents)

    def __lt__(self, other):
        return self.value < value_of(other)

    def __le__(self, other):
        return self.value <= value_of(other)

    def __gt__(self, other):
        return self.value > value_of(other)

    def __ge__(self, other):
        return self.value >= value_of(other)

    def __eq__(self, other):
        return self.value == value_of(other)

    def __ne__(self, other):
        return self.value != value_of(other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self):
        return bool(self.value)

    def __int__(self):
        return int(self.value)

    def __repr__(self):
        return f"Dual({self.value!r}, {self.tangents!r})"


def value_of(x: Any) -> Any:
    """The value of a dual; any other number as it is."""
    return x.value if isinstance(x, Dual) else x


def tangents_of(x: Any) -> np.ndarray:
    """Tangents [8] of a number."""
    return x.tangents if isinstance(x, Dual) else NONE


def _seed(value, k):
    return Dual(value, np.eye(NTANGENT)[k] if 0 <= k < NTANGENT else NONE)


def _sqrt(x):
    root = np.sqrt(np.float64(x.value))
    return Dual(root, (0.5 / root if root != 0.0 else 0.0) * x.tangents)


def _exp(x):
    value = np.exp(x.value)
    return Dual(value, value * x.tangents)


def _sincos(x):
    sine, cosine = math.sin(x.value), math.cos(x.value)
    return Dual(sine, cosine * x.tangents), Dual(cosine, -sine * x.tangents)


def _atan2(y, x):
    a, b = value_of(y), value_of(x)
    square = np.float64(a * a + b * b)
    return Dual(math.atan2(a, b), (b * tangents_of(y) - a * tangents_of(x)) / square)


def _with_duals(function, of_duals):
    """A function of numbers that is another one where any of them is a dual."""

    def chosen(*arguments):
        is_dual = any(isinstance(x, Dual) for x in arguments)
        return (of_duals if is_dual else function)(*arguments)

    return chosen


#: Elementary functions as kernels call them, by what they mean on all kinds of numbers.
FUNCTIONS = {
    functions.sqrt: _with_duals(functions.sqrt, _sqrt),
    functions.exp: _with_duals(functions.exp, _exp),
    functions.floor: _with_duals(functions.floor, lambda x: Dual(np.floor(x.value))),
    functions.sincos: _with_duals(functions.sincos, _sincos),
    functions.atan2: _with_duals(functions.atan2, _atan2),
}
#: Parts of duals.
PARTS = {
    components.value_of: value_of,
    components.tangent_of: lambda x, k: tangents_of(x)[k],
    components.chain: lambda value, slope, x: Dual(value, slope * x.tangents) if isinstance(x, Dual) else value,
    components.seed: _seed,
    components.is_zero: lambda x: value_of(x) == 0 and not np.any(tangents_of(x)),
    components.frozen: lambda x: Dual(x.value) if isinstance(x, Dual) else x,
    components.zero_like: lambda x: (
        Dual(np.float64(0.0)) if isinstance(x, Dual) else 0.0 if isinstance(x, float) else 0 * x
    ),
}


class Duals:
    """A field of duals, whose memory is [..., 2, 8]: the value first, and the tangents after it."""

    def __init__(self, memory: np.ndarray):
        self._memory = memory

    def __getitem__(self, index: Any) -> Any:
        found = self._memory[index]
        if found.ndim == 2:
            return Dual(found[0, 0], found[1].copy())
        return tuple(Dual(x[0, 0], x[1].copy()) for x in found)

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._memory[index]
        for at, number in zip((place,), (value,), strict=True) if place.ndim == 2 else zip(place, value, strict=True):
            at[0, 0], at[1] = value_of(number), tangents_of(number)

    def __len__(self) -> int:
        return len(self._memory)
