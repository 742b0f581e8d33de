"""Signals: the numbers of a simulation over time that the page can plot.

A sample is taken after every step; where steps come more often than RATE times a second of wall time, after every k-th.
What has to be computed for it (forces, energies, sensors) is, as long as that takes no more than a SHARE of the time,
at every sample, otherwise at every few of them.

All signals are sampled all the time, so that one that is chosen later shows what was: the last MOST_SAMPLES samples
since the reset, fewer where they would take more than MOST_BYTES; these samples lie so far apart that they reach back
for LEAST_PAST s of wall time at least.
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
    from saltus.simulate.simulation import Simulation

RATE = 2000  # samples a second of wall time, at most
SHARE, SHARE_UNSEEN = 0.25, 0.05  # of wall time, that computing may take: for signals that are chosen, for others
MOST_SAMPLES = 100_000
MOST_BYTES = 64 * 2**20
LEAST_PAST = 20.0  # s
MOST_CHOSEN = 24


@dataclass(frozen=True)
class Signal:
    """A number over time.

    id: its name in recordings, as `qpos[hinge]`. label: what the plots call it. unit: SI, "" where there is none or it
    is not known. group: under which heading one chooses it. turns: whether it is an angle that turns on and on.
    """

    id: str
    label: str
    unit: str
    group: str
    turns: bool = False


@dataclass(frozen=True)
class Source:
    """Signals that are read together: `read` gives their values [n] at the present state.

    computed: whether something has to be computed for that, beyond the state and the inputs. field: the field of the
    simulation, or of its data, that they are numbers of, and places: which; None: from the first on; "": of none.
    """

    signals: list[Signal]
    read: Callable[[Simulation], ArrayLike]
    computed: bool = False
    field: str = ""
    places: list[int] | None = None


class Signals:
    """The signals of a session, their samples, and those that are chosen to be plotted.

    The session's thread takes the samples; any other may ask the `history` for them.
    """

    kind = "signals"

    def __init__(self, sources: list[Source], preset: Iterable[str] = ()):
        """`preset`: the signals that are plotted at first, and again when the user asks for them."""
        self.revision = 0  # of the list
        self._preset = list(preset)
        self._use(sources)
        self.history = History(list(self._places), self._columns(self.preset), MOST_SAMPLES, MOST_BYTES)
        self._every, self._since = 1, 0  # steps a sample; steps since the last one
        self._rate = 0.0  # samples a second of wall time
        self._cost, self._wait = 0.0, 0  # s that computing takes; samples without that are still to come

    # ------------------------------------------------------------ what there is, and what is chosen

    def _use(self, sources: list[Source]) -> None:
        self._sources = sources
        self.signals = [signal for source in sources for signal in source.signals]
        self._places = {signal.id: k for k, signal in enumerate(self.signals)}
        self.revision += 1

    def _columns(self, ids: Iterable[str]) -> list[int]:
        return [self._places[id] for id in ids if id in self._places]

    def change(self, sources: list[Source]) -> None:
        """There may be other signals now; those that stay keep their past, and are plotted as before."""
        if [signal for source in sources for signal in source.signals] == self.signals:
            self._sources = sources
            return
        chosen = self.chosen
        self._use(sources)
        self.history.relay(list(self._places), self._columns(chosen), self.revision)

    @property
    def preset(self) -> list[str]:
        """What is plotted if nothing else is chosen."""
        return [id for id in self._preset if id in self._places]

    @property
    def chosen(self) -> list[str]:
        """The ids of what is plotted."""
        return [self.history.ids[k] for k in self.history.columns]

    def choose(self, ids: Iterable[str]) -> None:
        """Plot these signals. OptionError: there is no such signal, or there are too many."""
        ids = list(dict.fromkeys(ids))
        for id in ids:
            if id not in self._places:
                raise OptionError(f"there is no signal {id!r}{proposal(id, self._places)}")
        if len(ids) > MOST_CHOSEN:
            raise OptionError(f"{len(ids)} signals exceed the limit of {MOST_CHOSEN}")
        self.history.show(self._columns(ids))
        self._wait = 0

    def choose_also(self, ids: Iterable[str]) -> None:
        """Plot these signals too, if they are there; where that is too many, those chosen first give way."""
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
        """How many steps there are until the next sample, at least one."""
        return max(1, self._every - self._since)

    def pace(self, timestep: float, speed: float) -> None:
        """How fast time goes by: the step (s), and simulated seconds a second; 0 where steps are taken one by one."""
        rate = min(RATE, self.history.room / LEAST_PAST)
        self._every = max(1, math.ceil(speed / (timestep * rate) - 1e-9))
        self._rate = speed / (timestep * self._every)

    def after(self, sim: Simulation, steps: int) -> None:
        """Some steps were taken."""
        self._since += steps
        if self._since >= self._every:
            self.sample(sim)

    def begin(self, sim: Simulation) -> None:
        """A run begins here: what was before is forgotten."""
        self.history.clear()
        self._wait = 0
        self.sample(sim)

    def jump(self, sim: Simulation) -> None:
        """The state is another, at the same time or later: nothing lies between it and the one before."""
        if sim.time < self.history.last_time:
            self.begin(sim)
            return
        self.history.part()
        self._wait = 0
        self.sample(sim)

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
                # what cannot be computed here stops the next step, which tells why
                with suppress(SaltusError):
                    row[place : place + width] = source.read(sim)
                spent += (time.perf_counter() - began) * source.computed
            place += width
        if compute:
            sim.ctrl[:] = controls  # looking may have found those that belong to this very state
            # the least of late: what others do on this computer meanwhile is no cost
            self._cost = min(1.1 * self._cost, spent) if self._cost else spent
            self._wait = self._stride() - 1
        self.history.append(sim.time, row)

    def _stride(self) -> int:
        """At every how many samples there is time for what has to be computed."""
        computed = [source.computed for source in self._sources for _ in source.signals]
        share = SHARE if any(computed[k] for k in self.history.columns) else SHARE_UNSEEN
        return max(1, math.ceil(self._cost * self._rate / share))
