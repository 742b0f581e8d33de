"""Inner kernels as parts: kept as intermediate code until an entry needs them.

Numba would optimise and translate every function on its own, and again inside each caller. Kernels are called from
other kernels only, so here they stop at intermediate code; the entry that contains them all is optimised once. This
takes about half of the time to a first result.
"""

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_lock import require_global_compiler_lock


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
    """Intermediate code of a kernel and all that it calls, kept as bitcode: that takes little memory, modules a lot."""

    @property
    def codegen(self):
        return _NoEnvironment(self._codegen)

    def finalize(self):
        require_global_compiler_lock()
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            module = library._get_module_for_linking()
            # a part's module is made for this call; others' are shared
            self._final_module.link_in(module, preserve=not isinstance(library, PartLibrary))
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True
        self._bitcode = super()._get_module_for_linking().as_bitcode()
        self._forget_modules()
        self._linking_libraries = []

    def _forget_modules(self):
        for module in {id(m): m for m in (self._final_module, self._shared_module) if m is not None}.values():
            module.close()
        self._final_module, self._shared_module = _EMPTY, None  # Numba looks for environments here

    def _get_module_for_linking(self):
        self._ensure_finalized()
        return llvm.parse_bitcode(self._bitcode)

    def get_pointer_to_function(self, name):
        return 0

    def serialize_using_object_code(self):
        return self.name, "part", self._bitcode

    @classmethod
    def from_bitcode(cls, codegen, name, bitcode):
        """The library that `serialize_using_object_code` described."""
        library = cls(codegen, name)
        library._forget_modules()
        library._bitcode = bitcode
        library._finalized = True
        return library


class PartCompiler(Compiler):
    """Numba's pipeline with a `PartLibrary` as its product."""

    def define_pipelines(self):
        name = self.state.func_id.func_qualname if self.state.func_id else "part"
        self.state.library = PartLibrary(self.state.targetctx.codegen(), name)
        return super().define_pipelines()


def rebuild_part(target_context, payload):
    """A compile result from its reduced form, as `CompileResult._rebuild` does for whole libraries."""
    (name, _, bitcode), fndesc, environment, signature, objectmode, lifted, annotation, _, _ = payload
    library = PartLibrary.from_bitcode(target_context.codegen(), name, bitcode)
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
