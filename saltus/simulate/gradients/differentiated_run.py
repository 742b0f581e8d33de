"""A run as a loss sees it: samples and events as arrays of dual numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.model.event_enums import GAP, IMPACT, ITEM, KIND, KINDS, NORMAL, SPEED, TANGENT2, TIME
from saltus.simulate.engine.events.located import mode_names
from saltus.simulate.gradients.dual_number import DualNumber, dual_array

if TYPE_CHECKING:
    from saltus.simulate.engine.engine import Engine
    from saltus.simulate.gradients.sensitivities import Samples


@dataclass(frozen=True, eq=False)
class DifferentiatedEvent:
    """An event of a run with derivatives. NumPy's functions take its numbers.

    time: s. kind, name, other: as in `Trajectory.events`. gap (m), velocity (m/s): along the normal, before.
    impulse [3]: along the normal and two tangents, N s; of impacts.
    """

    time: DualNumber
    kind: str
    name: str
    other: str
    gap: DualNumber
    velocity: DualNumber
    impulse: NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class DifferentiatedRun:
    """The samples of a run, one a step, as arrays of numbers with derivatives, for a loss; NumPy's functions take them.

    time [T]: s, plain numbers. qpos [T, nq], qvel [T, nv], act [T, na], ctrl [nu]: as of `Simulation`.
    events: those located, in order of time.
    """

    time: NDArray[np.float64]
    qpos: NDArray[np.object_]
    qvel: NDArray[np.object_]
    act: NDArray[np.object_]
    ctrl: NDArray[np.object_]
    events: tuple[DifferentiatedEvent, ...]


def differentiated_run(engine: Engine, samples: Samples, count: int) -> DifferentiatedRun:
    """Samples with tangents along `count` directions as arrays of dual numbers."""
    arrays = {
        name: dual_array(np.array(values), np.array(samples.tangents[name]).reshape(*np.shape(values), count))
        for name, values in samples.values.items()
    }
    ctrl = arrays.pop("ctrl")[0]
    modes = mode_names(engine.model, engine.m) if samples.rows else []
    pairs = [*modes, *((name, "") for name in engine.user_events.names), ("", "")]
    events = []
    for row, tangents in zip(samples.rows, samples.row_tangents, strict=True):
        numbers = dual_array(row, tangents.T)
        name, other = pairs[int(row[ITEM])]
        impulse = numbers[NORMAL : TANGENT2 + 1] if row[KIND] == IMPACT else np.full(3, np.nan)
        kind = KINDS[int(row[KIND])]
        events.append(DifferentiatedEvent(numbers[TIME], kind, name, other, numbers[GAP], numbers[SPEED], impulse))
    return DifferentiatedRun(np.array(samples.time), **arrays, ctrl=ctrl, events=tuple(events))
