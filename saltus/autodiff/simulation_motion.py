"""Differentiated steps of a single simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.autodiff.inputs import Inputs, rows_of_parameter
from saltus.autodiff.motion import ended_early
from saltus.model.vary.columns import Column
from saltus.simulate.derivatives.linearize import Linearization, check_chain, linearize, prepare_linearize
from saltus.simulate.derivatives.parameter_columns import CONTROL, step_columns
from saltus.simulate.diagnosis import divergence
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import checkpoint, go_to
from saltus.simulate.engine.threads.turn import in_turn
from saltus.simulate.laws.events import Actuation
from saltus.simulate.simulation import Simulation
from saltus.simulate.stepping import take_steps

Array = NDArray[np.float64]
REMEMBERED = 4  # engines with other values of parameters that are kept


class SimulationMotion:
    """A simulation's model and laws in engines of its own, one for each set of values of the model's parameters."""

    n: int | None = None

    def __init__(self, sim: Simulation):
        engine = sim.engine
        states = None if isinstance(engine.control, Actuation) else engine.start_values
        present = {"timestep": engine.timestep, "control": engine.control, "actuation_states": states}
        self._setup = replace(engine.setup, **present)
        self._threads = engine.threads
        self._engine = self._first = Engine(self._setup, self._threads)
        self._engines: dict[bytes, Engine] = {}
        self._columns: dict[str, list[Column]] = {}
        self.model, self.nact = engine.model, self._first.m.nact

    def fits(self, sim: Simulation) -> bool:
        """Whether the simulation still has the timestep and the controller that it was copied with."""
        return sim.engine.timestep == self._first.timestep and sim.engine.control is self._setup.control

    @staticmethod
    @in_turn
    def start(sim: Simulation) -> Any:
        """The present state, inputs and memory of a simulation."""
        return checkpoint(sim.engine)

    def counts(self, names: Sequence[str]) -> list[int]:
        """Numbers of columns of P of each parameter."""
        for name in names:
            if name not in self._columns:
                self._columns[name] = step_columns(self._first, [name])
        return [len(self._columns[name]) for name in names]

    def check(self, names: Sequence[str], steps: int) -> None:
        """OptionError if a motion over so many steps has no derivatives, whatever the state."""
        if steps > 1:
            check_chain(self._first, "run")
        prepare_linearize(self._first, names or None)

    def begin(self, start: Any, names: Sequence[str], inputs: Inputs) -> None:
        """Go to the start, with the state and the parameters of `inputs`."""
        columns: list[Column] = []
        values: list[float] = []
        for name, count, given in zip(names, self.counts(names), inputs.parameters, strict=True):
            columns += self._columns[name]
            values += rows_of_parameter(name, given, count, None).tolist()
        of_model = [k for k, column in enumerate(columns) if column.field != CONTROL]
        engine = self._engine = self._engine_with([columns[k] for k in of_model], np.array(values)[of_model])
        go_to(engine, start)
        engine.events = engine.events[:0]
        engine.qpos[:], engine.qvel[:], engine.act[:] = inputs.qpos, inputs.qvel, inputs.act
        for column, value in zip(columns, values, strict=True):
            if column.field == CONTROL:
                engine.control_prm[column.place] = value
        divergence.check_given(engine)

    def _engine_with(self, columns: Sequence[Column], values: Array) -> Engine:
        """The engine of a model with these values, kept for later calls."""
        if not columns:
            return self._first
        key = repr([column.name for column in columns]).encode() + values.tobytes()
        if key not in self._engines:
            other = self.model.changed({column.name: value for column, value in zip(columns, values, strict=True)})
            made = Engine(replace(self._setup, model=other), self._threads)
            while len(self._engines) >= REMEMBERED:
                del self._engines[next(iter(self._engines))]
            self._engines[key] = made
        return self._engines[key]

    def set_control(self, ctrl: Array) -> None:
        """Set the controls [nu] of the next step."""
        self._engine.ctrl[:] = ctrl

    def advance(self) -> None:
        """Take a step."""
        if take_steps(self._engine, 1, self._engine.timestep):
            raise ended_early(self._engine.time)

    def state(self) -> tuple[Array, Array, Array]:
        """Copies of qpos [nq], qvel [nv] and act [na] at present."""
        engine = self._engine
        return engine.qpos.copy(), engine.qvel.copy(), engine.act.copy()

    def derivatives(self, names: Sequence[str]) -> tuple[Array, Array, Array]:
        """A, B and P of the next step."""
        found = linearize(self._engine, names or None)
        if isinstance(found, Linearization):
            return found.A, found.B, found.P
        return *found, np.zeros((len(found[0]), 0))

    def kept(self) -> Any:
        """A copy of all that further steps depend on."""
        return checkpoint(self._engine)

    def go_to(self, kept: Any) -> None:
        """Restore what `kept` returned."""
        go_to(self._engine, kept)
