"""Compiled code for other machines than this: Linux and macOS on ARM, Windows on x86-64.

What steps, batches and derivatives of the bundled models call is brought to assembly for each of them, from the same
intermediate code. Reference: LLVM's code generators take it whole, and functions that it calls and does not hold are in
that system's C library, or are Numba's counts of references. Lanes stay as wide as they are here, which LLVM parts.
"""

import re

import llvmlite.binding as llvm
import pytest

import saltus
from saltus.model.source.bundled_names import models
from saltus.number.compile.parts import callers_first, link
from saltus.number.kernels import Entry, kernel

#: Functions of C that compilers call by themselves or kernels by name, on all three; and those of one system.
LIBM = "sin cos tan asin acos atan atan2 sinh cosh tanh exp log log1p expm1 pow cbrt hypot"
LIBM += " fmod fma floor ceil trunc rint round"
EVERYWHERE = {f"{name}{kind}" for name in LIBM.split() for kind in ("", "f")} | {"memcpy", "memset", "memmove"}
NUMBA = {"NRT_incref", "NRT_decref"}
MACHINES = {
    "aarch64-unknown-linux-gnu": {"sincos", "sincosf"},
    "arm64-apple-macosx12.0.0": {"bzero", "__sincos_stret", "__sincosf_stret"},
    "x86_64-pc-windows-msvc": {"__chkstk"},
}
COUNTS = re.compile(r"^define [^\n]*@(NRT_(?:inc|dec)ref)\(.*?^}\n", re.MULTILINE | re.DOTALL)
QUICK = ("pendulum", "cart_pole")
MODELS = models()


@pytest.fixture
def called(monkeypatch):
    """Entries that are called while a test runs, with the layouts of their structs and their dispatchers."""
    found = {}
    compiled = Entry.compiled

    def watched(self, *layouts):
        dispatcher = compiled(self, *layouts)
        found[self, layouts] = dispatcher
        return dispatcher

    monkeypatch.setattr(Entry, "compiled", watched)
    return found


def run(model):
    """Steps of one simulation and of a batch, and derivatives of a step where there are any."""
    sim = saltus.Simulation(model)
    sim.step(2)
    try:
        sim.linearize()
    except saltus.OptionError as error:
        assert "linearize" in str(error)
    saltus.Batch(model, 8).step(2)


def module_of(called) -> str:
    """Intermediate code of entries with all that they call, without what belongs to this machine."""
    whole = llvm.parse_assembly("")
    for (entry, layouts), dispatcher in called.items():
        for types in dispatcher.overloads:
            made = kernel(entry.function(layouts))
            made.compile(types)
            (found,) = made.overloads.values()
            module = llvm.parse_bitcode(found.library.bitcode)
            link(module, callers_first(found.library.calls, units_too=True))
            module.get_function(found.fndesc.llvm_func_name).linkage = "external"
            whole.link_in(module)
    text = COUNTS.sub(r"declare void @\1(ptr)\n", str(whole))
    return re.sub(r"^declare [^\n]*@llvm\.x86\.[^\n]*\n", "", text, flags=re.MULTILINE)


def assembly(text: str, triple: str) -> tuple[str, set[str]]:
    """The assembly of a module for another machine, and the functions that it calls and does not hold."""
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=0, codemodel="small", reloc="pic")
    text = re.sub(r"^target triple.*$", f'target triple = "{triple}"', text, flags=re.MULTILINE)
    text = re.sub(r"^target datalayout.*$", f'target datalayout = "{machine.target_data}"', text, flags=re.MULTILINE)
    module = llvm.parse_assembly(text)
    module.verify()
    code = machine.emit_assembly(module)
    prefix = "_" if "apple" in triple else ""
    names = re.findall(r"^\s+(?:bl|b|callq|jmp)\s+\"?([\w.$]+)", code, flags=re.MULTILINE)
    names = {name.removeprefix(prefix) for name in names if not name.startswith((".L", "L"))}
    return code, names - {f.name for f in module.functions if not f.is_declaration}


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in MODELS])
def test_bundled_models(name, called):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    run(name)
    kinds = {entry.name.partition("_")[0] for entry, _ in called}
    assert {"advance", "batch"} <= kinds
    text = module_of(called)
    assert "@llvm.x86." not in text
    for triple, own in MACHINES.items():
        code, outside = assembly(text, triple)
        assert all(name in code for name in ("advance", "batch"))
        assert outside <= EVERYWHERE | NUMBA | own, triple
