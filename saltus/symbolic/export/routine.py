"""Routines to become code: named arrays of symbols in, named arrays of expressions out.

routine = Routine("pendulum", {"qpos": [q], "qvel": [v], "parameters": [m, l, g]}, {"M": M, "bias": list(bias)})
counts(routine)             # operations, each common subexpression once
python_source(routine)      # in saltus.symbolic.export.python_code; see also numba_code, c_code, kernel_code
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from saltus.errors import OptionError
from saltus.record.files.atomic_write import write_whole
from saltus.symbolic.export.graph import different_parts
from saltus.symbolic.export.identifiers import identifier
from saltus.symbolic.export.program import Counts, Program, tree_counts

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Routine:
    """A function of arrays of numbers, by its expressions.

    Attributes:
        name: of the function in code.
        arguments: name of each array that goes in, and the symbols that are its entries.
        results: name of each array that comes out, and its expressions: a list [n], or nested lists or a matrix of
            SymPy or SymEngine [n, m]. A column of expressions is a matrix [n, 1]; `list(column)` is a vector.
        about: text for the head of the code.
        meanings: what symbols are, with units, for the head of the code.
        symmetric: names of results that are symmetric matrices; only their lower triangles are computed.
        shapes: of the results.

    Raises:
        OptionError: names are no identifiers or not unique, an entry is no symbol or is there twice, a result is not
            a vector or matrix, or holds a symbol that is in no argument.
    """

    name: str
    arguments: Mapping[str, Sequence[Any]]
    results: Mapping[str, Any]
    about: str = ""
    meanings: Mapping[Any, str] = field(default_factory=dict)
    symmetric: Sequence[str] = ()
    shapes: Mapping[str, Shape] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        import symengine

        def entries(name: str, symbols: Sequence[Any]) -> list[Any]:
            found = [symengine.sympify(s) for s in symbols]
            for s in found:
                if not s.is_Symbol:
                    raise OptionError(f"argument '{name}' of routine '{self.name}' holds {s}, which is not a symbol")
            return found

        put = object.__setattr__
        put(self, "arguments", {name: entries(name, symbols) for name, symbols in self.arguments.items()})
        put(self, "meanings", {symengine.sympify(s): str(text) for s, text in self.meanings.items()})
        put(self, "shapes", {name: _shape(name, result) for name, result in self.results.items()})
        put(self, "results", {name: _flat(name, result, symengine.sympify) for name, result in self.results.items()})
        put(self, "symmetric", tuple(self.symmetric))
        self._check_names()
        self._check_symbols()

    def _check_names(self) -> None:
        names = [self.name, *self.arguments, *self.results]
        for name in names:
            if identifier(name) != name:
                raise OptionError(f"routine '{self.name}': '{name}' cannot be a name in code")
            if names.count(name) > 1:
                raise OptionError(f"routine '{self.name}': the name '{name}' is there twice")
        for name in self.symmetric:
            shape = self.shapes.get(name, ())
            if len(shape) != 2 or shape[0] != shape[1]:
                raise OptionError(f"routine '{self.name}': '{name}' is not a square matrix, it cannot be symmetric")

    def _check_symbols(self) -> None:
        symbols = [s for entries in self.arguments.values() for s in entries]
        if len(set(symbols)) < len(symbols):
            twice = next(s for s in symbols if symbols.count(s) > 1)
            raise OptionError(f"routine '{self.name}': symbol {twice} is there twice")
        parts = different_parts(e for entries in self.results.values() for e in entries)
        unknown = sorted({str(e) for e in parts if e.is_Symbol} - {str(s) for s in symbols})
        if unknown:
            raise OptionError(f"routine '{self.name}': {', '.join(unknown)} is in no argument")

    def computed(self, name: str) -> list[tuple[int, ...]]:
        """Indices of a result's entries that are computed: all, or the lower triangle where it is symmetric."""
        shape = self.shapes[name]
        if len(shape) == 1:
            return [(i,) for i in range(shape[0])]
        return [(i, j) for i in range(shape[0]) for j in range(i + 1 if name in self.symmetric else shape[1])]

    def entry(self, name: str, index: tuple[int, ...]) -> Any:
        """One expression of a result, of SymEngine."""
        shape = self.shapes[name]
        return self.results[name][index[0] * shape[1] + index[1] if len(shape) == 2 else index[0]]

    def program(self, *names: str) -> Program:
        """The steps that compute the results with the given names, all by default; kept."""
        return self._programs(names or tuple(self.results))

    @functools.cached_property
    def _programs(self) -> Any:
        def make(names: tuple[str, ...]) -> Program:
            places = [(name, index) for name in names for index in self.computed(name)]
            return Program(places, [self.entry(*place) for place in places], self.arguments)

        return functools.cache(make)


def counts(routine: Routine) -> Counts:
    """Operations of the routine's code, in which each common subexpression is computed once."""
    return routine.program().counts()


def counts_written_out(routine: Routine) -> Counts:
    """Operations of the routine's expressions as they are written, without common subexpressions."""
    return tree_counts(routine.entry(name, index) for name in routine.results for index in routine.computed(name))


def write(path: str | os.PathLike[str], text: str) -> None:
    """Write generated text to a file, whole or not at all.

    Raises:
        RecordError: the file cannot be written.
    """
    write_whole(path, text.encode(), what="code")


def _shape(name: str, result: Any) -> Shape:
    if hasattr(result, "shape"):
        shape = tuple(int(n) for n in result.shape)
        if len(shape) in (1, 2):
            return shape
    elif isinstance(result, Iterable):
        rows = list(result)
        lengths = {len(row) if _is_row(row) else None for row in rows}
        if lengths == {None} or not rows:
            return (len(rows),)
        if len(lengths) == 1:
            return len(rows), *(n for n in lengths if n is not None)
    raise OptionError(f"result '{name}' is neither a vector nor a matrix of expressions")


def _is_row(row: Any) -> bool:
    return isinstance(row, list | tuple) or hasattr(row, "shape")


def _flat(name: str, result: Any, sympify: Any) -> list[Any]:
    rows = result.tolist() if hasattr(result, "tolist") else list(result)
    entries = [x for row in rows for x in (row if _is_row(row) else [row])]
    try:
        return [sympify(x) for x in entries]
    except (TypeError, RuntimeError, ValueError, NotImplementedError) as error:
        raise OptionError(f"result '{name}' cannot be written as code: {error}") from error
