"""Inner kernels as parts: kept as intermediate code until an entry needs them.

Numba would optimise and translate every function on its own, and again inside each caller. Kernels are called from
other kernels only, so here they stop at intermediate code, each for itself; the entry that calls them links all of
them once, optimises the whole and translates it. The names of their functions are the same in every process, so that
what one has compiled another can link.
"""

import hashlib
import os
from pathlib import Path

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import require_global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import AnnotateTypes, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes, WithLifting

from saltus.errors import OptionError
from saltus.number.fingerprint import PACKAGE, fingerprint

# for what the package's own kernels do not have: contexts, functions inside them, expressions of whole arrays
NOT_IN_KERNELS = (WithLifting, InlineClosureLikes, NopythonRewrites)


class _NoEnvironment:
    """A code generator that knows of no environment pointers: parts have no address yet."""

    def __init__(self, codegen):
        self._codegen = codegen

    def set_env(self, name, environment):
        pass

    def __getattr__(self, name):
        return getattr(self._codegen, name)


_EMPTY = llvm.parse_assembly("")  # in place of a module that has been let go


class PartLibrary(JITCodeLibrary):
    """Intermediate code of one kernel, kept as bitcode, which takes little memory, and the parts that it calls."""

    file: str | None = None  # its name in the cache

    @property
    def codegen(self):
        return _NoEnvironment(self._codegen)

    def finalize(self):
        require_global_compiler_lock()
        self._raise_if_finalized()
        self.calls = []
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            if isinstance(library, PartLibrary):
                self.calls.append(library)
            else:
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._final_module.verify()
        self._finalize_dynamic_globals()
        for part in self.calls:
            self._dynamic_globals += part._dynamic_globals
        self._finalized = True
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        self._bitcode = self._final_module.as_bitcode()
        self._forget_modules()
        self._linking_libraries = []

    def _forget_modules(self):
        self._final_module.close()
        self._final_module = _EMPTY  # Numba looks for environments here

    def _get_module_for_linking(self):
        """With all that it calls, for code that is not the package's."""
        self._ensure_finalized()
        module = llvm.parse_bitcode(self._bitcode)
        link(module, self.calls)
        return module

    def get_pointer_to_function(self, name):
        return 0

    def serialize_using_object_code(self):
        calls = [part.file or part.serialize_using_object_code() for part in self.calls]
        return self.name, "part", (self._bitcode, calls)

    @classmethod
    def restored(cls, codegen, state, load):
        """The library that `serialize_using_object_code` described; `load`: a function of a file -> its library."""
        name, _, (bitcode, calls) = state
        library = cls(codegen, name)
        library._forget_modules()
        library._bitcode = bitcode
        library._finalized = True
        library.calls = [load(part) if isinstance(part, str) else cls.restored(codegen, part, load) for part in calls]
        return library


def link(module, parts):
    """Link parts and all parts that they call into a module that calls them."""
    for part in callers_first(parts):
        module.link_in(llvm.parse_bitcode(part._bitcode))  # without what nothing calls up to here


def callers_first(parts) -> list[PartLibrary]:
    """Parts and all parts that they call, each once and before those that it calls."""
    found: dict[PartLibrary, None] = {}

    def visit(part):
        if part not in found:
            for other in part.calls:
                visit(other)
            found[part] = None

    for part in parts:
        visit(part)
    return list(found)[::-1]


class EntryLibrary(JITCodeLibrary):
    """Machine code of an entry and of all parts that it calls."""

    def finalize(self):
        parts = [library for library in self._linking_libraries if isinstance(library, PartLibrary)]
        self._linking_libraries = [library for library in self._linking_libraries if library not in parts]
        link(self._final_module, parts)
        super().finalize()

    def _optimize_final_module(self):
        self._check_that_all_is_there()
        super()._optimize_final_module()

    def _check_that_all_is_there(self):
        """RuntimeError where a function is missing, which would be called at address 0."""
        passes = llvm.create_new_module_pass_manager()
        passes.add_strip_dead_prototype_pass()
        passes.run(self._final_module, self._codegen._pass_builder())
        for function in self._final_module.functions:
            if function.is_declaration and function.name.startswith("_ZN"):
                raise RuntimeError(f"{self.name}: compiled code calls {function.name}, which is not there")


class PartCompiler(Compiler):
    """Numba's pipeline with a `PartLibrary` as its product, without passes that the package's kernels do not need."""

    library = PartLibrary

    def define_pipelines(self):
        state = self.state
        state.func_id.unique_id = _unique(state.func_id.func)
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        whole = DefaultPassBuilder.define_nopython_pipeline(state)
        ours = Path(state.func_id.filename).is_relative_to(PACKAGE)
        without = (AnnotateTypes, *NOT_IN_KERNELS) if ours else (AnnotateTypes,)
        passes = PassManager("kernel")
        passes.passes = [(p, about) for p, about in whole.passes if p not in without]
        passes.finalize()
        return [passes]

    def compile_extra(self, func):
        """Without the types of all variables and calls in what is kept: a loaded kernel has none either."""
        found = super().compile_extra(func)
        found.fndesc.typemap = found.fndesc.calltypes = None
        return found


class EntryCompiler(PartCompiler):
    """The same with machine code as its product."""

    library = EntryLibrary

    def define_pipelines(self):
        pipelines = super().define_pipelines()
        # machine code is found by its name among all that is there
        self.state.func_id.unique_id += os.urandom(6).hex()
        self.state.library.enable_object_caching()
        return pipelines


def _unique(function) -> str:
    """What tells a function from others of its name in the names of compiled code, in whichever process."""
    try:
        what = function.__code__.co_firstlineno, fingerprint(function)
    except OptionError:
        what = os.urandom(16)  # it refers to what cannot be told, and is not kept
    return hashlib.sha256(repr(what).encode()).hexdigest()[:12]


def rebuild_part(target_context, library, payload):
    """A compile result from its reduced form, as `CompileResult._rebuild` does for whole libraries."""
    _, fndesc, environment, signature, objectmode, lifted, annotation, _, _ = payload
    entry_point = target_context.get_executable(library, fndesc, environment)
    return CompileResult(
        target_context=target_context,
        typing_context=target_context.typing_context,
        library=library,
        environment=environment,
        entry_point=entry_point,
        fndesc=fndesc,
        type_annotation=annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        typing_error=None,
        call_helper=None,
        metadata=None,
        reload_init=(),
        referenced_envs=(),
    )
