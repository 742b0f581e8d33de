"""Elementary functions and selections that mean the same on every kind of number.

Each is a plain Python function, which is what symbols (and floats outside kernels) get; what kernels get is registered
below it for floats, lanes and duals.
"""

import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic

from saltus.number.duals import pack, unpack
from saltus.number.kernels import PLAIN, kernel
from saltus.number.kinds import TANGENTS, DualType, LaneType, MaskType, dual, is_real, splat
from saltus.number.lanes import lane_of

MINVAL = 1e-15  # what counts as zero, and the least divisor: MuJoCo's mjMINVAL


def _is_symbol(x):
    return not isinstance(x, (int, float)) and hasattr(x, "free_symbols")


def _symbols():
    """What the functions here mean on symbols; imported with the first one."""
    from saltus.number import symbols

    return symbols


# ---------------------------------------------------------------- square root, absolute value, floor, exponential


def sqrt(x):
    """Square root."""
    return _symbols().sqrt(x) if _is_symbol(x) else math.sqrt(x)


def absolute(x):
    """Magnitude |x|."""
    return abs(x)


def floor(x):
    """Largest integer not above x, as a number of x's kind."""
    return _symbols().floor(x) if _is_symbol(x) else float(math.floor(x))


def exp(x):
    """e to the power x."""
    return _symbols().exp(x) if _is_symbol(x) else math.exp(x)


def fma(a, b, c):
    """a b + c with one rounding."""
    return a * b + c


def _llvm_call(builder, name, *args):
    """Call the LLVM intrinsic `name` on floats or vectors of one type."""
    suffix = {"double": "f64", "float": "f32"}
    kind = args[0].type
    tag = f"v{kind.count}{suffix[str(kind.element)]}" if isinstance(kind, ir.VectorType) else suffix[str(kind)]
    function_type = ir.FunctionType(kind, [kind] * len(args))
    function = cgutils.get_or_insert_function(builder.module, function_type, f"llvm.{name}.{tag}")
    return builder.call(function, args)


def _register_unary(function, name):
    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 1:
                (x,) = args
                x = types.float64 if isinstance(x, types.Integer) else x
                if isinstance(x, (types.Float, LaneType, DualType)):
                    return signature(x, x)

    @lower_builtin(function, types.Float)
    @lower_builtin(function, LaneType)
    def lower(context, builder, sig, args):
        return _llvm_call(builder, name, args[0])


for _function, _name in ((sqrt, "sqrt"), (absolute, "fabs"), (floor, "floor"), (exp, "exp")):
    _register_unary(_function, _name)


@lower_builtin(sqrt, DualType)
def _sqrt_dual(context, builder, sig, args):
    """d sqrt(x) = dx / (2 sqrt(x))."""
    x, dx = unpack(context, builder, args[0])
    root = _llvm_call(builder, "sqrt", x)
    slope = builder.fdiv(ir.Constant(ir.DoubleType(), 0.5), root)
    return pack(context, builder, root, builder.fmul(splat(builder, slope, TANGENTS), dx))


@lower_builtin(absolute, DualType)
def _absolute_dual(context, builder, sig, args):
    x, dx = unpack(context, builder, args[0])
    negative = builder.fcmp_ordered("<", x, ir.Constant(ir.DoubleType(), 0.0))
    return pack(context, builder, _llvm_call(builder, "fabs", x), builder.select(negative, builder.fneg(dx), dx))


@lower_builtin(floor, DualType)
def _floor_dual(context, builder, sig, args):
    x, _ = unpack(context, builder, args[0])
    return pack(context, builder, _llvm_call(builder, "floor", x), ir.Constant(TANGENTS, None))


@lower_builtin(exp, DualType)
def _exp_dual(context, builder, sig, args):
    x, dx = unpack(context, builder, args[0])
    value = _llvm_call(builder, "exp", x)
    return pack(context, builder, value, builder.fmul(splat(builder, value, TANGENTS), dx))


@infer_global(fma)
class _Fma(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) != 3:
            return None
        lane = lane_of(args)
        if lane is not None:
            return signature(lane, lane, lane, lane)
        if all(is_real(a) for a in args):
            kind = types.float32 if types.float32 in args else types.float64
            return signature(kind, kind, kind, kind)


@lower_builtin(fma, types.Float, types.Float, types.Float)
@lower_builtin(fma, LaneType, LaneType, LaneType)
def _lower_fma(context, builder, sig, args):
    return _llvm_call(builder, "fma", *args)


def power(x, y):
    """x to the constant power y, for x > 0."""
    return x**y


@infer_global(power)
class _Power(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 2 and isinstance(args[0], (types.Float, LaneType, DualType)) and is_real(args[1]):
            x = args[0]
            return signature(x, x, x.scalar if isinstance(x, LaneType) else types.float64)


@lower_builtin(power, types.Float, types.Float)
def _power_float(context, builder, sig, args):
    return _llvm_call(builder, "pow", args[0], context.cast(builder, args[1], sig.args[1], sig.args[0]))


@lower_builtin(power, LaneType, types.Float)
def _power_lane(context, builder, sig, args):
    return _llvm_call(builder, "pow", args[0], splat(builder, args[1], sig.args[0].ir_type))


@lower_builtin(power, DualType, types.Float)
def _power_dual(context, builder, sig, args):
    """d x^y = y x^(y-1) dx."""
    x, dx = unpack(context, builder, args[0])
    value = _llvm_call(builder, "pow", x, args[1])
    slope = builder.fdiv(builder.fmul(args[1], value), x)
    return pack(context, builder, value, builder.fmul(splat(builder, slope, TANGENTS), dx))


# ---------------------------------------------------------------- selection


def where(condition, a, b):
    """a where the condition holds, else b, lane by lane."""
    if _is_symbol(condition):
        return _symbols().where(condition, a, b)
    return a if condition else b


def any_lane(condition):
    """Whether the condition holds in any lane; for one simulation, whether it holds. What symbols leave open holds."""
    return _symbols().any_lane(condition) if _is_symbol(condition) else bool(condition)


@infer_global(where)
class _Where(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) != 3:
            return None
        condition, a, b = args
        if isinstance(condition, MaskType):
            lane = lane_of((a, b))
            if lane is not None and lane.mask == condition:
                return signature(lane, condition, lane, lane)
        elif isinstance(condition, types.Boolean):
            kind = dual if dual in (a, b) else lane_of((a, b))
            kind = kind or self.context.unify_types(a, b)
            if kind is not None:
                return signature(kind, condition, kind, kind)


@lower_builtin(where, MaskType, LaneType, LaneType)
@lower_builtin(where, types.Boolean, types.Any, types.Any)
def _lower_where(context, builder, sig, args):
    return builder.select(*args)


@infer_global(any_lane)
class _AnyLane(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], (MaskType, types.Boolean)):
            return signature(types.boolean, args[0])


@lower_builtin(any_lane, types.Boolean)
def _any_scalar(context, builder, sig, args):
    return args[0]


@lower_builtin(any_lane, MaskType)
def _any_mask(context, builder, sig, args):
    bits = builder.bitcast(args[0], ir.IntType(sig.args[0].width))
    return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


@intrinsic
def rarely(typingctx, condition):
    """The condition, which is almost never true: code for it is kept out of the way."""

    def codegen(context, builder, sig, args):
        bit = ir.IntType(1)
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(bit, [bit, bit]), "llvm.expect.i1")
        return builder.call(function, [args[0], ir.Constant(bit, 0)])

    return types.boolean(types.boolean), codegen


@kernel(inline=True)
def minimum(a, b):
    """The smaller of two; b if a is NaN."""
    return where(a < b, a, b)


@kernel(inline=True)
def maximum(a, b):
    """The larger of two; b if a is NaN."""
    return where(a > b, a, b)


@kernel(inline=True)
def clip(x, low, high):
    """x limited to [low, high]; a NaN stays a NaN."""
    x = where(x < low, low, x)
    return where(x > high, high, x)


# ---------------------------------------------------------------- one lane at a time


@intrinsic
def lane_count(typingctx, x):
    """Number of lanes in x: 1 for a float."""
    count = x.width if isinstance(x, LaneType) else 1

    def codegen(context, builder, sig, args):
        return ir.Constant(ir.IntType(64), count)

    return types.int64(x), codegen


@intrinsic
def lane_get(typingctx, x, i):
    """The float in lane i of x."""
    if isinstance(x, LaneType):

        def codegen(context, builder, sig, args):
            return builder.extract_element(*args)

        return x.scalar(x, types.int64), codegen
    return x(x, types.int64), lambda context, builder, sig, args: args[0]


@intrinsic
def lane_set(typingctx, x, i, value):
    """x with lane i replaced by a float."""
    if isinstance(x, LaneType):

        def codegen(context, builder, sig, args):
            return builder.insert_element(args[0], args[2], args[1])

        return x(x, types.int64, x.scalar), codegen
    return x(x, types.int64, x), lambda context, builder, sig, args: args[2]


@intrinsic
def zero_like(typingctx, x):
    """The number 0 of x's kind, without tangents."""

    def codegen(context, builder, sig, args):
        return ir.Constant(context.get_value_type(sig.return_type), None)

    return x(x), codegen


@intrinsic
def lowest_bits(typingctx, x, bits):
    """Whether any of the given bits is set in the representation of x."""
    condition = x.mask if isinstance(x, LaneType) else types.boolean
    width = x.bits if isinstance(x, LaneType) else x.bitwidth

    def codegen(context, builder, sig, args):
        integer = ir.IntType(width)
        kind = ir.VectorType(integer, x.width) if isinstance(x, LaneType) else integer
        wanted = builder.trunc(args[1], integer) if width < 64 else args[1]
        wanted = splat(builder, wanted, kind) if isinstance(x, LaneType) else wanted
        found = builder.and_(builder.bitcast(args[0], kind), wanted)
        return builder.icmp_unsigned("!=", found, ir.Constant(kind, None))

    return condition(x, types.int64), codegen


@intrinsic
def trailing_zeros(typingctx, bits):
    """How many zeros follow the lowest bit of an integer that is set."""

    def codegen(context, builder, sig, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


@intrinsic
def epsilon_of(typingctx, x):
    """Distance from 1 to the next number of x's precision."""
    single = x == types.float32 or (isinstance(x, LaneType) and x.bits == 32)

    def codegen(context, builder, sig, args):
        return ir.Constant(ir.DoubleType(), 2.0**-23 if single else 2.0**-52)

    return types.float64(x), codegen


# ---------------------------------------------------------------- dual parts


@intrinsic
def value_of(typingctx, x):
    """The value of a dual; any other number as it is."""
    if x == dual:
        return types.float64(x), lambda context, builder, sig, args: unpack(context, builder, args[0])[0]
    return x(x), lambda context, builder, sig, args: args[0]


@intrinsic
def has_tangents(typingctx, x):
    """1 for a dual, 0 for any other number."""
    found = int(x == dual)
    return types.int64(x), lambda context, builder, sig, args: ir.Constant(ir.IntType(64), found)


@intrinsic
def chain(typingctx, value, slope, x):
    """The dual with the given value whose tangents are slope times those of x: f(x) from f and f'."""

    def codegen(context, builder, sig, args):
        _, dx = unpack(context, builder, args[2])
        return pack(context, builder, args[0], builder.fmul(splat(builder, args[1], TANGENTS), dx))

    return dual(types.float64, types.float64, dual), codegen


# ---------------------------------------------------------------- trigonometry


def sincos(x):
    """(sin x, cos x), within 2 ulp."""
    if _is_symbol(x):
        return _symbols().sincos(x)
    return math.sin(x), math.cos(x)


def atan2(y, x):
    """Angle of the point (x, y) from the x-axis, in (-pi, pi]."""
    if _is_symbol(y) or _is_symbol(x):
        return _symbols().atan2(y, x)
    return math.atan2(y, x)


@intrinsic
def seed(typingctx, value, k):
    """The dual with the given value whose tangent k is 1; without tangents if k is outside."""

    def codegen(context, builder, sig, args):
        zeros = ir.Constant(TANGENTS, None)
        inside = builder.icmp_unsigned("<", args[1], ir.Constant(ir.IntType(64), TANGENTS.count))
        one = builder.insert_element(zeros, ir.Constant(ir.DoubleType(), 1.0), args[1])
        return pack(context, builder, args[0], builder.select(inside, one, zeros))

    return dual(types.float64, types.int64), codegen


@intrinsic
def frozen(typingctx, x):
    """The number without its tangents."""
    if x == dual:

        def codegen(context, builder, sig, args):
            return pack(context, builder, unpack(context, builder, args[0])[0], ir.Constant(TANGENTS, None))

        return x(x), codegen
    return x(x), lambda context, builder, sig, args: args[0]


@intrinsic
def tangent_of(typingctx, x, k):
    """Tangent k of a dual."""

    def codegen(context, builder, sig, args):
        _, dx = unpack(context, builder, args[0])
        return builder.extract_element(dx, args[1])

    return types.float64(dual, types.int64), codegen


# ---------------------------------------------------------------- where kernels run uncompiled

PLAIN.update(
    {
        rarely: lambda condition: condition,
        lane_count: lambda x: 1,
        lane_get: lambda x, i: x,
        lane_set: lambda x, i, value: value,
        trailing_zeros: lambda bits: (bits & -bits).bit_length() - 1,
        epsilon_of: lambda x: 2.0**-52,
        zero_like: lambda x: 0.0 if isinstance(x, float) else 0 * x,
        # plain numbers have no tangents
        has_tangents: lambda x: 0,
        value_of: lambda x: x,
        chain: lambda value, slope, x: value,
        seed: lambda value, k: value,
        frozen: lambda x: x,
        tangent_of: lambda x, k: 0.0 if isinstance(x, float) else 0 * x,
    }
)
