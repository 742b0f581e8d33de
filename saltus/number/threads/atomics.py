"""Numbers that several threads read and write: loads, stores and counting that other threads see in order."""

import ctypes
import functools
import os
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from saltus.number.internals import cgutils
from saltus.number.kernels import PLAIN
from saltus.number.processor import ARM, X86, architecture
from saltus.number.struct_types import pointer_of

INT64, INT32, VOID, BYTES = ir.IntType(64), ir.IntType(32), ir.VoidType(), ir.IntType(8).as_pointer()
#: LLVM's function by which a processor is told that a thread waits, and its arguments; others need none.
_RELAX = {X86: ("llvm.x86.sse2.pause", []), ARM: ("llvm.aarch64.hint", [ir.Constant(INT32, 1)])}


@intrinsic
def load_acquire(typingctx, field, place):
    """field[place]; whatever another thread wrote before it stored this number is seen after the load."""

    def codegen(context, builder, sig, args):
        return builder.load_atomic(builder.gep(pointer_of(builder, args[0]), [args[1]]), "acquire", 8)

    return types.int64(field, types.int64), codegen


@intrinsic
def store_release(typingctx, field, place, value):
    """field[place] ← value, once all that this thread wrote before can be seen."""

    def codegen(context, builder, sig, args):
        builder.store_atomic(args[2], builder.gep(pointer_of(builder, args[0]), [args[1]]), "release", 8)
        return context.get_dummy_value()

    return types.none(field, types.int64, types.int64), codegen


@intrinsic
def count_up(typingctx, field, place):
    """field[place] before 1 is added to it; no two threads get the same number."""

    def codegen(context, builder, sig, args):
        return builder.atomic_rmw(
            "add", builder.gep(pointer_of(builder, args[0]), [args[1]]), ir.Constant(INT64, 1), "acq_rel"
        )

    return types.int64(field, types.int64), codegen


@intrinsic
def relax(typingctx):
    """Tell the processor that this thread waits for another one."""

    def codegen(context, builder, sig, args):
        if architecture() in _RELAX:
            name, arguments = _RELAX[architecture()]
            kind = ir.FunctionType(VOID, [x.type for x in arguments])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)
        return context.get_dummy_value()

    return types.none(), codegen


@intrinsic
def fetch(typingctx, field, place):
    """Have the cache line of number `place` of a field's numbers, row by row, brought here while work goes on."""

    def codegen(context, builder, sig, args):
        kind = ir.FunctionType(VOID, [BYTES, INT32, INT32, INT32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        address = builder.bitcast(builder.gep(pointer_of(builder, args[0]), [args[1]]), BYTES)
        builder.call(function, [address, *(ir.Constant(INT32, k) for k in (0, 3, 1))])  # to read, keep, data
        return context.get_dummy_value()

    return types.none(field, types.int64), codegen


@intrinsic
def call_address(typingctx, address):
    """Call the C function without arguments at an address, as the system's that lets other threads run."""

    def codegen(context, builder, sig, args):
        builder.call(builder.inttoptr(args[0], ir.FunctionType(INT32, []).as_pointer()), [])
        return context.get_dummy_value()

    return types.none(types.int64), codegen


def _store(field, place, value):
    field[place] = value


def _count_up(field, place):
    field[place] += 1
    return field[place] - 1


PLAIN[load_acquire] = lambda field, place: field[place]
PLAIN[store_release] = _store
PLAIN[count_up] = _count_up
PLAIN[fetch] = lambda field, place: None
PLAIN[relax] = lambda: None
PLAIN[call_address] = lambda address: None


@functools.cache
def yield_address() -> int:
    """Address of the system's function that lets other threads run."""
    system: Any = ctypes
    function = system.windll.kernel32.SwitchToThread if os.name == "nt" else ctypes.CDLL(None).sched_yield
    return ctypes.cast(function, ctypes.c_void_p).value or 0
