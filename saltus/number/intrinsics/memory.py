"""Numbers at addresses: of an area on the stack, of arrays outside of structs, of structs in C.

An area lives as long as the kernel runs that asked for it. Its numbers are doubles, or integers of the same size,
whatever kind of number the simulation has.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from saltus.number.arithmetic.duals import unpack
from saltus.number.kernels import kernel
from saltus.number.kinds import LaneType, dual

INT64, DOUBLE = ir.IntType(64), ir.DoubleType()


@intrinsic
def stack_area(typingctx, count):
    """The address of an area for `count` numbers, a constant; what it holds at first is not defined.

    To be called at the beginning of a kernel, once for each area.
    """

    def codegen(context, builder, sig, args):
        pointer = builder.alloca(DOUBLE, size=args[0])
        pointer.align = 64
        return builder.ptrtoint(pointer, INT64)

    return types.int64(types.int64), codegen


def _place(builder, address, i, kind):
    return builder.gep(builder.inttoptr(address, kind.as_pointer()), [i])


@intrinsic
def get(typingctx, address, i):
    """Double i of the area at an address."""

    def codegen(context, builder, sig, args):
        return builder.load(_place(builder, *args, DOUBLE), align=8)

    return types.float64(types.int64, types.int64), codegen


@intrinsic
def put(typingctx, address, i, value):
    """Set double i of the area at an address."""

    def codegen(context, builder, sig, args):
        builder.store(args[2], _place(builder, args[0], args[1], DOUBLE), align=8)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.float64), codegen


@intrinsic
def get_int(typingctx, address, i):
    """Integer i of the area at an address."""

    def codegen(context, builder, sig, args):
        return builder.load(_place(builder, *args, INT64), align=8)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def put_int(typingctx, address, i, value):
    """Set integer i of the area at an address."""

    def codegen(context, builder, sig, args):
        builder.store(args[2], _place(builder, args[0], args[1], INT64), align=8)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), codegen


@intrinsic
def put_lanes(typingctx, address, i, x):
    """Set double i and those after it to the lanes of x, to one for a float or a dual, whose tangents are left out."""

    def codegen(context, builder, sig, args):
        address, i, value = args
        kind = sig.args[2]
        if kind == dual:
            value = unpack(context, builder, value)[0]
        target = ir.VectorType(DOUBLE, kind.width) if isinstance(kind, LaneType) else DOUBLE
        if value.type != target:
            value = builder.fpext(value, target)
        pointer = builder.bitcast(_place(builder, address, i, DOUBLE), target.as_pointer())
        builder.store(value, pointer, align=8)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, x), codegen


@intrinsic
def get_number(typingctx, address, single):
    """The number at an address, float32 if `single`, else float64."""

    def codegen(context, builder, sig, args):
        place, single = args
        with_one = builder.append_basic_block("single")
        with_other = builder.append_basic_block("double")
        end = builder.append_basic_block("read")
        builder.cbranch(builder.icmp_unsigned("!=", single, ir.Constant(single.type, 0)), with_one, with_other)
        builder.position_at_end(with_one)
        narrow = builder.load(builder.inttoptr(place, ir.FloatType().as_pointer()), align=4)
        widened = builder.fpext(narrow, ir.DoubleType())
        builder.branch(end)
        builder.position_at_end(with_other)
        wide = builder.load(builder.inttoptr(place, ir.DoubleType().as_pointer()), align=8)
        builder.branch(end)
        builder.position_at_end(end)
        found = builder.phi(ir.DoubleType())
        found.add_incoming(widened, with_one)
        found.add_incoming(wide, with_other)
        return found

    return types.float64(types.int64, types.int64), codegen


@intrinsic
def put_number(typingctx, address, single, value):
    """Write a number to an address, as float32 if `single`, else as float64."""

    def codegen(context, builder, sig, args):
        place, single, value = args
        is_single = builder.icmp_unsigned("!=", single, ir.Constant(single.type, 0))
        with builder.if_else(is_single) as (narrow, wide):
            with narrow:
                builder.store(_converted(builder, value, ir.FloatType()), _pointer(builder, place, ir.FloatType()), 4)
            with wide:
                builder.store(_converted(builder, value, ir.DoubleType()), _pointer(builder, place, ir.DoubleType()), 8)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, value), codegen


def _pointer(builder, place, kind):
    return builder.inttoptr(place, kind.as_pointer())


def _converted(builder, value, kind):
    if value.type == kind:
        return value
    return builder.fptrunc(value, kind) if kind == ir.FloatType() else builder.fpext(value, kind)


@kernel(inline=True)
def get3(address, i):
    """The vector of doubles i, i + 1, i + 2."""
    return get(address, i), get(address, i + 1), get(address, i + 2)


@kernel(inline=True)
def put3(address, i, a):
    """Set doubles i, i + 1, i + 2."""
    put(address, i, a[0])
    put(address, i + 1, a[1])
    put(address, i + 2, a[2])


@kernel(inline=True)
def get9(address, i):
    """The matrix of doubles i to i + 8, row by row."""
    a, b, c = get3(address, i), get3(address, i + 3), get3(address, i + 6)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]
