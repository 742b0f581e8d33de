"""Machine code: of units, which are large kernels by themselves, and of entries, which call them.

A unit is a kernel that is large together with the parts that it calls. It is compiled once for all entries of all
models that call it, and kept in a file. So an entry holds only what is small, and what a new set of features changes.
"""

import contextlib
import os
import pickle

import llvmlite.binding as llvm

from saltus.number.cache import storage
from saltus.number.compile import worker_pool
from saltus.number.compile.parts import PartCompiler, PartLibrary, callers_first, link, part_of, unit_name, unit_path
from saltus.number.internals import Library, address_of, load_object, object_code, optimise_module, say_defined
from saltus.number.processor import code_generator

Units = dict[str, str]  # names of functions -> files of their parts

_loaded: set[str] = set()  # names of functions


def units_of(parts: list[PartLibrary]) -> Units:
    """The units among parts, and those that they and the parts that become one with them call."""
    called = [*parts, *(other for part in callers_first(parts) for other in part.calls)]
    return {part.symbol: part.file for part in called if part.is_unit}


def load(units: Units, codegen) -> None:
    """Have the machine code of units, and of those that they call, in this process. parts.Gone: a file is missing."""
    for symbol, file in units.items():
        if symbol in _loaded:
            continue
        found = storage.content(unit_path(file)) or (
            worker_pool.wait_for(unit_name(file)) and storage.content(unit_path(file))
        )
        code, calls = found or compile_unit(file, codegen)
        load(calls, codegen)
        load_object(codegen, code)
        llvm.add_symbol(symbol, address_of(codegen, symbol))
        _loaded.add(symbol)


def compile_unit(file: str, codegen) -> tuple[bytes, Units]:
    """The unit of a part's file as an object file, which is kept, and the units that it calls."""
    part = part_of(file, codegen)
    library = Library(part.generator, part.name)
    library.module = module = llvm.parse_bitcode(part.bitcode)
    module.get_function(part.symbol).linkage = "external"
    link(module, callers_first(part.calls))
    calls = units_of(part.calls)
    optimise(library, calls)
    module.verify()
    unit = object_code(part.generator, module), calls
    with contextlib.suppress(OSError):  # a full disk costs the next run its time, no more
        storage.write(unit_path(file), pickle.dumps(unit))
    return unit


def optimise(library: Library, units: Units) -> None:
    """Optimise the module of a library that calls units.

    Raises RuntimeError where a function is missing, which would be called at address 0.
    """
    optimise_module(library.generator, library.module)
    for function in library.module.functions:
        if function.is_declaration and function.name.startswith("_ZN") and function.name not in units:
            raise RuntimeError(f"{library.name}: compiled code calls {function.name}, which is not there")


class EntryLibrary(Library):
    """Machine code of an entry and of all parts that it calls but units, which it only needs."""

    units: Units
    code = b""  # as an object file

    def __init__(self, codegen, name):
        super().__init__(code_generator(codegen), name)
        self.enable_object_caching()

    def finalize(self):
        parts = [library for library in self.called if isinstance(library, PartLibrary)]
        self.called = [library for library in self.called if library not in parts]
        link(self.module, callers_first(parts))
        self.units = units_of(parts)
        super().finalize()

    def serialize_using_object_code(self):
        module = self.module
        symbols = [x.name for some in (module.functions, module.global_variables) for x in some if not x.is_declaration]
        return self.name, "entry", (self.code, self.units, symbols)

    @classmethod
    def restored(cls, codegen, state):
        """The library that `serialize_using_object_code` described. parts.Gone: a unit's file is missing."""
        name, _, (code, units, symbols) = state
        load(units, codegen)
        self = cls(codegen, name)
        self.code = code
        self._finalize_final_module()
        self.code = b""  # nobody asks for it any more
        say_defined(codegen, symbols)
        return self

    def _optimize_final_module(self):
        optimise(self, self.units)
        load(self.units, self.generator)

    def _finalize_final_module(self):
        self.code = self.code or object_code(self.generator, self.module)
        self.use_object(self.code)  # Numba's own machine code would be for this processor alone
        self.load_module()


class EntryCompiler(PartCompiler):
    """The kernels' pipeline with machine code as its product."""

    library = EntryLibrary

    def define_pipelines(self):
        pipelines = super().define_pipelines()
        # machine code is found by its name among all that is there
        self.state.func_id.unique_id += os.urandom(6).hex()
        return pipelines
