"""Derivatives of a step, or of readings, of each simulation of a batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from saltus.integrate.integrator import Integrator
from saltus.simulate.derivatives.linearize import linearize
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.batch.states import BatchStates
from saltus.simulate.engine.engine import Engine
from saltus.simulate.laws.contact import Law

MOST_KEPT = 64  # engines of a batch, each of which has memory for derivatives


def linearize_each(
    engines: Iterator[Engine], fields: Mapping[str, NDArray[Any]], parameters: Sequence[str] | None
) -> tuple[NDArray[np.float64], ...]:
    """A, B, and P of parameters [n, ...], at the values [n, ...] of states and inputs; `engines`: see `of_each`."""
    return of_each(engines, fields, lambda engine: linearize(engine, parameters))


def of_each(
    engines: Iterator[Engine],
    fields: Mapping[str, NDArray[Any]],
    derivatives: Callable[[Engine], Iterable[NDArray[np.float64]]],
) -> tuple[NDArray[np.float64], ...]:
    """Matrices [n, ...] that a function gives of an engine, at the values [n, ...] of states and inputs.

    `engines`: one for each simulation; the last of them serves those that are left.
    """
    found, engine = [], next(engines)
    for i in range(len(fields["time"])):
        if i:
            engine = next(engines, engine)
        engine.reset(None)
        for name, values in fields.items():
            given = np.ravel(values[i])
            engine.d.views[name].reshape(-1)[: given.size] = given
        found.append(tuple(derivatives(engine)))
    return tuple(np.stack(parts) for parts in zip(*found, strict=True))


class _HasEngines(Protocol):
    """A batch, as far as its engines are made of it."""

    lanes: BatchStates

    @property
    def timestep(self) -> float: ...

    @property
    def law(self) -> Law: ...

    @property
    def integrator(self) -> Integrator: ...

    def engine_of(self, i: int) -> Engine: ...


class KeptEngines:
    """Engines of simulations of a batch, kept from call to call while what they are made of stays."""

    def __init__(self):
        self._made: dict[int, tuple[tuple[object, ...], bytes, Engine]] = {}

    def of(self, batch: _HasEngines, count: int) -> Iterator[Engine]:
        """The engines of the first `count` simulations, each made when it is asked for."""
        varied = batch.lanes.varied_model if isinstance(batch.lanes, Lanes) else None
        for i in range(count):
            own = [] if varied is None else [np.ravel(fields[i]) for fields in varied.fields.values()]
            parts, values = (batch.law, batch.integrator), np.concatenate([[batch.timestep], *own]).tobytes()
            kept = self._made.get(i)
            if kept is None or any(a is not b for a, b in zip(kept[0], parts, strict=True)) or kept[1] != values:
                if kept is None and len(self._made) >= MOST_KEPT:
                    yield batch.engine_of(i)
                    continue
                kept = self._made[i] = parts, values, batch.engine_of(i)
            yield kept[2]
