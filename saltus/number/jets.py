"""Jets: a function of time with its first and second derivatives, carried together (forward differentiation).

A jet (x, v, a) is a value, a velocity and an acceleration; a number is a jet at rest. Each operation follows the chain
rule of second order, f(x) ↦ (f, f' v, f'' v² + f' a); see Griewank & Walther, Evaluating Derivatives (2008), ch. 13. A
comparison looks at the value alone, so a jet takes the same branches as a float.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

import math
import operator

import numpy as np
from numba import types
from numba.extending import intrinsic, lower_builtin, lower_cast, models, overload, register_model

from saltus.number import functions
from saltus.number.internals import AbstractTemplate, Conversion, cgutils, infer_global, signature, struct_value
from saltus.number.kernels import PLAIN, kernel
from saltus.number.kinds import is_real


class JetType(types.Type):
    """Value, velocity and acceleration, float64 each; not a Number, which Numba would unify by NumPy's rules."""

    def __init__(self):
        super().__init__("jet")

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if is_real(other) else None

    def unify(self, typingctx, other):
        """A variable that holds a number on one path and a jet on another holds a jet."""
        return self if is_real(other) else None


jet = JetType()
FLOAT = types.float64
THREE = types.UniTuple(FLOAT, 3)
PARTS = ("value", "velocity", "acceleration")


@register_model(JetType)
class _JetModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [(name, FLOAT) for name in PARTS])


def _pack(context, builder, parts):
    made = cgutils.create_struct_proxy(jet)(context, builder)
    made.value, made.velocity, made.acceleration = parts
    return struct_value(made)


def _unpack(context, builder, x):
    found = cgutils.create_struct_proxy(jet)(context, builder, value=x)
    return found.value, found.velocity, found.acceleration


@lower_cast(types.Float, JetType)
@lower_cast(types.Integer, JetType)
def _number_to_jet(context, builder, fromty, toty, value):
    zero = context.get_constant(FLOAT, 0.0)
    return _pack(context, builder, (context.cast(builder, value, fromty, FLOAT), zero, zero))


@intrinsic
def jet_at(typingctx, time):
    """The time (s) itself as a jet: it goes on by one second per second."""
    if not isinstance(time, types.Float):
        return None

    def lower(context, builder, sig, args):
        value = context.cast(builder, args[0], sig.args[0], FLOAT)
        one, zero = context.get_constant(FLOAT, 1.0), context.get_constant(FLOAT, 0.0)
        return _pack(context, builder, (value, one, zero))

    return signature(jet, time), lower


@intrinsic
def parts_of(typingctx, x):
    """Value, velocity and acceleration of a jet, or of a number, which is at rest."""
    if x != jet and not is_real(x):
        return None

    def lower(context, builder, sig, args):
        return context.make_tuple(builder, sig.return_type, _unpack(context, builder, args[0]))

    return THREE(jet), lower


def _call(context, builder, rule, arguments):
    """Compiled code of a rule, a Python function of floats that gives three of them, as a jet."""
    made = context.compile_internal(builder, rule, THREE(*[FLOAT] * len(arguments)), arguments)
    return _pack(context, builder, cgutils.unpack_tuple(builder, made, 3))


# ---------------------------------------------------------------- arithmetic


def _pair(args):
    return len(args) == 2 and jet in args and all(a == jet or is_real(a) for a in args)


def _register_two(callables, rule):
    """`rule(x, v, a, y, w, b)` gives the jet of a function of two jets, for each of the callables that mean it."""

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(jet, jet, jet) if _pair(args) else None

    for function in callables:
        infer_global(function)(type(f"Jet_{function.__name__}", (Template,), {}))

        @lower_builtin(function, JetType, JetType)
        def lower(context, builder, sig, args):
            return _call(context, builder, rule, [p for x in args for p in _unpack(context, builder, x)])


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


@lower_cast(JetType, JetType)
def _same(context, builder, fromty, toty, value):
    return value


def _register_comparison(op, predicate, ordered=True):
    @infer_global(op)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(types.boolean, jet, jet) if _pair(args) else None

    @lower_builtin(op, JetType, JetType)
    def lower(context, builder, sig, args):
        compare = builder.fcmp_ordered if ordered else builder.fcmp_unordered
        return compare(predicate, *(_unpack(context, builder, x)[0] for x in args))


for _op, _predicate in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _register_comparison(_op, _predicate)
_register_comparison(operator.eq, "==")
_register_comparison(operator.ne, "!=", ordered=False)


# ---------------------------------------------------------------- functions


def _register_one(callables, rule):
    """`rule(x, v, a)` gives the jet of a function of one, for each of the callables that mean it."""

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(jet, jet) if args == (jet,) else None

    for function in callables:
        infer_global(function)(type(f"Jet_{function.__name__}", (Template,), {}))

        @lower_builtin(function, JetType)
        def lower(context, builder, sig, args):
            return _call(context, builder, rule, _unpack(context, builder, args[0]))


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


@infer_global(functions.where)
class _JetWhere(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 3 and isinstance(args[0], types.Boolean) and _pair(args[1:]):
            return signature(jet, args[0], jet, jet)


@lower_builtin(functions.where, types.Boolean, JetType, JetType)
def _lower_where(context, builder, sig, args):
    return builder.select(*args)


# ---------------------------------------------------------------- functions of time, called by address

JOINT, POSE = 3, 22  # numbers of a joint's motion, and of a body's


def joint_numbers(q):
    """Value, velocity and acceleration of a joint's position, for a jet or a number."""


@overload(joint_numbers)
def _joint_numbers(q):
    if q == jet or is_real(q):
        return lambda q: parts_of(q)


def pose_numbers(pose):
    """22 numbers of a body's pose, given as a position of jets or as a pair of this and a quaternion.

    1 if the orientation is given, else 0; then x, y, z and the quaternion, their velocities, their accelerations.
    """


@overload(pose_numbers)
def _pose_numbers(pose):
    if _is_vector(pose, 3):
        return lambda pose: _numbers_of(0.0, pose, (1.0, 0.0, 0.0, 0.0))
    if isinstance(pose, types.BaseTuple) and len(pose) == 2 and _is_vector(pose[0], 3) and _is_vector(pose[1], 4):
        return lambda pose: _numbers_of(1.0, pose[0], pose[1])


def _is_vector(given, count):
    return isinstance(given, types.BaseTuple) and len(given) == count and all(x == jet or is_real(x) for x in given)


@kernel(inline=True)
def _numbers_of(given, pos, quat):
    x, y, z = parts_of(pos[0]), parts_of(pos[1]), parts_of(pos[2])
    a, b, c, d = parts_of(quat[0]), parts_of(quat[1]), parts_of(quat[2]), parts_of(quat[3])
    return (
        *(given, x[0], y[0], z[0], a[0], b[0], c[0], d[0]),
        *(x[1], y[1], z[1], a[1], b[1], c[1], d[1]),
        *(x[2], y[2], z[2], a[2], b[2], c[2], d[2]),
    )


def motion_caller(count):
    """call(address, time): so many numbers of the motion at an address (see `Entry.address`); NaN where it raises."""
    result = types.UniTuple(FLOAT, count)

    @intrinsic
    def call(typingctx, address, time):
        def codegen(context, builder, sig, args):
            convention = context.call_conv
            function = builder.inttoptr(args[0], convention.get_function_type(result, (FLOAT,)).as_pointer())
            status, found = convention.call_function(builder, function, result, (FLOAT,), [args[1]])
            nan = context.get_constant(FLOAT, math.nan)
            numbers = [builder.select(status.is_error, nan, x) for x in cgutils.unpack_tuple(builder, found, count)]
            return context.make_tuple(builder, result, numbers)

        return result(types.int64, FLOAT), codegen

    return call


call_joint, call_body = motion_caller(JOINT), motion_caller(POSE)


def _only_compiled(address, time):
    raise NotImplementedError("prescribed motions are machine code, which kernels call where they are compiled alone")


PLAIN.update({call_joint: _only_compiled, call_body: _only_compiled})
