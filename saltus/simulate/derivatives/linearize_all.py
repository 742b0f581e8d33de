"""Derivatives of a step of all simulations of a batch that share a model, in one compiled loop on several threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from saltus.simulate.derivatives.linearize import StepTangents, prepare_linearize
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.switches import check_switches

PACE = 1e-4  # s that the derivatives of one step take, about


class _Shares(Protocol):
    """States of a batch that share work out to threads (see `saltus.simulate.engine.batch.states`)."""

    n: int
    groups: int
    width: int
    workers: int

    def share(self, work: Callable[[int, int, int], None], seconds: float) -> list[None]: ...


def workers_for(states: _Shares) -> int:
    """Number of threads that can share the states' groups."""
    return min(states.workers, states.groups)


def linearize_all(
    engines: Sequence[Engine], states: _Shares, fields: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """A [n, ...] and B [n, ...] at the values [n, ...] of states and inputs; None if steps need more than a loop.

    `engines`: of the model that all share, one for each thread of `workers_for`. Each result is that of a simulation by
    itself, to the bit. A loop is too little for steps between events, adaptive ones, moving mocap bodies, and contacts
    that may be refused.
    """
    made = [prepare_linearize(engine, None) for engine in engines]
    tangents = [each for each in made if isinstance(each, StepTangents)]
    first = engines[0]
    if len(tangents) < len(made) or first.guidance.has_movers or tangents[0].may_lack_normals():
        return None
    check_switches(first.model, first.m, np.asarray(fields["eq_active"], float))
    rows = _rows(first, fields)
    forces = rows[:, first.rows_of("xfrc_applied")]
    forced = (forces.view(np.int64) != 0).any(axis=1).astype(np.int64)  # as `Engine.note_forces`
    A, B = tangents[0].room(states.n)

    def work(worker: int, begin: int, end: int) -> None:
        span = begin * states.width, min(end * states.width, states.n)
        tangents[worker].of_each((rows, forced), (A, B), span)

    states.share(work, PACE * states.n)
    tangents[0].tell_unconverged()
    return A, B


def _rows(engine: Engine, fields: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """States as `Engine.state` [n, rows], from the start with these values of fields."""
    engine.reset(None)
    rows = np.repeat(engine.state[None], len(fields["time"]), axis=0)
    for name, values in fields.items():
        given = np.reshape(values, (len(rows), -1))
        first = engine.rows_of(name).start
        rows[:, first : first + given.shape[1]] = given
    return rows
