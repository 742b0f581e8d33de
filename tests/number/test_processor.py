"""The family of processors that machine code is for.

Reference: the levels that the x86-64 psABI defines, and LLVM's own lists of what they have.
"""

import llvmlite.binding as llvm
import pytest
from numba import config
from numba.core.registry import cpu_target

from saltus.number import processor


@pytest.fixture
def computer(monkeypatch):
    """A function that gives the computer a processor with some features."""
    caches = processor.family, processor.code_generator

    def have(features):
        monkeypatch.setattr(processor.llvm, "get_host_cpu_features", lambda: dict.fromkeys(features, True))
        for cache in caches:
            cache.cache_clear()

    yield have
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(
    "missing, family, bits", [("", "x86-64-v4", 512), ("avx512vl", "x86-64-v3", 256), ("fma", "", 512)]
)
def test_a_family_has_all_that_its_name_promises(computer, missing, family, bits):
    computer(set(processor.FAMILIES["x86-64-v4"]) - {missing})
    assert (processor.family(), processor.register_bits()) == (family, bits)
    assert family in processor.cpu_name() and processor.cpu_name().endswith(f"-{bits}")


@pytest.mark.parametrize("option", ["CPU_NAME", "CPU_FEATURES"])
def test_code_for_another_processor_is_told_apart(computer, monkeypatch, option):
    computer(processor.FAMILIES["x86-64-v4"])
    ours = processor.cpu_name()
    monkeypatch.setattr(config, option, "+sse2" if option == "CPU_FEATURES" else "generic")
    processor.family.cache_clear()
    assert processor.family() == "" and processor.cpu_name() != ours


@pytest.mark.skipif(not llvm.get_process_triple().startswith("x86_64"), reason="families of another architecture")
@pytest.mark.parametrize("family", processor.FAMILIES)
def test_code_is_that_of_the_family(computer, family):
    """LLVM by the family's name alone makes the same of a loop that it would make otherwise on other processors."""
    computer(processor.FAMILIES[family])
    ours = processor.code_generator(cpu_target.target_context.codegen())._tm
    target = llvm.Target.from_triple(llvm.get_process_triple())
    theirs = target.create_target_machine(cpu=family, opt=config.OPT, reloc="static", codemodel="jitdefault", jit=True)
    other = target.create_target_machine(cpu="x86-64", opt=config.OPT, reloc="static", codemodel="jitdefault", jit=True)
    assembly = [tm.emit_assembly(llvm.parse_assembly(PRODUCT)) for tm in (ours, theirs, other)]
    assert assembly[0] == assembly[1] != assembly[2]


PRODUCT = """
define <8 x double> @product(<8 x double> %a, <8 x double> %b, <8 x double> %c) {
  %ab = fmul contract <8 x double> %a, %b
  %sum = fadd contract <8 x double> %ab, %c
  ret <8 x double> %sum
}
"""
