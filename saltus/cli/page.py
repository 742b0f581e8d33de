"""`saltus page`: write an HTML file that simulates a model in the reader's browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from saltus.cli.shared.completion import complete_integrators, complete_keys, complete_laws
from saltus.cli.shared.options import Friction, Ignore, Restitution, Timestep, complete_scenes
from saltus.terminal import screen


def page(
    context: typer.Context,
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL ...]",
            help="Model files, bundled names or scenes; the reader chooses among several.",
            autocompletion=complete_scenes,
        ),
    ] = None,
    scene: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A scene of the lab, instead of MODEL.", autocompletion=complete_scenes),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="F.html", help="The file to write (default: page.html).")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page (default: the scene's).")] = None,
    text: Annotated[
        Path | None,
        typer.Option(metavar="F.md", help="Text beside the simulation, in Markdown, with tasks that the page checks."),
    ] = None,
    zipped: Annotated[
        bool, typer.Option("--zip", help="Write a package for learning platforms (SCORM 1.2), page.zip by default.")
    ] = False,
    integrator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Initial integrator (default: the scene's).", autocompletion=complete_integrators
        ),
    ] = None,
    integrators: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Integrators to choose from, besides the first (default: by size).",
            autocompletion=complete_integrators,
        ),
    ] = None,
    contact: Annotated[
        str | None, typer.Option(metavar="soft|hard", help="Initial contact law.", autocompletion=complete_laws)
    ] = None,
    contacts: Annotated[
        str | None,
        typer.Option(
            metavar="soft,hard", help="Contact laws to choose from (default: by size).", autocompletion=complete_laws
        ),
    ] = None,
    restitution: Restitution = None,
    friction: Friction = None,
    timestep: Timestep = None,
    key: Annotated[
        str | None, typer.Option(metavar="NAME", help="Initial keyframe, by name.", autocompletion=complete_keys)
    ] = None,
    ignore: Ignore = None,
    speed: Annotated[float, typer.Option(metavar="X", help="Simulated seconds per second.")] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Start paused.")] = False,
) -> None:
    """Write one HTML file that simulates the model in the reader's browser, without a server or a network.

    The file works from a disk or any web server, also on phones. With --text it is an exercise; --zip makes it a
    package for Moodle and other learning platforms.
    """
    if bool(models) == (scene is not None):
        raise typer.BadParameter("give either MODEL or --scene NAME", context, param_hint="MODEL")
    path = output or Path("page.zip" if zipped else "page.html")
    if zipped != (path.suffix == ".zip"):
        hint = "a package ends in .zip; leave out --zip or name one" if zipped else "add --zip to write a package"
        raise typer.BadParameter(f"{path}: {hint}", context, param_hint="--output")
    options: dict[str, Any] = {"integrator": integrator, "contact": contact, "timestep": timestep, "key": key}
    options |= {"restitution": restitution, "friction": friction, "ignore": ignore or []}
    options |= {"title": title, "text": text}
    options |= {"integrators": _names(integrators), "contacts": _names(contacts)}
    from saltus.lab.standalone.page import page as write_page

    with screen.collected_warnings() as warned, screen.Activity() as activity:
        options["progress"] = activity.progress("compiling for the browser")
        written = write_page(list(models or ()) or scene or "", path, speed=speed, playing=not paused, **options)
    for warning in warned:
        screen.say_warning(str(warning))
    then = "upload it to a learning platform" if zipped else "open it in a browser"
    typer.echo(f"{written}: {written.stat().st_size / 1e6:.2f} MB; {then}")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
