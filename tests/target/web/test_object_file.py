"""Modules from object files: sections as the specification orders them, and what is not linked is refused."""

import pytest
from helpers.wasm import run_wasm

from saltus.errors import OptionError
from saltus.target.web import object_file
from saltus.target.web.module import FEATURES, TRIPLE


def assembled(text):
    """The object file of a module in LLVM's language."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=0, features=FEATURES)
    return machine.emit_object(llvm.parse_assembly(f'target triple = "{TRIPLE}"\n{text}'))


COUNTER = """
@table = internal constant [3 x double] [double 1.5, double 2.5, double 4.0]
@results = internal global [4 x double] zeroinitializer
define ptr @results_at() {
 ret ptr @results
}
define i32 @pick(i32 %k) {
 %room = alloca [3 x double]
 call void @llvm.memcpy.p0.p0.i32(ptr %room, ptr @table, i32 24, i1 false)
 %at = getelementptr [3 x double], ptr %room, i32 0, i32 %k
 %v = load double, ptr %at
 store double %v, ptr @results
 ret i32 0
}
declare void @llvm.memcpy.p0.p0.i32(ptr, ptr, i32, i1)
"""


def test_data_and_the_stack_have_their_places(tmp_path):
    module = object_file.linked(assembled(COUNTER), ["pick", "results_at"], [])
    results, _, exports = run_wasm(module, [("pick", [k]) for k in range(3)], [0.0], tmp_path)
    assert list(results[:, 1]) == [1.5, 2.5, 4.0]
    assert exports == ["pick", "results_at", "memory", "heap"]


def test_sections_come_in_the_order_of_the_specification():
    module = object_file.linked(assembled(COUNTER), ["pick", "results_at"], [])
    kinds = [kind for kind, _ in object_file._sections(module)]
    assert module.startswith(b"\0asm\1\0\0\0")
    assert kinds == [kind for kind in object_file.ORDER if kind in kinds]
    assert not {object_file.CUSTOM} & set(kinds)  # nothing for a linker is left


def test_a_function_that_is_not_there_is_named():
    text = "define double @f(double %x) {\n %y = call double @erf(double %x)\n ret double %y\n}\n"
    text += "declare double @erf(double)\n"
    with pytest.raises(OptionError, match="the code calls erf"):
        object_file.linked(assembled(text), ["f"], ["sin"])


def test_calls_by_address_are_refused():
    text = "define double @f(ptr %g, double %x) {\n %y = call double %g(double %x)\n ret double %y\n}\n"
    with pytest.raises(OptionError):
        object_file.linked(assembled(text), ["f"], [])
