"""The command line: `saltus run | replay | compare | sweep | study | check | derive | lab | bench | warm`.

Nothing heavy is imported here, so that `saltus --help` answers at once; each command imports what it needs.
"""

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from saltus.errors import SaltusError
from saltus.terminal.screen import INTERRUPTED

SUFFIXES = (".xml", ".mjcf", ".urdf")  # of model files

app = typer.Typer(
    name="saltus",
    help="Multibody dynamics: any integrator, thousands of runs at once, and a measure of how far to trust them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
bench_app = typer.Typer(help="Measure how fast Saltus is, beside its peers.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")


def _models(incomplete: str) -> list[str]:
    """Bundled names and model files that begin so, for the shell; where there are none it completes paths itself."""
    from saltus.model.source.bundled_names import models

    folder, slash, _ = incomplete.rpartition("/")
    place = Path(f"{folder}{slash}")
    files = [f"{folder}{slash}{p.name}" for p in place.iterdir() if p.suffix in SUFFIXES] if place.is_dir() else []
    return [name for name in [*models(), *sorted(files)] if name.startswith(incomplete)]


def _scenes(incomplete: str) -> list[str]:
    """The same for the lab, whose own scenes come first."""
    from saltus.lab.scene_names import MADE

    offered = [*(name for name in MADE if name.startswith(incomplete)), *_models(incomplete)]
    return list(dict.fromkeys(offered))


def _warmed(ctx: typer.Context, incomplete: str) -> list[str]:
    """What can be compiled ahead of time: scenes with --lab, otherwise models."""
    return (_scenes if ctx.params.get("lab") else _models)(incomplete)


A_MODEL = {
    "metavar": "MODEL",
    "help": "A model file (.xml, .urdf), a bundled name or n_link:N.",
    "autocompletion": _models,
}
ModelArgument = Annotated[str, typer.Argument(**A_MODEL)]
Duration = Annotated[float, typer.Option(metavar="S", help="Seconds to simulate.")]
Timestep = Annotated[float | None, typer.Option(metavar="H", help="Step in s; without it, the model file's.")]
IntegratorName = Annotated[
    str | None, typer.Option(metavar="NAME", help="euler, rk4, dopri5, ...; without it, the model file's.")
]
Law = Annotated[str, typer.Option(metavar="soft|hard", help="Contact law.")]
Key = Annotated[str | None, typer.Option(metavar="NAME", help="Keyframe to start from, by name or number.")]
Sample = Annotated[float, typer.Option(metavar="S", help="Seconds between samples.", show_default="1/60")]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="FEATURE", help="Leave out a feature of the model (contact, limit, fluid, ...); repeatable."),
]
Quick = Annotated[bool, typer.Option("--quick", help="A few small models and short timings, to see it work.")]
Json = Annotated[Path | None, typer.Option("--json", metavar="F", help="Write the figures to a file too.")]
Plot = Annotated[Path | None, typer.Option(metavar="F", help="Draw a figure (.png, .svg, .pdf).")]
Video = Annotated[Path | None, typer.Option(metavar="F", help="Draw a video (.mp4, .webm, .gif).")]
Report = Annotated[Path | None, typer.Option(metavar="F", help="Write a page with plots and a video (.html).")]
Fps = Annotated[float | None, typer.Option(metavar="N", help="Frames a second of the video; without it, 60, GIF 50.")]
DrawnBy = Annotated[str, typer.Option("--renderer", metavar="saltus|mujoco", help="What draws; MuJoCo's needs OpenGL.")]
CameraName = Annotated[str | None, typer.Option("--camera", metavar="NAME", help="A camera of the model.")]
Follow = Annotated[str | None, typer.Option(metavar="BODY", help="A body that the camera keeps looking at.")]
Restitution = Annotated[
    float | None, typer.Option(metavar="E", help="Of hard contact: normal velocity after an impact over that before.")
]
Friction = Annotated[
    float | None, typer.Option(metavar="MU", help="Of hard contact, for all geoms; without it, the model's.")
]
DrawContacts = Annotated[bool, typer.Option("--contacts", help="Draw contact points and forces.")]
Size = Annotated[str, typer.Option(metavar="WxH", help="Size of the video in pixels.")]
Workers = Annotated[int | None, typer.Option(metavar="N", help="Processes; without it, one a processor.")]
Results = Annotated[
    Path | None, typer.Option(metavar="F.json", help="Keep results there as they come, and go on from them.")
]
Csv = Annotated[Path | None, typer.Option("--csv", metavar="F", help="Write the table (.csv).")]
Threads = Annotated[int | None, typer.Option(metavar="N", help="Threads of batches; without it, all that there are.")]


@app.callback(invoke_without_command=True)
def _saltus(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        import saltus

        typer.echo(f"saltus {saltus.__version__}")
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
            help="Another value, as 'opt.gravity=0,0,-1.62', 'qvel[hinge]=2'; repeatable.",
        ),
    ] = None,
    force: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BODY=FX,FY,FZ",
            help="A force (N) at a body's centre of mass, held; a torque (N m) after it; repeatable.",
        ),
    ] = None,
    certify: Annotated[bool, typer.Option(help="Repeat with finer steps and say how accurate the run is.")] = True,
    energy: Annotated[
        bool,
        typer.Option("--energy", help="Say where the energy is, where it went, and what the integrator made of it."),
    ] = False,
    plot: Plot = None,
    save: Annotated[
        Path | None, typer.Option(metavar="F", help="Save the recording: netCDF, or .zarr, written as the run goes on.")
    ] = None,
    video: Video = None,
    report: Report = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="F.zarr", help="Go on with a run that was cut short; all else is in its file."),
    ] = None,
    fps: Fps = None,
    renderer: DrawnBy = "saltus",
    camera: CameraName = None,
    follow: Follow = None,
    contacts: DrawContacts = False,
    size: Size = "640x480",
) -> None:
    """Simulate a model and say how accurate the result is.

    PATH is a value of the model (opt.gravity, body_mass[bob]), an attribute of its file (geom[ball]/size), of the state
    at the start (qpos[hinge], qvel[ball.vz]), a control (ctrl[motor]) or a force (qfrc_applied[hinge]), both held.
    Ctrl-C ends the run early; what was recorded is still drawn and saved.
    """
    from saltus.cli.outputs import Film, Outputs
    from saltus.cli.run import resume as resume_run
    from saltus.cli.run import simulate

    film = Film(fps, renderer, camera, follow, contacts, size)
    if resume is not None:
        others = ("duration", "integrator", "contact", "restitution", "friction", "timestep", "sample", "key", "ignore")
        others += ("save", "energy", "set_", "force")
        _alone(context, "resume", others)
        resume_run(resume, Outputs(plot, None, video, report, film), model)
        return
    if model is None:
        raise typer.BadParameter("which one? A file, a bundled name, or --resume F.zarr", context, param_hint="MODEL")
    simulate(
        model,
        Outputs(plot, save, video, report, film),
        duration=duration,
        integrator=integrator,
        contact=_contact(contact, restitution, friction),
        timestep=timestep,
        sample=sample,
        key=key,
        ignore=ignore or [],
        sets=set_ or [],
        forces=force or [],
        certify=certify,
        energy=energy,
    )


def _contact(contact: str | None, restitution: float | None, friction: float | None) -> Any:
    """The contact law that the options say."""
    given = _hard_numbers(contact, restitution, friction)
    if not given:
        return contact
    from saltus.simulate.contact import Hard

    return Hard(**given)


def _hard_numbers(contact: str | None, restitution: float | None, friction: float | None) -> dict[str, Any]:
    """The numbers of hard contact that were given; wrong usage if that was not chosen."""
    given = {name: x for name, x in (("restitution", restitution), ("friction", friction)) if x is not None}
    if given and contact != "hard":
        raise typer.BadParameter(f"{' and '.join(given)}: only hard contact has it; add --contact hard")
    return given


def _alone(context: typer.Context, option: str, others: tuple[str, ...]) -> None:
    """Wrong usage if any of the other options was given too."""
    for other in others:
        source = context.get_parameter_source(other)
        if source is not None and source.name == "COMMANDLINE":
            hint = f"--{other.rstrip('_')}"
            raise typer.BadParameter(f"--{option} takes it from the recording", context, param_hint=hint)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recording: a netCDF file or a Zarr store.")],
    plot: Plot = None,
    video: Video = None,
    report: Report = None,
    save: Annotated[Path | None, typer.Option(metavar="F", help="Save it again (netCDF or .zarr).")] = None,
    fps: Fps = None,
    renderer: DrawnBy = "saltus",
    camera: CameraName = None,
    follow: Follow = None,
    contacts: DrawContacts = False,
    size: Size = "640x480",
    port: Annotated[int, typer.Option(metavar="N", help="Port of the player; 0: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the player in a browser.")] = True,
) -> None:
    """Say what a recording is of and draw it; without a file to write, play it in the browser."""
    from saltus.cli.outputs import Film, Outputs
    from saltus.cli.replay import replay as replay_file

    film = Film(fps, renderer, camera, follow, contacts, size)
    replay_file(file, Outputs(plot, save, video, report, film), port=port, browser=browser)


@app.command()
def compare(
    model: ModelArgument,
    integrators: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Names with commas between; without it, all.")
    ] = None,
    contact: Annotated[str, typer.Option(metavar="A,B,...", help="Contact laws: soft, hard or soft,hard.")] = "soft",
    duration: Duration = 10.0,
    timestep: Timestep = None,
    sample: Annotated[float | None, typer.Option(metavar="S", help="Seconds between samples.")] = None,
    ignore: Ignore = None,
    plot: Plot = None,
) -> None:
    """Run a model under several integrators and rank them by error, energy drift and cost."""
    from saltus.cli.compare import compare_integrators

    compare_integrators(model, integrators, contact, duration, timestep, sample, ignore or [], plot)


@app.command()
def sweep(
    model: ModelArgument,
    set_: Annotated[
        list[str],
        typer.Option("--set", metavar="PATH=A,B,...", help="Other values, as 'body_mass[bob]=1,2,4'; repeatable."),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="What to measure, as 'height[ball].apex'; repeatable. See docs/sweep.md."),
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="First values together, then second ones; else all combinations.")
    ] = False,
    duration: Duration = 10.0,
    integrator: IntegratorName = None,
    contact: Law = "soft",
    timestep: Timestep = None,
    sample: Annotated[float | None, typer.Option(metavar="S", help="Seconds between samples.")] = None,
    key: Key = None,
    ignore: Ignore = None,
    workers: Workers = None,
    save: Results = None,
    csv: Csv = None,
    plot: Plot = None,
) -> None:
    """Run a model with many values, in parallel, and measure each run.

    PATH is a value of the model (body_mass[bob], opt.timestep), an attribute of its file (geom[ball]/size), of the
    state at the start (qpos[hinge]), integrator or contact. Ctrl-C ends the sweep early; with --save the same command
    goes on.
    """
    from saltus.cli.sweep import Files, sweep_model

    options = {"integrator": integrator, "contact": contact, "timestep": timestep, "sample": sample, "key": key}
    more = {"together": together, "ignore": ignore or [], "workers": workers}
    sweep_model(model, set_, measure or [], duration, Files(save, csv, plot), **options, **more)


@app.command("contact-law")
def contact_law(
    solref: Annotated[str, typer.Option(metavar="A,B", help="solref of the contact.")] = "0.02,1",
    solimp: Annotated[str, typer.Option(metavar="A,B,...", help="solimp, all of it or the first.")] = "0.9,0.95,0.001",
    mass: Annotated[float, typer.Option(metavar="KG", help="What lies on the contact, or hits it.")] = 1.0,
    gravity: Annotated[float, typer.Option(metavar="G", help="m/s².")] = 9.81,
    timestep: Annotated[float, typer.Option(metavar="H", help="Step in s.")] = 0.002,
    speed: Annotated[float, typer.Option(metavar="V", help="Of an impact, m/s.")] = 1.0,
    refsafe: Annotated[bool, typer.Option(help="Whether time constants are at least two steps.")] = True,
    plot: Plot = None,
) -> None:
    """Say what the parameters of a soft contact mean for a mass: at rest, and in an impact."""
    from saltus.cli.contact_law import show_contact_law

    options = {"mass": mass, "gravity": gravity, "timestep": timestep, "speed": speed, "refsafe": refsafe}
    show_contact_law(solref, solimp, plot, **options)


@app.command()
def study(
    name: Annotated[str, typer.Argument(metavar="NAME", help="trampoline: what makes it bounce.")],
    integrator: IntegratorName = None,
    timestep: Timestep = None,
    workers: Workers = None,
    save: Results = None,
    csv: Csv = None,
    plot: Plot = None,
) -> None:
    """What each change of a model does, alone and all together: a table, and a figure."""
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
            autocompletion=_scenes,
        ),
    ] = None,
    integrator: Annotated[
        str | None, typer.Option(metavar="NAME", help="euler, rk4, dopri5, ...; without it, the scene's.")
    ] = None,
    contact: Annotated[str | None, typer.Option(metavar="soft|hard", help="Contact law.")] = None,
    restitution: Restitution = None,
    friction: Friction = None,
    timestep: Timestep = None,
    key: Annotated[str | None, typer.Option(metavar="NAME", help="Keyframe to start from, by name.")] = None,
    ignore: Ignore = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=LOW:HIGH", help='A slider, as "body_mass[bob]=0.1:10"; repeatable.'),
    ] = None,
    speed: Annotated[float, typer.Option(metavar="X", help="Simulated seconds a second.")] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Do not start at once.")] = False,
    port: Annotated[int, typer.Option(metavar="P", help="Port on 127.0.0.1; 0: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    scenes: Annotated[bool, typer.Option("--scenes", help="List the scenes and exit.")] = False,
) -> None:
    """Open the lab in the browser: a model in motion, with everything about it to change while it moves.

    Without MODEL it is the lecture's pendulum. Ctrl-C ends it.
    """
    from saltus.cli.lab import list_scenes, open_lab

    if scenes:
        list_scenes()
        return
    options = {"integrator": integrator, "contact": contact, "timestep": timestep, "key": key, "speed": speed}
    options |= _hard_numbers(contact, restitution, friction)  # the rest of the law is the scene's
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
        str, typer.Option(metavar="NAME", help="Of --twin: relative, absolute or maximal coordinates.")
    ] = "relative",
    states: Annotated[int, typer.Option(metavar="N", min=1, help="Of --twin: how many random states.")] = 20,
) -> None:
    """Say what a model holds, what is simulated, which steps it allows, and what acts otherwise than its file says.

    The exit code is 1 if `saltus run` would refuse the model, and with --twin if equations and engine disagree.
    """
    if twin:
        from saltus.cli.check_twin import check_twin

        check_twin(model, orientation, states, ignore or [])
        return
    for option in ("orientation", "states"):
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter("is an option of --twin", context, param_hint=f"--{option}")
    from saltus.cli.check import check_model

    check_model(model, ignore or [])


@app.command()
def derive(
    model: ModelArgument,
    orientation: Annotated[
        str, typer.Option(metavar="relative|absolute|maximal", help="Coordinates: see docs/lagrange.md.")
    ] = "relative",
    parameters: Annotated[
        str,
        typer.Option(
            metavar="numbers|symbols|textbook|F.json",
            help='Numbers, letters for all, those of books, or a file like {"body_mass\\[bob]": "m"}.',
        ),
    ] = "numbers",
    let: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=LETTER", help='A letter for a number, as "body_mass\\[bob]=m"; repeatable.'),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="F", help="Write the derivation as a page (.html).")] = None,
    latex: Annotated[Path | None, typer.Option(metavar="F", help="Write it as a LaTeX document (.tex).")] = None,
    python: Annotated[Path | None, typer.Option(metavar="F", help="Write the equations as Python (.py).")] = None,
    c: Annotated[Path | None, typer.Option("--c", metavar="F", help="Write them as C (.c, with a .h).")] = None,
    simplify: Annotated[
        float | None, typer.Option(metavar="S", help="Simplify them too, for at most so many seconds.")
    ] = None,
    duration: Annotated[float, typer.Option(metavar="S", help="Seconds of motion that the page shows.")] = 10.0,
    integrator: Annotated[
        str | None, typer.Option(metavar="NAME", help="What solves them there; without it, SciPy's DOP853.")
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
        typer.Argument(metavar="[MODEL]...", help="Models whose own integrators are wanted.", autocompletion=_warmed),
    ] = None,
    integrators: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Names with commas between, or 'all'.")
    ] = None,
    batch: Annotated[bool, typer.Option(help="Compile for batches too, in float64 and float32.")] = True,
    lab: Annotated[
        bool, typer.Option("--lab", help="Compile what scenes of the lab need: those named as MODEL, or the first.")
    ] = False,
    ignore: Ignore = None,
) -> None:
    """Compile ahead of time what runs and batches need, once per machine.

    Compiled code serves every model; without arguments it is that of the integrator euler.
    """
    from saltus.cli.warm import compile_ahead, compile_scenes

    if lab:
        if integrators is not None or ignore:
            raise typer.BadParameter("scenes of the lab have integrators of their own and leave nothing out")
        compile_scenes(models or [])
    else:
        compile_ahead(models or [], integrators, batch, ignore or [])


@bench_app.command()
def smooth(
    quick: Quick = False,
    threads: Threads = None,
    json: Json = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="MODEL", help="Measure this model too, without its constraints; repeatable."),
    ] = None,
) -> None:
    """Motion without constraints: single runs, batches and derivatives, against MuJoCo in the same process."""
    from saltus.bench.smooth import bench_smooth

    bench_smooth(quick=quick, threads=threads, json_path=json, extra=model or [])


@bench_app.command()
def contact(
    quick: Quick = False,
    threads: Threads = None,
    json: Json = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="MODEL", help="Measure this model too, 3 s after its start; repeatable."),
    ] = None,
) -> None:
    """Motion with contacts and other constraints: single runs and batches, against MuJoCo in the same process."""
    from saltus.bench.contact import bench_contact

    bench_contact(quick=quick, threads=threads, json_path=json, extra=model or [])


@bench_app.command()
def film(
    quick: Quick = False,
    json: Json = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="MODEL", help="Film this model too; repeatable.")
    ] = None,
) -> None:
    """Pictures and films of a run, beside MuJoCo's renderer where OpenGL works."""
    from saltus.bench.film import bench_film

    bench_film(quick=quick, json_path=json, extra=model or [])


@bench_app.command()
def flex(
    quick: Quick = False,
    threads: Threads = None,
    json: Json = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="MODEL", help="Measure this model too; repeatable.")
    ] = None,
) -> None:
    """Deformable bodies: single runs and batches against MuJoCo in the same process, and sheets of growing size."""
    from saltus.bench.flex import bench_flex

    bench_flex(quick=quick, threads=threads, json_path=json, extra=model or [])


@bench_app.command()
def hybrid(quick: Quick = False, json: Json = None) -> None:
    """Hard contact with impacts, sticking and slipping, against the same written with SciPy, in the same process."""
    from saltus.bench.hybrid import bench_hybrid

    bench_hybrid(quick=quick, json_path=json)


@bench_app.command()
def pile(quick: Quick = False, json: Json = None) -> None:
    """A pile of boxes by Moreau-Jean time stepping under hard contact, beside the soft law's steps."""
    from saltus.bench.pile import bench_pile

    bench_pile(quick=quick, json_path=json)


@bench_app.command()
def start(quick: Quick = False, json: Json = None) -> None:
    """How long it takes until something moves, from an empty cache of compiled code and from a warm one."""
    from saltus.bench.start import bench_start

    bench_start(quick=quick, json_path=json)


@bench_app.command()
def orientations(
    links: Annotated[
        int | None, typer.Option(metavar="N", help="Up to so many links; without it, 10 (quick: 2).", min=1)
    ] = None,
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="Steps of 0.01 s; without it, 100 (quick: 20).", min=1)
    ] = None,
    option: Annotated[
        str, typer.Option(metavar="A|B", help="A: a force on the end; B: a torque between the last two links.")
    ] = "A",
    naive_links: Annotated[
        int | None,
        typer.Option(metavar="K", help="The naive way up to so many; without it, as many as finish.", min=0),
    ] = None,
    limit: Annotated[float, typer.Option(metavar="S", help="Seconds that one measurement may take.")] = 120.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the random order.")] = 0,
    json: Json = None,
    plot: Plot = None,
    quick: Quick = False,
) -> None:
    """The n-link pendulum in relative, absolute and maximal coordinates: modelling and simulation time."""
    from saltus.bench.orientations import bench_orientations, planned

    bench_orientations(planned(links, steps, option, naive_links, limit, seed, quick), json, plot)


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
    """What a message says in Python, said in options."""
    option = lambda found: " ".join(f"--ignore {word}" for word in re.findall(r"\w+", found[1]))  # noqa: E731
    return re.sub(r"ignore=\[([^]]+)\]", option, text)


def _tolerate(stream: Any) -> None:
    """A character that the terminal cannot show becomes a question mark, not an error."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
