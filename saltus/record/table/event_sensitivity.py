"""Derivatives of a run's events: of their times, of the states at them, and of impulses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class EventDerivatives:
    """Derivatives of E events by one thing: by a single number [E, ...], by K of them [E, ..., K].

    Each is that of the value at the event, whose time moves as well; nan where an event has no such value. SI units
    of the value over those of the number.
    """

    time: NDArray[np.float64]
    """[E] or [E, K] of the time."""
    qpos: NDArray[np.float64]
    """[E, nv, ...] of the positions at the event, along the axes of qvel."""
    qvel: NDArray[np.float64]
    """[E, nv, ...] of the velocities behind all that happens at this instant."""
    act: NDArray[np.float64]
    """[E, na, ...] of the states of actuators, and of a controller."""
    velocity: NDArray[np.float64]
    """[E, ...] of the relative velocity along the normal, before the event."""
    impulse: NDArray[np.float64]
    """[E, 3, ...] of the impulse along the normal and two tangents; of impacts."""


class EventSensitivity(Mapping[str, EventDerivatives]):
    """Derivatives of a run's events by name: `["qpos"].time` [E, nv], `["Hard.restitution"].time` [E].

    Rows are those of the events. Names are those that the run was asked for, in their order.

    qpos [E, nq], qvel [E, nv], act [E, na]: the states at the events, behind all that happens there.
    """

    def __init__(
        self,
        parts: Mapping[str, EventDerivatives],
        qpos: NDArray[np.float64],
        qvel: NDArray[np.float64],
        act: NDArray[np.float64],
    ):
        self._parts = dict(parts)
        self.qpos, self.qvel, self.act = qpos, qvel, act

    def __getitem__(self, name: str) -> EventDerivatives:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"EventSensitivity of {len(self.qpos)} events by {', '.join(self)}"
