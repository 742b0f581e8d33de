"""`saltus warm`: compile code for runs, batches and the lab ahead of time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saltus.cli.shared.completion import complete_integrators
from saltus.cli.shared.options import Ignore, complete_warmed
from saltus.cli.studies.compare import names_in
from saltus.errors import OptionError
from saltus.terminal import screen

if TYPE_CHECKING:
    from saltus.model.model import Model


def warm(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="Models to compile for, with their own integrators.",
            autocompletion=complete_warmed,
        ),
    ] = None,
    integrators: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Comma-separated names, or 'all'.", autocompletion=complete_integrators),
    ] = None,
    batch: Annotated[bool, typer.Option(help="Also compile batches, in float64 and float32.")] = True,
    lab: Annotated[
        bool, typer.Option("--lab", help="Compile the lab's scenes: those given as MODEL, or the default one.")
    ] = False,
    ignore: Ignore = None,
) -> None:
    """Compile the code that runs and batches need ahead of time, once per machine.

    Compiled code is shared by models; without arguments, the integrator euler is compiled.
    """
    if lab:
        if integrators is not None or ignore:
            raise typer.BadParameter("--integrators and --ignore do not apply to scenes of the lab")
        compile_scenes(models or [])
    else:
        compile_ahead(models or [], integrators, batch, ignore or [])


def compile_ahead(models: list[str], integrators: str | None, batch: bool, ignore: list[str]) -> None:
    """Compile for runs and batches with progress, and print what is ready."""
    from saltus.model.load import load

    loaded = [load(model, ignore=ignore) for model in models]
    chosen = _integrators(loaded, integrators)
    with screen.Activity() as activity:
        for integrator in chosen:
            _compile(integrator, batch)
    names = ", ".join(i.name for i in chosen)
    _report(activity, f"{names}{' for runs and batches' if batch else ' for runs'}")


def compile_scenes(names: list[str]) -> None:
    """Compile for scenes of the lab with progress, and print what is ready."""
    from saltus.lab import FIRST
    from saltus.lab.scene.scenes import scenes

    chosen = names or [FIRST]
    for name in chosen:
        if name not in scenes():
            raise OptionError.unknown("scene", name, scenes())
    with screen.Activity() as activity:
        for name in chosen:
            _compile_scene(name)
    _report(activity, f"{', '.join(chosen)} in the lab")


def _report(activity: screen.Activity, ready: str) -> None:
    from saltus.number.cache.storage import cache_directory

    compiled = activity.compiled
    if compiled:
        print(f"compiled {screen.count(len(compiled), 'kernel')} in {sum(s for _, s in compiled):.1f} s")
    print(f"ready: {ready}, in {cache_directory()}")


def _compile_scene(name: str) -> None:
    """Compile what a scene of the lab calls when it opens; for the lecture's scenes, with all ghosts' integrators."""
    from saltus.lab.data.recording import Downloads
    from saltus.lab.making.setup import build
    from saltus.lab.scene.planned import PlannedSession
    from saltus.lab.scene.scenes import LECTURE, scenes
    from saltus.lab.session import LiveSession

    scene = scenes()[name]
    session = scene.open(Downloads(), {})
    session.close()  # an open session would compile in a separate process
    if isinstance(session, LiveSession):
        ghosts = session.setup.ghosts if scene.group == LECTURE else session.builder.wanted.ghosts
        build(session.setup, replace(session.builder.wanted, ghosts=ghosts))
    if isinstance(session, PlannedSession):
        session.compile_control()


def _integrators(models: list[Model], choice: str | None) -> list[Any]:
    """The named integrators, else those of the models' files, else euler."""
    from saltus.integrate.registry import find_integrator, integrators

    if choice is not None:
        names = names_in(choice, "--integrators")
        found = list(integrators().values()) if names == ["all"] else [find_integrator(name, "") for name in names]
    else:
        found = [find_integrator(None, m.opt.integrator) for m in models] or [find_integrator("euler", "")]
    return list({i.name: i for i in found}.values())


def _compile(integrator: Any, batch: bool) -> None:
    """Compile what a certified run and a batch call, on a small model, as code is shared by models."""
    from saltus.simulate.batch import Batch
    from saltus.simulate.simulation import Simulation

    sim = Simulation("pendulum", integrator)
    sim.step(1)
    sim.forward()
    sim.reset()
    sim.run(2 * sim.timestep, sim.timestep, certify=True, progress=False)
    if batch:
        for precision in ("float64", "float32"):
            Batch("pendulum", 1, threads=1, precision=precision, integrator=integrator).step(1)
