"""What threads tell the processor, on every architecture that LLVM makes code for.

Reference: the names of LLVM's intrinsics for x86 and ARM; LLVM's own check of the module.
"""

import llvmlite.binding as llvm
import pytest
from llvmlite import ir

from saltus.number.internals import defined_by
from saltus.number.threads import atomics


class Context:
    """What the code of an intrinsic asks a target for."""

    def get_dummy_value(self):
        return ir.Constant(ir.IntType(64), 0)


@pytest.mark.parametrize(
    ("architecture", "told"), [("x86_64", "llvm.x86.sse2.pause"), ("aarch64", "llvm.aarch64.hint"), ("riscv64", "")]
)
def test_a_processor_that_has_no_such_instruction_is_told_nothing(monkeypatch, architecture, told):
    monkeypatch.setattr(atomics, "architecture", lambda: architecture)
    _, codegen = defined_by(atomics.relax)(None)
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), "f")
    builder = ir.IRBuilder(function.append_basic_block())
    codegen(Context(), builder, None, ())
    builder.ret_void()
    llvm.parse_assembly(str(module)).verify()
    assert [f.name for f in module.functions] == ["f", *filter(None, [told])]
