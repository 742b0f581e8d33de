"""Time of a session's simulations: whole steps, as many as the clock requires, and interpolation for display.

The displayed time is the wall-clock time multiplied by the speed; the simulation is ahead of it by less than a step,
and displayed positions are interpolated between its last two states. So motion is smooth for any timestep, without
extrapolation. If the computer is too slow, the displayed time waits for the simulation: no step is skipped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.errors import DivergenceError, EventError
from saltus.lab.controls.drag import Drag
from saltus.lab.data.ghost import Ghost
from saltus.lab.data.recording import Recorder
from saltus.lab.data.signals import Signals

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

ROUNDING = 1e-9  # of a step
BUDGET = 0.013  # s that steps may take of each 1/60 s
CHUNK = 0.004  # s after which the clock is looked at
GLIDE = 0.1  # s within which the time shown comes to the end of a step when the motion is paused


class Motion:
    """A simulation and its ghosts, and the time that is shown.

    `warn`: called with (level, text). `drag`: what pulls, `recorder`: what records, `signals`: what is plotted,
    `before_step`: a function to be called before every step; None: nothing.
    """

    def __init__(self, sim: Simulation, warn: Callable[[str, str], None]):
        self._warn = warn
        self.ghosts: list[Ghost] = []
        self.drag: Drag | None = None
        self.recorder: Recorder | None = None
        self.signals: Signals | None = None
        self.before_step: Callable[[Simulation], None] | None = None
        self._cost = 1e-4  # s a step, as measured
        self.use(sim)

    def use(self, sim: Simulation, ghosts: list[Ghost] | None = None) -> None:
        """Go on with other simulations, from their states."""
        self.sim = sim
        self.ghosts = [] if ghosts is None else ghosts
        self.snap()

    def snap(self) -> None:
        """Show the present state, whatever came before it."""
        self.shown = self.sim.time
        self.before, self.before_rate = self.sim.qpos.copy(), self.sim.qvel.copy()
        for ghost in self.ghosts:
            ghost.snap()

    @property
    def fraction(self) -> float:
        """How far the time shown is from the last state but one to the last one."""
        behind = (self.sim.time - self.shown) / self.sim.timestep
        return 1.0 if behind < ROUNDING else max(0.0, 1.0 - behind)

    def run(self, seconds: float) -> float:
        """Let the time shown go on by simulated seconds; returns those for which the computer was too slow."""
        h = self.sim.timestep
        until = self.shown + seconds
        wanted = math.ceil((until - self.sim.time) / h - ROUNDING)
        if wanted > 0 and self.advance(wanted) < wanted:
            late = until - self.sim.time
            self.shown = self.sim.time
            return late
        self.shown = until
        return 0.0

    def glide(self, elapsed: float) -> bool:
        """Bring the time shown to the end of the step in GLIDE s at most; whether there was anything to do."""
        rest = self.sim.time - self.shown
        if rest <= ROUNDING * self.sim.timestep:
            return False
        way = max(rest, self.sim.timestep) * elapsed / GLIDE
        self.shown = self.sim.time if way >= rest * (1.0 - ROUNDING) else self.shown + way
        return True

    def advance(self, n: int) -> int:
        """Take n steps, or as many as there is time for; returns how many were taken.

        Raises DivergenceError or EventError with the state at the last good step.
        """
        began = clock = time.perf_counter()
        taken = 0
        try:
            while taken < n and (taken == 0 or clock - began < BUDGET):
                k = self._chunk(n - taken)
                self._take(k)
                taken += k
                now = time.perf_counter()
                self._cost = 0.8 * self._cost + 0.2 * (now - clock) / k
                clock = now
        except (DivergenceError, EventError):
            self.snap()
            raise
        return taken

    def _chunk(self, n: int) -> int:
        """How many of n steps to take at once; the last of them is one by itself, to lie between two states."""
        most = max(1, int(CHUNK / self._cost))
        if self.drag is not None:
            most = min(most, self.drag.steps(self.sim.timestep))
        if self.recorder is not None:
            most = min(most, self.recorder.steps_left)
        if self.signals is not None:
            most = min(most, self.signals.steps_left)
        if self.before_step is not None:
            most = 1
        return 1 if n == 1 else min(n - 1, most)

    def _take(self, k: int) -> None:
        sim = self.sim
        if self.drag is not None:
            self.drag.apply(sim)
        if self.before_step is not None:
            self.before_step(sim)
        np.copyto(self.before, sim.qpos)
        np.copyto(self.before_rate, sim.qvel)
        sim.step(k)
        for ghost in self.ghosts:
            if ghost.alive:
                self._take_ghost(ghost, k)
        if self.signals is not None:
            self.signals.after(sim, k)
        if self.recorder is not None and not self.recorder.after(sim, self.ghosts, k):
            self._warn("warning", self.recorder.full)
            self.recorder.stopped = True

    def _take_ghost(self, ghost: Ghost, k: int) -> None:
        ghost.follow(self.sim)
        np.copyto(ghost.before, ghost.sim.qpos)
        np.copyto(ghost.before_rate, ghost.sim.qvel)
        try:
            ghost.sim.step(k)
        except (DivergenceError, EventError) as error:
            ghost.alive = False
            self._warn("warning", f"The ghost {ghost.name} was removed: {error}")


def kept(old: list[Ghost], name: str) -> Any:
    """The simulation of a ghost among others, if it is there and well."""
    return next((ghost.sim for ghost in old if ghost.name == name and ghost.alive), None)
