"""Many environments at once as Stable-Baselines3's `VecEnv`; made by `saltus.env.make_sb3`."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from saltus.env.environment import declared
from saltus.env.interfaces.infos import SingleInfos, VectorInfos
from saltus.env.interfaces.spaces import check_options
from saltus.env.interfaces.vector import VectorEnvironment
from saltus.errors import OptionError

try:
    from stable_baselines3.common.vec_env import VecEnv, VecMonitor  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise ImportError("saltus.env.make_sb3 needs Stable-Baselines3: pip install 'saltus[sb3]'") from error

__all__ = ["SB3VecEnv", "VecMonitor"]

#: Chosen environments: all (None), one or several.
Indices: TypeAlias = int | Iterable[int] | None


class SB3VecEnv(VecEnv):
    """A `VectorEnvironment` with autoreset_mode "SameStep" as Stable-Baselines3's `VecEnv`.

    The behaviour is that of SB3's `DummyVecEnv` of n single environments, with float32 observations: a new episode
    begins in the step in which one ends, infos hold the last observation as `terminal_observation`, and
    `TimeLimit.truncated` says whether the episode was only truncated.

    `get_attr` and `set_attr` access the parameters of the environment's terms, with a value for each simulation;
    `env_method` calls methods of the environment, and "read" and "render" of `VectorEnvironment`.
    """

    def __init__(self, envs: VectorEnvironment):
        if envs.metadata["autoreset_mode"] is not gymnasium.vector.AutoresetMode.SAME_STEP:
            raise OptionError("Stable-Baselines3 needs environments with autoreset_mode='SameStep'")
        self.envs = envs
        space = envs.single_observation_space
        super().__init__(envs.num_envs, Box(-np.inf, np.inf, space.shape, np.float32), envs.single_action_space)
        self.metadata = envs.metadata
        self._at_reset = tuple(declared(envs.environment, "reset_infos"))
        self._actions: Any = None

    # ------------------------------------------------------------ motion

    def reset(self) -> NDArray[np.float32]:
        """Begin an episode in all simulations, with the seeds set by `seed`; return observations [n, nobservation]."""
        for options in self._options:
            check_options(options, ())
        seeds = None if all(one is None for one in self._seeds) else self._seeds
        observations, infos = self.envs.reset(seed=seeds)
        self.reset_infos = rows_of(columns(infos, self._at_reset), self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return observations.astype(np.float32)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Store actions [n, naction] for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Take a step; return observations, rewards, whether episodes have ended, and infos."""
        observations, rewards, terminated, truncated, found = self.envs.step(self._actions)
        ended = terminated | truncated
        infos = self._infos(found, ended)
        for info, cut in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            info["TimeLimit.truncated"] = cut
        if ended.any():
            last: Any = found["final_obs"]
            begun = rows_of(columns(found, self._at_reset), self.num_envs)
            for i in np.flatnonzero(ended):
                infos[i]["terminal_observation"] = last[i].astype(np.float32)
                self.reset_infos[i] = begun[i]
        return observations.astype(np.float32), rewards.astype(np.float32), ended, infos

    def _infos(self, found: VectorInfos, ended: NDArray[np.bool_]) -> list[dict[str, Any]]:
        """Infos of a step; those of an ended episode replace those of the one that begins."""
        final: Any = found.get("final_info", {})
        table = columns(found, names(found))
        for name, last in columns(final, names(final)).items():
            table[name] = np.where(ended.reshape(-1, *[1] * (last.ndim - 1)), last, table.get(name, last))
        rows = rows_of(table, self.num_envs)
        for diverged in (found.get("diverged", False), final.get("diverged", False)):
            for i in np.flatnonzero(np.asarray(diverged)):
                rows[i]["diverged"] = True
        return rows

    def close(self) -> None:
        """Release the renderer."""
        self.envs.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A picture of each simulation, with render_mode "rgb_array"."""
        pictures = self.envs.render()
        return [None] * self.num_envs if pictures is None else pictures

    # ------------------------------------------------------------ single environments

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return a parameter of each simulation, or an attribute shared by all."""
        chosen = self._get_indices(indices)
        if attr_name in self.envs.environment.values:
            values = self.envs.parameters[attr_name]
            return [values[i] for i in chosen]
        shared = {"observation_space": self.observation_space, "action_space": self.action_space}
        value = shared[attr_name] if attr_name in shared else getattr(self.envs, attr_name)
        return [value for _ in chosen]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set a parameter in some simulations, or an attribute in all."""
        if attr_name in self.envs.environment.values:
            values = self.envs.parameters[attr_name].copy()
            values[list(self._get_indices(indices))] = value
            self.envs.parameters[attr_name] = values
        elif indices is None:
            setattr(self.envs, attr_name, value)
        else:
            raise OptionError(f"{attr_name} is not a parameter: all simulations share it")

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call "read", "render" or a method of the environment and return its result for each simulation."""
        chosen = self._get_indices(indices)
        if method_name in ("read", "render"):
            given = getattr(self.envs, method_name)(*method_args, **method_kwargs)
            return [None if given is None else given[i] for i in chosen]
        method = getattr(self.envs.environment, method_name)
        return [method(*method_args, **method_kwargs) for _ in chosen]

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper], indices: Indices = None) -> list[bool]:
        """Return False for each simulation: none is wrapped."""
        return [False for _ in self._get_indices(indices)]


# ---------------------------------------------------------------- infos


def names(infos: VectorInfos) -> list[str]:
    """Names of the infos of single simulations, except `diverged`, which only diverged ones report."""
    return [name for name in infos if not name.startswith("_") and name not in ("final_obs", "final_info", "diverged")]


def columns(infos: VectorInfos, chosen: Iterable[str]) -> dict[str, NDArray[Any]]:
    """The arrays [n] or [n, ...] of those names that exist."""
    return {name: np.asarray(infos[name]) for name in chosen if name in infos}


def rows_of(table: dict[str, NDArray[Any]], n: int) -> list[SingleInfos]:
    """Convert arrays by name to a dictionary for each of n simulations."""
    if not table:
        return [{} for _ in range(n)]
    values = [column.tolist() if column.ndim == 1 else list(column) for column in table.values()]
    return [dict(zip(table, row, strict=True)) for row in zip(*values, strict=True)]
