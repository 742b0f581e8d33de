"""Calls by address: compiled code that calls the machine code of an entry, the same that Python calls.

What is compiled again inside another function may be optimised another way, and then differs in the last bits. Machine
code that is called at its address does not, and need not be compiled again.
"""

import functools

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@functools.cache
def caller(result: types.Type):
    """call(address, arguments): calls the entry at `address` (see `Entry.address`), which returns a `result`.

    `arguments`: a tuple of exactly the types that the address was asked for.
    """

    @intrinsic
    def call(typingctx, address, arguments):
        def codegen(context, builder, sig, args):
            convention, taken = context.call_conv, sig.args[1].types
            function = builder.inttoptr(args[0], convention.get_function_type(result, taken).as_pointer())
            values = cgutils.unpack_tuple(builder, args[1])
            return convention.call_function(builder, function, result, taken, values)[1]  # kernels raise nothing

        return result(types.int64, arguments), codegen

    return call
