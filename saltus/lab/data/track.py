"""The course of a run: energies and coordinates of it and of its ghosts after every step, for the page's plots.

A sample is taken with each sample of the signals, thus after every step, or less often where there are very many steps
a second or very many coordinates. It also holds the time of the first impact since the last sample: velocities and
energies jump there, and the page draws them so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.errors import SaltusError
from saltus.lab.data.history import History
from saltus.model.event_enums import JUMPS, KINDS

if TYPE_CHECKING:
    from saltus.record.table.interpolate import Interpolator
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.simulation import Simulation

Coordinates = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

TRACK = 129  # the first byte of a message
MOST_SAMPLES = 50_000
MOST_BYTES = 32 * 2**20
RATE = 250_000  # most numbers a second of wall time
SHARE = 0.1  # of wall time for computing energies
JUMPING = [KINDS[kind] for kind in JUMPS]
HEAD = 3  # columns of a run before its coordinates: potential and kinetic energy (J), the first impact (s, see `Track`)


class Track:
    """The course of a run and of its ghosts.

    Columns of each: potential and kinetic energy (J, nan where not computed), the time of the first impact since the
    last sample relative to this one (s, nan without one), then position and velocity of each coordinate.
    """

    def __init__(self, coordinates: Coordinates, count: int, runs: int):
        """coordinates: a function of qpos and qvel that returns `count` positions and velocities [count, 2]."""
        self._coordinates, self._runs = coordinates, runs
        self.width = runs * (HEAD + 2 * count)
        names = [str(k) for k in range(self.width)]
        self.history = History(names, range(self.width), MOST_SAMPLES, MOST_BYTES, mark=TRACK)
        self._events = [0] * runs  # number of each run's events that were looked at
        self._cost, self._wait = 0.0, 0

    def rate(self) -> float:
        """Largest number of samples per second of wall time."""
        return RATE / self.width

    def clear(self) -> None:
        """Forget the course, at the start of a run."""
        self.history.clear()
        self._events = [0] * self._runs
        self._wait = 0

    def cut(self, time: float, sims: Sequence[Simulation | None]) -> None:
        """Forget the course after a time (s), to which the run and its ghosts were set back."""
        self.history.cut(time)
        self._events = [0 if sim is None else len(sim.events) for sim in sims]
        self._wait = 0

    def sample(self, sims: Sequence[Simulation | None], rate: float) -> None:
        """Take a sample of the run and its ghosts (None: removed); rate: samples per second of wall time."""
        compute, self._wait = self._wait <= 0, self._wait - 1
        began, rows = time.perf_counter(), []
        for run, sim in enumerate(sims):
            row = np.full(self.width // self._runs, np.nan)
            if sim is not None:
                if compute:
                    with suppress(SaltusError):  # an error here recurs in the next step, which reports it
                        row[:2] = sim.energy()
                row[2] = self._jump(run, sim)
                row[HEAD:] = self._coordinates(sim.qpos, sim.qvel).ravel()
            rows.append(row)
        if compute:
            spent = time.perf_counter() - began
            self._cost = min(1.1 * self._cost, spent) if self._cost else spent
            self._wait = int(self._cost * rate / SHARE)
        now = sims[0].time if sims[0] is not None else np.nan
        self.history.append(now, np.concatenate(rows))

    def _jump(self, run: int, sim: Simulation) -> float:
        """Time of the first impact since the last sample, relative to now (s); nan if there was none."""
        events = sim.events
        new = events[min(self._events[run], len(events)) :]
        self._events[run] = len(events)
        hits = new["time"][np.isin(new["kind"], JUMPING)] if len(new) else ()
        return float(np.min(hits)) - sim.time if len(hits) else np.nan


def recorded_track(
    trajectory: Trajectory, coordinates: Coordinates, count: int, others: Sequence[tuple[Trajectory, Interpolator]] = ()
) -> Track:
    """The course of a recording, all its samples, times from the first one on; for the arguments see `Track`.

    `others`: recordings beside it, whose courses are those at the same times after their starts, while they last.
    """
    track, t = Track(coordinates, count, 1 + len(others)), trajectory
    table = np.full((len(t), track.width), np.nan)
    table[:, :2] = t.energy
    each = HEAD + 2 * count
    for row, qpos, qvel in zip(table, t.qpos, t.qvel, strict=True):
        row[HEAD:each] = coordinates(qpos, qvel).ravel()
    for k, (other, motion) in enumerate(others, 1):
        times = motion.start + t.time - t.time[0]
        there = times <= motion.end * (1 + 1e-12)
        state = motion.at(times)
        part = table[:, k * each : (k + 1) * each]
        for i in np.flatnonzero(there):
            part[i, HEAD:] = coordinates(state["qpos"][i], state["qvel"][i]).ravel()
        for j in (0, 1):
            part[there, j] = np.interp(times[there], other.time, other.energy[:, j])
    hits = np.sort(t.events["time"][np.isin(t.events["kind"], JUMPING)])
    after = np.searchsorted(t.time, hits)
    for k, hit in zip(after[::-1].tolist(), hits[::-1].tolist(), strict=True):  # the first one of each sample stays
        if k < len(t):
            table[k, 2] = hit - t.time[k]
    track.history.fill(t.time - t.time[0], table)
    return track
