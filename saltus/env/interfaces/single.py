"""One environment as Gymnasium's `Env`."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from gymnasium import Env
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike, NDArray

from saltus.env.environment import Environment
from saltus.env.interfaces.infos import Infos, SingleInfos
from saltus.env.interfaces.pictures import RENDER_MODES, Pictures
from saltus.env.interfaces.spaces import action_space, check_options, observation_space, seed_keys
from saltus.env.run.episodes import Episodes, Parameters
from saltus.env.run.stages import DISABLED
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.simulate.batches.model import BatchModel

#: Observation [nobservation], reward, terminated, truncated, infos.
SingleStep: TypeAlias = tuple[NDArray[np.floating], float, bool, bool, SingleInfos]


class SingleEnvironment(Env[NDArray[Any], ArrayLike]):
    """One simulation of an environment; made by `saltus.env.make`.

    Runs the loop of `VectorEnvironment` with n = 1 and returns equal numbers.

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

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[NDArray[np.floating], SingleInfos]:
        """Begin an episode; return its first observation [nobservation] and infos. `seed`: seed of random numbers."""
        super().reset(seed=seed)
        check_options(options, ())
        if seed is not None:
            self._episodes.seed(seed_keys(seed, 1))
        self._episodes.reset()
        self._started = True
        return self._episodes.results.observations[0].copy(), self._infos.single(self._infos.at_reset)

    def step(self, action: ArrayLike) -> SingleStep:
        """Take a step with an action [naction].

        Returns:
            The observation [nobservation], the reward, whether the episode has terminated, whether it has been
            truncated, infos.
        """
        if not self._started:
            raise ResetNeeded("call reset before the first step")
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
