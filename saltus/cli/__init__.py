"""The command line: `saltus run | replay | compare | sweep | study | check | derive | lab | bench | warm`.

Nothing heavy is imported here, so that `saltus --help` answers at once; each command imports what it needs.
"""

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from saltus.cli.bench import bench_app
from saltus.cli.options import (
    A_MODEL,
    CameraName,
    Csv,
    DrawContacts,
    DrawnBy,
    Duration,
    Follow,
    Fps,
    Friction,
    Ignore,
    IntegratorName,
    Key,
    Law,
    ModelArgument,
    Plot,
    Report,
    Restitution,
    Results,
    Sample,
    Size,
    Timestep,
    Video,
    Workers,
    complete_scenes,
    complete_warmed,
    contact_of,
    excludes,
    hard_numbers,
)
from saltus.errors import SaltusError
from saltus.terminal.screen import INTERRUPTED
from saltus.version import __version__

app = typer.Typer(
    name="saltus",
    help="Multibody dynamics with any integrator, batches of thousands of simulations, and error estimates.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(bench_app, name="bench")


@app.callback(invoke_without_command=True)
def _saltus(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        typer.echo(f"saltus {__version__}")
        raise typer.Exit


@app.command()
def run(
    context: typer.Context,
    model: Annotated[str | None, typer.Argument(**A_MODEL)] = None,
    duration: Duration = 10.0,
    integrator: IntegratorName = None,
    contact: Law = "soft",
    restitution: Restitution = None,
    friction: Friction = None,
    timestep: Timestep = None,
    sample: Sample = 1 / 60,
    key: Key = None,
    ignore: Ignore = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help="Override a value, e.g. 'opt.gravity=0,0,-1.62' or 'qvel[hinge]=2'; repeatable.",
        ),
    ] = None,
    force: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BODY=FX,FY,FZ",
            help="Apply a constant force (N) at a body's centre of mass, optionally with a torque (N m); repeatable.",
        ),
    ] = None,
    certify: Annotated[bool, typer.Option(help="Repeat the run with finer steps to estimate its error.")] = True,
    energy: Annotated[
        bool,
        typer.Option("--energy", help="Print the energy balance: energies, work, and the integrator's error."),
    ] = False,
    plot: Plot = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Save the recording: netCDF (.nc), or Zarr (.zarr), written during the run."),
    ] = None,
    video: Video = None,
    report: Report = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="F.zarr", help="Resume an interrupted run with the options stored in its file."),
    ] = None,
    fps: Fps = None,
    renderer: DrawnBy = "saltus",
    camera: CameraName = None,
    follow: Follow = None,
    contacts: DrawContacts = False,
    size: Size = "640x480",
) -> None:
    """Simulate a model and estimate the error of the result.

    PATH is a value of the model (opt.gravity, body_mass[bob]), an attribute in its file (geom[ball]/size), part of the
    initial state (qpos[hinge], qvel[ball.vz]), a constant control (ctrl[motor]) or a constant force
    (qfrc_applied[hinge]). Ctrl-C ends the run early; what was recorded is still plotted and saved.
    """
    from saltus.cli.outputs import Film, Outputs
    from saltus.cli.run import resume as resume_run
    from saltus.cli.run import simulate

    film = Film(fps, renderer, camera, follow, contacts, size)
    if resume is not None:
        others = ("duration", "integrator", "contact", "restitution", "friction", "timestep", "sample", "key", "ignore")
        others += ("save", "energy", "set_", "force")
        excludes(context, "resume", others)
        resume_run(resume, Outputs(plot, None, video, report, film), model)
        return
    if model is None:
        raise typer.BadParameter(
            "missing MODEL: give a file or bundled name, or use --resume F.zarr", context, param_hint="MODEL"
        )
    simulate(
        model,
        Outputs(plot, save, video, report, film),
        duration=duration,
        integrator=integrator,
        contact=contact_of(contact, restitution, friction),
        timestep=timestep,
        sample=sample,
        key=key,
        ignore=ignore or [],
        sets=set_ or [],
        forces=force or [],
        certify=certify,
        energy=energy,
    )


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recording: a netCDF file or a Zarr store.")],
    plot: Plot = None,
    video: Video = None,
    report: Report = None,
    save: Annotated[Path | None, typer.Option(metavar="F", help="Save a copy (netCDF or .zarr).")] = None,
    fps: Fps = None,
    renderer: DrawnBy = "saltus",
    camera: CameraName = None,
    follow: Follow = None,
    contacts: DrawContacts = False,
    size: Size = "640x480",
    port: Annotated[int, typer.Option(metavar="N", help="Port of the player; 0: any free port.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the player in a browser.")] = True,
) -> None:
    """Summarise a recording and render it; with no output file, play it back in the browser."""
    from saltus.cli.outputs import Film, Outputs
    from saltus.cli.replay import replay as replay_file

    film = Film(fps, renderer, camera, follow, contacts, size)
    replay_file(file, Outputs(plot, save, video, report, film), port=port, browser=browser)


@app.command()
def compare(
    model: ModelArgument,
    integrators: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Comma-separated names (default: all).")
    ] = None,
    contact: Annotated[str, typer.Option(metavar="A,B,...", help="Contact laws: soft, hard or soft,hard.")] = "soft",
    duration: Duration = 10.0,
    timestep: Timestep = None,
    sample: Annotated[float | None, typer.Option(metavar="S", help="Sampling period in s.")] = None,
    ignore: Ignore = None,
    plot: Plot = None,
) -> None:
    """Run a model with several integrators and rank them by error, energy drift and cost."""
    from saltus.cli.compare import compare_integrators

    compare_integrators(model, integrators, contact, duration, timestep, sample, ignore or [], plot)


@app.command()
def sweep(
    model: ModelArgument,
    set_: Annotated[
        list[str],
        typer.Option("--set", metavar="PATH=A,B,...", help="Values to try, e.g. 'body_mass[bob]=1,2,4'; repeatable."),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Quantity to measure, e.g. 'height[ball].apex'; repeatable. See docs/sweep.md."
        ),
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="Pair values element by element instead of taking all combinations.")
    ] = False,
    duration: Duration = 10.0,
    integrator: IntegratorName = None,
    contact: Law = "soft",
    timestep: Timestep = None,
    sample: Annotated[float | None, typer.Option(metavar="S", help="Sampling period in s.")] = None,
    key: Key = None,
    ignore: Ignore = None,
    workers: Workers = None,
    save: Results = None,
    csv: Csv = None,
    plot: Plot = None,
) -> None:
    """Run a model over a grid of values, in parallel, and measure each run.

    PATH is a value of the model (body_mass[bob], opt.timestep), an attribute in its file (geom[ball]/size), part of the
    initial state (qpos[hinge]), integrator or contact. Ctrl-C ends the sweep early; with --save the same command
    resumes it.
    """
    from saltus.cli.sweep import Files, sweep_model

    options = {"integrator": integrator, "contact": contact, "timestep": timestep, "sample": sample, "key": key}
    more = {"together": together, "ignore": ignore or [], "workers": workers}
    sweep_model(model, set_, measure or [], duration, Files(save, csv, plot), **options, **more)


@app.command("contact-law")
def contact_law(
    solref: Annotated[str, typer.Option(metavar="A,B", help="solref of the contact.")] = "0.02,1",
    solimp: Annotated[str, typer.Option(metavar="A,B,...", help="solimp, or its first values.")] = "0.9,0.95,0.001",
    mass: Annotated[float, typer.Option(metavar="KG", help="Mass on the contact.")] = 1.0,
    gravity: Annotated[float, typer.Option(metavar="G", help="m/s².")] = 9.81,
    timestep: Annotated[float, typer.Option(metavar="H", help="Timestep in s.")] = 0.002,
    speed: Annotated[float, typer.Option(metavar="V", help="Impact speed in m/s.")] = 1.0,
    refsafe: Annotated[bool, typer.Option(help="Keep time constants at two timesteps or more.")] = True,
    plot: Plot = None,
) -> None:
    """Show how soft-contact parameters act on a mass: stiffness, damping, penetration, impact."""
    from saltus.cli.contact_law import show_contact_law

    options = {"mass": mass, "gravity": gravity, "timestep": timestep, "speed": speed, "refsafe": refsafe}
    show_contact_law(solref, solimp, plot, **options)


@app.command()
def study(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the study: trampoline.")],
    integrator: IntegratorName = None,
    timestep: Timestep = None,
    workers: Workers = None,
    save: Results = None,
    csv: Csv = None,
    plot: Plot = None,
) -> None:
    """Measure the effect of each of several changes to a model, separately and combined."""
    from saltus.cli.study import run_study
    from saltus.cli.sweep import Files

    run_study(name, integrator, timestep, workers, Files(save, csv, plot))


@app.command()
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
    from saltus.cli.lab import list_scenes, open_lab

    if scenes:
        list_scenes()
        return
    options = {"integrator": integrator, "contact": contact, "timestep": timestep, "key": key, "speed": speed}
    options |= hard_numbers(contact, restitution, friction)  # the rest of the law is the scene's
    marked = {"ignore": ignore or [], "parameters": parameter or [], "playing": not paused, "port": port}
    open_lab(model or "pendularm", browser=browser, **options, **marked)


@app.command()
def check(
    context: typer.Context,
    model: ModelArgument,
    ignore: Ignore = None,
    twin: Annotated[
        bool, typer.Option("--twin", help="Derive the equations of motion and compare them with the engine.")
    ] = False,
    orientation: Annotated[
        str, typer.Option(metavar="NAME", help="For --twin: relative, absolute or maximal coordinates.")
    ] = "relative",
    states: Annotated[int, typer.Option(metavar="N", min=1, help="For --twin: number of random states.")] = 20,
) -> None:
    """Report what a model contains, what is simulated, stable timesteps, and settings that are reinterpreted.

    Exits with 1 if `saltus run` would refuse the model or, with --twin, if the equations and the engine disagree.
    """
    if twin:
        from saltus.cli.check.twin import check_twin

        check_twin(model, orientation, states, ignore or [])
        return
    for option in ("orientation", "states"):
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter("requires --twin", context, param_hint=f"--{option}")
    from saltus.cli.check.model import check_model

    check_model(model, ignore or [])


@app.command()
def derive(
    model: ModelArgument,
    orientation: Annotated[
        str, typer.Option(metavar="relative|absolute|maximal", help="Coordinates; see docs/lagrange.md.")
    ] = "relative",
    parameters: Annotated[
        str,
        typer.Option(
            metavar="numbers|symbols|textbook|F.json",
            help='Parameters as numbers, symbols, textbook symbols, or a file like {"body_mass\\[bob]": "m"}.',
        ),
    ] = "numbers",
    let: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=LETTER", help='Use a symbol for a number, e.g. "body_mass\\[bob]=m"; repeatable.'),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="F", help="Write the derivation as a web page (.html).")] = None,
    latex: Annotated[Path | None, typer.Option(metavar="F", help="Write the derivation as LaTeX (.tex).")] = None,
    python: Annotated[Path | None, typer.Option(metavar="F", help="Write the equations as Python (.py).")] = None,
    c: Annotated[Path | None, typer.Option("--c", metavar="F", help="Write the equations as C (.c and .h).")] = None,
    simplify: Annotated[
        float | None, typer.Option(metavar="S", help="Simplify the equations, for at most S seconds.")
    ] = None,
    duration: Annotated[float, typer.Option(metavar="S", help="Seconds of motion shown on the page.")] = 10.0,
    integrator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Integrator for the page (default: SciPy's DOP853).")
    ] = None,
    ignore: Ignore = None,
) -> None:
    """Derive a mechanism's equations of motion by Lagrange's method, and show every step."""
    from saltus.cli.derive import Files, derive_model

    chosen = {"orientation": orientation, "parameters": parameters, "let": let or [], "ignore": ignore or []}
    page = {"duration": duration, "integrator": integrator}
    derive_model(model, Files(html, latex, python, c), simplify=simplify, **page, **chosen)


@app.command()
def warm(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="Models to compile for, with their own integrators.",
            autocompletion=complete_warmed,
        ),
    ] = None,
    integrators: Annotated[str | None, typer.Option(metavar="A,B,...", help="Comma-separated names, or 'all'.")] = None,
    batch: Annotated[bool, typer.Option(help="Also compile batches, in float64 and float32.")] = True,
    lab: Annotated[
        bool, typer.Option("--lab", help="Compile the lab's scenes: those given as MODEL, or the default one.")
    ] = False,
    ignore: Ignore = None,
) -> None:
    """Compile ahead of time what runs and batches need, once per machine.

    Compiled code is shared by models; without arguments, the integrator euler is compiled.
    """
    from saltus.cli.warm import compile_ahead, compile_scenes

    if lab:
        if integrators is not None or ignore:
            raise typer.BadParameter("--integrators and --ignore do not apply to scenes of the lab")
        compile_scenes(models or [])
    else:
        compile_ahead(models or [], integrators, batch, ignore or [])


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with 0, 1 for an error, 2 for wrong usage, 130 for Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        _tolerate(stream)
    try:
        app(arguments, prog_name="saltus")
    except SaltusError as error:
        print(f"error: {_in_options(str(error))}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _in_options(text: str) -> str:
    """A message with Python's `ignore=[...]` rewritten as command-line options."""
    option = lambda found: " ".join(f"--ignore {word}" for word in re.findall(r"\w+", found[1]))  # noqa: E731
    return re.sub(r"ignore=\[([^]]+)\]", option, text)


def _tolerate(stream: Any) -> None:
    """A character that the terminal cannot show becomes a question mark, not an error."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
