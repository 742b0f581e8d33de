"""The family of processors that machine code is for.

Reference: the levels that the x86-64 psABI defines, and LLVM's own lists of what they have; for ARM the Architecture
Reference Manual, by which every 64-bit processor for applications has floating point and NEON, of 128 bits (A1.4).
"""

import llvmlite.binding as llvm
import pytest
from numba import config
from numba.core.registry import cpu_target

from saltus.number import processor

CODEGEN = cpu_target.target_context.codegen()  # made for the true processor
LINUX, MAC, WINDOWS = "{}-unknown-linux-gnu", "{}-apple-darwin24.3.0", "{}-pc-windows-msvc"


@pytest.fixture
def computer(monkeypatch):
    """A function that gives the computer a processor with some features, and another architecture and system."""
    caches = processor.family, processor.code_generator
    for option in ("CPU_NAME", "CPU_FEATURES"):
        monkeypatch.setattr(config, option, None)
    monkeypatch.setattr(config, "ENABLE_AVX", True)

    def have(features, triple="x86_64-unknown-linux-gnu"):
        monkeypatch.setattr(processor.llvm, "get_host_cpu_features", lambda: dict.fromkeys(features, True))
        monkeypatch.setattr(processor.llvm, "get_process_triple", lambda: triple)
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


def test_an_old_processor_has_narrow_registers(computer):
    computer({"sse2"})
    assert (processor.family(), processor.register_bits()) == ("", 128)


@pytest.mark.parametrize("triple", [LINUX.format("aarch64"), MAC.format("arm64"), WINDOWS.format("aarch64")])
@pytest.mark.parametrize("features", [set(), {"neon", "fp-armv8", "sve"}])
def test_every_arm_has_neon_of_128_bits(computer, triple, features):
    """Also where LLVM cannot tell what the processor has: on macOS, or where it is emulated."""
    computer(features, triple)
    assert processor.family() == "armv8-a" and processor.register_bits() == 128
    assert processor.cpu_name() == "aarch64-armv8-a-128"


def test_an_architecture_without_families_has_lanes_all_the_same(computer):
    computer({"v"}, LINUX.format("riscv64"))
    assert (processor.family(), processor.register_bits()) == ("", 128)
    assert processor.cpu_name().startswith("riscv64-")


def test_a_new_release_of_a_system_is_the_same_system(computer):
    """LLVM's name of macOS has the release of its kernel, which compiled code does not depend on."""
    names = []
    for triple in (MAC.format("arm64"), "arm64-apple-darwin25.0.0", "arm64-apple-macosx15.1", MAC.format("x86_64")):
        computer(set(), triple)
        names.append(processor.system())
    assert names == ["arm64-apple-darwin", "arm64-apple-darwin", "arm64-apple-macosx", "x86_64-apple-darwin"]
    computer(set())
    assert processor.system() == "x86_64-unknown-linux-gnu"


@pytest.mark.parametrize("option", ["CPU_NAME", "CPU_FEATURES"])
def test_code_for_another_processor_is_told_apart(computer, monkeypatch, option):
    computer(processor.FAMILIES["x86-64-v4"])
    ours = processor.cpu_name()
    monkeypatch.setattr(config, option, "+sse2" if option == "CPU_FEATURES" else "generic")
    processor.family.cache_clear()
    assert processor.family() == "" and processor.cpu_name() != ours


def test_lanes_are_as_wide_as_what_numba_may_use(computer, monkeypatch):
    computer(processor.FAMILIES["x86-64-v4"])
    monkeypatch.setattr(config, "ENABLE_AVX", False)
    assert (processor.family(), processor.register_bits()) == ("", 128)
    monkeypatch.setattr(config, "CPU_FEATURES", "+sse2,+avx,-avx512f")
    processor.family.cache_clear()
    assert processor.register_bits() == 256


def test_processors_of_one_name_and_other_features_are_told_apart(computer, monkeypatch):
    """As in virtual machines that hide some: code for one may not run on the other."""
    monkeypatch.setattr(processor.llvm, "get_host_cpu_name", lambda: "nehalem")
    computer({"sse2", "sse4.2"})
    one = processor.cpu_name()
    computer({"sse2"})
    assert processor.cpu_name() != one


HERE = llvm.get_process_triple().partition("-")[0]


@pytest.mark.skipif(HERE != "x86_64", reason="families of another architecture")
@pytest.mark.parametrize("family", processor.FAMILIES)
def test_code_is_that_of_the_family(computer, family):
    """LLVM by the family's name alone makes the same of a loop that it would make otherwise on other processors."""
    triple = llvm.get_process_triple()
    computer(processor.FAMILIES[family], triple)
    ours = processor.code_generator(CODEGEN)._tm
    target = llvm.Target.from_triple(triple)
    theirs = target.create_target_machine(cpu=family, opt=config.OPT, reloc="static", codemodel="jitdefault", jit=True)
    other = target.create_target_machine(cpu="x86-64", opt=config.OPT, reloc="static", codemodel="jitdefault", jit=True)
    assembly = [tm.emit_assembly(llvm.parse_assembly(PRODUCT)) for tm in (ours, theirs, other)]
    assert assembly[0] == assembly[1] != assembly[2]


def test_code_of_the_arm_family_uses_neon():
    """Eight numbers are multiplied and added in four registers of two, without a call."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    features = ",".join(f"+{feature}" for feature in processor.ARM_FEATURES)
    target = llvm.Target.from_triple("aarch64-unknown-linux-gnu")
    assembly = target.create_target_machine(cpu="generic", features=features, opt=3).emit_assembly(
        llvm.parse_assembly(PRODUCT)
    )
    assert assembly.count(".2d") == 12 and "fmla" in assembly and "bl" not in assembly.split()


PRODUCT = """
define <8 x double> @product(<8 x double> %a, <8 x double> %b, <8 x double> %c) {
  %ab = fmul contract <8 x double> %a, %b
  %sum = fadd contract <8 x double> %ab, %c
  ret <8 x double> %sum
}
"""
