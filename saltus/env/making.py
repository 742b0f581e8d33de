"""Environments by name or class, as Gymnasium's single and vector environments."""

from collections.abc import Mapping
from importlib import import_module
from typing import TypeAlias

from gymnasium.vector import AutoresetMode

from saltus.arguments import thread_count
from saltus.env.environment import CameraChoice, Environment
from saltus.env.pictures import Pictures
from saltus.env.single import SingleEnvironment
from saltus.env.vector import VectorEnvironment
from saltus.errors import OptionError

#: Bundled environments: module in `saltus.env.bundled`, and Gymnasium's threshold of the reward.
BUNDLED: dict[str, tuple[str, float | None]] = {
    "HalfCheetah": ("half_cheetah", 4800.0),
    "Ant": ("ant", 6000.0),
    "Humanoid": ("humanoid", None),
    "HumanoidStandup": ("humanoid", None),
    "Hopper": ("hopper", 3800.0),
    "Walker2d": ("hopper", None),
    "Swimmer": ("swimmer", 360.0),
    "InvertedPendulum": ("pendulums", 950.0),
    "InvertedDoublePendulum": ("pendulums", 9100.0),
    "Reacher": ("arms", -3.75),
    "Pusher": ("arms", 0.0),
}
VERSION = "v5"

#: A bundled environment's name ("HalfCheetah"), a class, or an environment with its parameters.
EnvironmentSource: TypeAlias = str | type[Environment] | Environment


def environments() -> list[str]:
    """Names of the bundled environments."""
    return list(BUNDLED)


def make(
    source: EnvironmentSource,
    *,
    precision: str = "float64",
    render_mode: str | None = None,
    width: int = 480,
    height: int = 480,
    camera: CameraChoice = None,
    **parameters: object,
) -> SingleEnvironment:
    """One environment as Gymnasium's `Env`: arguments as in `make_vec`."""
    pictures = Pictures(render_mode, width, height, camera)
    return SingleEnvironment(found(source, parameters), precision=precision, pictures=pictures)


def make_vec(
    source: EnvironmentSource,
    n: int = 1,
    *,
    threads: int | None = None,
    precision: str = "float64",
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    info: bool = True,
    render_mode: str | None = None,
    width: int = 480,
    height: int = 480,
    camera: CameraChoice = None,
    **parameters: object,
) -> VectorEnvironment:
    """n environments at once as Gymnasium's `VectorEnv`, whose whole step is one compiled call.

    `source`: the name of a bundled environment, a subclass of `saltus.env.Environment`, or an object of one. `threads`:
    how many to use (None: all that this process may). `precision`: of the simulations and the observations, "float64"
    or "float32". `autoreset_mode`: when episodes that have ended begin anew, as in Gymnasium. `info`: whether steps
    report rewards and infos one by one. `render_mode`, `width`, `height` (pixels), `camera`: of pictures. `parameters`:
    values of the environment's parameters and options, `model`, `frame_skip`, `max_episode_steps`, `integrator`,
    `timestep` (s).

    A simulation's numbers do not depend on n or threads, to the bit.
    """
    pictures = Pictures(render_mode, width, height, camera)
    return VectorEnvironment(
        found(source, parameters),
        n,
        threads=thread_count(threads),
        precision=precision,
        autoreset_mode=autoreset_mode,
        info=info,
        pictures=pictures,
    )


def found(source: EnvironmentSource, parameters: Mapping[str, object]) -> Environment:
    """The environment that a source names, with other parameters."""
    if isinstance(source, Environment):
        if parameters:
            raise OptionError(f"give {', '.join(parameters)} where the {type(source).__name__} is made")
        return source
    if isinstance(source, str):
        name = source.removeprefix("saltus/").removesuffix(f"-{VERSION}")
        if name not in BUNDLED:
            raise OptionError.unknown("environment", source, BUNDLED)
        source = getattr(import_module(f"saltus.env.bundled.{BUNDLED[name][0]}"), name)
    if not (isinstance(source, type) and issubclass(source, Environment)):
        raise OptionError(f"expected a name or a subclass of saltus.env.Environment, got {source!r}")
    return source(**parameters)
