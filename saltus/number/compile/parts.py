"""Inner kernels as parts: kept as intermediate code until an entry needs them.

Numba would optimise and translate every function on its own, and again inside each caller. Kernels are called from
other kernels only, so here they stop at intermediate code, each for itself; the entry or unit that calls them links all
of them once, optimises the whole and translates it (see `saltus.number.compile.units`). The names of their functions
are the same in every process, so that what one has compiled another can link.
"""

import hashlib
import os
from pathlib import Path

import llvmlite.binding as llvm

from saltus.errors import OptionError
from saltus.number.cache.fingerprint import PACKAGE, fingerprint
from saltus.number.cache.storage import cache_directory, content, is_kept
from saltus.number.compile import worker_pool
from saltus.number.compile.folding import FoldConditions
from saltus.number.compile.worker_pool import Work
from saltus.number.internals import (
    AnnotateTypes,
    Compiler,
    DumpParforDiagnostics,
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    InlineOverloads,
    Library,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    NopythonRewrites,
    NoPythonSupportedFeatureValidation,
    NopythonTypeInference,
    RewriteDynamicRaises,
    TypeInference,
    WithLifting,
    forget_types,
    passes_without,
)
from saltus.number.processor import code_generator

# Instructions, before the optimiser, from which a kernel with its parts is a unit. Smaller ones cost time in each step
# (at 1000 a pendulum 4 %, at 1500 2 %), larger ones time in compiling, since they share less.
LARGE = 1500

# for what nobody looks at
REPORTS = (AnnotateTypes, DumpParforDiagnostics)
# for what the package's own kernels do not have: contexts, functions inside them, expressions of whole arrays, loops
# over tuples of several types, exceptions, and functions of Numba's that it writes into their callers
NOT_IN_KERNELS = (
    WithLifting,
    InlineClosureLikes,
    MakeFunctionToJitFunction,
    NopythonRewrites,
    LiteralUnroll,
    LiteralPropagationSubPipelinePass,
    FindLiterallyCalls,
    RewriteDynamicRaises,
    InlineInlinables,
    InlineOverloads,
    NoPythonSupportedFeatureValidation,
)


class _NoEnvironment:
    """A code generator that knows of no environment pointers: parts have no address yet."""

    def __init__(self, codegen):
        self._codegen = codegen

    def set_env(self, name, environment):
        pass

    def __getattr__(self, name):
        return getattr(self._codegen, name)


_EMPTY = llvm.parse_assembly("")  # in place of a module that has been let go


class PartLibrary(Library):
    """Intermediate code of one kernel, kept as bitcode, which takes little memory, and the parts that it calls."""

    file = ""  # its name in the cache
    size = 0  # instructions of its own
    symbol = ""  # the name of its function, where it is large enough to be a unit, see `saltus.number.compile.units`

    def __init__(self, codegen, name):
        super().__init__(code_generator(codegen), name)

    @property
    def codegen(self):
        return _NoEnvironment(self.generator)

    @property
    def is_unit(self) -> bool:
        return bool(self.symbol and self.file)

    def finalize(self):
        self.begin_finalizing()
        self.calls = []
        for library in self.called:
            self.take_initialisers(library)
            if isinstance(library, PartLibrary):
                self.calls.append(library)
            else:
                self.take_in(library)
        self.end_finalizing(self.calls)
        own = [f for f in self.module.functions if not f.is_declaration and f.linkage == llvm.Linkage.external]
        for function in own:
            function.linkage = "linkonce_odr"
        self._measure(own)
        self.bitcode = self.module.as_bitcode()
        self._forget_module()
        self.called = []

    def _measure(self, functions):
        if any(b"alwaysinline" in attribute for function in functions for attribute in function.attributes):
            return
        self.size = sum(str(function).count("\n  ") for function in functions)  # lines of instructions
        whole = self.size + sum(part.size for part in callers_first(self.calls))
        if whole > LARGE and len(functions) == 1 and not self.has_environments:
            self.symbol = functions[0].name

    def _forget_module(self):
        self.module.close()
        self.module = _EMPTY  # Numba looks for environments here

    def _get_module_for_linking(self):
        """Module with all kernels that it calls, for code that is not the package's."""
        self.finish()
        module = llvm.parse_bitcode(self.bitcode)
        link(module, callers_first(self.calls, units_too=True))
        return module

    def get_pointer_to_function(self, name):
        return 0

    def serialize_using_object_code(self):
        calls = [part.file or part.serialize_using_object_code() for part in self.calls]
        return self.name, "part", (self.bitcode, calls, self.size, self.symbol)

    @classmethod
    def restored(cls, codegen, state):
        """The library that `serialize_using_object_code` described. Gone: what it calls is not there."""
        name, _, (bitcode, calls, size, symbol) = state
        library = cls(codegen, name)
        library._forget_module()
        library.bitcode, library.size, library.symbol = bitcode, size, symbol
        library.say_finished()
        library.calls = [
            part_of(call, codegen) if isinstance(call, str) else cls.restored(codegen, call) for call in calls
        ]
        return library


class Gone(Exception):
    """A file of a kernel is not there any more, or damaged."""


_parts: dict[str, PartLibrary] = {}  # by their files


def keep(part: PartLibrary, file: str) -> None:
    """The part is in the file of that name."""
    part.file = file
    _parts[file] = part
    if part.is_unit and not is_kept(unit_name(file)):
        worker_pool.offer([Work(unit_name(file), f"unit {file}")])


def unit_name(file: str) -> str:
    """The file of the machine code of a part, if that is a unit."""
    return f"unit_{file}"


def unit_path(file: str) -> str:
    """The path of the file of the machine code of a part, if that is a unit."""
    return str(cache_directory() / unit_name(file))


def part_of(file: str, codegen, payload=None) -> PartLibrary:
    """The part in a file, with those that it calls; `payload`: what is in the file, where known.

    Raises Gone where a file of one of them cannot be had.
    """
    if file not in _parts:
        payload = payload or content(str(cache_directory() / file))
        if payload is None:
            raise Gone(file)
        keep(PartLibrary.restored(codegen, payload[0]), file)
    return _parts[file]


def link(module, parts: list[PartLibrary]) -> None:
    """Link parts into a module that calls them."""
    for part in parts:
        module.link_in(llvm.parse_bitcode(part.bitcode))  # without what nothing calls up to here


def callers_first(parts, units_too=False) -> list[PartLibrary]:
    """Parts and all parts that they call, each once and before those that it calls.

    Without units and what only they call, unless these are wanted, too.
    """
    found: dict[PartLibrary, None] = {}

    def visit(part):
        if part not in found and (units_too or not part.is_unit):
            for other in part.calls:
                visit(other)
            found[part] = None

    for part in parts:
        visit(part)
    return list(found)[::-1]


class PartCompiler(Compiler):
    """Numba's pipeline with a `PartLibrary` as its product, without passes that the package's kernels do not need."""

    library = PartLibrary

    def define_pipelines(self):
        state = self.state
        state.func_id.unique_id = _unique(state.func_id.func)
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        ours = Path(state.func_id.filename).is_relative_to(PACKAGE)
        without = (*REPORTS, *NOT_IN_KERNELS) if ours else REPORTS
        return passes_without(self, without, FoldConditions, {NopythonTypeInference: TypeInference})

    def compile_extra(self, func):
        """The compile result, without what is not kept."""
        found = super().compile_extra(func)
        forget_types(found)
        return found


def _unique(function) -> str:
    """A word that tells a function from others of its name in compiled code, equal in all processes."""
    try:
        what = fingerprint(function)
    except OptionError:
        what = os.urandom(16)  # it refers to what cannot be told, and is not kept
    return hashlib.sha256(repr(what).encode()).hexdigest()[:12]
