"""Jobs of a study: runs of one model with different values, and the row of results of each.

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

_alone = threading.Lock()  # warnings are collected per process, whatever its threads do


@dataclass(frozen=True)
class Task:
    """Settings that all runs of a sweep share.

    Attributes:
        start: the model and the start of the runs.
        sampling: their duration and sampling period.
        measures: the named measures.
        functions: the user's own measures, by column of the table.
        whole: whether recordings are sent back to the calling process, to be measured there.
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
        """Whether any measure needs the recordings."""
        return self.whole or bool(self.functions)


class Row(NamedTuple):
    """Result of one run: status, note, measures by name and, if asked for, the recording."""

    status: str
    note: str = ""
    measures: dict[str, float] | None = None
    trajectory: Trajectory | None = None


def run_one(task: Task, values: Mapping[str, Any]) -> Row:
    """Run and measure one simulation by itself."""
    with _alone:
        try:
            sim = task.start.simulation(values)
            short_run(sim)  # compiling and loading do not count as part of the run's time
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
    """The row of a run that reached its end."""
    if trajectory is not None:
        found = found | of_functions(task.functions, values, trajectory)
    return Row(DONE, note, found, trajectory if task.whole else None)


def of_functions(
    functions: Mapping[str, Callable[[Trajectory], float]], values: Mapping[str, Any], trajectory: Trajectory
) -> dict[str, float]:
    """Values of the user's own measures. OptionError: one of them returns no number."""
    found = {}
    for name, function in functions.items():
        try:
            found[name] = float(function(trajectory))
        except (TypeError, ValueError) as error:
            raise OptionError(f"measure {name} of the run with {named(values)}: {error}") from error
    return found


def short_run(sim: Simulation) -> None:
    """Take a step and return to the start."""
    start = sim.snapshot()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaltusWarning)
        sim.run(sim.timestep, sim.timestep, progress=False)
    sim.restore(start)
    sim.engine.events, sim.engine.unconverged = sim.events[:0], 0
