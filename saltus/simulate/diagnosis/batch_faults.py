"""Simulations of a batch that cannot go on: why, as errors."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import DivergenceError, EventError, SaltusError
from saltus.integrate.status import LARGEST
from saltus.model.model import Model
from saltus.simulate.diagnosis.bad_numbers import GIVEN, INPUTS, first_bad, unusable
from saltus.simulate.diagnosis.event_failure import EVENT_STATUSES, WHY
from saltus.simulate.diagnosis.first_fault import dof_of, first_to_go, infinite_control, label, singular_inertia
from saltus.simulate.engine.batch.states import BatchStates

Cause = tuple[int | None, str, bool]  # degree of freedom, description, whether a smaller step may help


class Faults:
    """The faults of simulations of a batch, as their last valid states and the steps beyond them show.

    `model`: of all simulations; `lanes`: their states; `own_equations`: whether the user's equations replace the
    model's inertia.
    """

    def __init__(self, model: Model, lanes: BatchStates, own_equations: bool):
        self._model, self._lanes = model, lanes
        self._doubtful = model.inertia_may_be_singular and not own_equations
        self._left = np.full((lanes.n, model.nq), np.nan) if self._doubtful else None  # positions that steps left
        self._causes: dict[int, Cause] = {}  # of errors that were raised, until the simulation restarts

    def stop_singular(self, chosen: NDArray[np.int64] | None, model_of: Callable[[int], Model]) -> None:
        """Stop simulations, of those chosen, that begin where their inertia matrix is singular."""
        if self._left is None:
            return
        moved = (self._positions() != self._left).any(axis=1) & ~self._lanes.diverged()
        if chosen is not None:
            moved &= np.isin(self._lanes.everyone, chosen)
        index = [int(i) for i in np.flatnonzero(moved) if self._singular(int(i), model_of) is not None]
        self._lanes.stop(np.array(index, int))

    def keep(self) -> None:
        """Keep the positions that steps have left, which need no check before the next ones."""
        if self._left is not None:
            self._left[:] = self._positions()

    def forget(self, index: NDArray[np.int64]) -> None:
        """Forget the faults of simulations that restart."""
        for i in index.tolist() if self._causes else ():
            self._causes.pop(i, None)

    def error(
        self, i: int, count: int, model_of: Callable[[int], Model], timestep: float, since: bool = False
    ) -> SaltusError:
        """The error for simulation i, the first of `count` that could not continue.

        `model_of`: the model of a simulation; `timestep` (s): of the batch. `since`: an earlier step has failed.
        """
        where = self._where(i, count)
        if since:
            where += ", which stands there until it is reset"
        fault, time = self._lanes.fault(i), float(self._lanes.of(i, "time"))
        if isinstance(fault, str):
            return EventError(f"{fault} {where}", simulation=i)
        if fault in EVENT_STATUSES:
            return EventError(f"{WHY[fault]} {where}", time=time, simulation=i)
        dof, what, of_step = self._causes.setdefault(i, self._cause(i, model_of, timestep))
        return DivergenceError(
            time,
            dof=None if dof is None else self._model.dof_names()[dof],
            dof_index=dof,
            what=f"{what} {where}",
            timestep=timestep if of_step else None,
            simulation=i,
        )

    def check_given(self, fields: Mapping[str, NDArray[Any]]) -> None:
        """DivergenceError if the state or an input of a simulation is not finite, for functions that do not step.

        `fields`: values [n, ...] of all simulations; others than `GIVEN` are not looked at.
        """
        bad = np.zeros(self._lanes.n, bool)
        for name in GIVEN:
            if name in fields:
                bad |= unusable(name, np.reshape(fields[name], (self._lanes.n, -1))).any(axis=1)
        index = np.flatnonzero(bad).tolist()
        if index and (cause := self._given_cause(index[0])):
            dof, what, _ = cause
            raise DivergenceError(
                float(self._lanes.of(index[0], "time")),
                dof=None if dof is None else self._model.dof_names()[dof],
                dof_index=dof,
                what=f"{what} {self._where(index[0], len(index))}",
                simulation=index[0],
            )

    def _where(self, i: int, count: int) -> str:
        """Text that tells the simulation among all of the batch."""
        return f"in simulation {i} (and {count - 1} more of {self._lanes.n})"

    def _given_cause(self, i: int) -> Cause | None:
        """The state or the input of simulation i that is not finite; None if there is none."""
        lanes = self._lanes
        given = {name: np.asarray(lanes.of(i, name)) for name in ("time", *INPUTS)}
        state = given | {name: lanes.of(i, name) for name in GIVEN if name not in given}
        if not (bad := first_bad(given) or first_bad(state)):
            return None
        name, k = bad
        what = f"the state or an input was not finite: {label(self._model, name, k)}"
        return dof_of(self._model, name, k, state[name]), what, False

    def _cause(self, i: int, model_of: Callable[[int], Model], timestep: float) -> Cause:
        """Why simulation i cannot go on from its last valid state."""
        model, lanes = self._model, self._lanes
        if cause := self._given_cause(i):
            return cause
        state = {name: lanes.of(i, name) for name in GIVEN}
        if found := infinite_control(model.struct(), model, state["ctrl"]) or self._singular(i, model_of):
            return found[0], found[1], False
        if lanes.stuck(i):
            return None, "step-size control required too small steps", True
        fast = bool((np.abs(state["qvel"]) >= LARGEST).any())
        return *first_to_go(model, state if fast else lanes.failed_step(i, timestep)), True

    def _singular(self, i: int, model_of: Callable[[int], Model]) -> tuple[int, str] | None:
        """Degree of freedom and description of a motion that moves no mass in simulation i; None if there is none."""
        return singular_inertia(model_of(i), self._lanes.of(i, "qpos")) if self._doubtful else None

    def _positions(self) -> NDArray[np.floating]:
        """Positions of all simulations [n, nq]."""
        lanes = self._lanes
        rows = lanes.states[:, lanes.span("qpos")]
        return np.moveaxis(rows, 1, 2).reshape(-1, rows.shape[1])[: lanes.n]
