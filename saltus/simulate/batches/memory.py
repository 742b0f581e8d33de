"""Numbers of arrays outside the compiled code: where they lie, and how kernels read and write them.

A table says it, a row of whole numbers for each array [n, a, b]: where its field begins in the list of rows of the
state or the workspace, a, b, the array's address, its three strides in bytes, and whether its numbers have single
precision. So arrays of either precision, with any strides, go in and out without copies, several in one call.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from collections.abc import Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

COLUMNS = 8
FIRST, MANY, EACH, ADDRESS, STRIDE, STRIDE_MANY, STRIDE_EACH, SINGLE = range(COLUMNS)


def table_of(arrays: Sequence[np.ndarray], firsts: Sequence[int]) -> NDArray[np.int64]:
    """The table of arrays [n], [n, a] or [n, a, b], float32 or float64, whose fields begin at `firsts`."""
    table = np.zeros((len(arrays), COLUMNS), np.int64)
    for row, array, first in zip(table, arrays, firsts, strict=True):
        shape, strides = array.shape + (1, 1), array.strides + (0, 0)
        row[:] = first, *shape[1:3], array.ctypes.data, *strides[:3], array.dtype == np.float32
    return table


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
