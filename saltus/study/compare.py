"""One model under many integrators: ranked by error against a converged reference, energy drift and cost."""

import dataclasses
import math
import time as clock
import warnings
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from saltus.arguments import flag, function, positive, several
from saltus.errors import DivergenceError, EventError, OptionError, SaltusError, SaltusWarning
from saltus.integrate.integrator import Integrator
from saltus.integrate.registry import IntegratorChoice, find_integrator
from saltus.integrate.registry import integrators as known_integrators
from saltus.integrate.tableau import ButcherTableau
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.record.comparison import Comparison
from saltus.record.table.comparison_table import ComparisonRow, Reference, rank
from saltus.record.table.energy_figure import energy_error, exchanges
from saltus.record.table.trajectory_table import TrajectoryTable
from saltus.record.trajectory import Trajectory
from saltus.simulate.engine import loops
from saltus.simulate.engine.initial_state import missing_in_discrete
from saltus.simulate.laws.contact import ContactChoice, find_contact_law
from saltus.simulate.running.certify import state_difference
from saltus.simulate.simulation import Simulation
from saltus.study.executors.executor import Executor, Workers, make_executor, results
from saltus.terminal.progress import Progress

SAMPLES = 400  # about as many where none are asked for
REFERENCE = (1e-13, 1e-14)  # relative and absolute tolerance of the reference
CHECK = (1e-11, 1e-12)  # of the run that checks it
TRUSTED = 1e-6  # rad, m: errors are counted as long as the reference's own is below
REPEATS = 5  # timed, after the first, which compiles
ATTEMPTS = 10**9  # steps of an adaptive integrator
SHORTEST = 2e-3  # s that a timing lasts at least
BUDGET = 1.0  # s of compute that finer runs of one integrator may take
FINER = (2, 4, 8)
SOFT = "soft"
RUNS = "compared {task.completed:.0f} of {task.total:.0f} runs"
TOLERANCES = (1e-4, 1e-6, 1e-10)  # relative, instead of finer steps

Report = Callable[[str, float], None]


def compare(
    model: ModelSource,
    integrators: IntegratorChoice | Iterable[IntegratorChoice] = None,
    contacts: ContactChoice | Iterable[ContactChoice] = ("soft",),
    duration: float = 10.0,
    *,
    timestep: float | None = None,
    sample: float | None = None,
    reference: Trajectory | None = None,
    workers: Workers = 1,
    reproducible: bool = True,
    progress: Report | None = None,
) -> Comparison:
    """Run a model under several integrators from its start and rank them.

    `integrators`: names, Integrators or ButcherTableaus (None: all that run under a law). `contacts`: a contact law or
    several, by name or as objects (`["soft", saltus.Hard(restitution=0.5)]`), each with a reference of its own.
    `timestep` (s): None for the file's. `sample` (s): where errors are taken (None: at some 400 steps' ends).
    `reference`: a trajectory at these times to measure against; None: dopri5 with tolerances of 1e-13, checked by a
    second run. `workers`, `reproducible`: as `sweep` takes them; 1, all in this process, so that no run disturbs the
    timing of another. `progress`: a function of what is being run and the fraction done.

    An integrator that diverges or a contact law that is refused is a row that says so. Errors are differences of
    positions in the tangent space; where the reference itself does not converge to the end, as in chaotic motion, they
    count up to there and the table says so.
    """
    model = load(model)
    h = positive("timestep", model.opt.timestep if timestep is None else timestep)
    duration = positive("duration", duration)
    if reference is not None and not isinstance(reference, Trajectory):
        raise OptionError(f"reference must be a Trajectory, got {reference!r}")
    laws = law_labels(contacts)
    chosen = _chosen(integrators, model)
    report = _Report(progress, len(laws) * (len(chosen) + 1))
    comparison = Comparison(
        model_name=model.name,
        contacts=tuple(laws),
        timestep=h,
        duration=duration,
        sample=_default_sample(h, duration) if sample is None else positive("sample", sample),
    )
    with report, make_executor(workers, reproducible=flag("reproducible", reproducible)) as executor:
        for label, law in laws.items():
            runs = _Runs(model, label, law, h, duration, comparison.sample)
            _compare_law(runs, chosen, reference, comparison, executor, report, asked=integrators is not None)
    comparison.rows.sort(key=rank)
    comparison.differences.update(_differences(model, comparison))
    return comparison


def law_labels(contacts: Any) -> dict[str, Any]:
    """Contact laws by what the table calls them: their names, with what sets them apart where several share one."""
    given = [contacts] if isinstance(contacts, str) or hasattr(contacts, "name") else several("contacts", contacts)
    laws = [_law(contact) for contact in given]
    laws = [law for k, law in enumerate(laws) if law not in laws[:k]]
    if not laws:
        raise OptionError("compare: no contact laws given")
    names = [str(getattr(law, "name", law)) for law in laws]
    labels: dict[str, Any] = {}
    for law, name in zip(laws, names, strict=True):
        label = name if names.count(name) == 1 else _told_apart(law, name)
        if label in labels:
            raise OptionError(f"compare: two contact laws have the name {label!r}")
        labels[label] = law
    return labels


def _law(contact: Any) -> Any:
    """The law of a name; what there is no law of is left to be refused by the simulation."""
    try:
        return find_contact_law(contact)
    except OptionError:
        if not isinstance(contact, Hashable):
            raise
        return contact


def _told_apart(law: Any, name: str) -> str:
    """A law's name with those of its numbers that are not the usual ones."""
    if not dataclasses.is_dataclass(law):
        return repr(law)
    usual = type(law)()
    changed = [f.name for f in dataclasses.fields(law) if getattr(law, f.name) != getattr(usual, f.name)]
    return f"{name}({', '.join(f'{field}={getattr(law, field)!r}' for field in changed)})" if changed else name


class _Report:
    """Tells a caller what is being done and how much of it is done."""

    def __init__(self, call: Report | None, total: int):
        self._call = None if call is None else function("progress", call)
        self._total, self._done = total, 0
        # in a terminal, the runs have bars of their own
        self._line = Progress(None if call is None else False, total, RUNS, in_terminal=False)

    def __enter__(self) -> "_Report":
        self._line.__enter__()
        return self

    def __exit__(self, kind: object, *exc: object) -> None:
        if kind is None:
            self._line.update(self._total)
        self._line.__exit__(kind, *exc)

    def begin(self, what: str) -> None:
        if self._call is not None:
            self._call(what, self._done / self._total)
        self._line.update(self._done)
        self._done += 1


def _compare_law(
    runs: "_Runs",
    chosen: list[Integrator],
    given: Trajectory | None,
    out: Comparison,
    executor: Executor,
    report: _Report,
    *,
    asked: bool,
) -> None:
    """All rows under one contact law. `asked`: whether somebody asked for these integrators, and is to know which ones
    are refused."""
    report.begin("reference")
    refusals = [runs.refusal(integrator) for integrator in chosen]
    if all(refusals):
        out.references[runs.contact] = Reference(None, np.empty(0), 0.0, f"refused: {refusals[0]}")
        out.rows.extend(runs.row(i, note=f"refused: {text}") for i, text in zip(chosen, refusals, strict=True))
        return
    [(_, reference)] = results(executor, _reference, [runs]) if given is None else [(0, runs.given(given))]
    reference = _unless_raised(reference)
    out.references[runs.contact] = reference
    kept = [i for i, refused in zip(chosen, refusals, strict=True) if asked or not refused]
    names = iter([*(i.name for i in kept), None])
    report.begin(next(names) or "")
    for _, result in results(executor, _one, [(runs, i, reference) for i in kept]):
        found = _unless_raised(result)
        out.rows.append(found.row)
        label = out.label(found.row.name, runs.contact)
        for table, value in ((out.trajectories, found.trajectory), (out.errors, found.error)):
            if value is not None:
                table[label] = value
        if found.precision is not None:
            out.precision[label] = found.precision
        if following := next(names):
            report.begin(following)


def _reference(runs: "_Runs") -> Reference:
    """The reference of a law, wherever it is computed."""
    return runs.reference()


def _one(job: "tuple[_Runs, Integrator, Reference]") -> "_Found":
    """An integrator's row, wherever it is computed."""
    runs, integrator, reference = job
    return runs.compare(integrator, reference)


def _unless_raised(result: Any) -> Any:
    if isinstance(result, BaseException):
        raise result
    return result


@dataclass(frozen=True)
class _Found:
    """What came of one integrator: its row, the recording, errors [T], errors and costs [k, 3]."""

    row: ComparisonRow
    trajectory: Trajectory | None = None
    error: np.ndarray | None = None
    precision: np.ndarray | None = None


@dataclass(frozen=True)
class _Runs:
    """Runs of a model under one contact law, which the table calls `contact`, from its start."""

    model: Model
    contact: str
    law: Any
    timestep: float
    duration: float
    sample: float

    def refusal(self, integrator: Integrator) -> str:
        """Why an integrator does not run under this law; "" if it does."""
        try:
            self._simulation(integrator)
        except OptionError as error:
            return str(error)
        return ""

    def _simulation(self, integrator: Integrator, timestep: float | None = None) -> Simulation:
        return Simulation(self.model, integrator, self.law, self.timestep if timestep is None else timestep)

    def _run(self, sim: Simulation, *, ledger: bool = False) -> Trajectory:
        trajectory = sim.run(self.duration, self.sample, progress=False, ledger=ledger)
        if "interrupted_at" in trajectory.attrs:
            raise KeyboardInterrupt
        return trajectory

    def row(self, integrator: Integrator, **figures) -> ComparisonRow:
        """A row of the table."""
        return ComparisonRow(integrator.name, self.contact, integrator.order, integrator.kind, **figures)

    # ------------------------------------------------------------ reference

    def reference(self) -> Reference:
        """Dopri5 with tight tolerances, checked by a second run."""
        try:
            first, second = (
                self._run(self._simulation(find_integrator("dopri5", "", tolerance)))
                for tolerance in (CHECK, REFERENCE)
            )
        except SaltusError as error:
            return Reference(None, np.empty(0), 0.0, f"no reference: dopri5 {error}")
        difference = self._position_error(first, second)
        horizon = _horizon(first.time - first.time[0], difference)
        return Reference(second, difference, horizon, _reference_text(difference, horizon, self.duration))

    def given(self, trajectory: Trajectory) -> Reference:
        """A trajectory that somebody trusts. OptionError: it has other samples."""
        expected = np.arange(math.floor(self.duration / self.sample * (1 + 1e-12)) + 1) * self.sample
        shape = (len(expected), self.model.nq)
        if trajectory.qpos.shape != shape or abs(trajectory.time - trajectory.time[0] - expected).max() > 1e-9:
            raise OptionError(
                f"reference: expected {shape[0]} samples of {shape[1]} positions, every {self.sample:g} s; "
                f"got {len(trajectory)} of {trajectory.qpos.shape[1]} over {trajectory.duration:g} s"
            )
        unknown = np.full(len(expected), np.nan)
        return Reference(trajectory, unknown, self.duration, "reference: as given, with unknown error")

    def _position_error(self, a: TrajectoryTable, b: TrajectoryTable) -> np.ndarray:
        """Largest difference of a position at each sample [T] (rad, m)."""
        if not self.model.nv:
            return np.zeros(len(a))
        return abs(state_difference(self.model, b, a)[:, : self.model.nv]).max(axis=1)

    # ------------------------------------------------------------ one integrator

    def compare(self, integrator: Integrator, reference: Reference) -> _Found:
        """Run and measure it."""
        known = reference.trajectory
        ledger = isinstance(known, Trajectory) and bool(exchanges(known))
        try:
            sim = self._simulation(integrator)
            start = sim.snapshot()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", SaltusWarning)
                trajectory = self._run(sim, ledger=ledger)
                if not ledger and exchanges(trajectory):
                    trajectory = self._run(self._simulation(integrator), ledger=True)
        except DivergenceError as error:
            row = self.row(integrator, error=math.inf, energy_drift=math.inf, note=str(error))
            return _Found(row, error.trajectory if isinstance(error.trajectory, Trajectory) else None)
        except EventError as error:
            return _Found(self.row(integrator, note=f"stopped: {error}"), getattr(error, "trajectory", None) or None)
        except SaltusError as error:
            return _Found(self.row(integrator, note=f"refused: {error}"))
        seconds, steps = _cost(sim, start, self.duration)
        cost, notes = seconds / self.duration, [str(w.message) for w in caught]
        figures = {"energy_drift": energy_error(trajectory), "cost": cost, "steps_per_second": steps / seconds}
        errors = precision = None
        if known is not None:
            errors = self._position_error(trajectory, known)
            figures["error"] = _largest(errors, trajectory, reference)
            precision = self._precision(integrator, reference, figures["error"], cost)
            if figures["error"] <= np.nanmax(reference.error, initial=0.0):
                notes.append("within the reference's own error")
        row = self.row(integrator, **figures, note="; ".join(dict.fromkeys(notes)))
        return _Found(row, trajectory, errors, precision)

    def _precision(self, integrator: Integrator, reference: Reference, error: float, cost: float) -> np.ndarray:
        """Error and cost [k, 3] with finer steps or other tolerances too, where that is cheap."""
        here = integrator.parameters[1][0] if integrator.adaptive else self.timestep
        table = [(float(here), error, cost)]
        if cost * self.duration * sum(FINER) * (2 + REPEATS) < BUDGET:
            if integrator.adaptive:
                variants = [(t, find_integrator("dopri5", "", (t, t / 100)), None) for t in TOLERANCES]
            else:
                variants = [(self.timestep / f, integrator, self.timestep / f) for f in FINER]
            for size, variant, step in variants:
                table += self._finer(size, self._simulation(variant, step), reference)
        return np.array(sorted(table, reverse=True))

    def _finer(self, size: float, sim: Simulation, reference: Reference) -> list[tuple[float, float, float]]:
        start = sim.snapshot()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SaltusWarning)
                trajectory = self._run(sim)
        except (DivergenceError, EventError):
            return []
        assert reference.trajectory is not None
        errors = self._position_error(trajectory, reference.trajectory)
        seconds, _ = _cost(sim, start, self.duration)
        return [(size, _largest(errors, trajectory, reference), seconds / self.duration)]


def _largest(errors: np.ndarray, trajectory: Trajectory, reference: Reference) -> float:
    """The largest error up to where the reference is trusted."""
    counted = trajectory.time - trajectory.time[0] <= reference.horizon * (1 + 1e-12)
    return float(errors[counted].max())


def _chosen(integrators: IntegratorChoice | Iterable[IntegratorChoice], model: Model) -> list[Integrator]:
    if integrators is None:
        return [i for i in known_integrators().values() if i.name != "discrete" or not missing_in_discrete(model)]
    choices = (
        [integrators]
        if isinstance(integrators, str | Integrator | ButcherTableau)
        else several("integrators", integrators)
    )
    if not choices:
        raise OptionError("compare: no integrators given")
    for choice in choices:
        if not isinstance(choice, Hashable):
            raise OptionError.unknown("integrator", choice, known_integrators())
    found: dict[str, Integrator] = {}
    for integrator in (find_integrator(choice, model.opt.integrator) for choice in dict.fromkeys(choices)):
        if found.setdefault(integrator.name, integrator) is not integrator:
            raise OptionError(f"compare: two integrators have the name {integrator.name!r}")
    return list(found.values())


def _default_sample(h: float, duration: float) -> float:
    """A whole number of steps, so that no step is cut for a sample."""
    every = max(1, math.ceil(duration / h / SAMPLES))
    return min(every * h, duration)


def _horizon(times: np.ndarray, error: np.ndarray) -> float:
    """The last of the times [T] up to which the reference's error is small."""
    wrong = np.flatnonzero(~(error <= TRUSTED))
    return float(times[-1] if not wrong.size else times[max(wrong[0] - 1, 0)])


def _reference_text(error: np.ndarray, horizon: float, duration: float) -> str:
    how = f"dopri5 with tolerances of {REFERENCE[0]:g} and {CHECK[0]:g}"
    if (error <= TRUSTED).all():
        return f"reference: {how}, which differ by at most {error.max():.1g} (rad, m) in {duration:g} s"
    return (
        f"no reference converges beyond t = {horizon:.4g} s, where {how} differ by {TRUSTED:g} (rad, m): "
        "the motion is chaotic or not smooth; errors are measured up to there"
    )


def _differences(model: Model, comparison: Comparison) -> dict[str, np.ndarray]:
    """How far the reference under each other law is from that under the first: largest of a position [T], by label."""
    runs = {label: r.trajectory for label, r in comparison.references.items() if r.trajectory is not None}
    first, *others = runs or [""]
    return {
        f"{first} and {other}": abs(state_difference(model, runs[other], runs[first])[:, : model.nv]).max(axis=1)
        for other in others
        if model.nv and len(runs[other]) == len(runs[first])
    }


def _cost(sim: Simulation, start: np.ndarray, duration: float) -> tuple[float, float]:
    """Seconds of compute for `duration` simulated seconds, the median of several repeats, and its steps."""
    first = _timed(sim, start, duration)
    calls = max(1, math.ceil(SHORTEST / max(first, 1e-7)))
    repeats = REPEATS if first < BUDGET else 3
    seconds = median(sum(_timed(sim, start, duration) for _ in range(calls)) / calls for _ in range(repeats))
    if sim.integrator.adaptive:
        if sim.contact != SOFT:
            return seconds, math.nan
        return seconds, float(sim.engine.d.views["memory"][2:4].sum())
    return seconds, max(1, round(duration / sim.timestep))


def _timed(sim: Simulation, start: np.ndarray, duration: float) -> float:
    """Seconds that the compiled loop takes from the snapshot `start`; with other laws than the soft one, the run."""
    sim.restore(start)
    sim.engine.prepare()
    if sim.contact != SOFT:
        # a hybrid run is more than the loop of steps
        begin = clock.perf_counter()
        sim.run(duration, duration, progress=False)
    elif sim.integrator.adaptive:
        rows = np.zeros((1, 1 + sim.model.nq + sim.model.nv))
        ends = np.array([sim.time + duration])
        begin = clock.perf_counter()
        loops.record(sim.engine.m, sim.engine.d, ends, 0, ATTEMPTS, *sim.integrator.parameters, rows)
    else:
        steps = max(1, round(duration / sim.timestep))
        begin = clock.perf_counter()
        sim.engine.advance(steps, sim.timestep)
    return clock.perf_counter() - begin
