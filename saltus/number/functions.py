"""Elementary functions and selections that mean the same on every kind of number.

Each is a plain Python function, which is what symbols (and floats outside kernels) get; what kernels get is registered
below it for floats, lanes and duals.
"""

import math

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin

from saltus.number.arithmetic.duals import pack, unpack
from saltus.number.arithmetic.lanes import lane_of
from saltus.number.internals import AbstractTemplate, cgutils, infer_global, signature
from saltus.number.kernels import PLAIN, kernel
from saltus.number.kinds import TANGENTS, DualType, LaneType, MaskType, dual, is_real, splat

MINVAL = 1e-15  # what counts as zero, and the least divisor: MuJoCo's mjMINVAL


def _is_symbol(x):
    return not isinstance(x, (int, float)) and hasattr(x, "free_symbols")


def _symbols():
    """Meanings of this module's functions on symbols; imported with the first one."""
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
    """a b + c with one rounding, for what relies on it."""
    return a * b + c


def multiply_add(a, b, c):
    """a b + c, with one rounding where the machine has that."""
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
    """d sqrt(x) = dx / (2 sqrt(x)); 0 at x = 0, a subgradient of lengths, from which iterations may start."""
    x, dx = unpack(context, builder, args[0])
    root = _llvm_call(builder, "sqrt", x)
    zero = ir.Constant(ir.DoubleType(), 0.0)
    slope = builder.fdiv(ir.Constant(ir.DoubleType(), 0.5), root)
    slope = builder.select(builder.fcmp_ordered("==", x, zero), zero, slope)
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
@infer_global(multiply_add)
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


@lower_builtin(multiply_add, types.Float, types.Float, types.Float)
@lower_builtin(multiply_add, LaneType, LaneType, LaneType)
def _lower_multiply_add(context, builder, sig, args):
    return _llvm_call(builder, "fmuladd", *args)


def power(x, y):
    """x to the power y, for x > 0; y has no tangents."""
    return x**y


@infer_global(power)
class _Power(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) != 2 or not isinstance(args[0], (types.Float, LaneType, DualType)):
            return None
        x = args[0]
        if isinstance(args[1], LaneType):
            lane = lane_of(args)
            return signature(lane, lane, lane) if lane is not None else None
        if is_real(args[1]):
            return signature(x, x, x.scalar if isinstance(x, LaneType) else types.float64)


@lower_builtin(power, types.Float, types.Float)
def _power_float(context, builder, sig, args):
    return _llvm_call(builder, "pow", args[0], context.cast(builder, args[1], sig.args[1], sig.args[0]))


@lower_builtin(power, LaneType, types.Float)
def _power_lane(context, builder, sig, args):
    return _llvm_call(builder, "pow", args[0], splat(builder, args[1], sig.args[0].ir_type))


@lower_builtin(power, LaneType, LaneType)
def _power_lanes(context, builder, sig, args):
    return _llvm_call(builder, "pow", *args)


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


# ---------------------------------------------------------------- where kernels run uncompiled

PLAIN[rarely] = lambda condition: condition
