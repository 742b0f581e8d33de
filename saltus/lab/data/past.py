"""The past of a live run: the frames of the last minutes, each with the state from which the run can go on."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saltus.lab.messages.protocol import Frame
from saltus.simulate.engine.snapshot import checkpoint, go_to
from saltus.simulate.simulation import Simulation

MOST_FRAMES = 10_800  # three minutes of 60 a second
MOST_BYTES = 64 * 2**20
FIELDS = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat")  # what another simulation takes over


@dataclass(frozen=True, eq=False)
class Moment:
    """A frame and the state behind it.

    state: all that further steps depend on, for the simulation with the number `generation`; fields: those of `FIELDS`,
    for later ones. time: of the state, s, less than a step after the frame's.
    """

    frame: Frame
    time: float
    generation: int
    state: dict[str, NDArray[np.float64]]
    fields: dict[str, NDArray[np.float64]]

    @property
    def bytes(self) -> int:
        """Approximate memory in bytes."""
        drawn = 8 * (self.frame.bodies.size + self.frame.ghost_bodies.size + 14 * len(self.frame.contacts))
        surfaces = 8 * sum(vertices.size for vertices in (*self.frame.flexes, *self.frame.tendons))
        return drawn + surfaces + sum(part.nbytes for part in (*self.state.values(), *self.fields.values())) + 1000


class Past:
    """Moments of a run in the order of time, bounded in number and memory: the oldest ones go.

    `at`: the moment that is looked at; None: the present.
    """

    def __init__(self) -> None:
        self.generation = 0  # number of the running simulation: others have other memory
        self.at: Moment | None = None
        self._moments: list[Moment] = []
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._moments)

    @property
    def span(self) -> list[float] | None:
        """Times (s) of the first and last frame; None if there are fewer than two."""
        return [self._moments[0].frame.time, self._moments[-1].frame.time] if len(self._moments) > 1 else None

    def keep(self, frame: Frame, sim: Simulation) -> None:
        """Keep a frame with the present state, if it is later than the last one."""
        if self._moments and not frame.time > self._moments[-1].frame.time:
            return
        fields = {name: np.array(getattr(sim, name)) for name in FIELDS}
        moment = Moment(frame, sim.time, self.generation, checkpoint(sim.engine), fields)
        self._moments.append(moment)
        self._bytes += moment.bytes
        while len(self._moments) > MOST_FRAMES or (self._bytes > MOST_BYTES and len(self._moments) > 1):
            self._bytes -= self._moments.pop(0).bytes

    def look(self, time: float) -> None:
        """Look at the last frame that is not later than a time (s); at the present after the last one."""
        times = [moment.frame.time for moment in self._moments]
        k = bisect.bisect_right(times, time) - 1
        self.at = None if k == len(times) - 1 else self._moments[max(k, 0)]

    def leave(self) -> None:
        """Look at the present."""
        self.at = None

    def clear(self) -> None:
        """Forget everything."""
        self._moments, self._bytes, self.at = [], 0, None

    def go_back(self, sim: Simulation) -> None:
        """Put the simulation into the state of the moment that is looked at, and forget what came after it."""
        moment = self.at
        assert moment is not None
        if moment.generation == self.generation:
            go_to(sim.engine, moment.state)
        else:
            sim.time = moment.time
            for name, values in moment.fields.items():
                view = getattr(sim, name)
                if view.shape == values.shape:  # a controller's states may be others
                    view[...] = values
        engine = sim.engine
        engine.events = engine.events[engine.events["time"] <= engine.time]
        self._moments = self._moments[: self._moments.index(moment) + 1]
        self._bytes = sum(one.bytes for one in self._moments)
        self.at = None
