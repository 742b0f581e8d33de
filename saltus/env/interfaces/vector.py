"""Many environments at once as Gymnasium's `VectorEnv`."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from saltus.env.environment import Environment
from saltus.env.interfaces.fields import Fields, Sealed, stated
from saltus.env.interfaces.infos import Infos, VectorInfos, final_observations
from saltus.env.interfaces.pictures import RENDER_MODES, Pictures
from saltus.env.interfaces.spaces import (
    action_space,
    checked_mask,
    given_state,
    observation_space,
    reset_mask,
    seed_keys,
)
from saltus.env.run.episodes import Episodes, Parameters
from saltus.env.run.stages import DISABLED, NEXT_STEP, SAME_STEP
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.simulate.batches.model import BatchModel
from saltus.terminal.display import count

MODES = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}


#: Observations [n, nobservation], rewards [n], terminated [n], truncated [n], infos.
VectorStep: TypeAlias = tuple[
    NDArray[np.floating], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], VectorInfos
]


class VectorEnvironment(Sealed, VectorEnv[NDArray[Any], ArrayLike, NDArray[Any]]):
    """n simulations of an environment, stepped by one compiled call; made by `saltus.env.make_vec`.

    The behaviour is that of Gymnasium's `SyncVectorEnv` of n single environments, with equal numbers: observations [n,
    nobservation], rewards [n], terminations and truncations [n], and infos as arrays with masks. All arrays are new.

    A simulation that diverges (its numbers are no longer finite) is terminated with reward 0 and the observation of the
    previous step, and infos report it as `diverged`.

    Copies (`copy`, `pickle`) are independent and continue with the same bits, random numbers included.

    `parameters`: parameters of the environment's terms, [n] each: `envs.parameters["forward_reward_weight"] = 2.0`.
    """

    def __init__(
        self,
        environment: Environment,
        n: int,
        *,
        threads: int,
        precision: str = "float64",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        info: bool = True,
        pictures: Pictures | None = None,
    ):
        self.environment = environment
        self._episodes = episodes = Episodes(environment, n, threads, precision)
        self.num_envs = episodes.n
        mode = _mode(autoreset_mode)
        self._mode = MODES[mode]
        episodes.check_mode(self._mode)
        self.autoreset_mode = mode
        self._pictures = pictures or Pictures()
        self.render_mode = self._pictures.render_mode
        fps = round(1.0 / (episodes.timestep * environment.frame_skip))
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": fps, "autoreset_mode": mode}
        self.single_observation_space = observation_space(episodes)
        self.single_action_space = action_space(episodes)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self._action_shape = (episodes.n, *(self.single_action_space.shape or ()))
        self._infos = Infos(episodes) if info else None
        self._ended: NDArray[np.bool_] | None = None  # None before the first reset
        self._made()

    def __copy__(self) -> VectorEnvironment:
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        episodes = self._episodes
        how = f"{episodes.precision}, {count(episodes.threads, 'thread')}"
        return f"VectorEnvironment({type(self.environment).__name__}, n = {self.num_envs}, {how})"

    @property
    def parameters(self) -> Parameters:
        """Parameters of the environment's terms by name, [n] or [n, ...]; reading returns copies."""
        return self._episodes.parameters

    @property
    def model(self) -> Model | BatchModel:
        """The model; the fields named by `vary`, [n, ...] each, are writable as in a `saltus.Batch`."""
        return self._episodes.varied

    def read(self, field: str) -> NDArray[np.floating]:
        """Read a field of all simulations [n, ...], as with `Batch.read`: "qpos", "xpos", "sensordata", ..."""
        return self._episodes.read(field)

    @property
    def data(self) -> Fields:
        """Fields of all simulations by name, as with `read`: `envs.data.xpos` [n, nbody, 3]; read-only copies."""
        return Fields(self.read)

    def snapshot(self) -> NDArray[np.float64]:
        """A copy of all that further steps and episodes depend on, random numbers included, for `restore`.

        Rows [n, size] belong to one simulation each and may be chosen, exchanged and repeated.
        """
        if self._ended is None:
            raise ResetNeeded("call reset before snapshot")
        return self._episodes.snapshot()

    def restore(self, snapshot: ArrayLike, *, mask: NDArray[np.bool_] | None = None) -> NDArray[np.floating]:
        """Go back to the rows [n, size] of a snapshot, or to one row for all; only in simulations of a mask [n].

        Returns:
            The observations [n, nobservation] at that time.

        Raises:
            OptionError: the snapshot belongs to another kind of environment.
        """
        rows, chosen = self._episodes.checked_snapshot(snapshot), checked_mask("mask", mask, self.num_envs)
        if chosen is not None and self._ended is None:
            raise ResetNeeded("call reset before restoring some of the simulations")
        self._episodes.restore(rows, chosen)
        self._ended = self._episodes.results.ended.copy()
        return self._episodes.results.observations.copy()

    def set_state(
        self,
        qpos: ArrayLike | None = None,
        qvel: ArrayLike | None = None,
        *,
        mask: NDArray[np.bool_] | None = None,
        **fields: ArrayLike,
    ) -> None:
        """Set states within the episodes, whose steps, memory and random numbers go on; only those of a mask [n].

        `qpos` [n, nq], `qvel` [n, nv], or one row for all; None: as they are. `fields`: `act`, `ctrl`, `mocap_pos`,
        `mocap_quat`, `userdata`. The observation of a state is that of `reset(options={"qpos": ..., "qvel": ...})`,
        which begins episodes with it.

        Raises:
            OptionError: a field is unknown, not finite, or has another shape; an episode has ended.
        """
        if self._ended is None:
            raise ResetNeeded("call reset before set_state")
        chosen = checked_mask("mask", mask, self.num_envs)
        over = self._ended if chosen is None else self._ended & chosen
        if self._mode != SAME_STEP and over.any():
            raise OptionError(
                f"the episode of simulation {int(np.flatnonzero(over)[0])} has ended; begin another with the state: "
                'reset(options={"reset_mask": mask, "qpos": ..., "qvel": ...})'
            )
        self._episodes.set_state(self._episodes.checked_state(stated(qpos, qvel, fields)), chosen)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[NDArray[np.floating], VectorInfos]:
        """Begin an episode in all simulations, or in those of `options["reset_mask"]` [n].

        `seed`: the seed of simulation 0, with consecutive ones for the others; or one for each; None: continue the
        random numbers. `options`: also fields of the states with which episodes begin, {"qpos": [n, nq], "qvel": [n,
        nv]}, or one row for all, `act`, `ctrl`, `mocap_pos`, `mocap_quat`, `userdata`; they replace those that the term
        `reset` sets.
        """
        episodes = self._episodes
        if seed is None or isinstance(seed, int | np.integer):
            super().reset(seed=None if seed is None else int(seed))
        chosen = reset_mask(options, self.num_envs)
        state = given_state(options, episodes)
        if chosen is not None and self._ended is None:
            raise ResetNeeded("the first reset must be of all simulations, without a mask")
        if seed is not None:
            self._seed(seed, chosen)
        episodes.reset(chosen, state)
        self._ended = episodes.results.ended.copy()
        infos = {} if self._infos is None else self._infos.of_reset()
        return episodes.results.observations.copy(), infos

    def step(self, actions: ArrayLike) -> VectorStep:
        """Take a step of all simulations with actions [n, naction].

        Returns:
            Observations [n, nobservation], rewards [n], whether episodes have terminated [n], whether they have been
            truncated [n], infos.
        """
        episodes = self._episodes
        if self._ended is None:
            raise ResetNeeded("call reset before the first step")
        if self._mode == DISABLED and self._ended.any():
            first = int(np.flatnonzero(self._ended)[0])
            raise ResetNeeded(
                f"the episode of simulation {first} has ended; reset it by options={{'reset_mask': mask}}"
            )
        given = np.asarray(actions)
        if given.shape != self._action_shape:
            raise OptionError(f"actions have shape {self._action_shape}, not {given.shape}")
        episodes.step(given, self._mode)
        results = episodes.results
        terminated, truncated, ended = results.ends()
        self._ended = ended
        infos = {} if self._infos is None else self._infos.of_step(self._mode, ended)
        if self._infos is None and self._mode == SAME_STEP and ended.any():
            infos = final_observations(results, ended)
        return results.observations.copy(), results.rewards.copy(), terminated, truncated, infos

    def _seed(self, seed: int | Sequence[int | None], chosen: NDArray[np.bool_] | None) -> None:
        """Seed the random numbers of the chosen simulations, except those with seed None."""
        if isinstance(seed, int | np.integer):
            self._episodes.seed(seed_keys(seed, self.num_envs), chosen)
            return
        given = np.array([one is not None for one in seed], bool)
        keys = seed_keys([0 if one is None else one for one in seed], self.num_envs)
        self._episodes.seed(keys, given if chosen is None else given & chosen)

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Draw a picture [height, width, 3] of each simulation with render_mode "rgb_array"; else return None."""
        return self._pictures.of(self._episodes)

    def close_extras(self, **kwargs: object) -> None:
        """Release the renderer."""
        self._pictures.close()


def _mode(given: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(given)
    except ValueError:
        raise OptionError.unknown("autoreset_mode", given, [mode.value for mode in AutoresetMode]) from None
