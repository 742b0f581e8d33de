"""One environment as Gymnasium's `Env`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from gymnasium import Env
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike, NDArray

from saltus.env.environment import Environment
from saltus.env.interfaces.fields import Fields, Sealed, stated
from saltus.env.interfaces.infos import Infos, SingleInfos
from saltus.env.interfaces.pictures import RENDER_MODES, Pictures
from saltus.env.interfaces.spaces import action_space, check_options, given_state, observation_space, seed_keys
from saltus.env.run.episodes import PLACED, Episodes, Parameters
from saltus.env.run.stages import DISABLED
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.simulate.batches.model import BatchModel

#: Observation [nobservation], reward, terminated, truncated, infos.
SingleStep: TypeAlias = tuple[NDArray[np.floating], float, bool, bool, SingleInfos]


class SingleEnvironment(Sealed, Env[NDArray[Any], ArrayLike]):
    """One simulation of an environment; made by `saltus.env.make`.

    Runs the loop of `VectorEnvironment` with n = 1 and returns equal numbers.

    Copies (`copy`, `pickle`) are independent and continue with the same bits, random numbers included.

    `parameters`: parameters of the environment's terms, [1] each.
    """

    def __init__(self, environment: Environment, *, precision: str = "float64", pictures: Pictures | None = None):
        self.environment = environment
        self._episodes = episodes = Episodes(environment, 1, 1, precision)
        self._pictures = pictures or Pictures()
        self.render_mode = self._pictures.render_mode
        fps = round(1.0 / (episodes.timestep * environment.frame_skip))
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": fps}
        self.observation_space = observation_space(episodes)
        self.action_space = action_space(episodes)
        self._infos = Infos(episodes)
        self._started = False
        self._made()

    def __copy__(self) -> SingleEnvironment:
        return copy.deepcopy(self)

    def __str__(self) -> str:
        return f"SingleEnvironment({type(self.environment).__name__}, {self._episodes.precision})"

    __repr__ = __str__

    @property
    def parameters(self) -> Parameters:
        """Parameters of the environment's terms by name, [1] or [1, ...]; reading returns copies."""
        return self._episodes.parameters

    @property
    def model(self) -> Model | BatchModel:
        """The model; the fields named by `vary`, [1, ...] each, are writable as in a `saltus.Batch`."""
        return self._episodes.varied

    def read(self, field: str) -> NDArray[np.floating]:
        """Read a field of the simulation, as with `Batch.read`: "qpos" [nq], "xpos" [nbody, 3], "sensordata", ..."""
        return self._episodes.read(field)[0]

    @property
    def data(self) -> Fields:
        """Fields of the simulation by name, as with `read`: `env.data.xpos` [nbody, 3]; read-only copies."""
        return Fields(self.read)

    def snapshot(self) -> NDArray[np.float64]:
        """A copy of all that further steps and episodes depend on [size], random numbers included, for `restore`."""
        self._check_started("snapshot")
        return self._episodes.snapshot()[0]

    def restore(self, snapshot: ArrayLike) -> NDArray[np.floating]:
        """Go back to a snapshot of such an environment, or to a row of one of its vectors.

        Returns:
            The observation [nobservation] at that time.

        Raises:
            OptionError: the snapshot belongs to another kind of environment.
        """
        self._episodes.restore(self._episodes.checked_snapshot(snapshot))
        self._started = True
        return self._episodes.results.observations[0].copy()

    def set_state(self, qpos: ArrayLike | None = None, qvel: ArrayLike | None = None, **fields: ArrayLike) -> None:
        """Set the state within the episode, whose steps, memory and random numbers go on.

        `qpos` [nq], `qvel` [nv]; None: as it is. `fields`: `act`, `ctrl`, `mocap_pos`, `mocap_quat`, `userdata`. The
        observation of a state is that of `reset(options={"qpos": ..., "qvel": ...})`, which begins an episode with it.

        Raises:
            OptionError: a field is unknown, not finite, or has another shape.
        """
        self._check_started("set_state")
        self._episodes.set_state(self._episodes.checked_state(stated(qpos, qvel, fields)))

    def _check_started(self, what: str) -> None:
        if not self._started:
            raise ResetNeeded(f"call reset before {what}")

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[NDArray[np.floating], SingleInfos]:
        """Begin an episode; return its first observation [nobservation] and infos.

        `seed`: seed of random numbers. `options`: fields of the state with which it begins, {"qpos": [nq], "qvel":
        [nv]}, also `act`, `ctrl`, `mocap_pos`, `mocap_quat`, `userdata`; they replace those that the term `reset` sets.
        """
        super().reset(seed=seed)
        check_options(options, PLACED)
        state = given_state(options, self._episodes)
        if seed is not None:
            self._episodes.seed(seed_keys(seed, 1))
        self._episodes.reset(state=state)
        self._started = True
        return self._episodes.results.observations[0].copy(), self._infos.single(self._infos.at_reset)

    def step(self, action: ArrayLike) -> SingleStep:
        """Take a step with an action [naction].

        Returns:
            The observation [nobservation], the reward, whether the episode has terminated, whether it has been
            truncated, infos.
        """
        self._check_started("the first step")
        given, episodes = np.asarray(action), self._episodes
        if given.shape != self.action_space.shape:
            raise OptionError(f"an action has shape {self.action_space.shape}, not {given.shape}")
        episodes.step(given[None], DISABLED)
        info = self._infos.single(self._infos.names)
        results = episodes.results
        if results.diverged[0]:
            info["diverged"] = True
        ends = bool(results.terminated[0]), bool(results.truncated[0])
        return results.observations[0].copy(), float(results.rewards[0]), *ends, info

    def render(self) -> NDArray[np.uint8] | None:
        """Draw a picture [height, width, 3] with render_mode "rgb_array"; else return None."""
        pictures = self._pictures.of(self._episodes)
        return None if pictures is None else pictures[0]

    def close(self) -> None:
        """Release the renderer."""
        self._pictures.close()
