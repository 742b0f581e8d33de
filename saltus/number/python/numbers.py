"""Python's and NumPy's functions of numbers in users' code, on floats, lanes and duals.

Lanes call the C library lane by lane, but for what the processor does itself; duals follow the chain rule. Each
function is plain Python, which code outside of kernels gets; what kernels get is registered below it.
"""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

import inspect
import math

from numba import types
from numba.extending import overload

from saltus.number.components import as_number, chain, lane_count, lane_get, lane_set, value_of
from saltus.number.functions import absolute, floor
from saltus.number.kernels import kernel
from saltus.number.kinds import LaneType, MaskType, dual, is_real
from saltus.number.python.selection import both, either, refuse, select
from saltus.number.trigonometry import sincos


def number(x):
    """x as a number: a truth is 1 or 0."""
    return float(x)


@overload(number)
def _number(x):
    if isinstance(x, MaskType):
        return lambda x: select(x, 1.0, 0.0)
    if isinstance(x, types.Boolean):
        return lambda x: 1.0 if x else 0.0
    if isinstance(x, types.Integer):
        return lambda x: 1.0 * x
    return lambda x: x


def whole(x):
    """x as a whole number of Python's, cut off towards zero."""
    return int(x)


@overload(whole)
def _whole(x):
    if isinstance(x, LaneType | MaskType) or x == dual:
        refuse("int(...) of a number that differs between simulations; use floor, which gives a number of its kind")
    return lambda x: int(x)


def magnitude(x):
    """|x|."""
    return abs(x)


@overload(magnitude)
def _magnitude(x):
    if isinstance(x, types.Integer):
        return lambda x: abs(x)
    return lambda x: absolute(x)


# ---------------------------------------------------------------- functions of one number


def _of_one(function, slope):
    """`function` of the C library on every kind of number; its derivative is slope(x, function(x))."""

    def name(x):
        return function(x)

    @kernel
    def lanes(x):
        result = x
        for i in range(lane_count(x)):
            result = lane_set(result, i, function(lane_get(x, i)))
        return result

    slope = kernel(slope, inline=True)

    @kernel
    def duals(x):
        value = value_of(x)
        result = function(value)
        return chain(result, slope(value, result), x)

    @overload(name)
    def choose(x):
        if x == dual:
            return lambda x: duals(x)
        if isinstance(x, LaneType):
            return lambda x: lanes(x)
        return (lambda x: function(1.0 * x)) if is_real(x) else None

    name.__name__, name.__module__ = f"of_{function.__name__}", __name__
    name.__qualname__ = name.__name__
    name.__doc__ = f"{function.__name__}(x)."
    return name


of_tan = _of_one(math.tan, lambda x, y: 1.0 + y * y)
of_asin = _of_one(math.asin, lambda x, y: 1.0 / math.sqrt(1.0 - x * x))
of_acos = _of_one(math.acos, lambda x, y: -1.0 / math.sqrt(1.0 - x * x))
of_atan = _of_one(math.atan, lambda x, y: 1.0 / (1.0 + x * x))
of_sinh = _of_one(math.sinh, lambda x, y: math.cosh(x))
of_cosh = _of_one(math.cosh, lambda x, y: math.sinh(x))
of_tanh = _of_one(math.tanh, lambda x, y: 1.0 - y * y)
of_asinh = _of_one(math.asinh, lambda x, y: 1.0 / math.sqrt(x * x + 1.0))
of_acosh = _of_one(math.acosh, lambda x, y: 1.0 / math.sqrt(x * x - 1.0))
of_atanh = _of_one(math.atanh, lambda x, y: 1.0 / (1.0 - x * x))
of_log = _of_one(math.log, lambda x, y: 1.0 / x)
of_log10 = _of_one(math.log10, lambda x, y: 1.0 / (x * math.log(10.0)))
of_log2 = _of_one(math.log2, lambda x, y: 1.0 / (x * math.log(2.0)))
of_log1p = _of_one(math.log1p, lambda x, y: 1.0 / (1.0 + x))
of_expm1 = _of_one(math.expm1, lambda x, y: y + 1.0)
of_erf = _of_one(math.erf, lambda x, y: 2.0 / math.sqrt(math.pi) * math.exp(-x * x))


@kernel(inline=True)
def of_sin(x):
    """sin(x)."""
    return sincos(x)[0]


@kernel(inline=True)
def of_cos(x):
    """cos(x)."""
    return sincos(x)[1]


@kernel(inline=True)
def ceil(x):
    """Smallest whole number not below x, as a number of x's kind."""
    return -floor(-x)


@kernel(inline=True)
def trunc(x):
    """x cut off towards zero, as a number of x's kind."""
    return select(x < 0.0, -floor(-x), floor(x))


@kernel(inline=True)
def rounded(x):
    """The whole number nearest to x, the even one of two, as a number of x's kind."""
    low = floor(x)
    odd = low - 2.0 * floor(0.5 * low) > 0.5
    up = either(x - low > 0.5, both(x - low == 0.5, odd))
    return select(up, low + 1.0, low)


@kernel(inline=True)
def sign(x):
    """1, 0 or -1."""
    return select(x > 0.0, 1.0, select(x < 0.0, -1.0, 0.0 * x))


@kernel(inline=True)
def isnan(x):
    """Whether x is not a number."""
    return x != x


@kernel(inline=True)
def isfinite(x):
    """Whether x is neither infinite nor not a number."""
    return x - x == 0.0


# ---------------------------------------------------------------- functions of two numbers


def _of_two(what, function, by_first, by_second):
    """`function` on every kind of number; by_first(x, y, value) and by_second are its partial derivatives."""

    def name(x, y):
        return function(x, y)

    of_floats = function if inspect.isbuiltin(function) else kernel(function, inline=True)

    @kernel
    def lanes(x, y):
        result = x
        for i in range(lane_count(x)):
            result = lane_set(result, i, of_floats(lane_get(x, i), lane_get(y, i)))
        return result

    by_first, by_second = kernel(by_first, inline=True), kernel(by_second, inline=True)

    @kernel
    def duals(x, y):
        a, b = value_of(x), value_of(y)
        value = of_floats(a, b)
        return chain(value, by_first(a, b, value), x) + chain(0.0, by_second(a, b, value), y)

    @overload(name)
    def choose(x, y):
        kinds = [k for k in (x, y) if isinstance(k, LaneType) or k == dual]
        if not kinds:
            return lambda x, y: of_floats(x, y)
        run = duals if dual in kinds else lanes
        if is_real(x):
            return lambda x, y: run(as_number(x, y), y)
        if is_real(y):
            return lambda x, y: run(x, as_number(y, x))
        return lambda x, y: run(x, y)

    name.__name__, name.__module__ = f"of_{what}", __name__
    name.__qualname__ = name.__name__
    name.__doc__ = f"{what}(x, y)."
    return name


def _power_by_exponent(x, y, value):
    return value * math.log(x) if x > 0.0 else 0.0


of_pow = _of_two("pow", lambda x, y: x**y, lambda x, y, v: y * x ** (y - 1.0), _power_by_exponent)
of_mod = _of_two("mod", lambda x, y: x % y, lambda x, y, v: 1.0, lambda x, y, v: -math.floor(x / y))
of_floordiv = _of_two("floordiv", lambda x, y: x // y, lambda x, y, v: 0.0, lambda x, y, v: 0.0)
of_hypot = _of_two("hypot", math.hypot, lambda x, y, v: x / v, lambda x, y, v: y / v)
of_fmod = _of_two("fmod", math.fmod, lambda x, y, v: 1.0, lambda x, y, v: -math.trunc(x / y))
of_copysign = _of_two(
    "copysign", math.copysign, lambda x, y, v: math.copysign(1.0, x) * math.copysign(1.0, y), lambda x, y, v: 0.0
)


@kernel(inline=True)
def lesser(a, b):
    """The smaller of two, as by Python's `min`: the first unless the second is smaller."""
    return select(b < a, b, a)


@kernel(inline=True)
def larger(a, b):
    """The larger of two, as by Python's `max`: the first unless the second is larger."""
    return select(b > a, b, a)


@kernel(inline=True)
def least(a, b):
    """The smaller of two, as by NumPy's `minimum`: a NaN if one of them is."""
    return select(either(b < a, b != b), b, a)


@kernel(inline=True)
def most(a, b):
    """The larger of two, as by NumPy's `maximum`: a NaN if one of them is."""
    return select(either(b > a, b != b), b, a)


@kernel(inline=True)
def limited(x, low, high):
    """x limited to [low, high]; a NaN stays a NaN."""
    x = select(x < low, low, x)
    return select(x > high, high, x)


@kernel(inline=True)
def degrees(x):
    """An angle in degrees, of radians."""
    return x * (180.0 / math.pi)


@kernel(inline=True)
def radians(x):
    """An angle in radians, of degrees."""
    return x * (math.pi / 180.0)


@kernel(inline=True)
def square(x):
    """x²."""
    return x * x


def _to(n):
    """x^n by squares."""
    half = POWERS[n // 2]
    if n % 2:

        def to(x):
            y = half(x)
            return y * y * x
    else:

        def to(x):
            y = half(x)
            return y * y

    to.__name__ = to.__qualname__ = f"to_{n}"
    return kernel(to, inline=True)


@kernel(inline=True)
def to_1(x):
    """x."""
    return x


POWERS = [None, to_1]  # by exponents
for _n in range(2, 17):
    POWERS.append(_to(_n))
