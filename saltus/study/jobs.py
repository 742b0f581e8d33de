"""What a job is: runs of one model with other values, and the row that each of them gives.

A run's row depends on its values and on the task alone: neither on the runs beside it nor on the process.
"""

import threading
import time as clock
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from saltus.errors import DivergenceError, EventError, OptionError, SaltusError, SaltusWarning
from saltus.record.table.sweep_table import DONE, named
from saltus.record.trajectory import Trajectory
from saltus.simulate.setup import Sampling
from saltus.simulate.simulation import Simulation
from saltus.study.measures.measure import Measure, measured
from saltus.study.settings import Start

_alone = threading.Lock()  # warnings are collected by process, whatever its threads do


@dataclass(frozen=True)
class Task:
    """What all runs of a sweep have in common.

    Attributes:
        start: how they begin.
        sampling: how long they are, and when they are sampled.
        measures: those with a name.
        functions: the user's own, by what the table calls them.
        whole: whether the recording goes back to who asked, to be measured there.
        together: whether runs that differ in numbers alone are run side by side in a batch.
    """

    start: Start
    sampling: Sampling
    measures: tuple[Measure, ...]
    functions: Mapping[str, Callable[[Trajectory], float]] = field(default_factory=dict)
    whole: bool = False
    together: bool = False

    @property
    def recorded(self) -> bool:
        """Whether somebody wants the recordings."""
        return self.whole or bool(self.functions)


class Row(NamedTuple):
    """What came of a run."""

    status: str
    note: str = ""
    measures: dict[str, float] | None = None
    trajectory: Trajectory | None = None


def run_one(task: Task, values: Mapping[str, Any]) -> Row:
    """Run and measure one simulation by itself."""
    with _alone:
        try:
            sim = task.start.simulation(values)
            short_run(sim)  # what has to be compiled or loaded is not part of what the run takes
            duration, sample = task.sampling.duration, task.sampling.period(sim.timestep)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", SaltusWarning)
                began = clock.perf_counter()
                trajectory = sim.run(duration, sample, progress=False)
                seconds = clock.perf_counter() - began
                if "interrupted_at" in trajectory.attrs:
                    raise KeyboardInterrupt
                found = measured(task.measures, sim, trajectory, seconds)
        except DivergenceError as error:
            return Row("diverged", str(error))
        except EventError as error:
            return Row("stopped", str(error))
        except SaltusError as error:
            return Row("refused", str(error))
    note = "; ".join(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, SaltusWarning)))
    return finished(task, values, found, trajectory, note)


def finished(
    task: Task, values: Mapping[str, Any], found: dict[str, float], trajectory: Trajectory | None, note: str = ""
) -> Row:
    """The row of a run that came to its end."""
    if trajectory is not None:
        found = found | of_functions(task.functions, values, trajectory)
    return Row(DONE, note, found, trajectory if task.whole else None)


def of_functions(
    functions: Mapping[str, Callable[[Trajectory], float]], values: Mapping[str, Any], trajectory: Trajectory
) -> dict[str, float]:
    """The user's own measures. OptionError: one of them returns no number."""
    found = {}
    for name, function in functions.items():
        try:
            found[name] = float(function(trajectory))
        except (TypeError, ValueError) as error:
            raise OptionError(f"measure {name} of the run with {named(values)}: {error}") from error
    return found


def short_run(sim: Simulation) -> None:
    """Take a step and go back to the start."""
    start = sim.snapshot()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaltusWarning)
        sim.run(sim.timestep, sim.timestep, progress=False)
    sim.restore(start)
    sim.engine.events, sim.engine.unconverged = sim.events[:0], 0
