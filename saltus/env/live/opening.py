"""`play`: an environment in the lab, controlled by a policy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from saltus.arguments import flag, function, whole_number
from saltus.env.environment import Environment, declared
from saltus.env.live.pilot import ActionFunction, Pilot
from saltus.env.live.session import PolicySession
from saltus.env.making import EnvironmentSource, found
from saltus.env.policy import Policy, Task, check_sizes, environment_name
from saltus.errors import OptionError
from saltus.lab import Lab, speed_of
from saltus.lab.making.setup import Setup
from saltus.lab.scene.scenes import Scene

if TYPE_CHECKING:
    from saltus.lab.data.recording import Downloads

#: A policy, the path of its file, or a function of an observation [nobservation] that gives an action [naction].
PolicyChoice: TypeAlias = Policy | str | os.PathLike[str] | ActionFunction


def play(
    source: EnvironmentSource | Task | None = None,
    policy: PolicyChoice | None = None,
    *,
    restart: bool = True,
    seed: int | None = None,
    speed: float = 1.0,
    playing: bool = True,
    port: int = 0,
    browser: bool = True,
    **parameters: object,
) -> Lab:
    """Open the lab with an environment that a policy controls, and return at once.

    The simulation is one of the lab: it can be pushed with the mouse, slowed down, recorded, and changed while it runs.
    Its observations are those of the environment, and actions are held for `frame_skip` steps. Inputs that the
    environment declares (`Environment.inputs`) have sliders, and keys. What `randomize` draws is left out.

    Args:
        source: as for `make_vec`, or an environment that was made; "module:Class" for one of yours. None: what the
            policy was made for, with the parameters that were changed there.
        policy: a `Policy`, the path of its file, or a function of the observation [nobservation] that gives the action
            [naction]. None: the action is zero, or the nearest to it.
        restart: whether another episode begins where one has ended; if not, it goes on.
        seed: of the random numbers of starts.
        speed: simulated seconds a second. playing: whether it begins at once.
        port: where to listen on 127.0.0.1; 0: where there is room. browser: whether to open the page.
        parameters: as for `make_vec`.

    Raises:
        OptionError: the policy is of other sizes than the environment, or the lab cannot show it.
        RecordError: the policy's file cannot be read.
    """
    given: Any = Policy.load(policy) if isinstance(policy, str | os.PathLike) else policy
    if given is not None:
        function("policy", given)
    environment = environment_of(source, given, parameters)
    restart, seed = flag("restart", restart), None if seed is None else whole_number("seed", seed)
    options = {"speed": speed_of(speed), "playing": flag("playing", playing)}
    name = type(environment).__name__

    def open_scene(downloads: Downloads, options: Mapping[str, Any]) -> PolicySession:
        pilot = Pilot(environment, given, restart, seed)
        if isinstance(given, Policy):
            what = pilot.task.declaration
            check_sizes(given, name, what.nobservation, len(what.action_low))
        return PolicySession(setup_of(name, pilot, options), downloads, pilot)

    opened = Lab(Scene(name, name, "Environments", open_scene), options, port)
    if browser:
        opened.open_page()
    return opened


def setup_of(name: str, pilot: Pilot, options: Mapping[str, Any]) -> Setup:
    """The lab's simulation of an environment."""
    task = pilot.task
    control, key = (declared(task.environment, what) for what in ("control", "key"))
    given = dict(integrator=task.integrator, timestep=task.timestep, control=control, key=key)
    return Setup(name, name, task.model, **{**given, **options})


def environment_of(source: Any, policy: Any, parameters: Mapping[str, object]) -> Environment:
    """The environment that is meant."""
    made = getattr(getattr(source, "unwrapped", None), "environment", None)
    if made is not None:
        return found(made, parameters)
    known = policy.environment if isinstance(policy, Policy) else None
    if source is None:
        if known is None:
            raise OptionError("play needs an environment: the policy does not say which it was made for")
        if ":" in known:  # no file decides what is imported
            raise OptionError(f"the policy was made for {known}; give that environment, too")
        source = known
    if isinstance(source, str) and ":" in source:
        source = _imported(source)
    if isinstance(source, Environment):
        return found(source, parameters)
    kind = type(found(source, {}))
    own = policy.parameters if known == environment_name(kind) else {}
    return found(source, {**own, **parameters})


def _imported(name: str) -> type[Environment]:
    """The class that "module:Class" names."""
    module, _, path = name.partition(":")
    try:
        kind: Any = import_module(module)
        for part in path.split("."):
            kind = getattr(kind, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionError(f"there is no environment {name}: {error}") from error
    return kind
