"""The time for which lanes wait for each other: a group of simulations beside groups of copies of each of them.

A lane's results do not depend on its neighbours. So in a group whose lanes are all copies of one simulation, nothing
waits: contacts, rows, iterations and time are those that this simulation needs. Over the mean of them, a group of
different simulations takes longer; the inverse of this is the utilisation, 1 where no lane waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.bench.harness.solver_work import newton_flops
from saltus.bench.harness.timing import Contender, in_turn
from saltus.bench.lanes.stages import COUNTS, SOLVED, STAGES, to_stage
from saltus.errors import DivergenceError
from saltus.simulate.batch import Batch
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.loops import advance_batch

HOLD = 10  # steps for which random controls are held
SPREAD = 0.1  # standard deviation of velocities at the start (rad/s, m/s)


@dataclass(frozen=True)
class Counts:
    """Contacts, constraint rows and solver iterations: of groups [groups, 3], of each simulation by itself [n, 3]."""

    groups: NDArray[np.int64]
    alone: NDArray[np.int64]
    flops: NDArray[np.float64]  # [n]: operations of Newton's method that each needs; nan for other solvers

    def utilisation(self, column: int) -> float:
        """Active lane-steps over all: means of what simulations need over that of their groups; 1 if nothing is."""
        all_lanes = float(self.groups[:, column].mean())
        return float(self.alone[:, column].mean()) / all_lanes if all_lanes else 1.0

    def summary(self, column: int) -> tuple[float, float, float, float]:
        """Means of groups and of simulations by themselves, the most of a simulation, and the utilisation."""
        groups, alone = self.groups[:, column], self.alone[:, column]
        return float(groups.mean()), float(alone.mean()), float(alone.max()), self.utilisation(column)


@dataclass(frozen=True)
class Stage:
    """A stage of a step: seconds of a step of one simulation, and what lanes that do not wait would take."""

    name: str
    seconds: float
    alone: float


def moved(model: Any, n: int, steps: int, precision: str) -> Batch:
    """n simulations that have moved so many steps from the model's start, under random controls of their own."""
    batch = Batch(model, n, threads=1, precision=precision)
    rng = np.random.default_rng(0)
    m = batch.shared.mujoco
    if m.nkey:
        batch.reset(key=0)
    batch.qvel = SPREAD * rng.standard_normal((n, m.nv))
    limited = m.actuator_ctrllimited.astype(bool)
    low, high = np.where(limited, m.actuator_ctrlrange.T, [[-1.0], [1.0]])
    for first in range(0, steps, HOLD):
        if m.nu:
            batch.ctrl = rng.uniform(low, high, (n, m.nu))
        try:
            batch.step(min(HOLD, steps - first))
        except DivergenceError:
            batch.reset(batch.diverged)
    return batch


class Groups:
    """The simulations of a batch in their groups, and each in a group of its own with copies of itself."""

    def __init__(self, batch: Batch):
        assert isinstance(batch.lanes, Lanes)  # soft contact
        self.batch, self.lanes = batch, batch.lanes
        self.n = batch.n - batch.n % self.lanes.width  # whole groups
        self.together = self.lanes.states[: self.n // self.lanes.width].copy()
        each = np.moveaxis(self.together, 2, 1).reshape(self.n, -1, 1)
        self.copies = np.repeat(each, self.lanes.width, axis=2)

    def run(self, states: NDArray[Any], last: int, counts: NDArray[np.int64], first: int = 0) -> None:
        """Take the stages up to the last one of all groups from `first` on."""
        lanes = self.lanes
        shape = (first, len(states), lanes.present_rows(), lanes.width)
        to_stage(lanes.m, lanes.prepared(0), states, *lanes.varied(), *shape, last, counts)

    def counts(self) -> Counts:
        """Contacts, rows and iterations of groups, and of each simulation by itself."""
        groups, alone = (np.zeros((len(s), COUNTS), np.int64) for s in (self.together, self.copies))
        self.run(self.together, SOLVED, groups)
        flops = np.zeros(self.n)
        for i in range(self.n):
            self.run(self.copies[: i + 1], SOLVED, alone, i)
            flops[i] = newton_flops(self.lanes.m, self.lanes.workspaces[0])
        return Counts(groups, alone, flops)

    def whole_step(self, states: NDArray[Any]) -> Callable[[], None]:
        """One step of all groups, always from these states."""
        lanes, batch = self.lanes, self.batch
        moving, clock = states.copy(), np.zeros(states[:, 0].shape)
        flags = np.zeros(clock.shape, bool)
        counts = (0, len(states), lanes.present_rows(), lanes.width, 1, batch.timestep)
        loop = advance_batch(batch.integrator)

        def take() -> None:
            np.copyto(moving, states)
            arrays = (moving, clock, flags, *lanes.varied())
            loop(lanes.m, lanes.prepared(0), *arrays, *counts, *batch.integrator.parameters)

        return take

    def times(self, repeats: int, least: float) -> list[Stage]:
        """Time by stage (CPU time), of groups and of simulations by themselves, medians of their differences."""
        contenders = []
        for what, states in (("together", self.together), ("alone", self.copies)):
            counts = np.zeros((len(states), COUNTS), np.int64)
            units = len(states) * self.lanes.width  # lane-steps
            for last in range(SOLVED + 1):
                work = partial(self.run, states, last, counts)
                contenders.append(Contender(f"{what} {last}", lambda: None, work, units))
            contenders.append(Contender(f"{what} {SOLVED + 1}", lambda: None, self.whole_step(states), units))
        found = in_turn(contenders, repeats=repeats, least=least, clock=time.process_time)
        sides = []
        for what in ("together", "alone"):
            until = np.array([found[f"{what} {k}"].seconds for k in range(SOLVED + 2)])
            sides.append(np.median(np.diff(until, axis=0, prepend=0.0), axis=1).tolist())
        names = (*STAGES, "rest of the step")
        return [Stage(*row) for row in zip(names, *sides, strict=True)]
