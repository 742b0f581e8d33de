"""`saltus lab`: the lab in the browser, until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import Annotated, Any

import typer

from saltus.cli.options import Friction, Ignore, Restitution, Timestep, complete_scenes, hard_numbers
from saltus.terminal import screen

CLOSING = 5.0  # s at most, for telling the pages and ending all threads


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
        str | None, typer.Option(metavar="NAME", help="Integrator: euler, rk4, dopri5, ... (default: the scene's).")
    ] = None,
    contact: Annotated[str | None, typer.Option(metavar="soft|hard", help="Contact law.")] = None,
    restitution: Restitution = None,
    friction: Friction = None,
    timestep: Timestep = None,
    key: Annotated[str | None, typer.Option(metavar="NAME", help="Initial keyframe, by name.")] = None,
    ignore: Ignore = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=LOW:HIGH", help='Add a slider, e.g. "body_mass[bob]=0.1:10"; repeatable.'),
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
    options |= hard_numbers(contact, restitution, friction)  # the rest of the law is the scene's
    options |= {"ignore": ignore or [], "parameters": parameter or [], "speed": speed, "playing": not paused}
    open_and_wait(model or "pendularm", port=port, browser=browser, **options)


def open_and_wait(what: Any, **options: Any) -> None:
    """Open the lab, print its address, and wait until Ctrl-C."""
    from saltus import lab

    with screen.collected_warnings() as warned:
        opened = lab.open(what, **options)
    for warning in warned:
        screen.say(f"warning: {warning}")
    with opened:
        with contextlib.suppress(KeyboardInterrupt):
            typer.echo(f"lab: {opened.url}")
            screen.say("It is reachable from this machine only. Ctrl-C quits.")
            opened.wait()
        # compilers that take all there is of this computer must not hold up the end
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
    """The scenes by name, with what they show."""
    from saltus.lab.scene.scenes import scenes

    screen.print_facts([(scene.name, scene.title) for scene in scenes().values()])
