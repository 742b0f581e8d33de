"""Calls by address, of an entry's machine code, the same that Python calls, and of functions in C.

What is compiled again inside another function may be optimised another way, and then differs in the last bits. Machine
code that is called at its address does not, and need not be compiled again.
"""

import functools

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from saltus.number.internals import cgutils


@functools.cache
def caller(result: types.Type):
    """call(address, arguments): calls the entry at `address` (see `Entry.address`), which returns a `result`.

    `arguments`: a tuple of exactly the types that the address was asked for.
    """

    @intrinsic
    def call(typingctx, address, arguments):
        def codegen(context, builder, sig, args):
            return called_at(context, builder, result, sig, args)[1]  # kernels raise nothing

        return result(types.int64, arguments), codegen

    return call


def called_at(context, builder, result, sig, args):
    """Status and result of compiled code for a call by address, whose arguments are the address and a tuple."""
    convention, taken = context.call_conv, sig.args[1].types
    function = builder.inttoptr(args[0], convention.get_function_type(result, taken).as_pointer())
    return convention.call_function(builder, function, result, taken, cgutils.unpack_tuple(builder, args[1]))


#: Types of C's numbers by the words that tell them. In kernels all but "double" are integers.
C_TYPES = {
    "double": ir.DoubleType(),
    "long": ir.IntType(64),
    "int": ir.IntType(32),
    "byte": ir.IntType(8),
    "pointer": ir.IntType(8).as_pointer(),
}


@functools.cache
def c_function(result: str, *taken: str):
    """call(address, arguments): calls the function in C at `address`, which takes and returns `C_TYPES`.

    `arguments`: a tuple of floats and of integers, which are cut to their types in C or seen as addresses.
    """

    @intrinsic
    def call(typingctx, address, arguments):
        given = [types.float64 if word == "double" else types.int64 for word in taken]

        def codegen(context, builder, sig, args):
            kind = ir.FunctionType(C_TYPES[result], [C_TYPES[word] for word in taken])
            function = builder.inttoptr(args[0], kind.as_pointer())
            values = cgutils.unpack_tuple(builder, args[1])
            values = [context.cast(builder, *each) for each in zip(values, sig.args[1].types, given, strict=True)]
            in_c = [_in_c(builder, value, C_TYPES[word]) for value, word in zip(values, taken, strict=True)]
            found = builder.call(function, in_c)
            return builder.sext(found, ir.IntType(64)) if result == "int" else found

        return (types.float64 if result == "double" else types.int64)(types.int64, arguments), codegen

    return call


def _in_c(builder, value, kind):
    """A double as it is, an integer of 64 bits as an integer of fewer or as an address."""
    if value.type == kind:
        return value
    return builder.inttoptr(value, kind) if isinstance(kind, ir.PointerType) else builder.trunc(value, kind)
