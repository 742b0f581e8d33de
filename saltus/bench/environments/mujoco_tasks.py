"""Tasks by `mujoco.batch`: MuJoCo steps many simulations, NumPy computes observations, rewards, ends and starts.

The tasks equal those of `saltus.env` and Gymnasium, but for the external wrenches of Ant and Humanoid: a step of
`mujoco.batch` does not compute them, and neither the observation nor the reward here has them.
"""

from __future__ import annotations

from typing import Any

import mujoco
import mujoco.batch
import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


class MujocoTask:
    """n simulations of a model; episodes that have ended begin anew in the same step.

    `needs_forward`: whether the first observation of an episode needs quantities of its start.
    """

    frame_skip = 5
    limit = 1000  # steps of an episode
    reset_noise = 0.1
    needs_forward = False

    def __init__(self, model: mujoco.MjModel, n: int, threads: int, seed: int = 0):
        self.model, self.n = model, n
        self.batch = mujoco.batch.Batch(model, n, nthread=threads)
        self.qpos, self.qvel, self.ctrl = (self.batch.bind(name) for name in ("qpos", "qvel", "ctrl"))
        self.dt = self.frame_skip * float(model.opt.timestep)
        self.first = np.array(model.qpos0), np.zeros(model.nv)
        self.steps = np.zeros(n, np.int64)
        self.rng = np.random.default_rng(seed)
        self.bind()
        self.begin(np.arange(n))

    def bind(self) -> None:
        """Bind the fields that observations and rewards read beyond the state."""

    def observe(self) -> Reals:
        """Observations [n, nobservation]."""
        return np.concatenate([self.qpos, self.qvel], axis=1)

    def before(self) -> Any:
        """State before a step, as far as the reward needs it."""

    def reward(self, before: Any, actions: Reals) -> Reals:
        """Rewards [n]."""
        raise NotImplementedError

    def terminated(self) -> NDArray[np.bool_]:
        """Whether each simulation's episode ends [n]."""
        return np.zeros(self.n, bool)

    def starts(self, count: int) -> tuple[Reals, Reals]:
        """Positions and velocities of new episodes."""
        (qpos, qvel), s = self.first, self.reset_noise
        return (
            qpos + self.rng.uniform(-s, s, (count, len(qpos))),
            qvel + s * self.rng.standard_normal((count, len(qvel))),
        )

    def begin(self, ids: NDArray[np.int64]) -> None:
        """Begin episodes in some simulations."""
        self.batch.reset(ids, stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        self.put(ids, *self.starts(len(ids)))

    def put(self, ids: NDArray[np.int64], qpos: Reals, qvel: Reals) -> None:
        """Start some simulations from these positions and velocities."""
        self.qpos[ids], self.qvel[ids], self.steps[ids] = qpos, qvel, 0
        if self.needs_forward:
            self.batch.forward(ids)

    def step(self, actions: Reals) -> tuple[Reals, Reals, NDArray[np.bool_], NDArray[np.bool_]]:
        """Step; return observations, rewards, and which episodes have terminated and which have been truncated."""
        before = self.before()
        self.ctrl[:] = actions
        self.batch.step(nstep=self.frame_skip)
        self.steps += 1
        rewards, terminated = self.reward(before, actions), self.terminated()
        truncated = self.steps >= self.limit
        ended = np.flatnonzero(terminated | truncated)
        if len(ended):
            self.begin(ended)
        return self.observe(), rewards, terminated, truncated


class HalfCheetah(MujocoTask):
    """HalfCheetah-v5."""

    def observe(self) -> Reals:
        return np.concatenate([self.qpos[:, 1:], self.qvel], axis=1)

    def before(self) -> Reals:
        return self.qpos[:, 0].copy()

    def reward(self, before: Reals, actions: Reals) -> Reals:
        return (self.qpos[:, 0] - before) / self.dt - 0.1 * np.square(actions).sum(axis=1)


class Ant(MujocoTask):
    """Ant-v5 without external wrenches."""

    needs_forward = True

    def bind(self) -> None:
        self.xpos = self.batch.bind("xpos")

    def observe(self) -> Reals:
        return np.concatenate([self.qpos[:, 2:], self.qvel], axis=1)

    def before(self) -> Reals:
        return self.xpos[:, 1, 0].copy()

    def healthy(self) -> NDArray[np.bool_]:
        """Whether each torso is in the range of heights [n]."""
        z = self.qpos[:, 2]
        return (0.2 <= z) & (z <= 1.0)

    def reward(self, before: Reals, actions: Reals) -> Reals:
        forward = (self.xpos[:, 1, 0] - before) / self.dt
        return forward + self.healthy() - 0.5 * np.square(actions).sum(axis=1)

    def terminated(self) -> NDArray[np.bool_]:
        return ~self.healthy()


class Humanoid(MujocoTask):
    """Humanoid-v5 without external wrenches."""

    needs_forward = True
    reset_noise = 1e-2

    def bind(self) -> None:
        self.xipos, *self.seen = (self.batch.bind(name) for name in ("xipos", "cinert", "cvel", "qfrc_actuator"))

    def observe(self) -> Reals:
        cinert, cvel, forces = self.seen
        flat = [cinert[:, 1:].reshape(self.n, -1), cvel[:, 1:].reshape(self.n, -1), forces[:, 6:]]
        return np.concatenate([self.qpos[:, 2:], self.qvel, *flat], axis=1)

    def starts(self, count: int) -> tuple[Reals, Reals]:
        s = self.reset_noise
        qpos, qvel = (x + self.rng.uniform(-s, s, (count, len(x))) for x in self.first)
        return qpos, qvel

    def before(self) -> Reals:
        mass = np.asarray(self.model.body_mass, np.float64)
        return np.asarray(self.xipos[:, :, 0] @ mass / mass.sum(), np.float64)

    def healthy(self) -> NDArray[np.bool_]:
        """Whether each torso is in the range of heights [n]."""
        z = self.qpos[:, 2]
        return (1.0 < z) & (z < 2.0)

    def reward(self, before: Reals, actions: Reals) -> Reals:
        forward = 1.25 * (self.before() - before) / self.dt
        return forward + 5.0 * self.healthy() - 0.1 * np.square(actions).sum(axis=1)

    def terminated(self) -> NDArray[np.bool_]:
        return ~self.healthy()


class InvertedPendulum(MujocoTask):
    """InvertedPendulum-v5."""

    frame_skip = 2
    reset_noise = 0.01

    def starts(self, count: int) -> tuple[Reals, Reals]:
        s = self.reset_noise
        qpos, qvel = (x + self.rng.uniform(-s, s, (count, len(x))) for x in self.first)
        return qpos, qvel

    def reward(self, before: None, actions: Reals) -> Reals:
        return 1.0 - self.terminated().astype(np.float64)

    def terminated(self) -> NDArray[np.bool_]:
        return np.abs(self.qpos[:, 1]) > 0.2


TASKS: dict[str, type[MujocoTask]] = {task.__name__: task for task in (HalfCheetah, Ant, Humanoid, InvertedPendulum)}
