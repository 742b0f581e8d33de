"""Kernels as plain Python on numbers of 50 digits.

The numbers divide as IEEE 754 does, where Python would raise: kernels compute what they then leave out. Areas of memory
are lists.
"""

import sys
import types

import mpmath

from saltus.number import conditions, functions, kernels
from saltus.number.intrinsics import memory

DIGITS = 50
CONTEXT = mpmath.MPContext()
CONTEXT.dps = DIGITS
Number = CONTEXT.mpf
_divided = Number.__truediv__, Number.__rtruediv__


def _quotient(a, b):
    try:
        return _divided[0](a, b)
    except ZeroDivisionError:
        return CONTEXT.nan if a == 0 or a != a else CONTEXT.inf * CONTEXT.sign(a)


# the class belongs to this context alone
Number.__truediv__ = _quotient
Number.__rtruediv__ = lambda a, b: _quotient(Number(b), a)


def _sqrt(x):
    x = Number(x)
    return CONTEXT.sqrt(x) if x >= 0 else CONTEXT.nan


def _sincos(x):
    x = Number(x)
    return CONTEXT.sin(x), CONTEXT.cos(x)


def _power(x, y):
    x = Number(x)
    if x < 0:
        return CONTEXT.nan
    return x ** Number(y) if x else Number(1 if y == 0 else 0 if y > 0 else CONTEXT.inf)


def _atan2(y, x):
    return CONTEXT.atan2(Number(y), Number(x)) if x == x and y == y else CONTEXT.nan


class Area:
    """The address of an area of memory in plain Python: a list, and a place in it."""

    def __init__(self, numbers, at=0):
        self._numbers, self._at = numbers, at

    def __add__(self, places):
        # addresses count bytes, places numbers of 8
        return Area(self._numbers, self._at + places // 8)

    __radd__ = __add__

    def get(self, i):
        return self._numbers[self._at + i]

    def put(self, i, value):
        self._numbers[self._at + i] = value


#: Stand-ins of functions that convert their arguments to floats.
EXACT = {
    functions.sqrt: _sqrt,
    functions.exp: lambda x: CONTEXT.exp(Number(x)),
    functions.floor: lambda x: CONTEXT.floor(Number(x)),
    functions.power: _power,
    functions.sincos: _sincos,
    functions.atan2: _atan2,
    conditions.has_tangents: lambda d: False,
    conditions.has_lanes: lambda d: False,
}
#: Memory in plain Python.
MEMORY = {
    memory.stack_area: lambda count: Area([CONTEXT.nan] * count),
    memory.get: lambda area, i: area.get(i),
    memory.put: lambda area, i, value: area.put(i, value),
    memory.get_int: lambda area, i: area.get(i),
    memory.put_int: lambda area, i, value: area.put(i, value),
}


def exact(kernel):
    """A kernel, and all that it calls, on numbers of 50 digits; constants are the floats that they are compiled to."""
    plain = _interpreted(kernel, Number)
    for function in _functions(plain):
        for name, value in list(function.__globals__.items()):
            if isinstance(value, types.FunctionType | types.BuiltinFunctionType) and value in EXACT:
                function.__globals__[name] = EXACT[value]
    return plain


def plain(kernel):
    """A kernel, and all that it calls, on Python's floats."""
    return _interpreted(kernel, None)


class _Meanings(dict):
    """Meanings in plain Python of functions that only compiled code has; without a meaning they refuse to be called."""

    def __missing__(self, function):
        def refuse(*arguments):
            raise NotImplementedError(f"{function} means nothing in plain Python")

        return refuse


def meanings(kernel, meaning, number=None):
    """A kernel, and all that it calls, in plain Python; `meaning`: that of functions that only compiled code has."""
    known = kernels.PLAIN
    kernels.PLAIN = _Meanings(meaning)
    try:
        return kernels.interpret(kernel, number)
    finally:
        kernels.PLAIN = known


def _interpreted(kernel, number):
    return meanings(kernel, {**kernels.PLAIN, **MEMORY}, number)


def _functions(plain):
    """A function that `interpret` made and all that it refers to."""
    found, left = {}, [plain]
    while left:
        function = left.pop()
        if id(function) in found:
            continue
        found[id(function)] = function
        named = [function.__globals__.get(name) for name in function.__code__.co_names]
        named += [cell.cell_contents for cell in function.__closure__ or ()]
        left += [f for f in named if isinstance(f, types.FunctionType) and _is_interpreted(f)]
    return list(found.values())


def _is_interpreted(function):
    # their globals are copies, of which no module knows
    module = sys.modules.get(function.__module__ or "")
    return module is not None and function.__globals__ is not vars(module)
