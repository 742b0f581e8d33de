"""Private parts of Numba and llvmlite: each thing that the package takes for granted, tried on small functions.

Reference: Python's own results of the functions; for machine code a call by `ctypes`. A test that fails here, with a
new version of Numba, says what `saltus/number/internals.py` must say in another way.
"""

import ast
import ctypes
import importlib.metadata
import operator
import tomllib
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import njit, types
from numba.core import registry
from numba.extending import intrinsic
from packaging.requirements import Requirement

import saltus
from saltus.number import internals
from saltus.number.compile.folding import FoldConditions
from saltus.number.compile.parts import PartCompiler

PACKAGE = Path(saltus.__file__).parent
DOOR = PACKAGE / "number" / "internals.py"
ANSWER = """
declare i64 @unused(i64)
define i64 @{name}(i64 %x) {{
  %y = add i64 %x, 41
  ret i64 %y
}}
"""


def plus_one(x):
    return x + 1


def module(name):
    return llvm.parse_assembly(ANSWER.format(name=name))


# ---------------------------------------------------------------- the door is the only one


def imports():
    """(file, module, name) of all imports in the sources; name is "" where a module is imported."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((path, alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from ((path, node.module, alias.name) for alias in node.names)


def test_nobody_else_reaches_past_numbas_public_names():
    private = [
        (str(path.relative_to(PACKAGE)), source, name)
        for path, source, name in imports()
        if source.startswith("numba")
        and (source.startswith("numba.core") or name == "core" or name.startswith("_"))
        and path != DOOR
    ]
    assert private == []


def test_llvm_and_intrinsics_stay_in_their_rooms():
    rooms = {(path.relative_to(PACKAGE).parts[0], source.partition(".")[0], name) for path, source, name in imports()}
    assert {room for room, source, _ in rooms if source == "llvmlite"} == {"number", "target"}
    assert {room for room, source, name in rooms if source == "numba" and name == "intrinsic"} == {"number"}


def test_the_versions_that_are_here_are_those_that_are_tested():
    found = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = {r.name: r.specifier for r in map(Requirement, found["project"]["dependencies"])}
    for name in ("numba", "llvmlite"):
        assert {clause.operator for clause in wanted[name]} == {">=", "<"}
        assert importlib.metadata.version(name) in wanted[name]


# ---------------------------------------------------------------- dispatchers


class Late(internals.CPUDispatcher):
    def __init__(self):
        pass


def test_an_object_becomes_a_dispatcher():
    late = Late()
    options = dict(nopython=True, boundscheck=None)
    internals.make_dispatcher(late, plus_one, options, internals.Compiler)
    internals.become_dispatcher(late)
    assert type(late) is registry.CPUDispatcher and late.py_func is plus_one
    assert late(41) == 42
    assert internals.return_type_of(late, (types.int64,)) == types.int64


def test_extensions_are_asked_for_in_a_hook():
    def refused():
        raise LookupError

    plain = njit(plus_one)
    plain._compilation_chain_init_hook = refused
    with pytest.raises(LookupError):
        plain(1)
    internals.leave_out_extensions(plain)
    assert plain(1) == 2


class Cache:
    """A cache that holds nothing and remembers what it was asked for."""

    def __init__(self):
        self.asked, self.kept = [], []

    def load_overload(self, sig, target_context):
        self.asked.append(sig)

    def save_overload(self, sig, data):
        self.kept.append((sig, data))


def test_a_dispatcher_asks_its_cache():
    cache, plain = Cache(), njit(plus_one)
    internals.keep_in(cache, plain)
    assert internals.cache_of(plain) is cache
    assert plain(1.5) == 2.5
    assert cache.asked == [(types.float64,)] and cache.kept[0][0] == (types.float64,)


def test_a_dispatcher_tells_how_it_compiles():
    """Options, types of variables, and the signatures to which it is bound."""
    made = [njit(plus_one), njit(error_model="numpy")(plus_one), njit(locals={"x": types.float32})(plus_one)]
    made += [njit("f4(f4)")(plus_one), njit("f8(f8)")(plus_one)]
    assert len({internals.code_options(dispatcher) for dispatcher in made}) == len(made)
    assert internals.code_options(njit(plus_one)) == internals.code_options(made[0])


def test_a_dispatcher_compiles_anew():
    """It takes the numbers that its function refers to as they are then."""
    names = {"STEP": 1}
    exec("def step(x): return x + STEP", names)
    dispatcher = njit(names["step"])
    found = [dispatcher(1)]
    names["STEP"] = 10
    found.append(dispatcher(1))
    internals.forget_compiled(dispatcher)
    assert [*found, dispatcher(1)] == [2, 2, 11]


def test_an_intrinsic_knows_its_function():
    def double(typingctx, x):
        return x(x), lambda context, builder, sig, args: builder.fadd(args[0], args[0])

    made = intrinsic(double)
    assert isinstance(made, internals.Intrinsic) and internals.defined_by(made) is double


# ---------------------------------------------------------------- the compiler


def test_the_pipeline_without_some_passes():
    seen = []

    class Watched(PartCompiler):
        def define_pipelines(self):
            left_out = internals.AnnotateTypes, internals.WithLifting
            instead = {internals.NopythonTypeInference: internals.TypeInference}
            found = internals.passes_without(self, left_out, FoldConditions, instead)
            seen.extend(p for p, _ in found[0].passes)
            return found

    late = Late()
    internals.make_dispatcher(late, plus_one, dict(nopython=True, boundscheck=None), Watched)
    internals.become_dispatcher(late)
    late.compile((types.int64,))
    assert internals.AnnotateTypes not in seen and internals.WithLifting not in seen
    assert internals.NopythonTypeInference not in seen and internals.TypeInference in seen
    assert seen.index(FoldConditions) == seen.index(internals.IRProcessing) + 1


def late_dispatcher(function, cache):
    late = Late()
    internals.make_dispatcher(late, function, dict(nopython=True, boundscheck=None), PartCompiler)
    internals.become_dispatcher(late)
    internals.keep_in(cache, late)
    return late


def test_a_kernel_is_compiled_once_for_the_same_types():
    cache = Cache()
    late = late_dispatcher(plus_one, cache)
    for _ in range(2):
        internals.compile_for(late, (types.float64,))
    assert cache.asked == [(types.float64,)] and [sig for sig, _ in cache.kept] == [(types.float64,)]
    assert late.overloads[types.float64,].signature.return_type == types.float64

    class Full(Cache):
        def load_overload(self, sig, target_context):
            return cache.kept[0][1]

    again = late_dispatcher(plus_one, Full())
    internals.compile_for(again, (types.float64,))
    assert again.overloads[types.float64,] is cache.kept[0][1]


def test_an_operator_that_is_remembered_has_the_types_of_each_of_its_calls():
    """Reference: Numba's own inference of the same function."""

    def mixed(i, x):
        return i + i, i + x, x < i, (i, x)

    ints, reals = (types.int64, types.int64), (types.int64, types.float64)
    for arguments in (ints, reals, ints):
        late = late_dispatcher(mixed, Cache())
        internals.compile_for(late, arguments)
        plain = njit(mixed)
        plain.compile(arguments)
        returned = late.overloads[arguments].signature.return_type
        assert returned == plain.overloads[arguments].signature.return_type


def test_an_operator_that_is_defined_later_is_found():
    class Kind(types.Type):
        def __init__(self):
            super().__init__("kind of this test")

    kind = Kind()
    arguments = kind, kind
    late = late_dispatcher(lambda a, b: a ^ b, Cache())
    with pytest.raises(internals.NumbaError):
        internals.compile_for(late, arguments)

    @internals.infer_global(operator.xor)
    class Xor(internals.AbstractTemplate):
        def generic(self, args, kws):
            return internals.signature(types.int64, *args) if args == arguments else None

    registry.cpu_target.typing_context.refresh()
    context = internals._RememberingContext(registry.cpu_target.typing_context)
    assert context.resolve_function_type(operator.xor, arguments, {}).return_type == types.int64


def test_passes_of_the_compiler_are_found():
    found = dict(internals.passes_of_the_compiler())
    names = {one.__name__ for one, lowers in found.items() if lowers}
    assert "BaseNativeLowering" in names and found[internals.AnnotateTypes] is False


def test_a_compile_result_has_the_fields_of_its_reduced_form():
    plain = njit(plus_one)
    plain(1)
    (found,) = plain.overloads.values()
    payload = found._reduce()
    assert len(payload) == 9
    fields = found.fndesc, found.signature, found.objectmode, str(found.type_annotation)
    assert (payload[1], payload[3], payload[4], str(payload[6])) == fields
    again = internals.compile_result(registry.cpu_target.target_context, found.library, payload)
    assert again.signature == found.signature and again.entry_point(5) == 6
    internals.forget_types(again)
    assert again.fndesc.typemap is None and again.fndesc.calltypes is None


def test_the_parts_of_a_function_cache():
    cache = internals.FileCacheOfFunction(plus_one)
    assert Path(cache.folder).is_absolute() and "plus_one" in cache.base_name
    cache.files = "mine"
    assert cache.files == "mine"
    with cache.guarded():
        pass


# ---------------------------------------------------------------- machine code


def test_object_files_are_made_and_loaded():
    codegen = internals.host_code_generator()
    code = internals.object_code(codegen, module("saltus_test_answer"))
    internals.load_object(codegen, code)
    address = internals.address_of(codegen, "saltus_test_answer")
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(1) == 42


def test_what_nothing_calls_is_not_declared_after_the_passes():
    found = module("saltus_test_optimised")
    internals.optimise_module(internals.host_code_generator(), found)
    assert [f.name for f in found.functions] == ["saltus_test_optimised"]


def test_code_for_another_processor():
    if not llvm.get_process_triple().startswith("x86_64"):
        pytest.skip("features of another kind of processor")
    text = "define <4 x double> @f(<4 x double> %x) { %y = fadd <4 x double> %x, %x\n ret <4 x double> %y }"
    sizes = {}
    for cpu, features in (("x86-64", ""), ("x86-64-v3", "+avx,+avx2")):
        codegen = internals.code_generator_for(internals.host_code_generator(), cpu, features)
        sizes[cpu] = codegen._tm.emit_assembly(llvm.parse_assembly(text))
    assert "ymm" in sizes["x86-64-v3"] and "ymm" not in sizes["x86-64"]


def test_what_is_said_to_be_defined_is_not_looked_for():
    codegen = internals.host_code_generator()
    assert not codegen._engine.is_symbol_defined("saltus_test_said")
    internals.say_defined(codegen, ["saltus_test_said"])
    assert codegen._engine.is_symbol_defined("saltus_test_said")


def test_counts_of_references_are_known_to_the_linker():
    internals.tell_memory_functions()
    for name in ("NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor"):
        assert llvm.address_of_symbol(name)


def test_a_library_under_our_names():
    codegen = internals.host_code_generator()
    plain = njit(lambda x: np.sin(x) + 1.0)
    plain(1.0)
    (found,) = plain.overloads.values()
    library = internals.Library(codegen, "saltus_test_library")
    assert library.generator is codegen and library.called == []
    library.called = [found.library, found.library]
    assert library.called == [found.library]
    name = found.fndesc.llvm_func_name
    caller = (
        f'declare i32 @"{name}"(ptr, ptr, double)\n'
        + f"""define i32 @saltus_test_caller(ptr %p, ptr %q) {{
  %s = call i32 @"{name}"(ptr %p, ptr %q, double 1.0)
  ret i32 %s
}}"""
    )
    library.module = llvm.parse_assembly(caller)
    with internals.global_compiler_lock:
        library.begin_finalizing()
        library.take_initialisers(found.library)
        library.take_in(found.library)
        library.end_finalizing([])
    assert not library.has_environments
    assert not library.module.get_function(name).is_declaration


class Counted(internals.Library):
    finalized = 0

    def finalize(self):
        self.finalized += 1


def test_a_library_is_finished_once():
    codegen = internals.host_code_generator()
    new, restored = Counted(codegen, "saltus_test_new"), Counted(codegen, "saltus_test_restored")
    restored.say_finished()
    for library in (new, restored):
        library.finish()
    assert (new.finalized, restored.finalized) == (1, 0)
