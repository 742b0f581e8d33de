"""Differentiated steps of all simulations of a batch."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.autodiff.inputs import Inputs, rows_of_parameter
from saltus.autodiff.motion import ended_early
from saltus.errors import OptionError
from saltus.model.vary.columns import Column
from saltus.simulate.batch import Batch
from saltus.simulate.derivatives.linearize import check_chain, prepare_linearize
from saltus.simulate.derivatives.parameter_columns import CONTROL, step_columns

Array = NDArray[np.float64]


class BatchMotion:
    """A copy of a batch. Parameters of the model that are given must be among those that vary in it."""

    def __init__(self, batch: Batch):
        self._batch = copy.copy(batch)
        self._first = self._batch.engine_of(0)
        self._columns: dict[str, list[Column]] = {}
        varied = getattr(batch.lanes, "varied_model", None)
        self._law, self._varied = batch.law, set() if varied is None else set(varied.names)
        self.model, self.n, self.nact = batch.shared, batch.n, batch.lanes.shape("act")[0]

    def fits(self, batch: Batch) -> bool:
        """Whether the batch still has the timestep and the contact law that it was copied with."""
        return batch.timestep == self._batch.timestep and batch.law is self._law

    @staticmethod
    def start(batch: Batch) -> Any:
        """The present states, inputs and memory of a batch."""
        batch.read("time")  # values that were written into views and models take effect
        return batch.lanes.kept()

    def counts(self, names: Sequence[str]) -> list[int]:
        """Numbers of columns of P of each parameter; OptionError for one of the model that does not vary."""
        for name in names:
            if name not in self._columns:
                self._columns[name] = step_columns(self._first, [name])
            fixed = {column.field for column in self._columns[name]} - {CONTROL} - self._varied
            if fixed:
                field = min(fixed)
                raise OptionError(f"parameters: {name}: {field} does not vary; make Batch(..., vary=['{field}'])")
        return [len(self._columns[name]) for name in names]

    def check(self, names: Sequence[str], steps: int) -> None:
        """OptionError if a motion over so many steps has no derivatives, whatever the states."""
        if steps > 1:
            check_chain(self._first, "run")
        prepare_linearize(self._first, names or None)

    def begin(self, start: Any, names: Sequence[str], inputs: Inputs) -> None:
        """Go to the start, with the states and the parameters of `inputs`."""
        batch = self._batch
        batch.lanes.go_to(start)
        batch.forget_events()
        for name, count, given in zip(names, self.counts(names), inputs.parameters, strict=True):
            values = np.broadcast_to(rows_of_parameter(name, given, count, self.n), (batch.n, count))
            for k, column in enumerate(self._columns[name]):
                self._set_parameter(column, values[:, k])
        for name, values in (("qpos", inputs.qpos), ("qvel", inputs.qvel), ("act", inputs.act)):
            if not np.isfinite(values).all():
                raise OptionError(f"{name} must be finite")
            batch.write(name, values)

    def _set_parameter(self, column: Column, values: Array) -> None:
        """Write one number of the model or the controller of each simulation [n]."""
        batch = self._batch
        if column.field == CONTROL:
            parameters = np.array(batch.read(CONTROL))
            parameters[:, column.place] = values
            batch.write(CONTROL, parameters)
            return
        owner: Any = batch.model
        owner = owner.opt if column.field.startswith("opt.") else owner
        getattr(owner, column.field.removeprefix("opt.")).reshape(batch.n, -1)[:, column.place] = values

    def set_control(self, ctrl: Array) -> None:
        """Set the controls [n, nu] of the next step."""
        self._batch.write("ctrl", ctrl)

    def advance(self) -> None:
        """Take a step."""
        batch = self._batch
        batch.step()
        if batch.ended.any():
            raise ended_early(float(batch.time[batch.ended][0]))

    def state(self) -> tuple[Array, Array, Array]:
        """Copies of qpos [n, nq], qvel [n, nv] and act [n, na] at present, in float64."""
        qpos, qvel, act = (np.array(x, np.float64) for x in self._batch.read(("qpos", "qvel", "act")))
        return qpos, qvel, act

    def derivatives(self, names: Sequence[str]) -> tuple[Array, Array, Array]:
        """A, B and P [n, ...] of the next step."""
        found = self._batch.linearize(list(names) or None)
        P = found[2] if names else np.zeros((*found[0].shape[:2], 0))
        return found[0], found[1], P

    def kept(self) -> Any:
        """A copy of all that further steps depend on."""
        return self._batch.lanes.kept()

    def go_to(self, kept: Any) -> None:
        """Restore what `kept` returned."""
        self._batch.lanes.go_to(kept)
