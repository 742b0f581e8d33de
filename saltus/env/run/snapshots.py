"""Copies of the state of episodes, to return to it: a row of numbers for each simulation.

A row holds all that the further course of one simulation depends on: the state, memory and parameters of its episode,
the state of its random numbers, its last results, and its own values of the model's fields with their nominal ones. Its
last number is a mark, a hash of what rows must have in common to fit.
"""

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.env.disturb.next_episodes import NextEpisodes
from saltus.env.environment import Environment
from saltus.env.run.declaration import Declaration
from saltus.env.run.results import Results
from saltus.errors import OptionError
from saltus.integrate.integrator import Integrator
from saltus.model.model import Model
from saltus.number.structs import Layout
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.snapshot import mark_of


class Snapshots:
    """Snapshots, copies and pickles of the episodes of n simulations."""

    if TYPE_CHECKING:  # attributes of the class that has these methods
        environment: Environment
        n: int
        threads: int
        precision: str
        model: Model
        integrator: Integrator
        timestep: float
        declaration: Declaration
        lanes: Lanes
        results: Results
        seconds: float
        _layout: Layout
        _own: NDArray[np.floating]
        _random: NDArray[np.int64]
        _next: NextEpisodes
        warned: bool

    def snapshot(self) -> NDArray[np.float64]:
        """The present state of all simulations [n, size]."""
        by_lane = [view.reshape(len(self._random), _size(view, 2))[: self.n] for view in self._by_lane()]
        own = [view.reshape(self.n, _size(view, 1)) for view in (*self._fields().values(), *self._next.kept())]
        columns = [*by_lane, *own, np.full((self.n, 1), self._mark())]
        return np.concatenate(columns, axis=1, dtype=np.float64)

    def checked_snapshot(self, given: ArrayLike) -> NDArray[np.float64]:
        """Rows [n, size] of a snapshot of such episodes, or one row for all; OptionError for anything else."""
        rows, n = numbers("snapshot", given), self.n
        size = 1 + sum(_size(view, 2) for view in self._by_lane())
        size += sum(_size(view, 1) for view in (*self._fields().values(), *self._next.kept()))
        if rows.ndim == 0 or rows.shape[-1] != size or (rows[..., -1] != self._mark()).any():
            raise OptionError(
                "the snapshot is not of such an environment: its class, model, integrator, precision or options "
                "differ; to copy only the state, use set_state"
            )
        if rows.shape not in ((size,), (n, size)):
            count = "x".join(map(str, rows.shape[:-1]))
            raise OptionError(f"the snapshot has {count} rows, not {n}, or one for all simulations")
        return np.broadcast_to(rows, (n, size))

    def restore(self, rows: NDArray[np.float64], chosen: NDArray[np.bool_] | None = None) -> None:
        """Go back to the rows [n, size] of a snapshot in all simulations, or in the chosen ones [n].

        If all are restored, spare lanes become copies of simulation 0.
        """
        index = np.arange(self.n) if chosen is None else np.flatnonzero(chosen)
        lanes, at = self.lanes, 0
        spare = np.arange(self.n, lanes.groups * lanes.width) if chosen is None else index[:0]
        places, sources = np.concatenate([index, spare]), np.concatenate([index, 0 * spare])
        for view in self._by_lane():
            end = at + _size(view, 2)
            values = rows[sources, at:end].reshape(len(sources), *view.shape[2:])
            view[places // lanes.width, places % lanes.width] = values
            at = end
        varied = lanes.varied_model
        for view in self._fields().values():
            end = at + _size(view, 1)
            view[index] = rows[index, at:end].reshape(len(index), *view.shape[1:])
            at = end
        if varied is not None:  # what follows from the fields; it takes their values for nominal ones, which come next
            varied.update()
            if chosen is None:
                varied.fill_spare_lanes()
        for view in self._next.kept():
            end = at + _size(view, 1)
            view[index] = rows[index, at:end].reshape(len(index), *view.shape[1:])
            at = end
        self._next.seeded(index)

    def __copy__(self) -> "Snapshots":
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Snapshots":
        made, state = self._kept()
        return _remade(type(self), copy.deepcopy(self.environment, memo), made, state)

    def __reduce__(self) -> tuple[object, ...]:
        """Return the constructor and arguments for `pickle`; memory itself cannot be copied."""
        return _remade, (type(self), self.environment, *self._kept())

    def _kept(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arguments of the constructor, and the state."""
        made = {name: getattr(self, name) for name in ("n", "threads", "precision", "model")}
        return made, {"rows": self.snapshot(), "warned": self.warned, "seconds": self.seconds}

    def _mark(self) -> float:
        """The mark at the end of each row."""
        what, kind = self.declaration, type(self.environment)
        sizes = (what.nobservation, what.nvalue, sorted(self._fields()), len(self._next.kept()))
        how = (self.integrator.name, self.precision, self.timestep, self._layout.name, *sizes)
        return mark_of(self.model, ("environment", kind.__qualname__, *how))

    def _by_lane(self) -> list[NDArray[Any]]:
        """Views [groups, width, ...] of all arrays with numbers of simulations and spare lanes."""
        lanes = self.lanes
        flat = [x.reshape(lanes.groups, lanes.width, *x.shape[1:]) for x in (self._random, *self.results.by_lane())]
        return [lanes.states.swapaxes(1, 2), lanes.clock, self._own.swapaxes(1, 2), *flat]

    def _fields(self) -> Mapping[str, NDArray[np.float64]]:
        """Fields of the model that differ between simulations [n, ...]."""
        varied = self.lanes.varied_model
        return {} if varied is None else varied.fields


def _size(view: NDArray[Any], axes: int) -> int:
    """Count of numbers of one simulation in a view with so many leading axes."""
    return int(np.prod(view.shape[axes:]))


def _remade(kind: Any, environment: Environment, made: Mapping[str, Any], state: Mapping[str, Any]) -> "Snapshots":
    """Rebuild episodes from their environment and what `Snapshots._kept` returned."""
    if not environment.is_open:
        environment.opened()
    episodes = kind(environment, **made)
    episodes.restore(state["rows"])
    episodes.warned, episodes.seconds = state["warned"], state["seconds"]
    return episodes
