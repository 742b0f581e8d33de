"""Parts of numbers, one at a time: the lanes of a register, the value and the tangents of a dual, bits."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from saltus.number.arithmetic.duals import pack, unpack
from saltus.number.kernels import PLAIN
from saltus.number.kinds import TANGENTS, LaneType, MaskType, dual, splat

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
    """Number of zeros that follow the lowest bit of an integer that is set."""

    def codegen(context, builder, sig, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


@intrinsic
def as_number(typingctx, x, like):
    """A number of like's kind: 1 and 0 for a truth, else x."""

    def codegen(context, builder, sig, args):
        if isinstance(sig.args[0], MaskType):
            return builder.uitofp(args[0], context.get_value_type(sig.return_type))
        if isinstance(sig.args[0], types.Boolean):
            scalar = builder.uitofp(args[0], context.get_value_type(types.float64))
            return context.cast(builder, scalar, types.float64, sig.return_type)
        return context.cast(builder, args[0], sig.args[0], sig.return_type)

    return like(x, like), codegen


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
def chain(typingctx, value, slope, x):
    """The dual with the given value whose tangents are slope times those of x: f(x) from f and f'."""

    def codegen(context, builder, sig, args):
        _, dx = unpack(context, builder, args[2])
        return pack(context, builder, args[0], builder.fmul(splat(builder, args[1], TANGENTS), dx))

    return dual(types.float64, types.float64, dual), codegen


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
def is_zero(typingctx, x):
    """Whether a float is zero, or a dual with all of its tangents: what may be left out of sums and eliminations."""

    def codegen(context, builder, sig, args):
        value, zero = args[0], ir.Constant(ir.DoubleType(), 0.0)
        if x != dual:
            return builder.fcmp_ordered("==", value, ir.Constant(value.type, 0.0))
        value, dx = unpack(context, builder, value)
        found = builder.fcmp_ordered("==", value, zero)
        for k in range(TANGENTS.count):
            part = builder.extract_element(dx, ir.Constant(ir.IntType(32), k))
            found = builder.and_(found, builder.fcmp_ordered("==", part, zero))
        return found

    return types.boolean(x), codegen


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
        lane_count: lambda x: 1,
        lane_get: lambda x, i: x,
        lane_set: lambda x, i, value: value,
        trailing_zeros: lambda bits: (bits & -bits).bit_length() - 1,
        epsilon_of: lambda x: 2.0**-52,
        zero_like: lambda x: 0.0 if isinstance(x, float) else 0 * x,
        # plain numbers have no tangents
        value_of: lambda x: x,
        chain: lambda value, slope, x: value,
        seed: lambda value, k: value,
        frozen: lambda x: x,
        is_zero: lambda x: x == 0,
        tangent_of: lambda x, k: 0.0 if isinstance(x, float) else 0 * x,
    }
)
