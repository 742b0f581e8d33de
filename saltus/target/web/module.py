"""Compilation of functions in intermediate code to one WebAssembly module.

The code is optimised for 128-bit registers, from its state before the optimiser of this machine. WebAssembly has no
fused multiply-add: where kernels rely on a single rounding (`saltus.number.functions.fma`), the product's error is
computed (Dekker 1971, Knuth 2); elsewhere product and sum are rounded separately.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import llvmlite.binding as llvm
from numba import types

from saltus.target.addresses import Function
from saltus.target.web.object_file import linked

TRIPLE = "wasm32-unknown-unknown"
LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
FEATURES = "+simd128,+bulk-memory,+sign-ext,+nontrapping-fptoint"
IMPORTS = ("sin", "cos", "exp", "log", "pow")  # functions of JavaScript's Math; sin and cos beyond 1e9 only
RESULTS = 4  # most numbers that a function can return

# Numba's reference counting, which compiled kernels do not need
NOT_NEEDED = re.compile(r"^define [^\n]*@NRT_(?:inc|dec)ref\(.*?^}\n", re.DOTALL | re.MULTILINE)

SUPPORT = f"""
@saltus.results = internal global [{RESULTS} x double] zeroinitializer, align 16
define ptr @results_at() {{
 ret ptr @saltus.results
}}
define linkonce_odr void @NRT_incref(ptr %x) alwaysinline {{
 ret void
}}
define linkonce_odr void @NRT_decref(ptr %x) alwaysinline {{
 ret void
}}
define internal double @saltus.two_parts(double %a) alwaysinline {{
 %t = fmul double %a, 134217729.0
 %u = fsub double %t, %a
 %high = fsub double %t, %u
 ret double %high
}}
define internal double @saltus.fused(double %a, double %b, double %c) alwaysinline {{
 %p = fmul double %a, %b
 %ah = call double @saltus.two_parts(double %a)
 %al = fsub double %a, %ah
 %bh = call double @saltus.two_parts(double %b)
 %bl = fsub double %b, %bh
 %hh = fmul double %ah, %bh
 %e1 = fsub double %hh, %p
 %hl = fmul double %ah, %bl
 %e2 = fadd double %e1, %hl
 %lh = fmul double %al, %bh
 %e3 = fadd double %e2, %lh
 %ll = fmul double %al, %bl
 %e = fadd double %e3, %ll
 %s = fadd double %p, %c
 %v = fsub double %s, %p
 %w = fsub double %s, %v
 %x = fsub double %p, %w
 %y = fsub double %c, %v
 %z = fadd double %x, %y
 %rest = fadd double %z, %e
 %r = fadd double %s, %rest
 ret double %r
}}
"""


def module_of(functions: Mapping[str, Function]) -> bytes:
    """Make a module that exports these functions by name, its `memory`, `heap` (first free byte) and `results_at`.

    Each function takes the addresses of its structs' buffers, then its arguments: 32-bit integers, doubles, addresses.
    Its results are stored as doubles at the address `results_at()`; it returns 0, or Numba's error code.

    Raises OptionError if the code calls functions that a browser does not have.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    whole = llvm.parse_assembly("")
    for code in {function.symbol: function.module for function in functions.values()}.values():
        whole.link_in(llvm.parse_bitcode(code))
    text = _for_webassembly(str(whole)) + "".join(_exported(name, f) for name, f in functions.items())
    module = llvm.parse_assembly(text)
    module.verify()
    names = [*functions, "results_at"]
    for function in module.functions:
        if not function.is_declaration and function.name not in names:
            function.linkage = "internal"
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=3, features=FEATURES)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return linked(machine.emit_object(module), names, IMPORTS)


def _for_webassembly(text: str) -> str:
    """Convert a module in LLVM's language from this machine to WebAssembly."""
    text = re.sub(r"^target datalayout.*$", f'target datalayout = "{LAYOUT}"', text, flags=re.MULTILINE)
    text = re.sub(r"^target triple.*$", f'target triple = "{TRIPLE}"', text, flags=re.MULTILINE)
    text = NOT_NEEDED.sub("", text)
    text = re.sub(
        r"^declare [^\n]*@(?:llvm\.x86\.|llvm\.aarch64\.|llvm\.fma\.f64|NRT_)[^\n]*\n", "", text, flags=re.MULTILINE
    )
    text = text.replace("@llvm.fma.f64(", "@saltus.fused(").replace("= common ", "= internal ")
    return _with_room(text) + SUPPORT


def _with_room(text: str) -> str:
    """Give local variables that hold addresses the size that they have on this machine.

    Numba clears and copies them by that size, which is larger than with 32-bit addresses.
    """
    kinds = sorted(set(re.findall(r" = alloca (\{[^\n]*?\}|\[[^\n]*?\])(?:, align \d+)?$", text, re.MULTILINE)))
    holding = [kind for kind in kinds if "ptr" in kind]
    declared = "".join(f"@v{k} = external global {kind}\n" for k, kind in enumerate(holding))
    module = llvm.parse_assembly(declared)
    here = llvm.create_target_data("e-p:64:64-i64:64")
    for k, kind in enumerate(holding):
        size = here.get_abi_size(module.get_global_variable(f"v{k}").global_value_type)
        found = re.compile(rf" = alloca {re.escape(kind)}(?:, align \d+)?$", re.MULTILINE)
        text = found.sub(f" = alloca [{size} x i8], align 16", text)
    return text


def _exported(name: str, function: Function) -> str:
    """A wrapper in LLVM's language that JavaScript can call: no 64-bit integers, results in memory."""
    structs = 2 * function.structs
    given, passed, widened = [f"ptr %s{k}" for k in range(structs)], [f"ptr %s{k}" for k in range(structs)], []
    for k, kind in enumerate(function.arguments):
        if kind == types.int64:
            given.append(f"i32 %a{k}")
            widened.append(f" %w{k} = sext i32 %a{k} to i64")
            passed.append(f"i64 %w{k}")
        else:
            text = f"{'double' if kind == types.float64 else 'ptr'} %a{k}"
            given.append(text)
            passed.append(text)
    results = _results(function)
    parts = "{" + ", ".join(results) + "}" if len(results) > 1 else (results or ["ptr"])[0]
    lines = [f"define i32 @{name}({', '.join(given)}) {{", f" %ret = alloca {parts}", " %error = alloca ptr", *widened]
    lines.append(f" %code = call i32 @{function.symbol}({', '.join(['ptr %ret', 'ptr %error', *passed])})")
    for k, kind in enumerate(results):
        place = (
            f"getelementptr inbounds {parts}, ptr %ret, i32 0, i32 {k}"
            if len(results) > 1
            else "bitcast ptr %ret to ptr"
        )
        lines += [f" %p{k} = {place}", f" %r{k} = load {kind}, ptr %p{k}"]
        value = f"%r{k}"
        if kind != "double":
            value = f"%d{k}"
            lines.append(f" {value} = sitofp {kind} %r{k} to double")
        lines.append(f" %o{k} = getelementptr inbounds [{RESULTS} x double], ptr @saltus.results, i32 0, i32 {k}")
        lines.append(f" store double {value}, ptr %o{k}")
    return "\n".join([*lines, " ret i32 %code", "}", ""])


def _results(function: Function) -> list[str]:
    """LLVM types of the results of a function."""
    kind = function.result
    if kind == types.none:
        return []
    parts: Any = kind if isinstance(kind, types.BaseTuple) else [kind]
    return ["double" if part == types.float64 else "i8" if part == types.boolean else "i64" for part in parts]
