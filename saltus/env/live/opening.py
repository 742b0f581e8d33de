"""`play`: open an environment in the lab, controlled by a policy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from saltus.arguments import flag, function, whole_number
from saltus.env.environment import declared
from saltus.env.live.pilot import ActionFunction, Pilot
from saltus.env.live.session import PolicySession
from saltus.env.made_for import made_for
from saltus.env.making import EnvironmentSource
from saltus.env.policy import Policy, Task, check_sizes
from saltus.lab import Lab, speed_of
from saltus.lab.making.setup import LabStart
from saltus.lab.scene.scenes import Scene

if TYPE_CHECKING:
    from saltus.lab.data.recording import Downloads

#: A policy, the path of its file, or a function from an observation [nobservation] to an action [naction].
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
    """Open the lab with an environment controlled by a policy, and return at once.

    The simulation can be pushed with the mouse, slowed down, recorded, and changed while it runs, as any in the lab.
    Observations are those of the environment, and actions are held for `frame_skip` steps. Inputs declared by the
    environment (`Environment.inputs`) have sliders and keys. `randomize` has no effect.

    Args:
        source: see `make_vec`; also a made environment, or "module:Class" for one of yours. None: the environment that
            the policy was made for, with its changed parameters.
        policy: a `Policy`, the path of its file, or a function from an observation [nobservation] to an action
            [naction]. None: the action is zero, or the allowed value nearest to it.
        restart: whether a new episode begins when one ends; otherwise the motion continues.
        seed: seed of the random initial states.
        speed: simulated seconds per second of wall time. playing: whether time runs from the start.
        port: port to listen on at 127.0.0.1; 0: any free one. browser: whether to open the page.
        parameters: see `make_vec`.

    Raises:
        OptionError: the sizes of the policy and the environment differ, or the lab cannot show the environment.
        RecordError: the policy's file cannot be read.
    """
    given: Any = Policy.load(policy) if isinstance(policy, str | os.PathLike) else policy
    if given is not None:
        function("policy", given)
    environment = made_for(source, given, parameters)
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


def setup_of(name: str, pilot: Pilot, options: Mapping[str, Any]) -> LabStart:
    """The lab's setup of an environment's simulation."""
    task = pilot.task
    control, key = (declared(task.environment, what) for what in ("control", "key"))
    given = dict(integrator=task.integrator, timestep=task.timestep, control=control, key=key)
    return LabStart(name, name, task.model, **{**given, **options})
