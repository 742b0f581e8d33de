"""Time of a session's simulations: whole steps, as many as the clock requires, and interpolation for display.

The displayed time is the wall-clock time multiplied by the speed; the simulation is ahead of it by less than a step,
and displayed positions are interpolated between its last two states. The motion is thus smooth for any timestep,
without extrapolation. If the computer is too slow, the displayed time waits for the simulation: no step is skipped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from saltus.errors import DivergenceError, EventError, OptionError
from saltus.lab.controls.drag import Drag, grabbed, move_mocap, point_mass
from saltus.lab.data.ghost import Ghost
from saltus.lab.data.recording import Recorder
from saltus.lab.data.signals import Signals
from saltus.simulate.transfer_state import carry

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

ROUNDING = 1e-9  # of a step
BUDGET = 0.013  # s for steps in each 1/60 s
CHUNK = 0.004  # s between two looks at the clock
GLIDE = 0.1  # s in which the displayed time reaches the end of a step after a pause
TIMING = {"rounding": ROUNDING, "budget": 1e3 * BUDGET, "chunk": 1e3 * CHUNK, "glide": GLIDE}  # of pages, in ms and s


class Pilot(Protocol):
    """Interface of an agent that acts on a simulation at its own times.

    wrench [nbody, 6]: force (N) and torque (N m) on each body, to which dragging is added. ended: no steps for now.
    resumable: whether it can go on from an earlier time of the run.
    """

    ended: bool
    resumable: bool

    @property
    def wrench(self) -> NDArray[np.float64]: ...

    def act(self, sim: Simulation, patience: float) -> None:
        """Act on the simulation, within about `patience` seconds; called before steps are taken."""

    def steps_left(self, sim: Simulation) -> int:
        """Number of steps that may be taken before the next call of `act`."""
        ...


class Motion:
    """A simulation, its ghosts, and the displayed time.

    `warn`: called with (level, text). The following may be None: `drag`, the spring of the mouse; `recorder`, the
    running recording; `signals`, the plotted signals; `before_step`, called before every step; `pilot`, the agent.
    """

    def __init__(self, sim: Simulation, warn: Callable[[str, str], None]):
        self._warn = warn
        self.ghosts: list[Ghost] = []
        self.drag: Drag | None = None
        self.recorder: Recorder | None = None
        self.signals: Signals | None = None
        self.before_step: Callable[[Simulation], None] | None = None
        self.pilot: Pilot | None = None
        self._cost = 1e-4  # measured s per step
        self.sim = sim
        self.snap()

    def take_over(self, sim: Simulation, ghosts: Iterable[tuple[str, Simulation]]) -> list[str]:
        """Continue with other simulations from the present state; return the parts of it that start anew.

        ghosts: names and simulations. A ghost with a known name continues from its own state, others from `sim`'s.
        """
        lost = carry(self.sim.engine, sim.engine)
        there = {ghost.name: ghost.sim for ghost in self.ghosts if ghost.alive}
        found = []
        for name, ghost in ghosts:
            carry(there.get(name, sim).engine, ghost.engine)
            found.append(Ghost(name, ghost))
        shown, same = self.shown, sim.timestep == self.sim.timestep
        states = self.before, self.before_rate
        self.sim, self.ghosts = sim, found
        self.snap()
        if same:  # keep displaying between the same two states
            self.shown, (self.before, self.before_rate) = shown, states
        return lost

    def runs(self, names: Iterable[str]) -> list[Simulation | None]:
        """The simulation, then the ghosts of these names; None for one that does not run."""
        there = {ghost.name: ghost.sim for ghost in self.ghosts if ghost.alive}
        return [self.sim, *(there.get(name) for name in names)]

    def moved_by(self, call: Callable[[Simulation], None]) -> bool:
        """Call a function with the simulation and return whether it changed the state."""
        sim = self.sim
        before = sim.time, sim.qpos.copy(), sim.qvel.copy()
        call(sim)
        after = sim.time, sim.qpos, sim.qvel
        return not all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))

    def jump(self) -> None:
        """After a jump of the state: restart all ghosts from it and show it without interpolation."""
        for ghost in self.ghosts:
            carry(self.sim.engine, ghost.sim.engine)
            ghost.alive = True
        self.snap()

    def snap(self) -> None:
        """Show the present state without interpolation from the previous one."""
        self.shown = self.sim.time
        self.before, self.before_rate = self.sim.qpos.copy(), self.sim.qvel.copy()
        for ghost in self.ghosts:
            ghost.snap()

    @property
    def fraction(self) -> float:
        """Position of the displayed time between the last two states: 0 at the earlier, 1 at the later one."""
        behind = (self.sim.time - self.shown) / self.sim.timestep
        return 1.0 if behind < ROUNDING else max(0.0, 1.0 - behind)

    def pull(self, body: int, point: tuple[float, float, float], target: tuple[float, float, float]) -> bool:
        """Pull a body by a point (m, in its frame) towards a target (m, world axes); return whether it was moved there.

        OptionError: there is no such body, or the point cannot move.
        """
        m = self.sim.model
        if body >= m.nbody:
            raise OptionError(f"there is no body {body}; the model has {m.nbody}")
        if m.body_mocapid[body] >= 0:
            move_mocap(self.sim, int(m.body_mocapid[body]), point, target)
            return True
        if self.drag is not None and (self.drag.body, self.drag.point) == (body, point):
            self.drag.target = target
            return False
        if point_mass(self.sim, grabbed(self.sim, body, point)[1]) is None:
            raise OptionError(f"this point of {m.names('body')[body]!r} cannot move")
        self.drag = Drag(body, point, target)
        return False

    def let_go(self) -> None:
        """Stop pulling."""
        self.drag = None
        self.sim.xfrc_applied[:] = 0.0

    def run(self, seconds: float) -> float:
        """Advance the displayed time by simulated seconds; return the part for which the computer was too slow (s)."""
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
        """Move the displayed time to the end of the step within GLIDE s; return whether it had to move."""
        rest = self.sim.time - self.shown
        if rest <= ROUNDING * self.sim.timestep:
            return False
        way = max(rest, self.sim.timestep) * elapsed / GLIDE
        self.shown = self.sim.time if way >= rest * (1.0 - ROUNDING) else self.shown + way
        return True

    def advance(self, n: int) -> int:
        """Take n steps, or as many as there is time for; return the number taken.

        Raises DivergenceError or EventError with the state at the last good step.
        """
        began = clock = time.perf_counter()
        taken = 0
        try:
            while taken < n and (taken == 0 or clock - began < BUDGET):
                if self.pilot is not None:
                    self.pilot.act(self.sim, BUDGET - (clock - began))
                    if self.pilot.ended:
                        break
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
        """Number of steps, of n, to take in one call; the last step is taken singly, for interpolation."""
        most = max(1, int(CHUNK / self._cost))
        if self.drag is not None:
            most = min(most, self.drag.steps(self.sim.timestep))
        if self.recorder is not None:
            most = min(most, self.recorder.steps_left)
        if self.signals is not None:
            most = min(most, self.signals.steps_left)
        if self.pilot is not None:
            most = min(most, self.pilot.steps_left(self.sim))
        if self.before_step is not None:
            most = 1
        return 1 if n == 1 else min(n - 1, most)

    def _take(self, k: int) -> None:
        sim = self.sim
        if self.drag is not None:
            self.drag.apply(sim)
        if self.pilot is not None:
            sim.xfrc_applied[:] = self.pilot.wrench + (0.0 if self.drag is None else sim.xfrc_applied)
        if self.before_step is not None:
            self.before_step(sim)
        np.copyto(self.before, sim.qpos)
        np.copyto(self.before_rate, sim.qvel)
        sim.step(k)
        for ghost in self.ghosts:
            if ghost.alive:
                self._take_ghost(ghost, k)
        # the recorder first: signals may solve for constraint forces once more
        if self.recorder is not None and not self.recorder.after(sim, self.ghosts, k):
            self._warn("warning", self.recorder.full)
            self.recorder.stopped = True
        if self.signals is not None:
            self.signals.after(sim, k)

    def _take_ghost(self, ghost: Ghost, k: int) -> None:
        ghost.follow(self.sim)
        np.copyto(ghost.before, ghost.sim.qpos)
        np.copyto(ghost.before_rate, ghost.sim.qvel)
        try:
            ghost.sim.step(k)
        except (DivergenceError, EventError) as error:
            ghost.alive = False
            self._warn("warning", f"The ghost {ghost.name} was removed: {error}")
