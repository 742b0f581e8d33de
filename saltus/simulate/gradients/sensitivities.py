"""Samples of a run with their derivatives by its start, controls and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import warn
from saltus.number.kinds import NTANGENT
from saltus.simulate.derivatives.linearize import run_tangents
from saltus.simulate.derivatives.run_directions import STATE, Directions
from saltus.simulate.engine.engine import Engine

Array = NDArray[np.float64]


@dataclass(eq=False)
class Samples:
    """Samples of a run: values, by name, and tangents [..., K] along K directions.

    rows, row_tangents: rows of the log of events [fields], and their tangents [K, fields]. changes: times (s) at which
    the set of constraints changed between steps of soft contact.
    """

    time: list[float] = field(default_factory=list)
    values: dict[str, list[Array]] = field(default_factory=lambda: {name: [] for name in STATE})
    tangents: dict[str, list[Array]] = field(default_factory=lambda: {name: [] for name in STATE})
    rows: list[Array] = field(default_factory=list)
    row_tangents: list[Array] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)

    def append(self, time: float, values: Sequence[Array], tangents: Sequence[Array]) -> None:
        """Append a sample: values and tangents of `STATE`."""
        self.time.append(time)
        for name, value, tangent in zip(STATE, values, tangents, strict=True):
            self.values[name].append(value)
            self.tangents[name].append(tangent)


def sensitivities(
    engine: Engine, steps: int, names: Sequence[str], parameters: Sequence[str]
) -> tuple[Samples, dict[str, NDArray[np.int64]]]:
    """Samples by dual numbers that run along, and the places of the directions of each name.

    A terminal event ends the run, with a last sample at its time.
    """
    running = run_tangents(engine, tuple(parameters))
    directions = Directions(engine, running, names, parameters)
    wanted = directions.wanted
    columns, whole = [], []
    for column in running.columns(wanted.tolist() or [0]):
        columns.append(column + np.arange(NTANGENT))
        whole.append(_along(engine, running, steps))
    # the directions asked for, among those of all groups
    chosen, found = np.searchsorted(np.concatenate(columns), wanted), whole[0]
    for name in STATE:
        parts = [np.array(samples.tangents[name]) for samples in whole]
        found.tangents[name] = list(np.concatenate(parts, axis=-1)[..., chosen])
    rows = zip(*(samples.row_tangents for samples in whole), strict=True)
    found.row_tangents = [np.concatenate(parts, axis=0)[chosen] for parts in rows]
    if parameters:
        rows_of_all = [np.reshape(found.tangents[name], (-1, len(wanted))) for name in STATE]
        running.check_parameters(np.concatenate(rows_of_all)[:, directions.of_parameters])
    tell_changes(found.changes)
    return found, directions.of_wrt


def _along(engine: Engine, running: Any, steps: int) -> Samples:
    """Samples with the tangents of one group of directions, at whose start `running` is."""
    samples, soft, present, model = Samples(), engine.hard is None, -1, engine.model
    sizes = model.nq, model.nv, engine.m.nact, model.nu
    for step in range(steps + 1):
        if step:
            events = running.advance(1)
            before, present = present, running.blocks
            if soft and step > 1 and present != before:
                samples.changes.append(samples.time[-1])
            for row in events:
                samples.rows.append(row[0])
                samples.row_tangents.append(row[1:])
        values = [running.values(name)[:size] for name, size in zip(STATE, sizes, strict=True)]
        tangents = [running.tangents(name)[:size] for name, size in zip(STATE, sizes, strict=True)]
        samples.append(float(running.values("time")), values, tangents)
        if running.ended:
            break
    return samples


def tell_changes(changes: Sequence[float]) -> None:
    """Warn of soft contacts that begin or end."""
    if changes:
        warn(
            f"run_gradient: contacts or limits begin or end at t = {changes[0]:g} s: under soft contact the "
            "derivatives are those of the steps, which leave out how the times of contacts change, and may differ much "
            "from those of the motion; located hard contact has them"
        )
