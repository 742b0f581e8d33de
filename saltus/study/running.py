"""Execution of a sweep's runs, in chunks, on an executor, with retries where a worker is lost."""

from __future__ import annotations

import contextlib
import math
import time as clock
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from saltus.errors import SaltusError
from saltus.record.io.sweep_zarr import SweepStore
from saltus.simulate.setup import Sampling
from saltus.study.executors.executor import TRIES, Executor
from saltus.study.executors.workers import Lost
from saltus.study.jobs import Row, Task, run_one, short_run
from saltus.study.side_by_side import run_side_by_side

TARGET = 1.0  # s that a chunk takes, if it is more than one run
GROWTH = 4  # growth of a chunk over the one before, at most


@dataclass(frozen=True)
class Chunk:
    """Runs done by one call: their numbers, and the attempts so far."""

    numbers: tuple[int, ...]
    tried: int = 0


@dataclass(frozen=True)
class Answer:
    """Result of one call: rows, or only their statuses where a store has the rows; and the seconds it took."""

    rows: list[Row]
    seconds: float


@dataclass(frozen=True)
class Runner:
    """Runs chunks of a sweep in whatever process it is sent to; with a store the rows are written there."""

    task: Task
    store: SweepStore | None = None

    def __call__(self, points: Sequence[Mapping[str, Any]] | None, firsts: Sequence[int] = ()) -> Answer:
        """Run and measure the runs with these values, or the store's. `firsts`: the runs at which its blocks begin."""
        began = clock.perf_counter()
        store = self.store
        points = self._stored(firsts) if points is None else points
        rows = run_side_by_side(self.task, points) if self.task.together else [run_one(self.task, p) for p in points]
        if store is not None:
            at = 0
            for first in firsts:
                count = store.size(first)
                store.write(first, [as_dict(row) for row in rows[at : at + count]])
                at += count
            rows = [Row(row.status) for row in rows]
        return Answer(rows, clock.perf_counter() - began)

    def compile(self, points: Sequence[Mapping[str, Any]] | None, firsts: Sequence[int] = ()) -> None:
        """Take a step of the first of these runs, so that the kernels of all of them are compiled."""
        values = (self._stored(firsts[:1]) if points is None else points)[0]
        with contextlib.suppress(SaltusError):  # the row of this run will report the error
            sim = self.task.start.simulation(values)
            if self.task.together:
                step = replace(self.task, sampling=Sampling(sim.timestep, sim.timestep), whole=False)
                run_side_by_side(step, [values])
            else:
                short_run(sim)

    def _stored(self, firsts: Sequence[int]) -> list[dict[str, Any]]:
        assert self.store is not None
        return [values for first in firsts for values in self.store.points(first, self.store.size(first))]


def as_dict(row: Row) -> dict[str, Any]:
    """A row as it is stored."""
    return {"status": row.status, "note": row.note, "measures": row.measures or {}}


def run_all(
    executor: Executor, task: Task, points: Sequence[Mapping[str, Any]], left: Sequence[int], store: SweepStore | None
) -> Iterator[tuple[tuple[int, ...], list[Row]]]:
    """Numbers of runs and their rows, as they come. `left`: the runs to do; with a store, the first of each block.

    Chunks grow until they take about a second. A chunk whose process ended is tried again, in halves; a run that ends
    its process again and again has a row that says so.
    """
    plan, work = _Plan(left, executor.slots, store), Runner(task, store)
    open_chunks: dict[int, Chunk] = {}
    while True:
        while len(open_chunks) < 2 * executor.slots and (chunk := plan.next()) is not None:
            tag = plan.tag()
            open_chunks[tag] = chunk
            given = None if store is not None and store.values_exact else [points[k] for k in plan.runs(chunk)]
            executor.submit(tag, work, given, chunk.numbers if store is not None else ())
        if not open_chunks:
            return
        tag, outcome = executor.next()
        chunk = open_chunks.pop(tag)
        runs = plan.runs(chunk)
        if isinstance(outcome, Lost):
            if plan.again(chunk):
                continue
            rows = [Row("lost", str(outcome))] * len(runs)
            if store is not None:
                store.write(chunk.numbers[0], [as_dict(row) for row in rows])
            yield runs, rows
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            plan.learn(len(chunk.numbers), outcome.seconds)
            yield runs, outcome.rows


class _Plan:
    """Runs that remain, and the size of the chunks that they are sent in."""

    def __init__(self, left: Sequence[int], slots: int, store: SweepStore | None):
        self._left, self._again, self._slots, self._store = deque(left), deque[Chunk](), slots, store
        self._size, self._tags = 1, 0

    def tag(self) -> int:
        self._tags += 1
        return self._tags

    def next(self) -> Chunk | None:
        """The chunk to do next; None: no run is left to start."""
        if self._again:
            return self._again.popleft()
        share = math.ceil(len(self._left) / (2 * self._slots))
        count = min(self._size, max(share, 1), len(self._left))
        return Chunk(tuple(self._left.popleft() for _ in range(count))) if count else None

    def runs(self, chunk: Chunk) -> tuple[int, ...]:
        """Numbers of the runs of a chunk."""
        if self._store is None:
            return chunk.numbers
        return tuple(k for first in chunk.numbers for k in range(first, first + self._store.size(first)))

    def again(self, chunk: Chunk) -> bool:
        """Queue a lost chunk again, in smaller parts where possible; False: it has been tried often enough."""
        if len(chunk.numbers) > 1:
            half = len(chunk.numbers) // 2
            self._again += [Chunk(chunk.numbers[:half]), Chunk(chunk.numbers[half:])]
        elif chunk.tried + 1 < TRIES:
            self._again.append(Chunk(chunk.numbers, chunk.tried + 1))
        else:
            return False
        return True

    def learn(self, count: int, seconds: float) -> None:
        """Choose the size of chunks by the time that one took."""
        wanted = TARGET * count / max(seconds, 1e-6)
        self._size = max(1, int(min(wanted, GROWTH * max(self._size, count))))
