"""One model under many integrators: ranked by error against a converged reference, energy drift and cost."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from saltus.arguments import flag, function, positive, several
from saltus.errors import OptionError
from saltus.integrate.integrator import Integrator
from saltus.integrate.registry import IntegratorChoice, find_integrator
from saltus.integrate.registry import integrators as known_integrators
from saltus.integrate.tableau import ButcherTableau
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.record.comparison import Comparison
from saltus.record.table.comparison_table import Reference, rank
from saltus.record.trajectory import Trajectory
from saltus.simulate.engine.initial_state import missing_in_discrete
from saltus.simulate.laws.contact import ContactChoice
from saltus.simulate.running.certify import state_difference
from saltus.simulate.setup import Sampling
from saltus.study.comparing.laws import law_labels
from saltus.study.comparing.runs import Found, Runs
from saltus.study.executors.executor import Executor, Workers, make_executor, results
from saltus.terminal.progress import Progress

SAMPLES = 400  # samples, about, where no interval is given
RUNS = "compared {task.completed:.0f} of {task.total:.0f} runs"

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
    timing of another. `progress`: a function of the current run's name and the fraction done.

    An integrator that diverges or a contact law that is refused is a row that says so. Errors are differences of
    positions in the tangent space; where the reference itself does not converge to the end, as in chaotic motion, they
    count up to there and the table says so.
    """
    model = load(model)
    h = positive("timestep", model.opt.timestep if timestep is None else timestep)
    sampling = Sampling(duration, sample)
    if reference is not None and not isinstance(reference, Trajectory):
        raise OptionError(f"reference must be a Trajectory, got {reference!r}")
    laws = law_labels(contacts)
    chosen = _chosen(integrators, model)
    report = _Report(progress, len(laws) * (len(chosen) + 1))
    comparison = Comparison(
        model_name=model.name,
        contacts=tuple(laws),
        timestep=h,
        duration=sampling.duration,
        sample=sampling.period(h, about=SAMPLES),
    )
    with report, make_executor(workers, reproducible=flag("reproducible", reproducible)) as executor:
        for label, law in laws.items():
            runs = Runs(model, label, law, h, comparison.duration, comparison.sample)
            _compare_law(runs, chosen, reference, comparison, executor, report, asked=integrators is not None)
    comparison.rows.sort(key=rank)
    comparison.differences.update(_differences(model, comparison))
    return comparison


class _Report:
    """Reports what is being done, and the fraction done, to a caller."""

    def __init__(self, call: Report | None, total: int):
        self._call = None if call is None else function("progress", call)
        self._total, self._done = total, 0
        # in a terminal, the runs have bars of their own
        self._line = Progress(None if call is None else False, total, RUNS, in_terminal=False)

    def __enter__(self) -> _Report:
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
    runs: Runs,
    chosen: list[Integrator],
    given: Trajectory | None,
    out: Comparison,
    executor: Executor,
    report: _Report,
    *,
    asked: bool,
) -> None:
    """Fill in all rows under one contact law. `asked`: whether the user chose the integrators; if so, rows
    say which are refused."""
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


def _reference(runs: Runs) -> Reference:
    """Return the reference of a law; runs in any process."""
    return runs.reference()


def _one(job: tuple[Runs, Integrator, Reference]) -> Found:
    """Return an integrator's row; runs in any process."""
    runs, integrator, reference = job
    return runs.compare(integrator, reference)


def _unless_raised(result: Any) -> Any:
    if isinstance(result, BaseException):
        raise result
    return result


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


def _differences(model: Model, comparison: Comparison) -> dict[str, np.ndarray]:
    """Largest position difference [T] (rad, m) of the reference under each other law from the first's, by label."""
    runs = {label: r.trajectory for label, r in comparison.references.items() if r.trajectory is not None}
    first, *others = runs or [""]
    return {
        f"{first} and {other}": abs(state_difference(model, runs[other], runs[first])[:, : model.nv]).max(axis=1)
        for other in others
        if model.nv and len(runs[other]) == len(runs[first])
    }
