"""`Pilot`: a policy that controls a simulation of the lab at the steps of its environment."""

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

#: A function from an observation [nobservation] to an action [naction], such as a `Policy`.
ActionFunction: TypeAlias = Callable[[NDArray[np.floating]], ArrayLike]
ROUNDING = 1e-6  # of a step


class Pilot:
    """Observes the simulation, chooses an action and holds it for a step of the environment.

    `ended`: whether the episode has ended and another is to begin. `total`: sum of its rewards so far. `steps`: its
    steps of the environment so far. `last`: (sum, steps) of the previous episode; None: there was none.
    `set`: values of inputs, which override those that the environment's terms assign.
    """

    resumable = False  # an environment keeps no memory of earlier times

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
        """Duration of a step of the environment (s)."""
        return self.task.timestep * self.task.environment.frame_skip

    # ------------------------------------------------------------ called by the lab

    def begin(self, sim: Simulation, elsewhere: bool = False) -> None:
        """Begin an episode; `elsewhere`: from the present state instead of the environment's initial state."""
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

    def act(self, sim: Simulation, patience: float = 0.0) -> None:
        """Observe and choose the next action if a step of the environment ends here; called before simulation steps.

        OptionError: the policy raises an error or does not return an action.
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
        """Number of simulation steps to the end of the present step of the environment."""
        return max(1, math.ceil((self._due - sim.time) / sim.timestep - ROUNDING))

    def steps_left(self, sim: Simulation) -> int:
        """Number of simulation steps that may be taken before the next call of `act`."""
        left = self._steps_to_go(sim)
        return left - 1 if left > 1 and self.task.declaration.quantities.left else left

    @property
    def wrench(self) -> NDArray[np.float64]:
        """Forces (N) and torques (N m) that the environment applies to bodies [nbody, 6]."""
        return self.task.wrench

    def follow(self, sim: Simulation) -> None:
        """Adapt to the model of a simulation, if it has changed."""
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
        """The action for the last observation. OptionError: the policy fails."""
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
