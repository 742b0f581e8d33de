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
    """A bundled environment: its module in `saltus.env.bundled`, its version, and the return that counts as solved."""

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

#: A bundled environment's name ("HalfCheetah"), "module:Class", a class, or an environment with its parameters.
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
    """Make one environment as Gymnasium's `Env`; see `make_vec` for the arguments."""
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
    """Make n environments as Gymnasium's `VectorEnv`, whose whole step is one compiled call.

    `source`: the name of a bundled environment (see `environments`), "module:Class", a subclass of
    `saltus.env.Environment`, or an instance of one. `threads`: number of threads (None: all that this process may use).
    `precision` of simulations and observations: "float64" or "float32". `autoreset_mode`: when the next episode begins
    after one has ended, as in Gymnasium. `info`: whether steps report rewards and infos one by one. `render_mode`
    ("rgb_array" or None), `width`, `height` (pixels), `camera`: options of pictures. `parameters`: values of the
    environment's parameters and options, `model`, `frame_skip`, `max_episode_steps`, `integrator`, `timestep` (s),
    `key`, `vary`, `randomize`, `action_noise`, `action_delay`, `pushes`.

    The results of a simulation are bitwise independent of n and threads.
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
    """Make n environments as Stable-Baselines3's `VecEnv`, with float32 observations.

    The behaviour is that of SB3's `DummyVecEnv` of n single environments, in one compiled call per step. `seed`: the
    seed of simulation 0, with consecutive ones for the others. `monitor`: whether SB3's `VecMonitor` reports the return
    and the length of each episode. `options`: see `make_vec`; `autoreset_mode` is fixed by SB3. `get_attr` and
    `set_attr` read and set the parameters of the environment's terms for each simulation.

    Requires Stable-Baselines3: pip install 'saltus[sb3]'.
    """
    module = import_module("saltus.env.interfaces.sb3")  # imports PyTorch
    if "autoreset_mode" in options:
        raise OptionError("Stable-Baselines3 has an autoreset_mode of its own, which cannot be chosen")
    keywords: dict[str, Any] = {**options, "autoreset_mode": AutoresetMode.SAME_STEP}
    envs = module.SB3VecEnv(make_vec(source, n, **keywords))
    if seed is not None:
        envs.seed(seed)
    return module.VecMonitor(envs) if monitor else envs


def found(source: EnvironmentSource, parameters: Mapping[str, object]) -> Environment:
    """Make the environment of a source with parameters. OptionError: it is not known."""
    if isinstance(source, Environment):
        if parameters:
            raise OptionError(f"pass {', '.join(parameters)} when the {type(source).__name__} is made")
        return source
    return kind_of(source)(**parameters)


def kind_of(source: object) -> type[Environment]:
    """The class of a source that is a name, "module:Class" or a class. OptionError: it is none."""
    if isinstance(source, str):
        own = source.removeprefix("saltus.env:")  # as Gymnasium writes "module:id"
        name = re.sub(r"-v\d+$", "", own.removeprefix("saltus/"))
        if name in BUNDLED and own in (name, identifier(name), identifier(name).removeprefix("saltus/")):
            return getattr(import_module(f"saltus.env.bundled.{BUNDLED[name].module}"), name)
        if ":" not in own:
            raise OptionError.unknown("environment", source, BUNDLED)
        source = _imported(own)
    if not (isinstance(source, type) and issubclass(source, Environment)):
        raise OptionError(f"expected a name, 'module:Class' or a subclass of saltus.env.Environment, got {source!r}")
    return source


def _imported(name: str) -> object:
    """Import what "module:Class" names; OptionError if it does not exist."""
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionError(f"there is no environment {name}: {error}") from error
    return found
