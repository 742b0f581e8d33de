"""`saltus lab`: open the lab in the browser and run it until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saltus.cli.shared.completion import complete_integrators, complete_keys, complete_laws
from saltus.cli.shared.options import (
    Actuators,
    Friction,
    Ignore,
    Restitution,
    Timestep,
    complete_scenes,
    hard_numbers,
    source_of,
)
from saltus.errors import OptionError
from saltus.terminal import screen

if TYPE_CHECKING:
    from saltus.lab import Lab

CLOSING = 5.0  # most s for informing the pages and ending all threads


def lab(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL]",
            help="A scene (see --scenes), a bundled name or a model file.",
            autocompletion=complete_scenes,
        ),
    ] = None,
    integrator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Integrator: euler, rk4, dopri5, ... (default: the scene's).",
            autocompletion=complete_integrators,
        ),
    ] = None,
    contact: Annotated[
        str | None, typer.Option(metavar="soft|hard", help="Contact law.", autocompletion=complete_laws)
    ] = None,
    restitution: Restitution = None,
    friction: Friction = None,
    timestep: Timestep = None,
    key: Annotated[
        str | None, typer.Option(metavar="NAME", help="Initial keyframe, by name.", autocompletion=complete_keys)
    ] = None,
    ignore: Ignore = None,
    actuators: Actuators = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=LOW:HIGH", help='Add a slider, e.g. "body_mass[bob]=0.1:10"; repeatable.'),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help='Play a policy; MODEL is then its environment: a name, or "module:Class" of yours.'
        ),
    ] = None,
    speed: Annotated[float, typer.Option(metavar="X", help="Simulated seconds per second.")] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Start paused.")] = False,
    port: Annotated[int, typer.Option(metavar="P", help="Port on 127.0.0.1; 0: any free port.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    scenes: Annotated[bool, typer.Option("--scenes", help="List the scenes and exit.")] = False,
) -> None:
    """Open the lab in the browser: run a model live and change it while it moves.

    The default model is a pendulum. Ctrl-C quits.
    """
    if scenes:
        list_scenes()
        return
    options: dict[str, Any] = {"integrator": integrator, "contact": contact, "timestep": timestep, "key": key}
    page = {"speed": speed, "playing": not paused, "port": port, "browser": browser}
    if policy is not None:
        others = {"contact": contact, "restitution": restitution, "friction": friction, "ignore": ignore}
        others |= {"actuators": actuators, "parameter": parameter}
        given = [f"--{name}" for name, value in others.items() if value is not None]
        if given:
            raise OptionError(f"environments have no {', '.join(given)}")
        own = {name: value for name, value in options.items() if value is not None}
        play_and_wait(model, policy, **own, **page)
        return
    options |= hard_numbers(contact, restitution, friction)  # other coefficients of the law are the scene's
    options |= {"ignore": ignore or [], "parameters": parameter or []}
    open_and_wait(model or "pendularm", actuators, **options, **page)


def open_and_wait(what: str, actuators: str | None, **options: Any) -> None:
    """Open the lab, print its address, and wait until Ctrl-C; `actuators`: of a URDF, as for `saltus.load`."""
    from saltus import lab

    _wait(lambda: lab.open(source_of(what, options["ignore"], actuators), **options))


def play_and_wait(environment: Any, policy: Any, **options: Any) -> None:
    """Open the lab with an environment under a policy (see `saltus.env.play`), and wait until Ctrl-C.

    User modules are also searched in the current folder.
    """
    try:
        from saltus.env import play
    except ImportError as error:
        raise OptionError(str(error)) from error
    if isinstance(environment, str) and ":" in environment:
        sys.path.insert(0, os.getcwd())
    _wait(lambda: play(environment, policy, **options))


def _wait(open_lab: Callable[[], Lab]) -> None:
    with screen.collected_warnings() as warned:
        opened = open_lab()
    for warning in warned:
        screen.say_warning(str(warning))
    with opened:
        with contextlib.suppress(KeyboardInterrupt):
            typer.echo(f"lab: {opened.url}")
            screen.say("It is reachable from this machine only. Ctrl-C quits.")
            opened.wait()
        # compilers that occupy the whole computer must not delay the end
        latest = threading.Timer(CLOSING, os._exit, (0,))
        latest.daemon = True
        latest.start()
    _end_what_is_left()
    latest.cancel()


def _end_what_is_left() -> None:
    """End the process if threads of the lab are left: compilers cannot be interrupted and may hang at exit."""
    if any(thread.name.startswith("saltus lab") for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def list_scenes() -> None:
    """Print the names and titles of the scenes."""
    from saltus.lab.scene.scenes import scenes

    screen.print_facts([(scene.name, scene.title) for scene in scenes().values()])
