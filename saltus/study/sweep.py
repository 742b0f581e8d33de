"""Sweeps: runs of a model over a grid of values in parallel processes, measured and stored as they finish."""

import contextlib
import dataclasses
import hashlib
import itertools
import math
import os
import time as clock
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from saltus.arguments import flag, positive, several, words
from saltus.errors import DivergenceError, EventError, ModelError, OptionError, SaltusError, SaltusWarning, warn
from saltus.integrate.registry import IntegratorChoice, find_integrator
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.model.xml_overrides import source_of
from saltus.record.io.sweep_store import Kept, key_of
from saltus.record.sweep import Sweep
from saltus.record.table.stored_model import StoredModel
from saltus.record.table.sweep_table import DONE, NOT_RUN, named, text_of
from saltus.record.trajectory import Trajectory
from saltus.simulate.laws.contact import ContactChoice, find_contact_law
from saltus.simulate.simulation import Simulation
from saltus.study.measures import Measure, measured, parse, unit_of
from saltus.study.settings import Setting, Setup, check_path, of_state
from saltus.study.workers import Lost, results, worker_count
from saltus.terminal.progress import Progress, ProgressChoice
from saltus.version import __version__

SAMPLES = 2000  # about as many where none are asked for
RUNS = "finished {task.completed:.0f} of {task.total:.0f} runs"

#: The name of a measure, or a function of the recording that returns a number.
MeasureChoice: TypeAlias = str | Callable[[Trajectory], float]


class Job(NamedTuple):
    """One run: how it begins, its values, and what to bring back."""

    setup: Setup
    values: dict[str, Any]
    duration: float
    sample: float | None
    measures: tuple[Measure, ...]
    whole: bool  # whether the recording is wanted


class Row(NamedTuple):
    """What came of a run."""

    status: str
    note: str = ""
    measures: dict[str, float] | None = None
    trajectory: Trajectory | None = None


def sweep(
    model: ModelSource,
    values: Mapping[str, Iterable[Setting]] | Mapping[str, Mapping[str, Setting]],
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
    workers: int | None = None,
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

    `workers`: processes (None: one per CPU); with 1 all is done in this one. `save`: a file (.json) that keeps the
    results as they come; where it is there already, runs that it holds are not repeated. `progress`: True, False, None
    (a bar in a terminal) or a function of the fraction done.

    A run that diverges or that is refused is a row that says so. Ctrl-C ends the sweep early with what is done, and a
    warning.

    Raises:
        OptionError: a path, value, measure or option that cannot be used; or `save` is of another model or settings.
        RecordError: `save` cannot be read or written, or another sweep is writing it.
    """
    cases, points, paths = _points(values, together)
    functions = _functions(measures)
    named_measures = _named_measures(functions)
    setup = Setup(_kept_source(model), tuple(words("ignore", ignore)), integrator, contact, timestep, key)
    duration = positive("duration", duration)
    sample = None if sample is None else positive("sample", sample)
    base = _check(setup, points, paths)
    whole = any(callable(f) for f in functions.values())
    jobs = [Job(setup, point, duration, sample, named_measures, whole) for point in points]
    with Kept(save, _about(setup, base, functions, duration, sample)) as kept:
        rows = _run(jobs, kept, functions, worker_count(workers), progress)
    return Sweep(
        title=_title(base, setup, duration, paths),
        paths=tuple(paths),
        points=points,
        cases=cases,
        measures=tuple(functions),
        units=_units(functions, named_measures, base),
        **_results(rows, functions),
    )


# ------------------------------------------------------------ what is asked for


def _points(values: Mapping[str, Any], together: bool) -> tuple[tuple[str, ...], list[dict[str, Any]], list[str]]:
    """Names of cases, values of each run, and all paths."""
    if not isinstance(values, Mapping) or not values:
        raise OptionError("a sweep needs values: {path: values}, or {name: {path: value}}")
    if all(isinstance(value, Mapping) for value in values.values()):
        points = [dict(point) for point in values.values()]
        paths = list(dict.fromkeys(check_path(path) for point in points for path in point))
        return tuple(map(str, values)), points, paths
    paths = [check_path(path) for path in values]
    lists = [_listed(path, given) for path, given in values.items()]
    if flag("together", together):
        if len({len(column) for column in lists}) > 1:
            counts = ", ".join(f"{path} has {len(column)}" for path, column in zip(paths, lists, strict=True))
            raise OptionError(f"paired values must have equal numbers: {counts}")
        rows = list(zip(*lists, strict=True))
    else:
        rows = list(itertools.product(*lists))
    points = [dict(zip(paths, row, strict=True)) for row in rows]
    if len({key_of(point) for point in points}) < len(points):
        raise OptionError("a sweep has the same values twice")
    return (), points, paths


def _listed(path: str, given: Any) -> list[Any]:
    """The values of a path, from a list or an array."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise OptionError(f"{path}: expected a list of values, got {given!r}")
    found = [value.tolist() if isinstance(value, np.ndarray | np.generic) else value for value in given]
    if not found:
        raise OptionError(f"{path}: no values given")
    return found


def _functions(measures: Any) -> dict[str, str | Callable[[Trajectory], float]]:
    """Measures by what the table calls them."""
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
    """Those that are given by name, called as the table calls them."""
    found = ((name, parse(f)) for name, f in functions.items() if isinstance(f, str))
    return tuple(dataclasses.replace(measure, name=name) for name, measure in found)


def _kept_source(model: Any) -> Any:
    """What can be sent to other processes: text, a name, a Path, a Model."""
    return model if isinstance(model, str | os.PathLike | Model) else load(model)


def _check(setup: Setup, points: Sequence[dict[str, Any]], paths: Sequence[str]) -> Model:
    """Try every value alone, so that what cannot be is said before anything runs; the model as it is."""
    base = setup.model({})
    for path in paths:
        tried: set[str] = set()
        for point in points:
            if path not in point or (what := key_of({path: point[path]})) in tried:
                continue
            tried.add(what)
            _try(setup, base, path, point[path])
    return base


def _try(setup: Setup, base: Model, path: str, value: Any) -> None:
    if path == "integrator":
        find_integrator(value, base.opt.integrator)
    elif path == "contact":
        find_contact_law(value)
    else:
        try:
            setup.simulation({path: value}) if of_state(path) else setup.model({path: value})
        except ModelError as error:
            raise OptionError(f"{path} = {text_of(value)}: {error}") from error


def _units(functions: Mapping[str, Any], measures: Sequence[Measure], base: Model) -> tuple[str, ...]:
    units = {m.name: unit_of(m, base).strip() for m in measures}
    return tuple(units.get(name, "") for name in functions)


def _about(
    setup: Setup, base: Model, functions: Mapping[str, Any], duration: float, sample: float | None
) -> dict[str, Any]:
    """What all runs have in common, as it is kept."""
    image = hashlib.sha256(StoredModel.of(base).mjb)
    source = source_of(setup.source)
    image.update(b"" if source is None else source.text.encode())
    return {
        "version of Saltus": __version__,
        "model": f"{base.name} {image.hexdigest()[:16]}",
        "measures": {name: f if isinstance(f, str) else _code_of(f) for name, f in functions.items()},
        "duration": duration,
        "sample": sample,
        "integrator": _described(setup.integrator),
        "contact": _described(setup.contact),
        "timestep": setup.timestep,
        "key": setup.key,
        "ignore": sorted(setup.ignore),
    }


def _described(choice: Any) -> str | None:
    return choice if choice is None else choice.casefold() if isinstance(choice, str) else repr(choice)


def _code_of(function: Callable[..., Any]) -> str:
    """A function by its name and what it does, as far as its code says it."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", repr(type(function)))
    return (
        name
        if code is None
        else f"{name} {hashlib.sha256(code.co_code + repr(code.co_consts).encode()).hexdigest()[:8]}"
    )


def _results(rows: Sequence[dict[str, Any]], measures: Iterable[str]) -> dict[str, Any]:
    """What came of all runs, as `Sweep` takes it: values [runs, measures], nan where nothing was measured."""
    found = [[(row.get("measures") or {}).get(name) for name in measures] for row in rows]
    return {
        "values": np.array([[math.nan if x is None else x for x in row] for row in found]).reshape(len(rows), -1),
        "status": [row["status"] for row in rows],
        "notes": [row.get("note", "") for row in rows],
    }


def _title(base: Model, setup: Setup, duration: float, paths: Sequence[str]) -> str:
    """What all runs have in common, in a line."""
    parts = [base.name]
    if "integrator" not in paths:
        parts.append(find_integrator(setup.integrator, base.opt.integrator).name)
    if not {"opt.timestep", "option/timestep"} & set(paths):
        parts.append(f"timestep {base.opt.timestep if setup.timestep is None else setup.timestep:.4g} s")
    return ", ".join([*parts, f"{duration:g} s"])


# ------------------------------------------------------------ running


def _run(
    jobs: list[Job], kept: Kept, functions: Mapping[str, Any], workers: int, progress: Any
) -> list[dict[str, Any]]:
    """Run what is not kept yet; the rows of all runs. Ends early at Ctrl-C, with a warning."""
    left = [k for k, job in enumerate(jobs) if key_of(job.values) not in kept.rows]
    lost: dict[int, Any] = {}  # rows of runs that are not to be kept, by number
    done = len(jobs) - len(left)
    try:
        with Progress(progress, len(jobs), RUNS) as bar:
            if left and min(workers, len(left)) > 1:
                _compile(jobs[left[0]])
            bar.update(done)
            for number, row in results(run_one, [jobs[k] for k in left], workers):
                k = left[number]
                if isinstance(row, Lost):
                    lost[k] = {"status": "lost", "note": str(row)}
                else:
                    kept.add(jobs[k].values, _row(row, functions, jobs[k]))
                done += 1
                bar.update(done)
    except KeyboardInterrupt:
        pass
    finally:
        kept.write()
    rows = [kept.rows.get(key_of(job.values)) or lost.get(k) for k, job in enumerate(jobs)]
    if None in rows:
        warn(f"interrupted; {len(rows) - rows.count(None)} of {len(rows)} runs are done")
    return [row or {"status": NOT_RUN} for row in rows]


def _row(row: Any, functions: Mapping[str, str | Callable[[Trajectory], float]], job: Job) -> dict[str, Any]:
    """A run's row as it is kept, with the user's own measures."""
    if isinstance(row, Exception):
        raise row
    found = dict(row.measures or {})
    if row.trajectory is not None:
        for name, function in functions.items():
            try:
                if not isinstance(function, str):
                    found[name] = float(function(row.trajectory))
            except (TypeError, ValueError) as error:
                raise OptionError(f"measure {name} of the run with {named(job.values)}: {error}") from error
    return {"status": row.status, "note": row.note, "measures": found}


def _compile(job: Job) -> None:
    """Take a step, so that workers find compiled what they need and do not all compile it at once."""
    with contextlib.suppress(SaltusError):  # the row of this run will say so
        _short_run(job.setup.simulation(job.values))


def _short_run(sim: Simulation) -> None:
    """Take a step and go back to the start."""
    start = sim.snapshot()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaltusWarning)
        sim.run(sim.timestep, sim.timestep, progress=False)
    sim.restore(start)
    sim.engine.events, sim.engine.unconverged = sim.events[:0], 0


def run_one(job: Job) -> Row:
    """Run and measure."""
    try:
        sim = job.setup.simulation(job.values)
        _short_run(sim)  # what has to be compiled or loaded is not part of what the run takes
        sample = _default_sample(sim.timestep, job.duration) if job.sample is None else job.sample
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SaltusWarning)
            began = clock.perf_counter()
            trajectory = sim.run(job.duration, sample, progress=False)
            seconds = clock.perf_counter() - began
            if "interrupted_at" in trajectory.attrs:
                raise KeyboardInterrupt
            found = measured(job.measures, sim, trajectory, seconds)
    except DivergenceError as error:
        return Row("diverged", str(error))
    except EventError as error:
        return Row("stopped", str(error))
    except SaltusError as error:
        return Row("refused", str(error))
    note = "; ".join(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, SaltusWarning)))
    return Row(DONE, note, found, trajectory if job.whole else None)


def _default_sample(h: float, duration: float) -> float:
    """A whole number of steps, so that no step is cut for a sample."""
    every = max(1, math.ceil(duration / h / SAMPLES))
    return min(every * h, duration)
