"""Operators and functions of two jets, and their comparisons, by the chain rule of second order."""

import math
import operator

import numpy as np
from numba import types
from numba.extending import lower_builtin

from saltus.number import functions
from saltus.number.internals import AbstractTemplate, infer_global, signature
from saltus.number.jets.jet import JetType, are_jets, by_rule, jet, unpack


def _register_two(callables, rule):
    """`rule(x, v, a, y, w, b)` gives the jet of a function of two jets, for each of the callables that mean it."""

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(jet, jet, jet) if are_jets(args) else None

    for function in callables:
        infer_global(function)(type(f"Jet_{function.__name__}", (Template,), {}))

        @lower_builtin(function, JetType, JetType)
        def lower(context, builder, sig, args):
            return by_rule(context, builder, rule, [p for x in args for p in unpack(context, builder, x)])


def _sum(x, v, a, y, w, b):
    return x + y, v + w, a + b


def _difference(x, v, a, y, w, b):
    return x - y, v - w, a - b


def _product(x, v, a, y, w, b):
    return x * y, v * y + x * w, a * y + 2.0 * v * w + x * b


def _quotient(x, v, a, y, w, b):
    inverse = 1.0 / y
    q = x * inverse
    rate = (v - q * w) * inverse
    return q, rate, (a - 2.0 * rate * w - q * b) * inverse


def _remainder(x, v, a, y, w, b):
    turns = np.floor(x / y)
    return x - turns * y, v - turns * w, a - turns * b


def _whole(x, v, a, y, w, b):
    return np.floor(x / y), 0.0, 0.0


def _power(x, v, a, y, w, b):
    value = x**y
    slope = y * x ** (y - 1.0) if y != 0.0 else 0.0
    bend = y * (y - 1.0) * x ** (y - 2.0) if y != 0.0 and y != 1.0 else 0.0
    if w == 0.0 and b == 0.0:
        return value, slope * v, bend * v * v + slope * a
    # x^y = exp(y log x)
    log, inverse = math.log(x), 1.0 / x
    rate = w * log + y * v * inverse
    change = b * log + 2.0 * w * v * inverse + y * (a - v * v * inverse) * inverse
    return value, value * rate, value * (rate * rate + change)


def _angle(y, w, b, x, v, a):
    """The angle of the point (x, y)."""
    square = x * x + y * y
    rate = (x * w - y * v) / square
    return math.atan2(y, x), rate, ((x * b - y * a) - 2.0 * rate * (x * v + y * w)) / square


def _length(x, v, a, y, w, b):
    """The distance of the point (x, y) from the origin."""
    r = math.sqrt(x * x + y * y)
    rate = (x * v + y * w) / r
    return r, rate, (v * v + w * w + x * a + y * b - rate * rate) / r


def _least(x, v, a, y, w, b):
    return (x, v, a) if x <= y else (y, w, b)


def _largest(x, v, a, y, w, b):
    return (x, v, a) if x >= y else (y, w, b)


_register_two((operator.add, operator.iadd, np.add), _sum)
_register_two((operator.sub, operator.isub, np.subtract), _difference)
_register_two((operator.mul, operator.imul, np.multiply), _product)
_register_two((operator.truediv, operator.itruediv, np.divide), _quotient)
_register_two((operator.mod, operator.imod, np.mod), _remainder)
_register_two((operator.floordiv, operator.ifloordiv, np.floor_divide), _whole)
_register_two((operator.pow, operator.ipow, math.pow, np.power), _power)
_register_two((math.atan2, np.arctan2), _angle)
_register_two((math.hypot, np.hypot), _length)
_register_two((min, np.minimum), _least)
_register_two((max, np.maximum), _largest)


def _register_comparison(op, predicate, ordered=True):
    @infer_global(op)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(types.boolean, jet, jet) if are_jets(args) else None

    @lower_builtin(op, JetType, JetType)
    def lower(context, builder, sig, args):
        compare = builder.fcmp_ordered if ordered else builder.fcmp_unordered
        return compare(predicate, *(unpack(context, builder, x)[0] for x in args))


for _op, _predicate in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _register_comparison(_op, _predicate)
_register_comparison(operator.eq, "==")
_register_comparison(operator.ne, "!=", ordered=False)


@infer_global(functions.where)
class _JetWhere(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 3 and isinstance(args[0], types.Boolean) and are_jets(args[1:]):
            return signature(jet, args[0], jet, jet)


@lower_builtin(functions.where, types.Boolean, JetType, JetType)
def _lower_where(context, builder, sig, args):
    return builder.select(*args)
