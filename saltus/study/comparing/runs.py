"""Runs of one model under one contact law: its reference, and each integrator's errors and cost."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from saltus.errors import DivergenceError, EventError, OptionError, SaltusError, SaltusWarning
from saltus.integrate.integrator import Integrator
from saltus.integrate.registry import find_integrator
from saltus.model.model import Model
from saltus.record.energy_figure import energy_error, exchanges
from saltus.record.table.comparison_table import ComparisonRow, Reference
from saltus.record.table.trajectory_table import TrajectoryTable
from saltus.record.trajectory import Trajectory
from saltus.simulate.running.certify import state_difference
from saltus.simulate.simulation import Simulation
from saltus.study.comparing.cost import REPEATS, measured_cost

REFERENCE = (1e-13, 1e-14)  # relative and absolute tolerance of the reference run
CHECK = (1e-11, 1e-12)  # tolerances of the run that checks the reference
TRUSTED = 1e-6  # rad, m: errors are counted while the reference's own error is below this
BUDGET = 1.0  # s of compute allowed for the finer runs of one integrator
FINER = (2, 4, 8)
TOLERANCES = (1e-4, 1e-6, 1e-10)  # relative, instead of finer steps


@dataclass(frozen=True)
class Found:
    """Result of one integrator: its row, recording, errors [T] (rad, m), and errors and costs [k, 3]."""

    row: ComparisonRow
    trajectory: Trajectory | None = None
    error: np.ndarray | None = None
    precision: np.ndarray | None = None


@dataclass(frozen=True)
class Runs:
    """Runs of a model under one contact law, which the table calls `contact`, from its start."""

    model: Model
    contact: str
    law: Any
    timestep: float
    duration: float
    sample: float

    def refusal(self, integrator: Integrator) -> str:
        """Reason why an integrator does not run under this law; "" if it does."""
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
        """Use a trajectory given by the user as reference. OptionError: its samples are not those of these runs."""
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

    def compare(self, integrator: Integrator, reference: Reference) -> Found:
        """Run an integrator and measure its errors and cost."""
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
            return Found(row, error.trajectory if isinstance(error.trajectory, Trajectory) else None)
        except EventError as error:
            return Found(self.row(integrator, note=f"stopped: {error}"), getattr(error, "trajectory", None) or None)
        except SaltusError as error:
            return Found(self.row(integrator, note=f"refused: {error}"))
        seconds, steps = measured_cost(sim, start, self.duration)
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
        return Found(row, trajectory, errors, precision)

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
        seconds, _ = measured_cost(sim, start, self.duration)
        return [(size, _largest(errors, trajectory, reference), seconds / self.duration)]


def _largest(errors: np.ndarray, trajectory: Trajectory, reference: Reference) -> float:
    """The largest error up to where the reference is trusted."""
    counted = trajectory.time - trajectory.time[0] <= reference.horizon * (1 + 1e-12)
    return float(errors[counted].max())


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
