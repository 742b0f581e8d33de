"""`Pilot`: a policy that controls a simulation of the lab, at the steps of its environment."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.env.environment import Environment
from saltus.env.live.task import LiveTask
from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

#: A function of one observation [nobservation] that gives an action [naction], such as a `Policy`.
ActionFunction: TypeAlias = Callable[[NDArray[np.floating]], ArrayLike]
ROUNDING = 1e-6  # of a step


class Pilot:
    """Observes, acts, and holds the action for a step of the environment.

    `ended`: whether the episode has come to its end and another is to begin. `total`: the sum of its rewards so far,
    `steps`: of the environment since it began, `last`: (sum, steps) of the episode before; None: there was none.
    `set`: values of inputs, which stay as they are whatever the environment's own terms make of them.
    """

    def __init__(self, environment: Environment, policy: ActionFunction | None, restart: bool, seed: int | None):
        self.task = LiveTask(environment)
        if seed is not None:
            self.task.seed([seed])
        self._policy, self._restart = policy, restart
        self.inputs = {one.id: one for one in self.task.inputs}
        self.set = {id: min(max(self.task.first_value(one), one.low), one.high) for id, one in self.inputs.items()}
        self.first = dict(self.set)
        self.on, self.ended = True, False
        self.total, self.steps, self.episode = 0.0, 0, 0
        self.last: tuple[float, int] | None = None
        self.action = np.zeros(len(self.task.declaration.action_low))
        self._due, self._seen = 0.0, False

    @property
    def duration(self) -> float:
        """Of a step of the environment, s."""
        return self.task.timestep * self.task.environment.frame_skip

    # ------------------------------------------------------------ as the lab calls it

    def begin(self, sim: Simulation, elsewhere: bool = False) -> None:
        """Begin an episode; `elsewhere`: from the present state, not from the environment's."""
        state = sim.snapshot() if elsewhere else None
        self.task.begin(sim)
        if state is not None:
            sim.restore(state)
        self._hold_inputs()
        if state is not None or self.inputs:
            self.task.see_again(sim)
        self.last = (self.total, self.steps) if self.steps else self.last
        self.total, self.steps, self.episode = 0.0, 0, self.episode + 1
        self.ended, self._seen, self._due = False, True, sim.time

    def act(self, sim: Simulation) -> None:
        """Before a step of the simulation: if a step of the environment ends here, look, and act for the next one.

        OptionError: the policy fails, or gives no action.
        """
        if sim.time >= self._due - ROUNDING * sim.timestep:
            if not self._seen:
                self._see(sim)
            if self.ended:
                return
            self._hold_inputs()
            self.action[:] = self._chosen()
            self.task.act(sim, self.action)
            self._hold_inputs()
            self._seen = False
            self._due = max(self._due, sim.time - self.duration) + self.duration
        if self._steps_to_go(sim) == 1:
            self.task.remember(sim)

    def _steps_to_go(self, sim: Simulation) -> int:
        """How many steps of the simulation there are to the end of the present one of the environment."""
        return max(1, math.ceil((self._due - sim.time) / sim.timestep - ROUNDING))

    def steps_left(self, sim: Simulation) -> int:
        """How many steps of the simulation may be taken before `act` has to be called."""
        left = self._steps_to_go(sim)
        return left - 1 if left > 1 and self.task.declaration.quantities.left else left

    @property
    def wrench(self) -> NDArray[np.float64]:
        """What the environment applies to bodies [nbody, 6]."""
        return self.task.wrench

    def follow(self, sim: Simulation) -> None:
        """The simulation may have another model now."""
        if sim.model is not self.task.model:
            self.task = self.task.of_model(sim.model)

    # ------------------------------------------------------------ parts

    def _see(self, sim: Simulation) -> None:
        self._hold_inputs()
        self.task.see(sim)
        results = self.task.results
        self._seen = True
        self.total += float(results.rewards[0])
        self.steps += 1
        self.ended = self._restart and bool(results.ended[0])

    def _hold_inputs(self) -> None:
        for id, one in self.inputs.items():
            self.task.set_input(one, self.set[id])

    def _chosen(self) -> NDArray[np.float64]:
        """The action for what was seen last."""
        what = self.task.declaration
        if self._policy is None or not self.on:
            return np.clip(np.zeros(len(self.action)), what.action_low, what.action_high)
        try:
            found = np.asarray(self._policy(self.task.results.observations[0].copy()), float)
        except Exception as error:
            raise OptionError(f"policy: {type(error).__name__}: {error}") from error
        if found.shape != self.action.shape or not np.isfinite(found).all():
            raise OptionError(f"policy: expected {len(self.action)} finite numbers, got {found!r}")
        return found
