"""Routines as C99 functions."""

from __future__ import annotations

from collections.abc import Iterable

from saltus.symbolic.export.program import Program
from saltus.symbolic.export.routine import Routine
from saltus.symbolic.export.spelling import Speller, broken, summary

SIGN = [
    "static double sign(double x)",
    "{",
    "    return (double)((x > 0.0) - (x < 0.0));",
    "}",
    "",
]


class CSpeller(Speller):
    """C99 with the functions of <math.h>."""

    language = "C"
    functions = {  # noqa: RUF012
        **{name: name for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")},
        **{name: name for name in ("exp", "log", "sqrt", "pow", "sign")},
        "abs": "fabs",
        "max": "fmax",
        "min": "fmin",
    }
    constants = {"pi": "3.141592653589793", "e": "2.718281828459045"}  # noqa: RUF012

    def __init__(self, routine: Routine, program: Program) -> None:
        super().__init__(routine, program)

    def call(self, name: str, arguments: list[int]) -> str:
        if name in ("max", "min") and len(arguments) > 1:
            spelled, text = self.functions[name], self.node(arguments[0])
            self.used.add(spelled)
            for n in arguments[1:]:
                text = f"{spelled}({text}, {self.node(n)})"
            return text
        return super().call(name, arguments)

    def choice(self, condition: str, value: str, otherwise: str) -> str:
        return f"({condition} ? {value} : {otherwise})"

    def joined(self, kind: str, conditions: list[str]) -> str:
        return "(" + (" && " if kind == "and" else " || ").join(conditions) + ")"


def c_source(routine: Routine) -> str:
    """The text of a C99 file with one function; matrices are row by row.

        void NAME(const double *restrict argument, ..., double *restrict result, ...)

    Arrays must not overlap. Nothing but <math.h> is needed; link with -lm.

    Raises:
        OptionError: an expression contains functions that C99 lacks.
    """
    speller = CSpeller(routine, routine.program())
    body = _declarations(routine, speller)
    for step in speller.program.steps:
        for n in step:
            body += _statement(f"const double {speller.name(n)}", speller.definition(n))
    body += [""] if body else []
    for name in routine.results:
        body += _assignments(routine, speller, name)
    lines = _comment([*summary(routine, speller), "", "Matrices are row by row."])
    lines += ["#include <math.h>", ""] if speller.used else []
    lines += SIGN if "sign" in speller.used else []
    lines += [*_signature(routine, "restrict "), "{", *(f"    {line}" if line else "" for line in body), "}"]
    return "\n".join(lines) + "\n"


def c_header(routine: Routine) -> str:
    """The text of a header that declares the function of `c_source`, for C and C++."""
    guard = f"{routine.name.upper()}_H"
    speller = CSpeller(routine, routine.program())
    lines = [
        *_comment([*summary(routine, speller), "", "Matrices are row by row. Arrays must not overlap."]),
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *_signature(routine, "", ";"),
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _signature(routine: Routine, restrict: str, end: str = "") -> list[str]:
    parameters = [f"const double *{restrict}{name}" for name in routine.arguments]
    parameters += [f"double *{restrict}{name}" for name in routine.results]
    start = f"void {routine.name}("
    return broken(f"{start}{', '.join(parameters)}){end}", " " * len(start))


def _declarations(routine: Routine, speller: CSpeller) -> list[str]:
    """Declarations of symbols read from arrays; only of those used, since compilers warn of others."""
    needed = set(speller.program.symbols)
    lines = []
    for name, symbols in routine.arguments.items():
        used = [(i, s) for i, s in enumerate(symbols) if s in needed]
        lines += [f"const double {speller.names[s]} = {name}[{i}];" for i, s in used] or [f"(void){name};"]
    lines += [f"(void){name};" for name, shape in routine.shapes.items() if not all(shape)]
    return lines


def _assignments(routine: Routine, speller: CSpeller, name: str) -> list[str]:
    shape, lines = routine.shapes[name], []
    for index in routine.computed(name):
        target = f"{name}[{_offset(shape, index)}]"
        if name in routine.symmetric and index[0] != index[1]:
            target = f"{name}[{_offset(shape, index[::-1])}] = {target}"
        lines += _statement(target, speller.value(*speller.program.results[name, index]))
    return lines


def _offset(shape: tuple[int, ...], index: tuple[int, ...]) -> int:
    return index[0] * shape[1] + index[1] if len(shape) == 2 else index[0]


def _statement(target: str, text: str) -> list[str]:
    return broken(f"{target} = {text};", "    ", 106)


def _comment(lines: Iterable[str]) -> list[str]:
    """Lines as a comment, with nothing in them that ends it or has a meaning to a compiler."""
    safe = [line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?") for line in lines]
    return ["/*", *(f" * {line}".rstrip().rstrip("\\") for line in safe), " */", ""]
