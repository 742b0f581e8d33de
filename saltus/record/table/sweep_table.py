"""The table of a sweep: values and measures of each run."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import path_of, whole_number
from saltus.errors import OptionError
from saltus.record.files.atomic_write import write_whole
from saltus.terminal.display import notebook_html

DONE, NOT_RUN = "done", "not run"
FAILED = ("diverged", "stopped", "refused", "lost")  # other values of a row's status
CASE = "case"  # title of the column with cases' names


@dataclass(frozen=True, eq=False, repr=False)
class SweepTable:
    """Measures of runs with varied values of some paths; made by `saltus.sweep`.

    Attributes:
        title: model, integrator, timestep and duration, in one line.
        paths: paths of the varied values.
        points: values of each run by path; a missing path has the model's own value.
        cases: names of the runs, where they have names, or empty.
        measures, units: names of the measures, and their SI units.
        values [n, k]: the measures of each run; nan where it did not finish.
        status: of each run, "done", or "diverged", "stopped" (by an event), "refused", "lost" (its process ended),
            "not run" (Ctrl-C came before).
        notes: of each run, why it did not finish, or its warnings.
    """

    title: str
    paths: tuple[str, ...]
    points: list[dict[str, object]]
    measures: tuple[str, ...]
    units: tuple[str, ...]
    values: NDArray[np.float64]
    status: list[str]
    notes: list[str]
    cases: tuple[str, ...] = field(default=())

    @property
    def interrupted(self) -> bool:
        """Whether some runs were not begun."""
        return NOT_RUN in self.status

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, measure: str) -> NDArray[np.float64]:
        """A measure of all runs [n]."""
        if measure not in self.measures:
            raise KeyError(f"{measure!r} was not measured; there are: {', '.join(self.measures)}")
        return self.values[:, self.measures.index(measure)]

    def array(self) -> NDArray[np.void]:
        """The table as a structured array [n]: paths, measures, "status", and "case" where runs have names.

        A path is a column of numbers where all its values are numbers, otherwise of text.
        """
        columns: dict[str, NDArray[Any]] = {CASE: np.array(self.cases)} if self.cases else {}
        columns |= {path: self._column(path) for path in self.paths}
        columns |= {name: self[name] for name in self.measures} | {"status": np.array(self.status)}
        out = np.empty(len(self), [(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            out[name] = column
        return out

    def _column(self, path: str) -> NDArray[Any]:
        """Values of a path, as numbers where all are numbers."""
        given = [point.get(path, math.nan) for point in self.points]
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in given)
        return (
            np.array(given, float)
            if numbers
            else np.array([text_of(p[path]) if path in p else "" for p in self.points])
        )

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table, numbers in full, with status and notes, to a CSV file; whole or not at all.

        Raises:
            RecordError: the file cannot be written.
        """
        path_of("path", path)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        cases = [[name] for name in self.cases] or [[] for _ in self.points]
        writer.writerow([*([CASE] if self.cases else []), *self.paths, *self.measures, "status", "note"])
        for case, point, row, status, note in zip(
            cases, self.points, self.values, self.status, self.notes, strict=True
        ):
            given = [_in_full(point[p]) if p in point else "" for p in self.paths]
            writer.writerow([*case, *given, *map(repr, row.tolist()), status, note])
        write_whole(path, text.getvalue().encode(), what="table")

    def headers(self) -> list[str]:
        """Headings of the table's columns: cases or paths, then measures."""
        units = [f"{name} ({unit})" if unit else name for name, unit in zip(self.measures, self.units, strict=True)]
        return [*self._named(), *units, *([] if set(self.status) == {DONE} else ["status"])]

    def _named(self) -> Sequence[str]:
        """Columns that identify a run."""
        return (CASE,) if self.cases else self.paths

    def cells(self) -> list[list[str]]:
        """The table's rows as text, in the order of `headers`."""
        out = []
        for k, (point, row, status) in enumerate(zip(self.points, self.values, self.status, strict=True)):
            which = [self.cases[k]] if self.cases else [text_of(point[p]) if p in point else "-" for p in self.paths]
            numbers = ["-" if math.isnan(value) else f"{value:.5g}" for value in row]
            out.append([*which, *numbers, *([] if set(self.status) == {DONE} else [status])])
        return out

    def footer(self) -> list[str]:
        """Lines below the table: the runs' notes, each text once."""
        runs: dict[str, list[str]] = {}
        for k, note in enumerate(self.notes):
            if note:
                runs.setdefault(note, []).append(self.label(k))
        return [
            f"{' and '.join(found) if len(found) < 3 else f'{len(found)} runs'}: {note}" for note, found in runs.items()
        ]

    def label(self, k: int) -> str:
        """Name of run k: its case, or its values."""
        if not -len(self.points) <= (k := whole_number("k", k, least=-len(self.points))) < len(self.points):
            raise OptionError(f"there is no run {k}; there are {len(self.points)}")
        return self.cases[k] if self.cases else named(self.points[k])

    def table(self) -> str:
        """The table as text."""
        rows = [self.headers(), *self.cells()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.title, *lines, *self.footer()])

    def __repr__(self) -> str:
        return self.table()

    _repr_html_ = notebook_html


def _in_full(value: Any) -> str:
    """A value with all digits."""
    return (
        repr(value)
        if isinstance(value, float)
        else " ".join(map(str, value))
        if isinstance(value, list)
        else text_of(value)
    )


def text_of(value: Any) -> str:
    """A value as it is shown: "0.01", "0.01 1", "rk4"."""
    if value is None:
        return "(none)"
    if isinstance(value, str):
        return value
    try:
        numbers = np.asarray(value, float).reshape(-1)
    except (TypeError, ValueError):
        return str(value)
    return " ".join(f"{number:.6g}" for number in numbers)


def named(point: Mapping[str, Any]) -> str:
    """A run by its values: "body_mass[bob] = 2, integrator = rk4"."""
    return ", ".join(f"{path} = {text_of(value)}" for path, value in point.items()) or "the model as it is"
