"""Entries as intermediate code of functions that take addresses, for machines that this process does not run on.

What Numba compiles for Python takes NumPy arrays; elsewhere there are none, only places in memory. The kernels that an
entry calls are the same parts that serve this machine (see `saltus.number.compile.parts`), before they are optimised.
"""

from __future__ import annotations

from dataclasses import dataclass

import llvmlite.binding as llvm
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]

from saltus.number.compile.parts import callers_first, link
from saltus.number.kernels import Entry, kernel
from saltus.number.struct_types import struct_at

REALS, INTS = types.CPointer(types.float64), types.CPointer(types.int64)
Shape = tuple[int, ...]


class Integers(Shape):
    """The shape of an array of integers."""


#: What an entry takes after its structs: a number of this type, or an array of this shape, of doubles or `Integers`.
Argument = types.Type | Shape


@dataclass(frozen=True)
class Function:
    """A function in intermediate code. `module`: with all that it calls, as bitcode; `symbol`: its name there.

    It takes the addresses of the real and the integer buffer of each of so many `structs`, then `arguments`, and
    returns a number of the type `result`, or a tuple of them.
    """

    module: bytes
    symbol: str
    structs: int
    arguments: tuple[types.Type, ...]
    result: types.Type


def function_of(entry: Entry, layouts: tuple[str, ...], arguments: tuple[Argument, ...]) -> Function:
    """An entry for structs of these layouts, as a function of addresses."""
    shapes = zip(entry.arguments, arguments, strict=True)
    begin = [f"{name} = carray({name}, {(*shape,)})" for name, shape in shapes if isinstance(shape, tuple)]
    made = kernel(entry.function(layouts, struct_at, begin, carray=carray))
    taken = tuple(_type_of(a) for a in arguments)
    signature = (*(REALS, INTS) * len(layouts), *taken)
    made.compile(signature)
    (found,) = made.overloads.values()
    module = llvm.parse_bitcode(found.library.bitcode)
    link(module, callers_first(found.library.calls, units_too=True))
    module.get_function(found.fndesc.llvm_func_name).linkage = "external"  # nothing calls it up to here
    name, result = found.fndesc.llvm_func_name, found.signature.return_type
    return Function(module.as_bitcode(), name, len(layouts), taken, result)


def _type_of(argument: Argument) -> types.Type:
    if isinstance(argument, tuple):
        return INTS if isinstance(argument, Integers) else REALS
    return argument
