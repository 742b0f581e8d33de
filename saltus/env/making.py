"""Environments by name or class, as Gymnasium's single and vector environments."""

import re
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gymnasium.vector import AutoresetMode

from saltus.arguments import thread_count
from saltus.env.environment import CameraChoice, Environment
from saltus.env.interfaces.pictures import Pictures
from saltus.env.interfaces.single import SingleEnvironment
from saltus.env.interfaces.vector import VectorEnvironment
from saltus.errors import OptionError

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv  # pyright: ignore[reportMissingImports]


class Bundled(NamedTuple):
    """A bundled environment: its module in `saltus.env.bundled`, its version, the reward that counts as solved."""

    module: str
    version: int
    threshold: float | None = None


BUNDLED = {
    "HalfCheetah": Bundled("half_cheetah", 5, 4800.0),
    "Ant": Bundled("ant", 5, 6000.0),
    "Humanoid": Bundled("humanoid", 5),
    "HumanoidStandup": Bundled("humanoid", 5),
    "Hopper": Bundled("hopper", 5, 3800.0),
    "Walker2d": Bundled("hopper", 5),
    "Swimmer": Bundled("swimmer", 5, 360.0),
    "InvertedPendulum": Bundled("pendulums", 5, 950.0),
    "InvertedDoublePendulum": Bundled("pendulums", 5, 9100.0),
    "Reacher": Bundled("arms", 5, -3.75),
    "Pusher": Bundled("arms", 5, 0.0),
    "CartPoleBalance": Bundled("swing_up", 0),
    "CartPoleSwingUp": Bundled("swing_up", 0),
    "PendulumSwingUp": Bundled("swing_up", 0),
    "PendularmSwingUp": Bundled("swing_up", 0),
    "QuadrupedJoystick": Bundled("joystick", 0),
    "HumanoidJoystick": Bundled("joystick", 0),
}

#: A bundled environment's name ("HalfCheetah"), a class, or an environment with its parameters.
EnvironmentSource: TypeAlias = str | type[Environment] | Environment


def identifier(name: str) -> str:
    """The name of a bundled environment in Gymnasium's registry."""
    return f"saltus/{name}-v{BUNDLED[name].version}"


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

    `source`: the name of a bundled environment (see `environments`), a subclass of `saltus.env.Environment`, or an
    object of one. `threads`: how many to use (None: all that this process may). `precision`: of the simulations and the
    observations, "float64" or "float32". `autoreset_mode`: when episodes that have ended begin anew, as in Gymnasium.
    `info`: whether steps report rewards and infos one by one. `render_mode` ("rgb_array" or None), `width`, `height`
    (pixels), `camera`: of pictures. `parameters`: values of the environment's parameters and options, `model`,
    `frame_skip`, `max_episode_steps`, `integrator`, `timestep` (s), `key`, `vary`, `randomize`,
    `action_noise`, `action_delay`, `pushes`.

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


def make_sb3(
    source: EnvironmentSource, n: int = 1, *, seed: int | None = None, monitor: bool = True, **options: object
) -> "VecEnv":
    """n environments at once as Stable-Baselines3's `VecEnv`, with float32 observations.

    It behaves as SB3's `DummyVecEnv` of n single environments, in one compiled call a step. `seed`: of simulation 0,
    the others have those that follow. `monitor`: whether SB3's `VecMonitor` reports the return and the length of each
    episode. `options`: as in `make_vec`, but for `autoreset_mode`, which is SB3's. `get_attr` and `set_attr` read and
    set the parameters of the environment's terms, for each simulation.

    Needs Stable-Baselines3: pip install 'saltus[sb3]'.
    """
    module = import_module("saltus.env.interfaces.sb3")  # which imports PyTorch
    if "autoreset_mode" in options:
        raise OptionError("Stable-Baselines3 has an autoreset_mode of its own, which cannot be chosen")
    keywords: dict[str, Any] = {**options, "autoreset_mode": AutoresetMode.SAME_STEP}
    envs = module.SB3VecEnv(make_vec(source, n, **keywords))
    if seed is not None:
        envs.seed(seed)
    return module.VecMonitor(envs) if monitor else envs


def found(source: EnvironmentSource, parameters: Mapping[str, object]) -> Environment:
    """The environment that a source names, with other parameters."""
    if isinstance(source, Environment):
        if parameters:
            raise OptionError(f"give {', '.join(parameters)} where the {type(source).__name__} is made")
        return source
    if isinstance(source, str):
        name = re.sub(r"-v\d+$", "", source.removeprefix("saltus/"))
        if name not in BUNDLED or source not in (name, identifier(name), identifier(name).removeprefix("saltus/")):
            raise OptionError.unknown("environment", source, BUNDLED)
        source = getattr(import_module(f"saltus.env.bundled.{BUNDLED[name].module}"), name)
    if not (isinstance(source, type) and issubclass(source, Environment)):
        raise OptionError(f"expected a name or a subclass of saltus.env.Environment, got {source!r}")
    return source(**parameters)
