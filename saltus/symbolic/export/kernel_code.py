"""Routines as kernels of Saltus: for floats, lanes and duals, in place of the engine's own equations of motion."""

from __future__ import annotations

import hashlib
import linecache
import os
from collections.abc import Mapping, Sequence
from typing import Any

from saltus.errors import OptionError
from saltus.number import functions
from saltus.number.kernels import kernel
from saltus.symbolic.export.program import Program
from saltus.symbolic.export.python_code import assignment
from saltus.symbolic.export.routine import Routine
from saltus.symbolic.export.spelling import Speller, quoted, summary

FIELDS = {"M": "M", "bias": "qfrc_bias"}  # results, and the fields of Data that they are written to
NAMES = {"M": "inertia"}  # kernels have the names of their results, but for these
OWN = ("m", "d", "zero")
HELPERS = {
    "tangent": [
        "@kernel(inline=True)",
        "def tangent(x):",
        '    """sin x / cos x."""',
        "    s, c = sincos(x)",
        "    return s / c",
    ],
    "sign_of": [
        "@kernel(inline=True)",
        "def sign_of(x):",
        '    """-1, 0 or 1, as a number of x\'s kind."""',
        "    zero = 0.0 * x",
        "    return where(x > 0.0, zero + 1.0, where(x < 0.0, zero - 1.0, zero))",
    ],
}


class KernelSpeller(Speller):
    """Kernels: `sincos` for both at once, `where` for choices."""

    language = "a kernel"
    functions = {  # noqa: RUF012
        **{name: name for name in ("exp", "sqrt", "atan2")},
        "tan": "tangent",
        "abs": "absolute",
        "sign": "sign_of",
        "max": "maximum",
        "min": "minimum",
    }
    constants = {"pi": "3.141592653589793", "e": "2.718281828459045"}  # noqa: RUF012

    def __init__(self, routine: Routine, program: Program, constant: Mapping[Any, float]) -> None:
        super().__init__(routine, program, reserved=[*OWN, *HELPERS, *NAMES.values()])
        given = set(constant)
        nodes = self.graph.nodes
        self.varying = {n for n in program.varies if nodes[n][0] == "symbol" and nodes[n][1] not in given}
        for n in sorted(program.varies):
            if any(x in self.varying for x in self.graph.operands(n)):
                self.varying.add(n)

    def call(self, name: str, arguments: list[int]) -> str:
        if name == "pow":
            base, exponent = arguments
            if exponent in self.varying:
                raise OptionError("a power with an exponent that varies cannot be written as a kernel")
            self.used.add("power")
            return f"power({self.of_kind(base)}, {self.node(exponent)})"
        if name in ("max", "min"):
            spelled, text = self.functions[name], self.of_kind(arguments[0])
            self.used.add(spelled)
            for n in arguments[1:]:
                text = f"{spelled}({text}, {self.of_kind(n)})"
            return text
        spelled = super().call(name, arguments)
        return spelled if name != "atan2" else f"atan2({', '.join(map(self.of_kind, arguments))})"

    def choice(self, condition: str, value: str, otherwise: str) -> str:
        self.used.add("where")
        return f"where({condition}, {_on_zero(value)}, {_on_zero(otherwise)})"

    def joined(self, kind: str, conditions: list[str]) -> str:
        return "(" + (" & " if kind == "and" else " | ").join(f"({c})" for c in conditions) + ")"

    def of_kind(self, node: int) -> str:
        """A node as a number of the data's kind; constants are turned into one."""
        return self.node(node) if node in self.varying else _on_zero(self.node(node))


def kernel_source(
    routine: Routine,
    pattern: Sequence[tuple[int, int]],
    *,
    values: Mapping[Any, float] | None = None,
    fields: Mapping[str, str] | None = None,
    calls: Mapping[str, str] | None = None,
) -> str:
    """The text of a module with a kernel of (m, d) for each result: `inertia` for "M", `bias` for "bias", ...

    Args:
        routine: its arguments are fields of Data ("qpos", "qvel", ...), read entry by entry.
        pattern: (row, column) of each entry of `d.M`, in the engine's order.
        values: numbers of symbols that are constants of the module; their arguments need not be fields of Data.
        fields: the field of Data that a result is written to: {"M": "M", "bias": "qfrc_bias"}, and for others a
            field with the result's name.
        calls: by the names of arguments that are no fields of Data, a pattern of the text that computes entry {i}.

    Raises:
        OptionError: an expression contains functions that kernels lack, or the pattern does not fit M.
    """
    import symengine

    constants = {symengine.sympify(s): float(x) for s, x in (values or {}).items()}
    targets = {name: {**FIELDS, **(fields or {})}.get(name, name) for name in routine.results}
    used: set[str] = set()
    kernels, needed, names = [], set(), {}
    for name in routine.results:
        speller = KernelSpeller(routine, routine.program(name), constants)
        entries = _entries(routine, name, pattern)
        kernels += ["", "", *_kernel(routine, speller, name, entries, targets[name], constants, calls or {})]
        used |= speller.used
        needed.update(speller.program.symbols)
        names = speller.names
    listed = [
        f"{names[s]} = {constants[s]!r}" + (f"  # {meaning}" if meaning else "")
        for s in constants
        if s in needed
        for meaning in [" ".join(routine.meanings.get(s, "").split())]
    ]
    helpers = [line for name in HELPERS if name in used for line in ("", "", *HELPERS[name])]
    imported = (used | {"sincos"} if "tangent" in used else set(used)) | ({"where"} if "sign_of" in used else set())
    imported = sorted(imported - set(HELPERS))
    lines = ['"""Equations as kernels of Saltus, generated by it."""', ""]
    lines += [f"from saltus.number.functions import {', '.join(imported)}"] if imported else []
    lines += ["from saltus.number.kernels import kernel"]
    return "\n".join([*lines, *(["", *listed] if listed else []), *helpers, *kernels]) + "\n"


def load_kernels(
    source: str, file: str | os.PathLike[str] | None = None, known: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The kernels of a generated text by their names; `known`: kernels that it calls, by the names it has for them.

    Unlike an import it works for a file anywhere, and compiled code is found again by the next process: that is kept
    under the name of a module which must be there, here that of all kernels. `file`: where the text is, for tracebacks.
    """
    other = {**vars(functions), **(known or {})}
    file = f"<saltus kernels {hashlib.sha256(source.encode()).hexdigest()[:16]}>" if file is None else os.fspath(file)
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace: dict[str, Any] = {"__name__": kernel.__module__, **(known or {})}
    exec(compile(source, file, "exec"), namespace)
    return {name: x for name, x in namespace.items() if hasattr(x, "py_func") and other.get(name) is not x}


def _on_zero(text: str) -> str:
    """A sum as a number of the data's kind."""
    return f"zero - {text[1:]}" if text.startswith("-") else f"zero + {text}"


def _entries(routine: Routine, name: str, pattern: Sequence[tuple[int, int]]) -> list[tuple[str, tuple[int, ...]]]:
    """Places in a field of Data, and the entries of a result that go there."""
    shape = routine.shapes[name]
    if len(shape) == 1:
        return [(str(i), (i,)) for i in range(shape[0])]
    if name != "M":
        return [(f"{i}, {j}", (i, j)) for i in range(shape[0]) for j in range(shape[1])]
    rows, columns = shape
    for i, j in pattern:
        if not (0 <= i < rows and 0 <= j < columns):
            raise OptionError(f"the pattern of M has an entry ({i}, {j}), M is {rows} by {columns}")
    return [(str(k), (int(i), int(j))) for k, (i, j) in enumerate(pattern)]


def _kernel(
    routine: Routine,
    speller: KernelSpeller,
    name: str,
    entries: Sequence[tuple[str, tuple[int, ...]]],
    target: str,
    constants: Mapping[Any, float],
    calls: Mapping[str, str],
) -> list[str]:
    program = speller.program
    needed = set(program.symbols) - set(constants)
    body = [
        f"{speller.names[s]} = " + (calls[array].format(i=i) if array in calls else f"d.{array}[{i}]")
        for array, symbols in routine.arguments.items()
        for i, s in enumerate(symbols)
        if s in needed
    ]
    for step in program.steps:
        body += _step(speller, step)
    for place, index in entries:
        if index not in routine.computed(name):
            index = index[::-1]
        coefficient, node = program.results[name, index]
        text = speller.value(coefficient, node)
        constant = node not in speller.varying or not coefficient
        body += assignment(f"d.{target}[{place}]", _on_zero(text) if constant else text)
    if any("zero" in line for line in body):
        first = next((array for array, symbols in routine.arguments.items() if set(symbols) - set(constants)), None)
        body.insert(0, f"zero = 0.0 * d.{first}[0]" if first else "zero = 0.0 * d.time")
    head = NAMES.get(name, name)
    first, *rest = quoted(_about(routine, speller, name, target))
    doc = [f'    """{first}', *(f"    {line}" if line else "" for line in rest), '    """']
    return ["@kernel", f"def {head}(m, d):", *doc, *(f"    {line}" for line in body or ["pass"])]


def _about(routine: Routine, speller: KernelSpeller, name: str, target: str) -> list[str]:
    lines = summary(routine, speller)
    results = lines.index("Results")
    shape = ", ".join(map(str, routine.shapes[name]))
    return [*lines[:results], f"Writes {target}: {name} [{shape}].", *lines[-2:]]


def _step(speller: KernelSpeller, step: tuple[int, ...]) -> list[str]:
    kind, *parts = speller.graph.nodes[step[0]]
    if kind != "call" or parts[0] not in ("sin", "cos"):
        return [line for n in step for line in assignment(speller.name(n), speller.definition(n))]
    speller.used.add("sincos")
    names = {speller.graph.nodes[n][1]: speller.name(n) for n in step}
    both = f"{names.get('sin', '_')}, {names.get('cos', '_')}"
    return [f"{both} = sincos({speller.node(parts[1][0])})"]
