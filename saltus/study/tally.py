"""Progress of a running sweep: counts of runs by status, and a first measure over a first path."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.record.table.sweep_table import FAILED
from saltus.terminal.display import notebook_html


class Tally:
    """Counts runs by status. `first`: the name and unit of a measure to be shown meanwhile."""

    def __init__(self, points: Sequence[Mapping[str, Any]], paths: Sequence[str], first: tuple[str, str]):
        self._points, self._paths, self._first = points, paths, first
        self._counts: Counter[str] = Counter()

    @property
    def done(self) -> int:
        """Number of runs that are over."""
        return self._counts.total()

    def add(self, statuses: Iterable[str]) -> None:
        """Add finished runs, by their statuses."""
        self._counts.update(statuses)

    def words(self) -> str:
        """Failed runs in words: "3 diverged, 1 lost"."""
        return failures(self._counts)

    def so_far(self, rows: Sequence[Mapping[str, Any]]) -> SweepSoFar:
        """Values measured so far, from the rows of all runs."""
        name, unit = self._first
        across = next((path for path in self._paths if all(_is_number(p.get(path)) for p in self._points)), "")
        x = [float(point[across]) for point in self._points] if across else [*range(len(self._points))]
        y = [(row.get("measures") or {}).get(name, math.nan) for row in rows]
        label = f"{name} ({unit})" if unit else name
        return SweepSoFar(across or "run", label, np.array(x, float), np.array(y, float))


@dataclass(frozen=True, eq=False)
class SweepSoFar:
    """Notebook view of a running sweep: numbers y over x, nan where there is none yet."""

    across: str
    measure: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]

    _repr_html_ = notebook_html


def failures(counts: Mapping[str, int]) -> str:
    """Failed runs in words, from the number of runs of each status."""
    return ", ".join(f"{counts[status]} {status}" for status in FAILED if counts.get(status))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
