"""Storage of a sweep's rows: none, a file (.json) or a Zarr store (.zarr)."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from saltus.arguments import path_of
from saltus.errors import OptionError
from saltus.record.io.sweep_store import Kept, key_of
from saltus.record.io.sweep_zarr import SweepStore
from saltus.record.table.sweep_table import NOT_RUN
from saltus.study.executors.executor import Executor, on_cluster
from saltus.study.jobs import Task

TOGETHER = "side by side"  # key of this setting among the stored ones
BLOCKS = {True: 1024, False: 8}  # runs in a block of a store: side by side, or one by one


class Keeper(Protocol):
    """Storage for the rows of a sweep.

    Attributes:
        task: the task, with the settings of the runs that are stored already.
    """

    task: Task

    @property
    def count(self) -> int:
        """Number of runs that are stored already."""
        ...

    def left(self, *, blocks: bool) -> list[int]:
        """Runs that remain to be done; with `blocks`, the first run of each unfinished block."""
        ...

    def add(self, k: int, row: dict[str, Any]) -> None:
        """Store the row of run k."""
        ...

    def write(self) -> None:
        """Write everything not yet written."""
        ...

    def rows(self) -> list[dict[str, Any]]:
        """Rows of all runs; a run that was not begun has a row that says so."""
        ...

    def extend(self, points: Sequence[dict[str, Any]]) -> None:
        """Append runs. OptionError: the storage has a fixed size."""
        ...

    def store_for(self, executor: Executor, *, here: bool) -> SweepStore | None:
        """Store that workers write to directly; None where they cannot, or where rows are completed `here`."""
        ...


@contextmanager
def keeper(
    save: str | os.PathLike[str] | None,
    about: Mapping[str, Any],
    points: Sequence[dict[str, Any]],
    paths: Sequence[str],
    cases: Sequence[str],
    measures: Mapping[str, str],
    task: Task,
) -> Iterator[Keeper]:
    """Open the storage for the rows of these runs, chosen by the suffix of `save`.

    Raises:
        OptionError: the file belongs to another sweep.
        RecordError: the file cannot be read or written, or another sweep is writing it.
    """
    if save is None or not os.fspath(path_of("save", save)).endswith(".zarr"):
        with Kept(save, about, optional={TOGETHER: task.together}) as kept:
            together = bool(kept.about.get(TOGETHER, False))
            yield _InFile(kept, points, dataclasses.replace(task, together=together))
        return
    own = {**about, TOGETHER: task.together}
    lock = SweepStore(save, (), 0, 1).lock()
    try:
        store = SweepStore.open(save, own, points, paths, cases, measures, BLOCKS[task.together])
        yield _InStore(store, points, task)
    finally:
        lock.release()


class _InFile:
    """Rows in memory, and in a file where there is one."""

    def __init__(self, kept: Kept, points: Sequence[dict[str, Any]], task: Task):
        self._kept, self._points, self.task = kept, list(points), task
        self._keys = [key_of(point) for point in points]
        self._lost: dict[int, dict[str, Any]] = {}  # rows that are not to be kept

    @property
    def count(self) -> int:
        return len(self._keys) - len(self.left(blocks=False))

    def left(self, *, blocks: bool) -> list[int]:
        return [k for k, key in enumerate(self._keys) if key not in self._kept.rows]

    def add(self, k: int, row: dict[str, Any]) -> None:
        if row["status"] == "lost":
            self._lost[k] = row
        else:
            self._kept.add(self._points[k], row, self._keys[k])

    def write(self) -> None:
        self._kept.write()

    def rows(self) -> list[dict[str, Any]]:
        found = (self._kept.rows.get(key) or self._lost.get(k) for k, key in enumerate(self._keys))
        return [row or {"status": NOT_RUN} for row in found]

    def extend(self, points: Sequence[dict[str, Any]]) -> None:
        self._points += points
        self._keys += map(key_of, points)

    def store_for(self, executor: Executor, *, here: bool) -> SweepStore | None:
        return None


class _InStore:
    """Rows in a Zarr store, a block at a time."""

    def __init__(self, store: SweepStore, points: Sequence[dict[str, Any]], task: Task):
        self._store, self.task = store, task
        self._firsts = store.left()
        self._block = store.block
        self._waiting: dict[int, dict[int, dict[str, Any]]] = {}  # rows of incomplete blocks

    def _runs(self, first: int) -> range:
        return range(first, first + self._store.size(first))

    @property
    def count(self) -> int:
        return self._store.count - sum(len(self._runs(first)) for first in self._firsts)

    def left(self, *, blocks: bool) -> list[int]:
        return self._firsts if blocks else [k for first in self._firsts for k in self._runs(first)]

    def add(self, k: int, row: dict[str, Any]) -> None:
        first = k - k % self._block
        rows = self._waiting.setdefault(first, {})
        rows[k] = row
        if len(rows) == len(self._runs(first)):
            self._store.write(first, [rows[i] for i in self._runs(first)])
            del self._waiting[first]

    def write(self) -> None:
        """Write the blocks of which some runs are done."""
        for first, rows in self._waiting.items():
            self._store.write(first, [rows.get(i, {"status": NOT_RUN}) for i in self._runs(first)])

    def rows(self) -> list[dict[str, Any]]:
        return self._store.rows()

    def extend(self, points: Sequence[dict[str, Any]]) -> None:
        raise OptionError("a Zarr store has a fixed number of runs; save those of a refinement in a .json file")

    def store_for(self, executor: Executor, *, here: bool) -> SweepStore | None:
        if here or (on_cluster(executor) and not executor.sees(self._store.path)):  # type: ignore[attr-defined]
            return None
        return self._store
