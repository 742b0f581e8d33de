"""Runs that differ in numbers alone, side by side in the lanes of a `saltus.Batch`.

A run's numbers are those of the batch, and do not depend on the runs beside it by a bit. What a batch cannot say of one
of its simulations alone (why it diverged, that an iteration did not converge, that a value is refused) is found by
running that one by itself.
"""

import time as clock
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import DivergenceError, EventError, OptionError, SaltusError, SaltusWarning
from saltus.model.field_overrides import SCALE_MASS, STORED, flat_place
from saltus.model.tree.body_inertia import INERTIAL, PSEUDO
from saltus.model.vary.fields import MAY_VARY
from saltus.record.io.sweep_store import key_of
from saltus.record.trajectory import Trajectory
from saltus.simulate.batch import Batch
from saltus.simulate.laws.contact import Hard
from saltus.simulate.running.run import about_run
from saltus.simulate.running.schedule import ROUNDING, Plan
from saltus.simulate.simulation import Simulation
from saltus.study.jobs import Row, Task, finished, run_one
from saltus.study.measures.measure import fields_read, measured_together
from saltus.study.settings import field_of, is_field, of_state, places_of

MOST = 1 << 25  # numbers of samples that are held at once
COLUMNS = ("time", "qpos", "qvel", "act", "ctrl", "energy", "mocap_pos", "mocap_quat")  # columns of a recording
# principal inertias cannot vary by themselves: they are checked against each other, body by body
VARYING = frozenset(MAY_VARY) - {"body_inertia"} | {SCALE_MASS}


class _Apart(Exception):
    """Raised where some of these runs must be run by themselves."""


def varies(path: str) -> bool:
    """Whether runs that differ in this path may be simulations of one batch."""
    return of_state(path) or (is_field(path) and field_of(path) in VARYING)


def group_of(values: Mapping[str, Any]) -> str:
    """A key that is equal for runs that may be simulations of one batch."""
    return key_of({path: value for path, value in values.items() if not varies(path)})


def any_together(task: Task, points: Sequence[Mapping[str, Any]], *, least: int, recorded: bool) -> bool:
    """Whether some runs can share a batch: at least so many runs per structure on average, `recorded` or not."""
    groups = {group_of(point): point for point in points}
    task = replace(task, whole=recorded)
    return len(points) >= least * len(groups) and any(_Group.of(task, _fixed(point)) for point in groups.values())


def run_side_by_side(task: Task, points: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Run and measure: a row for each of the values."""
    groups: dict[str, list[int]] = {}
    for k, values in enumerate(points):
        groups.setdefault(group_of(values), []).append(k)
    rows: dict[int, Row] = {}
    for members in groups.values():
        group = _Group.of(task, _fixed(points[members[0]]))
        most = len(members) if group is None else max(1, MOST // group.numbers)
        for first in range(0, len(members), most):
            own = members[first : first + most]
            given = [points[k] for k in own]
            found = [run_one(task, values) for values in given] if group is None else group.run(given)
            rows.update(zip(own, found, strict=True))
    return [rows[k] for k in range(len(points))]


def _fixed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that all runs of a batch have in common."""
    return {path: value for path, value in values.items() if not varies(path)}


@dataclass
class _Group:
    """Runs of one structure: a simulation like them, the sample times, and the fields read at each sample."""

    task: Task
    sim: Simulation
    plan: Plan
    every: int  # steps from sample to sample
    fields: tuple[str, ...]

    @classmethod
    def of(cls, task: Task, fixed: Mapping[str, Any]) -> "_Group | None":
        """Group of the runs with these fixed values; None where they must be run one by one."""
        try:
            sim = task.start.simulation(fixed)
        except SaltusError:
            return None
        h = sim.timestep
        duration, sample = task.sampling.duration, task.sampling.period(h)
        plan, every = Plan(0.0, duration, sample, h), round(sample / h)
        regular = every >= 1 and abs(sample - every * h) < ROUNDING * h and not plan.rest
        fields = fields_read(task.measures)
        events = sim.engine.integrator.adaptive or isinstance(sim.law, Hard)
        if events or not regular or fields is None or sim.model.muscles:
            return None
        if task.recorded:
            sizes, _ = about_run(sim.engine, duration, sample)
            if sizes["ncontact"] or sizes["npoint"]:  # columns that only a single simulation fills
                return None
            columns = _columns_of(sim)
            fields = (*columns, *(f for f in fields if f not in columns))
        return cls(task, sim, plan, every, fields or ("time",))

    @property
    def numbers(self) -> int:
        """Approximate count of numbers in the samples of one run."""
        model = self.sim.model
        sizes = {"time": 1, "energy": 2, "qpos": model.nq, "qvel": model.nv, "ctrl": model.nu}
        sizes |= {"sensordata": model.nsensordata}
        return self.plan.count * sum(sizes.get(f, 9 * model.nbody) for f in self.fields) + 1

    def run(self, points: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Run and measure; in halves where not all runs fit side by side."""
        try:
            return self._run(points)
        except (_Apart, SaltusError):
            if len(points) == 1:
                return [run_one(self.task, points[0])]
            half = len(points) // 2
            return self.run(points[:half]) + self.run(points[half:])

    def _run(self, points: Sequence[Mapping[str, Any]]) -> list[Row]:
        columns = _columns(points)
        if self.task.recorded and any(p.startswith(("opt.", "qfrc_", "xfrc_")) for p in columns):
            raise _Apart  # a recording has them as attributes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SaltusWarning)
            batch = self._batch(len(points), columns)
            began = clock.perf_counter()
            samples, end = self._sampled(batch)
            seconds = (clock.perf_counter() - began) / len(points)
        if batch.unconverged:
            raise _Apart
        good = ~batch.diverged
        with np.errstate(all="ignore"):  # diverged runs are not measured
            found = measured_together(self.task.measures, batch.model, samples, seconds, good)
        rows = []
        for i, values in enumerate(points):
            if not good[i]:
                rows.append(run_one(self.task, values))
                continue
            trajectory = self._recording(batch, samples, end, i) if self.task.recorded else None
            rows.append(finished(self.task, values, found[i], trajectory))
        return rows

    def _batch(self, n: int, columns: Mapping[str, "_Column"]) -> Batch:
        """Batch of all simulations at their start."""
        sim, model = self.sim, self.sim.model
        places = {path: flat_place(model, path) for path in columns if is_field(path)}
        fields = {field for field, _ in places.values()}
        given = {*fields, *map(field_of, model.changes)}
        if SCALE_MASS in fields and given & {"body_mass", "body_inertia", INERTIAL, PSEUDO}:
            raise _Apart  # the result of scaling depends on the other values given
        vary = {STORED.get(field, field) for field in fields} | ({"body_inertia"} if SCALE_MASS in fields else set())
        made = {"integrator": sim.integrator, "timestep": sim.timestep, "contact": sim.law}
        batch = Batch(model, n, threads=1, vary=sorted(vary), **made)
        if self.task.start.key is not None:
            batch.reset(key=self.task.start.key)
        for path, (field, place) in places.items():
            self._set_field(batch, field, place, columns[path])
        for path in columns:
            if of_state(path):
                name, place = places_of(sim, path)
                values = batch.read(name)
                flat = values.reshape(n, -1)
                flat[np.ix_(columns[path].runs, np.array(place))] = columns[path].of_width(path, len(place))
                batch.write(name, values)
        return batch

    def _set_field(self, batch: Batch, field: str, place: slice, column: "_Column") -> None:
        own = STORED.get(field, field)
        owner, name = (batch.model.opt, own.removeprefix("opt.")) if own.startswith("opt.") else (batch.model, own)
        flat = getattr(owner, name).reshape(batch.n, -1)
        given = column.of_width(field, place.stop - place.start)
        if field == SCALE_MASS:  # the inertia scales with the mass, as with another density
            mass = self.sim.model.body_mass[place.start]
            if not mass:
                raise _Apart
            batch.model.body_inertia[column.runs, place.start] *= given / mass
        flat[column.runs, place] = given

    def _sampled(self, batch: Batch) -> tuple[SimpleNamespace, dict[str, Any] | None]:
        """Fields [n, T, ...] of all simulations at the samples; the final state fills samples that were not reached."""
        plan = self.plan
        read: list[tuple[NDArray[Any], ...]] = []
        for k in range(plan.count):
            _step(batch, self.every if k else 0)
            read.append(batch.read(self.fields))
        _step(batch, plan.whole - (plan.count - 1) * self.every)
        end: dict[str, Any] | None = None
        if plan.beyond and self.task.recorded:
            columns = _columns_of(self.sim)
            end = dict(zip(columns, batch.read(columns), strict=True))
        stacked = {name: np.stack([row[k] for row in read], axis=1) for k, name in enumerate(self.fields)}
        return SimpleNamespace(**stacked), end

    def _recording(self, batch: Batch, samples: SimpleNamespace, end: dict[str, Any] | None, i: int) -> Trajectory:
        """The recording of simulation i."""
        _, about = about_run(self.sim.engine, self.task.sampling.duration, self.plan.sample)
        columns: dict[str, Any] = {name: getattr(samples, name)[i] for name in _columns_of(self.sim)}
        last = None if end is None else {name: values[i] for name, values in end.items()}
        columns |= about | {"model": batch.model_of(i)}
        return Trajectory(**columns, end=last)


def _columns_of(sim: Simulation) -> tuple[str, ...]:
    """Columns of a recording of one run of this simulation."""
    return (*COLUMNS, "sensordata") if sim.model.nsensordata else COLUMNS


def _step(batch: Batch, n: int) -> None:
    """Take steps; simulations that cannot go on are marked by `diverged`."""
    try:
        if n:
            batch.step(n)
    except (DivergenceError, EventError):
        pass


@dataclass
class _Column:
    """Values of a path: the runs that have them, and a row of numbers for each."""

    runs: NDArray[np.int64]
    values: NDArray[np.float64]

    def of_width(self, path: str, width: int) -> NDArray[np.float64]:
        """The values as rows of `width` numbers; OptionError, worded as for a single run, where they do not fit."""
        if self.values.shape[1] != width or not np.isfinite(self.values).all():
            raise OptionError(f"{path} takes {width} finite numbers")
        return self.values


def _columns(points: Sequence[Mapping[str, Any]]) -> dict[str, _Column]:
    """Varied values by path; scales first, so that an inertia given too stays as given."""
    found: dict[str, tuple[list[int], list[Any]]] = {}
    for k, values in enumerate(points):
        for path, value in values.items():
            if varies(path):
                runs, given = found.setdefault(path, ([], []))
                runs.append(k)
                given.append(value)
    try:
        return {
            path: _Column(np.array(runs), np.array(given, float).reshape(len(given), -1))
            for path, (runs, given) in sorted(found.items(), key=lambda item: not item[0].startswith(SCALE_MASS))
        }
    except (TypeError, ValueError):
        raise _Apart from None
