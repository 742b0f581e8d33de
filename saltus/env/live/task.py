"""`LiveTask`: an episode on a simulation stepped by the lab, with the terms of an environment on its states."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.env.environment import Environment
from saltus.env.inputs import Input
from saltus.env.live.looking import ACT, BEGIN, SEE, SEE_AGAIN, looking
from saltus.env.run.episodes import Episodes
from saltus.env.run.stages import BEGAN

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation

#: Fields copied from a simulation to its terms, and back if terms may have changed them.
STATE = ("qpos", "qvel", "eq_active", "act", "history", "plastic", "mocap_pos", "mocap_quat", "userdata", "ctrl")
STATE += ("qfrc_applied",)
STATE += ("control_prm",)  # a simulation may hold more of these than the lanes


class LiveTask(Episodes):
    """An environment's episode on a `saltus.Simulation` of the same model, in double precision.

    The model is the simulation's, without randomization. `wrench` [nbody, 6]: forces (N) and torques (N m) applied to
    bodies by terms and pushes. `inputs`: inputs that people set.
    """

    def __init__(self, environment: Environment):
        super().__init__(copy.copy(environment), 1, 1, "float64")
        self._declared = environment
        what = self.declaration
        self._look = looking(self.integrator, what.program(False), what.quantities.left)
        self._earlier = self.lanes.states[0].copy()[None]
        self.wrench = np.zeros((self.model.nbody, 6))
        self.inputs = environment.played_inputs()

    def _make_lanes(self, threads: int) -> None:
        super()._make_lanes(threads)
        self.lanes.forced = True

    def of_model(self, model: Model) -> LiveTask:
        """Return a copy of the episode with another model of the same mechanism."""
        environment = copy.copy(self._declared)
        environment.model = model
        made = LiveTask(environment)
        made._own[:], made._random[:] = self._own, self._random
        for mine, its in ((self.results.arrays, made.results.arrays), (self.results.shown, made.results.shown)):
            for one, other in zip(mine, its, strict=True):
                other[...] = one
        made.wrench[:] = self.wrench
        return made

    # ------------------------------------------------------------ parts of a step, in order

    def begin(self, sim: Simulation) -> None:
        """Begin an episode and set the simulation to its initial state."""
        self._run(BEGIN)
        self._give(sim)

    def see(self, sim: Simulation) -> None:
        """Finish a step of the environment in the present state and fill `results`."""
        self._take(sim)
        self._run(SEE)
        if self.declaration.python_rewards:
            self._add_python_rewards(~self.results.diverged)

    def see_again(self, sim: Simulation) -> None:
        """Observe the present state again, in the same step of the episode, and fill `results`."""
        self._take(sim)
        self._run(SEE_AGAIN)

    def act(self, sim: Simulation, action: ArrayLike) -> None:
        """Begin a step of the environment with an action; applying `wrench` is left to the caller."""
        self._actions[:] = action
        self._take(sim)
        self._rows("xfrc_applied")[:] = self.wrench.reshape(-1, 1)
        self._run(ACT)
        self._give(sim)

    def remember(self, sim: Simulation) -> None:
        """Store the present state, from which `see` repeats the next simulation step."""
        if self.declaration.quantities.left:
            self._take(sim)
            self._earlier[:] = self.lanes.states

    # ------------------------------------------------------------ inputs

    def first_value(self, one: Input) -> float:
        """Initial value of an input."""
        values = {**self.environment.values, **self.environment.first_memory()}
        return float(values[one.field].reshape(-1)[one.index])

    def set_input(self, one: Input, value: float) -> None:
        """Set the value of an input."""
        self._own[:, self._structs[0].span(one.field, one.field).start + one.index] = value

    # ------------------------------------------------------------ between simulation and lanes

    def _rows(self, name: str) -> NDArray[np.floating]:
        """View of a field of the state in the lanes [numbers, width]."""
        return self.lanes.states[0, self.lanes.span(name)]

    def _take(self, sim: Simulation) -> None:
        """Copy the state of the simulation to the lanes."""
        for name in (*STATE, "xfrc_applied"):
            rows = self._rows(name)
            rows[:] = sim.engine.d.views[name].reshape(-1)[: len(rows), None]
        self._rows("time")[:] = sim.time
        self.lanes.clock[:] = sim.time

    def _give(self, sim: Simulation) -> None:
        """Copy the state in the first lane to the simulation bitwise, but forces on bodies to `wrench` only."""
        for name in STATE:
            rows = self._rows(name)
            sim.engine.d.views[name].reshape(-1)[: len(rows)] = rows[:, 0]
        sim.time = float(self.lanes.clock[0, 0])
        self.wrench[:] = self._rows("xfrc_applied")[:, 0].reshape(self.wrench.shape)

    def _run(self, mode: int) -> None:
        results, lanes, what = self.results, self.lanes, self.declaration
        results.arrays[1][BEGAN] = True  # all lanes do the same
        if lanes.varied_model is not None:
            lanes.varied_model.update()
        counts = (mode, self.environment.max_episode_steps or 0, len(what.rewards), what.shaped, *what.reward_range)
        memory = (*self._memory, self._nothing_given)
        structs = (*self._models[0], lanes.prepared(0), self._structs[0])
        status = self._look(
            *structs, self._earlier, memory, *self._arguments, counts, self.timestep, *self.integrator.parameters
        )
        if mode == BEGIN:
            results.begin(None)
        if status:
            self._judge(status)
