"""Progress of a sweep whose results go to a Zarr store, seen from any process that can read the store."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import path_of, positive
from saltus.errors import RecordError
from saltus.record.io.sweep.stored import STATUSES, StoredSweep, naming
from saltus.record.io.sweep_zarr import block_times
from saltus.record.table.sweep_table import DONE, FAILED, NOT_RUN
from saltus.study.tally import failures
from saltus.terminal.pace import rate_words, time_words

WINDOW = 60.0  # s before the last result over which the rate is measured
BLOCKS = 6  # blocks over which the rate is measured, at least
QUIET = 60.0  # s without a result that are worth mentioning
SHARE = 10  # wait before the next look, in multiples of the last one's duration


@dataclass(frozen=True)
class Standing:
    """Progress of a sweep.

    Attributes:
        title: what is run, in a line.
        total, finished: numbers of runs: all, and those that are over, whatever came of them.
        failed: how many did not finish, by why: "diverged", "stopped", "refused", "lost".
        measures: least, median and greatest value of each measure so far, by its name; nan where there is none.
        units: SI units of the measures, by name.
        rate: runs per second lately; nan where too few are finished.
        quiet: s since the last result.
    """

    title: str
    total: int
    finished: int
    failed: dict[str, int]
    measures: dict[str, tuple[float, float, float]]
    units: dict[str, str]
    rate: float
    quiet: float

    @property
    def complete(self) -> bool:
        """Whether all runs are over."""
        return self.finished == self.total

    @property
    def left(self) -> float:
        """Seconds that the rest will take at this rate; nan where there is none."""
        return (self.total - self.finished) / self.rate if self.rate > 0 else float("nan")

    def __str__(self) -> str:
        parts = [f"finished {self.finished} of {self.total} runs", failures(self.failed)]
        if not self.complete and self.quiet > QUIET:
            parts.append(f"the last result came {time_words(self.quiet)} ago")
        elif not self.complete and self.rate > 0:
            parts.append(rate_words(self.rate, self.total - self.finished, "runs"))
        return "; ".join(filter(None, parts))


def standing(path: str | os.PathLike[str]) -> Standing:
    """Read the progress of the sweep whose Zarr store is at `path`; it may be complete.

    Raises:
        RecordError: `path` is not the store of a sweep.
    """
    _check(path)
    stored = StoredSweep(path)
    stored.warn_if_unprotected()
    about = stored.header["about"]
    with naming(path):
        units = stored.units(about["measures"])
        title = f"{about['model'].rpartition(' ')[0]}, {about['duration']:g} s"
    rows = stored.rows(units, notes=False)
    status = rows.status
    counts = Counter({word: int(np.sum(status == k)) for k, word in enumerate(STATUSES)})
    done = status == STATUSES.index(DONE)
    return Standing(
        title=title,
        total=len(status),
        finished=len(status) - counts[NOT_RUN],
        failed={word: counts[word] for word in FAILED if counts[word]},
        measures={name: _range(column[done]) for name, column in rows.measures.items()},
        units=units,
        **_pace(block_times(path), stored.block, len(status)),
    )


def watch(path: str | os.PathLike[str], every: float = 1.0) -> Iterator[Standing]:
    """Yield a sweep's progress now and from time to time until it is complete; `every`: least seconds between looks.

    Raises:
        OptionError: `every` is not a positive number.
        RecordError: there is no store of a sweep at `path`.
    """
    every = positive("every", every)
    while True:
        began = time.perf_counter()
        found = standing(path)
        yield found
        if found.complete:
            return
        time.sleep(max(every, SHARE * (time.perf_counter() - began)))


def _check(path: str | os.PathLike[str]) -> None:
    """Raise RecordError, in plain words, for a path that is obviously not a store."""
    folder = path_of("path", path)
    why = ""
    if not os.path.exists(folder):
        why = "there is nothing"
    elif not os.path.isdir(folder):
        why = "it is a file; expected the Zarr store of a sweep, a folder that --save NAME.zarr makes"
    elif not os.path.isfile(os.path.join(folder, "zarr.json")):
        why = "the folder is not the Zarr store of a sweep"
    if why:
        raise RecordError(folder, why, action="read", what="sweep")


def _range(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Least, median and greatest of the numbers that are finite."""
    good = values[np.isfinite(values)]
    if not len(good):
        return math.nan, math.nan, math.nan
    return float(good.min()), float(np.median(good)), float(good.max())


def _pace(blocks: dict[int, float], size: int, count: int) -> dict[str, float]:
    """Rate (runs/s) and time (s) since the last result, from the times at which blocks were written."""
    if not blocks:
        return {"rate": float("nan"), "quiet": 0.0}
    order = sorted(blocks, key=lambda k: (blocks[k], k))
    last = blocks[order[-1]]
    recent = sum(blocks[k] > last - WINDOW for k in order)
    counted = order[-max(recent, BLOCKS) :]  # the time runs from the first of these blocks
    seconds = last - blocks[counted[0]]
    runs = sum(min(size, count - k * size) for k in counted[1:])
    return {"rate": runs / seconds if seconds > 0 else float("nan"), "quiet": max(time.time() - last, 0.0)}
