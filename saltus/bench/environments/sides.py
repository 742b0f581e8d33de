"""Contenders that step environments, made ready to be timed: Saltus, Gymnasium, EnvPool, `mujoco.batch`."""

from __future__ import annotations

import copy
import itertools
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import mujoco
import numpy as np

from saltus.bench.environments.mujoco_tasks import MujocoTask
from saltus.bench.harness.timing import Contender
from saltus.env.environment import Environment
from saltus.env.interfaces.vector import VectorEnvironment
from saltus.env.making import found

ACTIONS = 16  # different sets of random actions, used in turn
SYNC = 32  # environments of Gymnasium's SyncVectorEnv: each is stepped alone, so that more of them are not faster
PROCESSES = 2  # environments of AsyncVectorEnv per thread of the others: one works while another sends
INSTALL = {"envpool": "pip install envpool==1.2.5", "imageio": "pip install 'gymnasium[mujoco]'"}


class Timed(VectorEnvironment):
    """Saltus's environments; `shares`: the share of each step spent outside the compiled call."""

    def __init__(self, environment: Environment, n: int, **options: Any):
        self.shares: list[float] = []
        super().__init__(environment, n, **options)

    def some_actions(self) -> list[Any]:
        """Random actions for all environments."""
        space: Any = self.single_action_space
        return random_actions(space.low, space.high, self.num_envs)

    def timed_step(self, actions: Any) -> None:
        began = time.perf_counter()
        self.step(actions)
        self.shares.append(1.0 - self._episodes.seconds / (time.perf_counter() - began))


class Side:
    """Contender that steps n environments by `step(actions)`."""

    def __init__(self, name: str, n: int, step: Callable[[Any], object], actions: list[Any], close: Any = None):
        self.name, self.n, self._step = name, n, step
        self._actions = itertools.cycle(actions)
        self.close: Callable[[], object] = close or (lambda: None)

    def step(self) -> None:
        """Step all environments once."""
        self._step(next(self._actions))

    def contender(self, warming: int) -> Contender:
        """Contender for timings that each go on where the last one ended, once episodes no longer begin together."""
        for _ in range(warming):
            self.step()
        return Contender(self.name, lambda: None, self.step, self.n)


def random_actions(low: Any, high: Any, n: int, dtype: Any = np.float32) -> list[Any]:
    """Actions [n, naction], uniform within their ranges."""
    rng = np.random.default_rng(0)
    low, high = np.asarray(low).reshape(-1), np.asarray(high).reshape(-1)
    return [rng.uniform(low, high, (n, len(low))).astype(dtype) for _ in range(ACTIONS)]


def solved_tightly(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy whose solver goes on to its minimum: the stopping of solvers is not to be compared."""
    tight = copy.copy(model)
    tight.opt.tolerance, tight.opt.iterations, tight.opt.ls_iterations = 1e-12, 100, 50
    return tight


def saltus_task(name: str, n: int, threads: int, precision: str) -> tuple[Side, Timed]:
    """Bundled environments of Saltus, with infos, as the others have them."""
    envs = Timed(found(name, {}), n, threads=threads, precision=precision)
    envs.reset(seed=0)
    return Side(f"saltus {precision}", n, envs.timed_step, envs.some_actions()), envs


def mujoco_task(task: MujocoTask, actions: list[Any]) -> Side:
    """A task by `mujoco.batch` and NumPy."""
    return Side("mujoco.batch", task.n, task.step, actions)


def missing() -> dict[str, str]:
    """Contenders that cannot be compared here, each with a line that says why."""
    found = {name: f"not installed; {how}" for name, how in INSTALL.items() if find_spec(name) is None}
    gymnasium = found.pop("imageio", None)
    if gymnasium:
        found |= {"gymnasium sync": gymnasium, "gymnasium async": gymnasium}
    return found


def gymnasium_task(name: str, kind: str, threads: int) -> Side:
    """Gymnasium's own environments, in this process or in processes of their own."""
    import gymnasium

    n = SYNC if kind == "sync" else PROCESSES * threads
    options: dict[str, Any] = {} if kind == "sync" else {"vector_kwargs": {"context": "spawn"}}
    with silence():  # hides warnings, in other processes too, about model files that are not ours
        envs = gymnasium.make_vec(f"{name}-v5", n, vectorization_mode=kind, **options)
        envs.reset(seed=0)
    space: Any = envs.single_action_space
    return Side(f"gymnasium {kind}", n, envs.step, random_actions(space.low, space.high, n), envs.close)


def envpool_task(name: str, n: int, threads: int) -> Side:
    """EnvPool's environments of the same names."""
    import envpool  # pyright: ignore[reportMissingImports]

    with silence():
        envs = envpool.make(f"{name}-v5", env_type="gymnasium", num_envs=n, num_threads=threads, seed=0)
        envs.reset()
    space = envs.action_space
    low, high = (np.reshape(x, (-1, space.shape[-1]))[0] for x in (space.low, space.high))
    return Side("envpool", n, envs.step, random_actions(low, high, n, space.dtype), envs.close)


@contextmanager
def silence() -> Iterator[None]:
    """Hide the stderr of the process within the block."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
