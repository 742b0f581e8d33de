"""Routines as Python modules that Numba compiles."""

from __future__ import annotations

from saltus.symbolic.export.python_code import PythonSpeller, assignments, docstring, module, steps
from saltus.symbolic.export.routine import Routine


def numba_source(routine: Routine) -> str:
    """The text of a module with two functions.

    `NAME_into(arguments..., results...)` is compiled: it takes arrays of doubles, writes into the arrays given for the
    results and allocates nothing. `NAME(arguments...)` makes the arrays and calls it. The text has to be in a file of
    its own, beside which Numba keeps the compiled code.

    Raises:
        OptionError: an expression contains functions that Python's `math` lacks.
    """
    into = f"{routine.name}_into"
    speller = PythonSpeller(routine, routine.program(), reserved=[into])
    needed = set(speller.program.symbols)
    body = [
        f"{speller.names[s]} = {name}[{i}]"
        for name, symbols in routine.arguments.items()
        for i, s in enumerate(symbols)
        if s in needed
    ]
    body += steps(speller)
    for name in routine.results:
        body += assignments(routine, speller, name, zeros=False)  # each would cost Numba 10 ms
    arguments = ", ".join(routine.arguments)
    text = [
        '@numba.njit(cache=True, error_model="numpy")',
        f"def {into}({', '.join([*routine.arguments, *routine.results])}):",
        *docstring(routine, speller),
        *(f"    {line}" for line in body or ["pass"]),
        "",
        "",
        f"def {routine.name}({arguments}):",
        f'    """Results of `{into}` in new arrays."""',
        *(f"    {name} = np.asarray({name}, np.float64)" for name in routine.arguments),
        *(f"    {name} = np.empty({shape})" for name, shape in routine.shapes.items()),
        f"    {into}({', '.join([*routine.arguments, *routine.results])})",
        f"    return {', '.join(routine.results)}",
    ]
    return module(speller, ["import numba"], text)
