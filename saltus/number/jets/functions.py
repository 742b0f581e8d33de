"""Functions of one jet, by the chain rule of second order."""

import math
import operator

import numpy as np
from numba.extending import lower_builtin

from saltus.number import functions
from saltus.number.internals import AbstractTemplate, infer_global, signature
from saltus.number.jets.jet import JetType, by_rule, jet, unpack


def _register_one(callables, rule):
    """`rule(x, v, a)` gives the jet of a function of one, for each of the callables that mean it."""

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(jet, jet) if args == (jet,) else None

    for function in callables:
        infer_global(function)(type(f"Jet_{function.__name__}", (Template,), {}))

        @lower_builtin(function, JetType)
        def lower(context, builder, sig, args):
            return by_rule(context, builder, rule, unpack(context, builder, args[0]))


def _negative(x, v, a):
    return -x, -v, -a


def _positive(x, v, a):
    return x, v, a


def _absolute(x, v, a):
    return (-x, -v, -a) if x < 0.0 else (x, v, a)


def _step(x, v, a):
    return np.sign(x), 0.0, 0.0


def _floor(x, v, a):
    return np.floor(x), 0.0, 0.0


def _ceil(x, v, a):
    return np.ceil(x), 0.0, 0.0


def _sin(x, v, a):
    s, c = math.sin(x), math.cos(x)
    return s, c * v, c * a - s * v * v


def _cos(x, v, a):
    s, c = math.sin(x), math.cos(x)
    return c, -s * v, -s * a - c * v * v


def _tan(x, v, a):
    t = math.tan(x)
    slope = 1.0 + t * t
    return t, slope * v, slope * (a + 2.0 * t * v * v)


def _arcsin(x, v, a):
    slope = 1.0 / math.sqrt(1.0 - x * x)
    return math.asin(x), slope * v, slope * (a + x * slope * slope * v * v)


def _arccos(x, v, a):
    slope = 1.0 / math.sqrt(1.0 - x * x)
    return math.acos(x), -slope * v, -slope * (a + x * slope * slope * v * v)


def _arctan(x, v, a):
    slope = 1.0 / (1.0 + x * x)
    return math.atan(x), slope * v, slope * (a - 2.0 * x * slope * v * v)


def _sinh(x, v, a):
    s, c = math.sinh(x), math.cosh(x)
    return s, c * v, c * a + s * v * v


def _cosh(x, v, a):
    s, c = math.sinh(x), math.cosh(x)
    return c, s * v, s * a + c * v * v


def _tanh(x, v, a):
    t = math.tanh(x)
    slope = 1.0 - t * t
    return t, slope * v, slope * (a - 2.0 * t * v * v)


def _exp(x, v, a):
    e = math.exp(x)
    return e, e * v, e * (a + v * v)


def _expm1(x, v, a):
    e = math.exp(x)
    return math.expm1(x), e * v, e * (a + v * v)


def _log(x, v, a):
    rate = v / x
    return math.log(x), rate, a / x - rate * rate


def _log1p(x, v, a):
    rate = v / (1.0 + x)
    return math.log1p(x), rate, a / (1.0 + x) - rate * rate


def _sqrt(x, v, a):
    r = math.sqrt(x)
    rate = 0.5 * v / r
    return r, rate, (0.5 * a - rate * rate) / r


def _square(x, v, a):
    return x * x, 2.0 * x * v, 2.0 * (v * v + x * a)


_register_one((operator.neg, np.negative), _negative)
_register_one((operator.pos,), _positive)
_register_one((abs, math.fabs, np.abs, np.fabs, functions.absolute), _absolute)
_register_one((np.sign,), _step)
_register_one((math.floor, np.floor, functions.floor), _floor)
_register_one((math.ceil, np.ceil), _ceil)
_register_one((math.sin, np.sin), _sin)
_register_one((math.cos, np.cos), _cos)
_register_one((math.tan, np.tan), _tan)
_register_one((math.asin, np.arcsin), _arcsin)
_register_one((math.acos, np.arccos), _arccos)
_register_one((math.atan, np.arctan), _arctan)
_register_one((math.sinh, np.sinh), _sinh)
_register_one((math.cosh, np.cosh), _cosh)
_register_one((math.tanh, np.tanh), _tanh)
_register_one((math.exp, np.exp, functions.exp), _exp)
_register_one((math.expm1, np.expm1), _expm1)
_register_one((math.log, np.log), _log)
_register_one((math.log1p, np.log1p), _log1p)
_register_one((math.sqrt, np.sqrt, functions.sqrt), _sqrt)
_register_one((np.square,), _square)
