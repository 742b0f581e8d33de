"""Parts of Numba and llvmlite that are no public interface of theirs, all that the package stands on.

Any version may change them. `pyproject.toml` names the versions that are known to serve, and a test holds each thing
that is taken for granted here (tests/number/test_internals.py). No other file reaches past Numba's public names.
"""

# pyright: reportUnusedImport=false
# ruff: noqa: F401, SLF001 (this is the door)

import copy
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
from numba import config, types
from numba.core import cgutils, event, typed_passes, untyped_passes
from numba.core import ir as numba_ir
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, NullCache, _CacheLocator
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock, require_global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.imputils import RefType, iternext_impl
from numba.core.ir_utils import find_const, get_definition, guard
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime import _nrt_python
from numba.core.serialize import dumps as dumps_function
from numba.core.typeconv import Conversion
from numba.core.typed_passes import (
    AnnotateTypes,
    DumpParforDiagnostics,
    InlineOverloads,
    NopythonRewrites,
    NoPythonSupportedFeatureValidation,
    NopythonTypeInference,
)
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    IRProcessing,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)
from numba.extending import _Intrinsic as Intrinsic

CacheLocator = _CacheLocator

# ---------------------------------------------------------------- dispatchers


def make_dispatcher(dispatcher: CPUDispatcher, function: FunctionType, options: dict[str, Any], compiler: Any) -> None:
    """Make an object of Numba's class the dispatcher of a function, with a compiler of its own."""
    CPUDispatcher.__init__(dispatcher, function, targetoptions=options, pipeline_class=compiler)


def become_dispatcher(late: CPUDispatcher, kind: type[CPUDispatcher] = CPUDispatcher) -> None:
    """Make an object of a class derived from Numba's one of that class, or of another kind."""
    object.__setattr__(late, "__class__", kind)


def leave_out_extensions(dispatcher: Any) -> None:
    """Have a dispatcher not load other packages' extensions of Numba before it compiles; the compiler sees to them."""
    dispatcher._compilation_chain_init_hook = lambda: None


def compile_for(dispatcher: Any, arguments: tuple) -> Any:
    """Compile a kernel for arguments of these types, or load what was, as `Dispatcher.compile` does without its clocks.

    Each of these listens to all that those inside it compile.
    """
    with global_compiler_lock:
        found = dispatcher.overloads.get(arguments)
        if found is None:
            with dispatcher._compiling_counter:
                found = dispatcher._cache.load_overload(arguments, dispatcher.targetctx)
                if found is not None:
                    dispatcher.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
                    dispatcher.add_overload(found)
                else:
                    about = dict(dispatcher=dispatcher, args=arguments, return_type=None)
                    with event.trigger_event("numba:compile", data=about):
                        found = dispatcher._compiler.compile(arguments, None)
                        dispatcher.add_overload(found)
                    dispatcher._cache.save_overload(arguments, found)
        return found.entry_point


def cache_of(dispatcher: Any) -> Any:
    """The cache that a dispatcher keeps its code in."""
    return dispatcher._cache


def keep_in(cache: Any, dispatcher: Any) -> None:
    """Have a dispatcher keep its code in this cache."""
    dispatcher._cache = cache


def code_options(dispatcher: Any) -> str:
    """Options of a dispatcher as text, with the types of variables and of arguments that were given."""
    options = [(k, sorted(x) if isinstance(x, set | frozenset) else x) for k, x in dispatcher.targetoptions.items()]
    types = [(k, str(x)) for k, x in dispatcher.locals.items()]
    given = [] if dispatcher._can_compile else [str(x) for x in dispatcher.nopython_signatures]
    return repr((sorted((k, repr(x)) for k, x in options), sorted(types), given))


def forget_compiled(dispatcher: Any) -> None:
    """Have a dispatcher compile its function anew for all types; what calls its code keeps that."""
    dispatcher._reset_overloads()


def return_type_of(function: Any, arguments: tuple) -> Any:
    """The type of what a compiled function returns for arguments of these types; NumbaError where it cannot."""
    _, _, types, _ = function.get_call_template(arguments, {})
    return function.overloads[tuple(types)].signature.return_type


# ---------------------------------------------------------------- code before it is typed


def defined_by(intrinsic: Intrinsic) -> FunctionType:
    """The function that an intrinsic was made of."""
    return intrinsic._defn


def definitions(code: Any, name: str) -> list[Any]:
    """The values that a variable is assigned in a function's code, which the passes keep beside it."""
    return code._definitions[name]


def struct_value(struct: Any) -> Any:
    """The value of a struct that `cgutils.create_struct_proxy` made."""
    return struct._getvalue()


# ---------------------------------------------------------------- machine code


def host_code_generator() -> Any:
    """Numba's code generator for this machine."""
    return cpu_target.target_context.codegen()


def code_generator_for(codegen: Any, cpu: str, features: str) -> Any:
    """A copy of a code generator that makes machine code for another processor of this machine's kind."""
    options = {"opt": config.OPT}
    codegen._customize_tm_options(options)
    options |= {"cpu": cpu, "features": features}
    own = copy.copy(codegen)
    own._tm = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(**options)
    return own


def object_code(codegen: Any, module: llvm.ModuleRef) -> bytes:
    """A module as an object file."""
    return codegen._tm.emit_object(module)


def optimise_module(codegen: Any, module: llvm.ModuleRef) -> None:
    """Run Numba's passes over a module, but for those before the one for reference counts, which kernels lack.

    What it declares and does not call is gone then.
    """
    passes, builder = codegen._module_pass_manager()
    passes.run(module, builder)
    unused = llvm.create_new_module_pass_manager()
    unused.add_strip_dead_prototype_pass()
    unused.run(module, builder)


def load_object(codegen: Any, code: bytes) -> None:
    """Have the machine code of an object file in this process."""
    engine = codegen._engine
    engine._ee.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()


def address_of(codegen: Any, symbol: str) -> int:
    """The place of a function of a loaded object file."""
    return codegen._engine._ee.get_function_address(symbol)


def say_defined(codegen: Any, symbols: Iterable[str]) -> None:
    """Tell Numba that functions are there, so that it looks for none of their names."""
    codegen._engine._defined_symbols.update(symbols)


def tell_memory_functions() -> None:
    """Tell the linker where Numba's counts of references to arrays are, as it does itself when it compiles."""
    for name, address in _nrt_python.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class Library(JITCodeLibrary):
    """Numba's product of compiling a function: a module, and the libraries that it calls, under names of our own."""

    @property
    def generator(self) -> Any:
        """The code generator that it was made with."""
        return self._codegen

    @property
    def module(self) -> llvm.ModuleRef:
        """The whole intermediate code of the library."""
        return self._final_module

    @module.setter
    def module(self, module: llvm.ModuleRef) -> None:
        self._final_module = module

    @property
    def called(self) -> list[Any]:
        """Libraries that it calls and that are not part of its module yet."""
        return list(dict.fromkeys(self._linking_libraries))

    @called.setter
    def called(self, libraries: list[Any]) -> None:
        self._linking_libraries = libraries

    @property
    def has_environments(self) -> bool:
        """Whether its code refers to objects of this process."""
        return bool(self._dynamic_globals)

    def begin_finalizing(self) -> None:
        """Check that this thread may compile, and that it is not finished."""
        require_global_compiler_lock()
        self._raise_if_finalized()

    def take_initialisers(self, library: Any) -> None:
        """Load again, with this library, what another one that it calls needs."""
        self._reload_init.update(library._reload_init)

    def take_in(self, library: Any) -> None:
        """Make the code of a library of Numba's part of the module."""
        self._final_module.link_in(library._get_module_for_linking(), preserve=True)

    def end_finalizing(self, parts: Iterable[Any]) -> None:
        """Check the module and note the objects of this process that it and its parts refer to."""
        self._final_module.verify()
        self._finalize_dynamic_globals()
        for part in parts:
            self._dynamic_globals += part._dynamic_globals
        self._finalized = True

    def say_finished(self) -> None:
        """Note that the library was finished before, in another process."""
        self._finalized = True

    def finish(self) -> None:
        """Finish it, if it is not."""
        self._ensure_finalized()

    def use_object(self, code: bytes) -> None:
        """Have this object file as its machine code, in place of one that Numba would make."""
        self._set_compiled_object(code)

    def load_module(self) -> None:
        """Add the module to this process as Numba does."""
        super()._finalize_final_module()


# ---------------------------------------------------------------- compile results


def compile_result(target_context: Any, library: Any, payload: tuple) -> CompileResult:
    """A compile result from its reduced form, as `CompileResult._rebuild` does for Numba's own libraries."""
    _, fndesc, environment, types, objectmode, lifted, annotation, _, _ = payload
    entry_point = target_context.get_executable(library, fndesc, environment)
    return CompileResult(
        target_context=target_context,
        typing_context=target_context.typing_context,
        library=library,
        environment=environment,
        entry_point=entry_point,
        fndesc=fndesc,
        type_annotation=annotation,
        signature=types,
        objectmode=objectmode,
        lifted=lifted,
        typing_error=None,
        call_helper=None,
        metadata=None,
        reload_init=(),
        referenced_envs=(),
    )


def forget_types(result: CompileResult) -> None:
    """Leave the types of all variables and calls out of what is kept: a loaded kernel has none either."""
    result.fndesc.typemap = result.fndesc.calltypes = None


class _Passes(PassManager):
    """A pipeline whose passes run without the events and timers that Numba wraps around each."""

    def _runPass(self, index: int, inst: Any, state: Any) -> None:
        inst.analysis = self._analysis
        inst.run_initialization(state)
        inst.run_pass(state)
        inst.run_finalizer(state)


def passes_without(
    compiler: Compiler, left_out: tuple[type, ...], after: Callable[..., Any], instead: dict[type, type]
) -> list[PassManager]:
    """Numba's pipeline of a compiler without some passes, with others instead, and one more after its code is made."""
    whole = DefaultPassBuilder.define_nopython_pipeline(compiler.state)
    passes = _Passes("kernel")
    passes.passes = [(instead.get(p, p), about) for p, about in whole.passes if p not in left_out]
    passes.add_pass_after(after, IRProcessing)
    passes.finalize()
    return [passes]


class _RememberingContext:
    """Numba's typing context, which looks for a function of Numba's on types once.

    Type inference goes over all calls again until nothing changes.
    """

    def __init__(self, own: Any):
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def resolve_function_type(self, function: Any, arguments: tuple, named: dict[str, Any]) -> Any:
        # a later definition of a function makes another type of it
        kind = function if isinstance(function, types.Type) else self._own._lookup_global(function)
        if named or not isinstance(kind, types.Function):
            return self._own.resolve_function_type(function, arguments, named)
        asked = kind, arguments
        if asked not in _FOUND:
            found = self._own.resolve_function_type(function, arguments, named)
            if found is None:
                return None
            _FOUND[asked] = found
        return _FOUND[asked]


_FOUND: dict[Any, Any] = {}  # signatures, by functions and types of arguments


@register_pass(mutates_CFG=True, analysis_only=False)
class TypeInference(NopythonTypeInference):
    """Numba's type inference that remembers signatures."""

    _name = "type_inference"

    def run_pass(self, state: Any) -> bool:
        own = state.typingctx
        state.typingctx = _RememberingContext(own)
        try:
            return super().run_pass(state)
        finally:
            state.typingctx = own


def passes_of_the_compiler() -> list[tuple[type, bool]]:
    """Numba's own passes, and of each whether it makes intermediate code of what is typed."""
    found = [c for module in (typed_passes, untyped_passes) for c in vars(module).values() if isinstance(c, type)]
    own = [c for c in found if c.__module__ in (typed_passes.__name__, untyped_passes.__name__)]
    return [(c, issubclass(c, typed_passes.BaseNativeLowering)) for c in own if "run_pass" in vars(c)]


# ---------------------------------------------------------------- the cache of compiled functions


class FileCacheOfFunction(FunctionCache):
    """Numba's function cache with files of our own: see `saltus.number.compile.function_cache`."""

    @property
    def folder(self) -> str:
        """The directory in which Numba's locator keeps files."""
        return self._cache_path

    @property
    def base_name(self) -> str:
        """Beginning of the names of this function's files."""
        return self._impl.filename_base

    @property
    def files(self) -> IndexDataCacheFile:
        """The files."""
        return self._cache_file

    @files.setter
    def files(self, files: IndexDataCacheFile) -> None:
        self._cache_file = files

    def rebuilt_by_numba(self, payload: Any, target_context: Any) -> Any:
        """The compile result of code that calls no kernels."""
        return self._impl.rebuild(target_context, payload)

    def guarded(self) -> Any:
        """A context in which errors of files of another user mean that nothing is found."""
        return self._guard_against_spurious_io_errors()
