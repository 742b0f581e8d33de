"""Memory of one call: an area on the stack, as an address, whose numbers a search for contacts reads and writes.

It lives as long as the kernel runs that asked for it. The numbers are doubles, or integers of the same size, whatever
kind of number the simulation has.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from saltus.number.duals import unpack
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
