"""Refinement: runs that gather where a measure crosses a level, changes most, or is greatest or least."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from saltus.arguments import mapping, number, path_of, whole_number
from saltus.errors import OptionError, warn
from saltus.integrate.registry import IntegratorChoice
from saltus.model.load import ModelSource
from saltus.record.sweep import Sweep
from saltus.simulate.laws.contact import ContactChoice
from saltus.simulate.setup import Sampling, Setup
from saltus.study.cells import DEEP, GOALS, Cells, Point
from saltus.study.executors.executor import Workers
from saltus.study.settings import check_path
from saltus.study.sweep import MeasureChoice, Work, run_points, start_of
from saltus.terminal.progress import ProgressChoice

START = {1: 8, 2: 8, 3: 4, 4: 2}  # parts of each range at the beginning, by the number of paths


def refine(
    model: ModelSource,
    ranges: Mapping[str, tuple[float, float]],
    measures: MeasureChoice | Iterable[MeasureChoice] | Mapping[str, MeasureChoice],
    duration: float = 10.0,
    *,
    runs: int = 200,
    level: float | None = None,
    goal: str | None = None,
    resolution: float = 0.001,
    start: int | None = None,
    integrator: IntegratorChoice = None,
    contact: ContactChoice = "soft",
    timestep: float | None = None,
    sample: float | None = None,
    key: int | str | None = None,
    ignore: Iterable[str] = (),
    workers: Workers = None,
    reproducible: bool = True,
    save: str | os.PathLike[str] | None = None,
    progress: ProgressChoice = None,
) -> Sweep:
    """Run a model with values that gather where a measure is interesting.

    `ranges`: {path: (low, high)} of one to four paths, as `saltus.sweep` names them. `measures`: as it takes them; the
    first one is looked at.

    `level`: gather where the measure crosses this value. `goal`: or, without a level, "edges" (the default), where it
    changes most or where runs begin to fail; "max", "min": where it is greatest or least.

    A grid over the ranges, of `start` parts along each (a power of two; None: 8 of one or two paths, 4 of three, 2 of
    four), is divided into boxes. In each round those that matter are halved along all axes, until they are as narrow as
    `resolution`, a share of the range, or `runs` are made. What is smaller than the first grid may be missed; where
    nothing at all is found, a warning says so.

    The other arguments are those of `saltus.sweep`. Which runs are made is the same for any number of workers. `save`
    is a .json file, in which more runs, another level or another goal go on from those that are there.

    The rows of the table are in the order of their values; its title says to which part of the ranges the measure was
    refined.

    Raises:
        OptionError: a range, path, measure or option that cannot be used; `save` is a .zarr, or of another model.
        RecordError: `save` cannot be read or written, or another sweep is writing it.
    """
    bounds = {check_path(path): _range(path, given) for path, given in mapping("ranges", ranges).items()}
    if not 1 <= len(bounds) <= len(START):
        raise OptionError(f"refine takes ranges of one to {len(START)} paths, got {len(bounds)}")
    if save is not None and os.fspath(path_of("save", save)).endswith(".zarr"):
        raise OptionError("a Zarr store has a fixed number of runs; save a refinement in a .json file")
    level, goal = _aim(level, goal)
    depth = _depth(start, len(bounds))
    cells = Cells(len(bounds), depth, _deepest(resolution), level, goal)
    rounds = _Rounds(cells, bounds, whole_number("runs", runs, least=1))
    start_of_runs = start_of(Setup(model, integrator, contact, timestep), ignore, key)
    work, sampling = Work(workers, reproducible, save, progress), Sampling(duration, sample)
    table = run_points(start_of_runs, rounds.first(), list(bounds), measures, sampling, work, rounds=rounds)
    rounds.take(table.values[:, 0].tolist())
    if cells.none_matters and not table.interrupted:
        what = "change" if level is None else f"cross {level:g}"
        warn(f"{table.measures[0]} does not {what} between the points of the first grid; start makes it finer")
    return _in_order(table, f"{table.title}, {rounds.words(table.measures[0])}")


class _Rounds:
    """Cells in the ranges of paths; implements `saltus.study.sweep.Rounds`."""

    def __init__(self, cells: Cells, bounds: Mapping[str, tuple[float, float]], total: int):
        self._cells, self._bounds, self.total = cells, bounds, total
        self._points: list[Point] = []

    def first(self) -> list[dict[str, Any]]:
        self._points = self._cells.first()
        if len(self._points) > self.total:
            raise OptionError(
                f"runs: {self.total} are fewer than the {len(self._points)} of the first grid; give more, or a lower "
                "start"
            )
        return [self._values(point) for point in self._points]

    def next(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Values of the runs of the next round."""
        self.take([next(iter((row.get("measures") or {}).values()), None) for row in rows])
        new = self._cells.next(self.total - len(self._points))
        self._points += new
        return [self._values(point) for point in new]

    def take(self, found: Sequence[float | None]) -> None:
        """Take the measured values of all runs; None becomes nan."""
        known = (math.nan if x is None else x for x in found)
        self._cells.values = dict(zip(self._points, known, strict=True))

    def words(self, measure: str) -> str:
        """Description of the refinement and its resolution, for the table's title."""
        return f"{measure} {self._cells.about}, to 1/{round(1 / self._cells.width)} of the ranges"

    def _values(self, point: Point) -> dict[str, Any]:
        """Values between two ends, both of which are exact."""
        shares = (k / (1 << DEEP) for k in point)
        return {
            path: low * (1 - x) + high * x for (path, (low, high)), x in zip(self._bounds.items(), shares, strict=True)
        }


def _range(path: str, given: Any) -> tuple[float, float]:
    try:
        low, high = given
    except (TypeError, ValueError):
        raise OptionError(f"{path}: expected its least and its greatest value, got {given!r}") from None
    low, high = number(f"{path}: the least value", low), number(f"{path}: the greatest value", high)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise OptionError(f"{path}: expected two numbers, the smaller one first, got {low:g} and {high:g}")
    return low, high


def _aim(level: Any, goal: Any) -> tuple[float | None, str]:
    """Level and goal, exactly one of which is used."""
    if level is not None:
        if goal is not None:
            raise OptionError("refine takes a level or a goal, one of them")
        level = number("level", level)
        if not math.isfinite(level):
            raise OptionError(f"level must be finite, got {level}")
    if goal is not None and (not isinstance(goal, str) or goal not in GOALS):
        raise OptionError.unknown("goal", goal, GOALS)
    return level, goal or "edges"


def _depth(start: Any, dimensions: int) -> int:
    """Depth of the first boxes."""
    parts = START[dimensions] if start is None else whole_number("start", start, least=1)
    if parts & (parts - 1):
        raise OptionError(f"start must be a power of two, got {parts}")
    return parts.bit_length() - 1


def _deepest(resolution: Any) -> int:
    """Depth at which boxes are as narrow as a share of the range."""
    share = number("resolution", resolution)
    if not 2.0**-DEEP < share <= 1:
        raise OptionError(
            f"resolution must be a share of the range, between {2.0**-DEEP:.0e} and 1, got {resolution!r}"
        )
    return math.ceil(-math.log2(share))


def _in_order(table: Sweep, title: str) -> Sweep:
    """Rows in the order of their values."""
    order = sorted(range(len(table)), key=lambda k: tuple(table.points[k].values()))
    return dataclasses.replace(
        table,
        title=title,
        points=[table.points[k] for k in order],
        values=table.values[np.array(order)],
        status=[table.status[k] for k in order],
        notes=[table.notes[k] for k in order],
    )
