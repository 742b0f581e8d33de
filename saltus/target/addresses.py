"""Entries as intermediate code (LLVM) of functions that take addresses, for other machines.

Functions compiled by Numba for Python take NumPy arrays; other machines have only addresses in memory. The kernels
called by an entry are shared with this machine (see `saltus.number.compile.parts`), before their optimisation.
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


#: Argument of an entry after its structs: a type of number, or the shape of an array of doubles or (`Integers`) ints.
Argument = types.Type | Shape


@dataclass(frozen=True)
class Function:
    """A function in intermediate code. `module`: bitcode with all called functions; `symbol`: its name in the module.

    The function takes the addresses of the real and the integer buffer of each of `structs` structs, then `arguments`,
    and returns a number or a tuple of numbers of type `result`.
    """

    module: bytes
    symbol: str
    structs: int
    arguments: tuple[types.Type, ...]
    result: types.Type


def function_of(entry: Entry, layouts: tuple[str, ...], arguments: tuple[Argument, ...]) -> Function:
    """Compile an entry for structs of these layouts to a function of addresses."""
    shapes = zip(entry.arguments, arguments, strict=True)
    begin = [f"{name} = carray({name}, {(*shape,)})" for name, shape in shapes if isinstance(shape, tuple)]
    made = kernel(entry.function(layouts, struct_at, begin, carray=carray))
    taken = tuple(_type_of(a) for a in arguments)
    signature = (*(REALS, INTS) * len(layouts), *taken)
    made.compile(signature)
    (found,) = made.overloads.values()
    module = llvm.parse_bitcode(found.library.bitcode)
    link(module, callers_first(found.library.calls, units_too=True))
    module.get_function(found.fndesc.llvm_func_name).linkage = "external"  # not called within the module
    name, result = found.fndesc.llvm_func_name, found.signature.return_type
    return Function(module.as_bitcode(), name, len(layouts), taken, result)


def _type_of(argument: Argument) -> types.Type:
    if isinstance(argument, tuple):
        return INTS if isinstance(argument, Integers) else REALS
    return argument
