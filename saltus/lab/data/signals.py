"""Signals: the numbers of a simulation over time that the page can plot.

A sample is taken after every step, or after every k-th if there are more than RATE steps per second of wall time.
Signals that must be computed (forces, energies, sensors) are computed at every sample as long as that takes no more
than a SHARE of the time, otherwise at every few samples.

All signals are sampled all the time, so that a signal chosen later has a past: the last MOST_SAMPLES samples since the
reset, fewer if they would take more than MOST_BYTES; samples lie so far apart that they reach back for at least
LEAST_PAST s of wall time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from saltus.errors import OptionError, SaltusError, proposal
from saltus.lab.data.history import History

if TYPE_CHECKING:
    from saltus.lab.data.track import Track
    from saltus.simulate.simulation import Simulation

RATE = 2000  # most samples per second of wall time
SHARE, SHARE_UNSEEN = 0.25, 0.05  # of wall time for computing: if computed signals are plotted, if none are
MOST_SAMPLES = 100_000
MOST_BYTES = 64 * 2**20
LEAST_PAST = 20.0  # s
MOST_CHOSEN = 24


@dataclass(frozen=True)
class Signal:
    """A number over time.

    id: name in recordings, as `qpos[hinge]`. label: name in plots. unit: SI unit, "" if there is none or it is not
    known. group: heading in the list of signals. turns: whether it is an unlimited angle.
    """

    id: str
    label: str
    unit: str
    group: str
    turns: bool = False


@dataclass(frozen=True)
class Source:
    """Signals that are read together: `read` returns their values [n] at the present state.

    computed: whether reading needs a computation beyond the state and the inputs. field: field of the simulation or of
    its data that holds the values; "": none. places: indices in that field; None: from the first on.
    """

    signals: list[Signal]
    read: Callable[[Simulation], ArrayLike]
    computed: bool = False
    field: str = ""
    places: list[int] | None = None


class Signals:
    """The signals of a session, their samples, and the selection that is plotted.

    The session's thread takes the samples; any other may ask the `history` for them.
    """

    kind = "signals"

    def __init__(self, sources: list[Source], preset: Iterable[str] = ()):
        """`preset`: signals plotted initially, and when the user asks for the default."""
        self.revision = 0  # of the list of signals
        self._preset = list(preset)
        self._use(sources)
        self.history = History(list(self._places), self._columns(self.preset), MOST_SAMPLES, MOST_BYTES)
        self._every, self._since = 1, 0  # steps a sample; steps since the last one
        self._rate = 0.0  # samples per second of wall time
        self.track: Track | None = None  # sampled at the same times
        self._runs: Callable[[], list[Simulation | None]] = list
        self._cost, self._wait = 0.0, 0  # computing time of a sample (s); samples to come without computing

    def follow(self, track: Track, runs: Callable[[], list[Simulation | None]]) -> None:
        """Sample a track at the same times; runs: a function that returns the run and its ghosts."""
        self.track, self._runs = track, runs

    # ------------------------------------------------------------ signals and selection

    def _use(self, sources: list[Source]) -> None:
        self._sources = sources
        self.signals = [signal for source in sources for signal in source.signals]
        self._places = {signal.id: k for k, signal in enumerate(self.signals)}
        self.revision += 1

    def _columns(self, ids: Iterable[str]) -> list[int]:
        return [self._places[id] for id in ids if id in self._places]

    def change(self, sources: list[Source]) -> None:
        """Change the sources; signals that stay keep their samples and are plotted as before."""
        if [signal for source in sources for signal in source.signals] == self.signals:
            self._sources = sources
            return
        chosen = self.chosen
        self._use(sources)
        self.history.relay(list(self._places), self._columns(chosen), self.revision)

    @property
    def preset(self) -> list[str]:
        """Ids of the signals plotted by default."""
        return [id for id in self._preset if id in self._places]

    @property
    def chosen(self) -> list[str]:
        """Ids of the plotted signals."""
        return [self.history.ids[k] for k in self.history.columns]

    def choose(self, ids: Iterable[str]) -> None:
        """Plot these signals only. OptionError: there is no such signal, or there are too many."""
        ids = list(dict.fromkeys(ids))
        for id in ids:
            if id not in self._places:
                raise OptionError(f"there is no signal {id!r}{proposal(id, self._places)}")
        if len(ids) > MOST_CHOSEN:
            raise OptionError(f"{len(ids)} signals exceed the limit of {MOST_CHOSEN}")
        self.history.show(self._columns(ids))
        self._wait = 0

    def choose_also(self, ids: Iterable[str]) -> None:
        """Plot these signals too, if they exist; beyond the limit, those chosen first are dropped."""
        self.choose([id for id in [*self.chosen, *ids] if id in self._places][-MOST_CHOSEN:])

    def message(self) -> dict[str, object]:
        """The `signals` message."""
        return {
            **{"type": self.kind, "revision": self.revision, "preset": self.preset, "most": MOST_CHOSEN},
            **{"room": self.history.room, "signals": [asdict(signal) for signal in self.signals]},
        }

    # ------------------------------------------------------------ samples

    @property
    def steps_left(self) -> int:
        """Number of steps until the next sample, at least 1."""
        return max(1, self._every - self._since)

    def pace(self, timestep: float, speed: float) -> None:
        """Set the time step (s) and the speed (simulated seconds per second; 0 for single steps)."""
        rate = min(RATE, self.history.room / LEAST_PAST, math.inf if self.track is None else self.track.rate())
        self._every = max(1, math.ceil(speed / (timestep * rate) - 1e-9))
        self._rate = speed / (timestep * self._every)

    def after(self, sim: Simulation, steps: int) -> None:
        """Count steps that were taken, and sample if one is due."""
        self._since += steps
        if self._since >= self._every:
            self.sample(sim)

    def begin(self, sim: Simulation) -> None:
        """Start a run: forget all samples and take the first one."""
        self.clear()
        self.sample(sim)

    def clear(self) -> None:
        """Forget all samples."""
        self.history.clear()
        self._wait = 0
        if self.track is not None:
            self.track.clear()

    def jump(self, sim: Simulation) -> None:
        """Break the curves at a jump of the state; start a run anew if time went back."""
        if sim.time < self.history.last_time:
            self.begin(sim)
            return
        self.history.part()
        if self.track is not None:
            self.track.history.part()
        self._wait = 0
        self.sample(sim)

    def cut(self, sim: Simulation) -> None:
        """Forget the samples after the present time, to which the run was set back."""
        self.history.cut(sim.time)
        if self.track is not None:
            self.track.cut(sim.time, self._runs())
        self._since = self._wait = 0

    def sample(self, sim: Simulation) -> None:
        """Take a sample of the present state."""
        self._since = 0
        compute, self._wait = self._wait <= 0, self._wait - 1
        controls = sim.ctrl.copy()
        row, place, spent = np.full(len(self.signals), np.nan), 0, 0.0
        for source in self._sources:
            width = len(source.signals)
            if compute or not source.computed:
                began = time.perf_counter()
                # an error here recurs in the next step, which reports it
                with suppress(SaltusError):
                    row[place : place + width] = source.read(sim)
                spent += (time.perf_counter() - began) * source.computed
            place += width
        if compute:
            sim.ctrl[:] = controls  # computing may have replaced them by the controls at this state
            # the least of the recent times: load from other processes is no cost
            self._cost = min(1.1 * self._cost, spent) if self._cost else spent
            self._wait = self._stride() - 1
        self.history.append(sim.time, row)
        if self.track is not None:
            self.track.sample(self._runs(), self._rate)

    def _stride(self) -> int:
        """Number of samples per computation that keeps computing within its share of the time."""
        computed = [source.computed for source in self._sources for _ in source.signals]
        share = SHARE if any(computed[k] for k in self.history.columns) else SHARE_UNSEEN
        return max(1, math.ceil(self._cost * self._rate / share))
