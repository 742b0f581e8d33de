"""Sweeps: runs of a model over a grid of values in parallel processes, measured and stored as they finish."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from saltus.arguments import flag, several, words
from saltus.errors import OptionError, warn
from saltus.integrate.registry import IntegratorChoice
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.record.sweep import Sweep
from saltus.record.table.sweep_table import NOT_RUN
from saltus.record.trajectory import Trajectory
from saltus.simulate.laws.contact import ContactChoice
from saltus.simulate.setup import Sampling, Setup
from saltus.study.executors.executor import Executor, Workers, make_executor, on_cluster
from saltus.study.jobs import Task, of_functions
from saltus.study.keeping import Keeper, keeper
from saltus.study.measures.measure import Measure, parse, unit_of
from saltus.study.request.identity import identity, title
from saltus.study.request.points import checked_model, points_of
from saltus.study.running import Runner, as_dict, run_all
from saltus.study.sampling import Distributed
from saltus.study.settings import Setting, Start
from saltus.study.side_by_side import any_together
from saltus.study.tally import Tally
from saltus.terminal.display import notebook_html
from saltus.terminal.progress import Progress, ProgressChoice

RUNS = "finished {task.completed:.0f} of {task.total:.0f} runs"
SIDE_BY_SIDE = 64  # runs per structure, on average, for batches to be worth compiling

#: The name of a measure, or a function of the recording that returns a number.
MeasureChoice: TypeAlias = str | Callable[[Trajectory], float]


def sweep(
    model: ModelSource,
    values: Mapping[str, Iterable[Setting] | Distributed] | Mapping[str, Mapping[str, Setting]],
    measures: MeasureChoice | Iterable[MeasureChoice] | Mapping[str, MeasureChoice] = ("energy_drift", "wall_time"),
    duration: float = 10.0,
    *,
    together: bool = False,
    integrator: IntegratorChoice = None,
    contact: ContactChoice = "soft",
    timestep: float | None = None,
    sample: float | None = None,
    key: int | str | None = None,
    ignore: Iterable[str] = (),
    samples: int | None = None,
    sampling: str = "random",
    seed: int = 0,
    workers: Workers = None,
    reproducible: bool = True,
    save: str | os.PathLike[str] | None = None,
    progress: ProgressChoice = None,
) -> Sweep:
    """Run a model with many values and measure each run.

    `values`: {path: values} for all combinations, the last path changing fastest (`together`: the first values of all
    paths, then the second, ...); or {name: {path: value}} for cases with names. A path is an attribute of the model's
    file (`geom[ball]/size`), a value of the compiled model (`body_mass[bob]`), of the state at the start
    (`qpos[hinge]`), a control (`ctrl[motor]`), `integrator` or `contact`: see `saltus.study.settings`.

    `measures`: names such as "height[ball].apex" (see `saltus.study.measures`), functions of the recording that
    return a number, or {name: either}. `integrator`, `contact`, `timestep` (s): as `Simulation` takes them; `key`: the
    keyframe to start from. `sample` (s): None for some 2000 samples at steps' ends.

    `samples`: how many runs to make with values from distributions, which a path may have instead of a list (see
    `saltus.study.sampling`); `sampling`: "random", "sobol" or "latin"; `seed`: of either.

    `workers`: processes (None: one per CPU; with 1 all is done in this one), or the address of a Dask scheduler, or a
    `distributed.Client`. Results are the same to the bit; workers of another version of Saltus or another kind of
    processor are refused unless `reproducible` is False. Where many runs differ in numbers alone, they move side by
    side as in `saltus.Batch`.

    `save`: a file (.json) or Zarr store (.zarr, for large sweeps) that keeps the results as they come; where it is
    there already, runs that it holds are not repeated. `progress`: True, False, None (a bar in a terminal) or a
    function of the fraction done.

    A run that diverges or that is refused is a row that says so. Ctrl-C, or the loss of the cluster, ends the sweep
    early with what is done, and a warning.

    Raises:
        OptionError: a path, value, measure or option that cannot be used; or `save` is of another model or settings.
        RecordError: `save` cannot be read or written, or another sweep is writing it.
    """
    cases, points, paths = points_of(values, together, samples, sampling, seed)
    start = start_of(Setup(model, integrator, contact, timestep), ignore, key)
    work = Work(workers, reproducible, save, progress)
    return run_points(start, points, paths, measures, Sampling(duration, sample), work, cases=cases)


def start_of(setup: Setup, ignore: Iterable[str], key: int | str | None) -> Start:
    """The start of all runs, with a model that can be sent to other processes: text, a name, a Path or a Model."""
    model = setup.model
    kept = model if isinstance(model, str | os.PathLike | Model) else load(model)
    return Start(dataclasses.replace(setup, model=kept), tuple(words("ignore", ignore)), key)


@dataclasses.dataclass(frozen=True)
class Work:
    """Workers of a sweep, whether results must be reproducible, where they are kept, and the display of progress."""

    workers: Workers = None
    reproducible: bool = True
    save: str | os.PathLike[str] | None = None
    progress: ProgressChoice = None


class Rounds(Protocol):
    """Chooses the next runs by the results of earlier ones.

    Attributes:
        total: runs at most.
    """

    total: int

    def next(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Values of the next runs, given the rows of all runs so far; empty when done."""
        ...


def run_points(
    start: Start,
    points: list[dict[str, Any]],
    paths: Sequence[str],
    measures: MeasureChoice | Iterable[MeasureChoice] | Mapping[str, MeasureChoice],
    sampling: Sampling,
    work: Work,
    *,
    cases: tuple[str, ...] = (),
    rounds: Rounds | None = None,
) -> Sweep:
    """Run a list of points, a dictionary of values by path for each, then those that `rounds` adds; see `sweep`."""
    functions = _functions(measures)
    named_measures = _named_measures(functions)
    base = checked_model(start, points, paths)
    own = {name: f for name, f in functions.items() if callable(f)}
    task = Task(start, sampling, named_measures)
    if rounds is None:
        together = any_together(task, points, least=SIDE_BY_SIDE, recorded=bool(own))
    else:  # later runs are unknown, but share one structure: it must be the only one
        together = rounds.total >= SIDE_BY_SIDE and any_together(task, points, least=len(points), recorded=bool(own))
    task = dataclasses.replace(task, together=together)
    about = identity(task, base, functions)
    units = _units(functions, named_measures, base)
    with (
        make_executor(work.workers, reproducible=flag("reproducible", work.reproducible)) as executor,
        keeper(work.save, about, points, paths, cases, dict(zip(functions, units, strict=True)), task) as kept,
    ):
        task = dataclasses.replace(kept.task, **_measuring(own, executor))
        tally = Tally(points, paths, next(iter(zip(functions, units, strict=True))))
        rows = _run(executor, task, own, points, kept, work.progress, tally, rounds)
    return Sweep(
        title=title(base, start, sampling.duration, paths),
        paths=tuple(paths),
        points=points,
        cases=cases,
        measures=tuple(functions),
        units=units,
        **_results(rows, functions),
    )


# ------------------------------------------------------------ arguments


def _functions(measures: Any) -> dict[str, str | Callable[[Trajectory], float]]:
    """Measures by their columns in the table."""
    if isinstance(measures, str) or callable(measures):
        measures = [measures]
    if not isinstance(measures, Mapping):
        measures = several("measures", measures)
        names = [m if isinstance(m, str) else getattr(m, "__name__", repr(m)) for m in measures]
        if repeated := next((name for k, name in enumerate(names) if name in names[:k]), ""):
            raise OptionError(f"two measures have the name {repeated!r}; name them, as {{name: measure}}")
        measures = dict(zip(names, measures, strict=True))
    if not measures:
        raise OptionError("a sweep needs at least one measure")
    return dict(measures)


def _named_measures(functions: Mapping[str, Any]) -> tuple[Measure, ...]:
    """Measures given by name, each renamed to its column in the table."""
    found = ((name, parse(f)) for name, f in functions.items() if isinstance(f, str))
    return tuple(dataclasses.replace(measure, name=name) for name, measure in found)


def _measuring(own: Mapping[str, Callable[[Trajectory], float]], executor: Executor) -> dict[str, Any]:
    """Arguments of `Task` for the user's own measures: taken on a cluster's workers, to send no recordings, else here.

    Functions called here may have side effects in this process; a cluster's workers have copies of them.
    """
    if not on_cluster(executor):
        return {"whole": bool(own)}
    from saltus.study.executors.cluster import Carried

    return {"functions": {name: Carried(function) for name, function in own.items()}}


def _units(functions: Mapping[str, Any], measures: Sequence[Measure], base: Model) -> tuple[str, ...]:
    units = {m.name: unit_of(m, base).strip() for m in measures}
    return tuple(units.get(name, "") for name in functions)


def _results(rows: Sequence[dict[str, Any]], measures: Iterable[str]) -> dict[str, Any]:
    """Results of all runs as arguments of `Sweep`: values [runs, measures], nan where nothing was measured."""
    found = [[(row.get("measures") or {}).get(name) for name in measures] for row in rows]
    return {
        "values": np.array([[math.nan if x is None else x for x in row] for row in found]).reshape(len(rows), -1),
        "status": [row["status"] for row in rows],
        "notes": [row.get("note", "") for row in rows],
    }


# ------------------------------------------------------------ running


def _run(
    executor: Executor,
    task: Task,
    own: Mapping[str, Callable[[Trajectory], float]],
    points: list[dict[str, Any]],
    kept: Keeper,
    progress: Any,
    tally: Tally,
    rounds: Rounds | None,
) -> list[dict[str, Any]]:
    """Do the runs that are not stored yet; return the rows of all runs. Ctrl-C ends it early with a warning."""
    why = "interrupted"
    picture = lambda: notebook_html(tally.so_far(kept.rows()))  # noqa: E731
    try:
        with Progress(progress, rounds.total if rounds else len(points), RUNS, unit="runs", picture=picture) as bar:
            if dashboard := getattr(executor, "dashboard", ""):
                bar.note(f"dashboard of the cluster: {dashboard}")
            store = kept.store_for(executor, here=task.whole)
            left = kept.left(blocks=store is not None)
            if left and not on_cluster(executor) and min(executor.slots, len(left)) > 1:
                Runner(task).compile([points[left[0]]])  # compiled once, so that the workers need not all do it at once
            _count(kept, tally, 0)
            bar.update(tally.done, tally.words())
            while True:
                for numbers, rows in run_all(executor, task, points, left, store):
                    for k, row in zip(numbers, rows, strict=True):
                        if store is None:
                            kept.add(k, _with_own(as_dict(row), row.trajectory, own, points[k]))
                    tally.add(row.status for row in rows)
                    bar.update(tally.done, tally.words())
                more = rounds.next(kept.rows()) if rounds else []
                if not more:
                    break
                before = len(points)
                points += more
                kept.extend(more)
                _count(kept, tally, before)
                left = [k for k in kept.left(blocks=False) if k >= before]
            if rounds:
                bar.total = len(points)
                bar.update(tally.done, tally.words())
    except KeyboardInterrupt:
        pass
    except ConnectionError as error:
        why = str(error)
    finally:
        kept.write()
    rows = kept.rows()
    missing = sum(row["status"] == NOT_RUN for row in rows)
    if missing:
        warn(f"{why}; {len(rows) - missing} of {len(rows)} runs are done")
    return rows


def _count(kept: Keeper, tally: Tally, first: int) -> None:
    """Count the stored runs, from run `first` on."""
    if kept.count:
        again = {*kept.left(blocks=False)}
        tally.add(row["status"] for k, row in enumerate(kept.rows()) if k >= first and k not in again)


def _with_own(
    row: dict[str, Any],
    trajectory: Trajectory | None,
    own: Mapping[str, Callable[[Trajectory], float]],
    values: Mapping[str, Any],
) -> dict[str, Any]:
    """A row with the user's own measures of the recording that came with it."""
    if trajectory is not None:
        row["measures"] = row["measures"] | of_functions(own, values, trajectory)
    return row
