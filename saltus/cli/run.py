"""`saltus run`: simulate a model, estimate the error, write figures and recordings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saltus.cli.shared.completion import complete_paths
from saltus.cli.shared.events import print_events
from saltus.cli.shared.options import (
    A_MODEL,
    Actuators,
    CameraName,
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
    Plot,
    Report,
    Restitution,
    Sample,
    Size,
    Timestep,
    Video,
    contact_of,
    excludes,
    source_of,
)
from saltus.cli.shared.outputs import Film, Outputs
from saltus.cli.shared.values import parse_value, split_sets
from saltus.errors import DivergenceError, EventError, OptionError
from saltus.terminal import screen
from saltus.terminal.screen import INTERRUPTED

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.simulation import Simulation


Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a value, e.g. 'opt.gravity=0,0,-1.62' or 'qvel[hinge]=2'; repeatable.",
        autocompletion=complete_paths,
    ),
]
Forces = Annotated[
    list[str] | None,
    typer.Option(
        metavar="BODY=FX,FY,FZ",
        help="Apply a constant force (N) at a body's centre of mass, optionally with a torque (N m); repeatable.",
    ),
]
Certify = Annotated[bool, typer.Option(help="Repeat the run with finer steps to estimate its error.")]
Energy = Annotated[
    bool,
    typer.Option("--energy", help="Print the energy balance: energies, work, and the integrator's error."),
]
Save = Annotated[
    Path | None,
    typer.Option(
        metavar="F",
        help="Save the recording: netCDF (.nc), Zarr (.zarr, written during the run), .csv, .parquet, .mat or .npz.",
    ),
]
Record = Annotated[
    list[str] | None,
    typer.Option(metavar="FIELD", help="Record this too, as 'xpos[hand]' or qfrc_actuator; repeatable."),
]
Resume = Annotated[
    Path | None, typer.Option(metavar="F.zarr", help="Resume an interrupted run with the options stored in its file.")
]
# options of a run that its recording stores
RECORDED = (
    *("duration", "integrator", "contact", "restitution", "friction", "timestep", "sample", "key", "ignore"),
    *("actuators", "save", "energy", "record", "set_", "force"),
)
NO_MODEL = "missing MODEL: give a file or bundled name, or use --resume F.zarr"


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
    actuators: Actuators = None,
    set_: Sets = None,
    force: Forces = None,
    certify: Certify = True,
    energy: Energy = False,
    plot: Plot = None,
    save: Save = None,
    record: Record = None,
    video: Video = None,
    report: Report = None,
    resume: Resume = None,
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
    film = Film(fps, renderer, camera, follow, contacts, size)
    if resume is not None:
        excludes(context, "resume", RECORDED)
        resume_run(resume, Outputs(plot, None, video, report, film), model)
        return
    if model is None:
        raise typer.BadParameter(NO_MODEL, context, param_hint="MODEL")
    law = contact_of(contact, restitution, friction)
    outputs = Outputs(plot, save, video, report, film)
    outputs.check()
    from saltus.simulate.setup import Setup
    from saltus.study.settings import Start

    values = parse_values(set_ or []) | parse_forces(force or [])
    source = source_of(model, ignore, actuators)
    start = Start(Setup(source, integrator, law, timestep), tuple(ignore or ()))
    found = start.model(values)
    outputs.check_model(found)
    start.key = None if key is None else _key(found, key)
    done = _run(start.simulation(values), duration, sample, certify, outputs.store, energy, record or [])
    finish(done, outputs, saved=outputs.store is not None)


def parse_values(sets: list[str]) -> dict[str, Any]:
    """Parse "PATH=VALUE" texts to values by path; numbers are separated by commas or blanks."""
    from saltus.study.settings import check_path, takes_text

    values: dict[str, Any] = {}
    for path, given in split_sets(sets, "PATH=VALUE, as opt.gravity=0,0,-1.62"):
        as_text = takes_text(check_path(path))
        values[path] = parse_value(path, given if as_text else given.replace(",", " "), as_text)
    return values


def parse_forces(forces: list[str]) -> dict[str, Any]:
    """Parse "BODY=fx,fy,fz[,tx,ty,tz]" texts to forces (N) and torques (N m) on bodies by path."""
    values: dict[str, Any] = {}
    for text in forces:
        body, _, given = text.rpartition("=")
        try:
            numbers = [float(part) for part in given.split(",")]
        except ValueError:
            numbers = []
        if not body or len(numbers) not in (3, 6):
            raise OptionError(f"--force {text!r}: expected BODY=fx,fy,fz or BODY=fx,fy,fz,tx,ty,tz, in N and N m")
        path = f"xfrc_applied[{body}]"
        if path in values:
            raise OptionError(f"--force: {body} is given twice")
        values[path] = [*numbers, *[0.0] * (6 - len(numbers))]
    return values


def resume_run(store: Path, outputs: Outputs, model: str | None) -> None:
    """Resume a streamed run, print its results and write its files."""
    outputs.check()
    from saltus.simulate.resume import resume

    with screen.Activity() as activity:
        progress = activity.progress("simulating")
        done = _recorded(lambda: resume(store, progress=progress, model=model))
        activity.end("simulating")
    if done.error is None and not done.interrupted:
        done.why_unchecked = "the run was resumed"
    finish(done, outputs)


def finish(done: Done, outputs: Outputs, *, saved: bool = False) -> None:
    """Print the results of a run, write its files, and exit with its exit code.

    `saved`: the recording is already written.
    """
    trajectory = done.trajectory
    for warning in done.warnings:
        screen.say_warning(str(warning))
    if trajectory is None or not len(trajectory):
        raise done.error or KeyboardInterrupt
    if done.warnings and not saved:
        trajectory.attrs["warnings"] = [*done.warnings]
    screen.print_facts(summary(trajectory, done.why_unchecked))
    if trajectory.ledger.shape[1]:
        typer.echo(f"\n{trajectory.energy_report()}")
    if len(trajectory.events):
        print_events(trajectory.events)
    with screen.Activity() as activity, screen.collected_warnings() as warned:
        written, errors = outputs.write(trajectory, activity, saved=saved)
    for warning in warned:
        screen.say_warning(str(warning))
    for line in written:
        typer.echo(f"wrote {line}")
    for error in [*([done.error] if done.error else []), *errors]:
        screen.say_error(str(error))
    if done.error or errors:
        raise typer.Exit(1)
    if done.interrupted:
        raise typer.Exit(INTERRUPTED)


def _key(model: Model, key: str) -> int | str:
    """Return the name of a keyframe, or its number if no keyframe has that name."""
    number = key.removeprefix("-").isdigit() and key not in model.names("key")
    return int(key) if number else key


@dataclass
class Done:
    """The outcome of a run, complete or interrupted."""

    trajectory: Trajectory | None = None
    error: DivergenceError | EventError | None = None
    interrupted: bool = False
    why_unchecked: str = ""
    warnings: list[str] = field(default_factory=list)


def _recorded(run: Callable[[], Trajectory]) -> Done:
    """Run a function that records and return the outcome, also after an error or an interruption."""
    done = Done()
    with screen.collected_warnings() as done.warnings:
        try:
            done.trajectory = run()
        except (DivergenceError, EventError) as error:
            done.trajectory, done.error = getattr(error, "trajectory", None), error
    if done.trajectory is not None:
        done.interrupted = "interrupted_at" in done.trajectory.attrs
    if done.error or done.interrupted:
        done.why_unchecked = "the run did not finish"
    return done


def _run(
    sim: Simulation,
    duration: float,
    sample: float,
    certify: bool,
    store: Path | None,
    energy: bool,
    record: list[str],
) -> Done:
    start = sim.snapshot()
    with screen.Activity() as activity:
        progress = activity.progress("simulating")
        how: dict[str, Any] = dict(progress=progress, save=store, ledger=energy, record=record)
        done = _recorded(lambda: sim.run(duration, sample, **how))
        activity.end("simulating")
        if certify and not done.why_unchecked:
            _certify(sim, start, duration, sample, done, activity)
            if store is not None and done.trajectory is not None:
                from saltus.record.io.stream import add_certificate

                add_certificate(store, done.trajectory.certificate)
    return done


def _certify(sim: Simulation, start: Any, duration: float, sample: float, done: Done, activity: screen.Activity):
    """Add the error estimate to the recording; Ctrl-C skips it and keeps the run."""
    what = "estimating the error with finer steps"
    assert done.trajectory is not None
    with screen.collected_warnings() as warned, contextlib.suppress(KeyboardInterrupt):
        progress = activity.progress(what)
        done.trajectory.certificate = sim.certify(start, done.trajectory, duration, sample, progress=progress)
    activity.end(what)
    if done.trajectory.certificate is None:
        done.interrupted, done.why_unchecked = True, "interrupted"
    else:
        done.warnings += [f"in the error estimate: {w}" for w in warned if w not in done.warnings]


def summary(trajectory: Trajectory, why_unchecked: str = "") -> list[tuple[str, str]]:
    """Facts to print as a summary of a recording: (name, text)."""
    from saltus.integrate.registry import integrators
    from saltus.record.energy_figure import energy_figure
    from saltus.record.table.events import counts
    from saltus.record.table.trajectory_table import readable_model

    attrs: dict[str, Any] = {**trajectory.attrs}
    m, why = readable_model(trajectory)
    if why:
        screen.say_warning(str(why))
    parts = []
    if m is not None:
        parts = [screen.count(m.nbody - 1, "body"), screen.count(m.nv, "degree of freedom")]
        parts += [screen.count(m.nu, "control")] if m.nu else []
    name = str(attrs.get("model_name") or "unknown")
    facts = [("model", f"{name}: {', '.join(parts)}" if parts else name)]
    if m is not None and m.changes:
        facts.append(("changed", ", ".join(f"{path} = {value}" for path, value in m.changes.items())))
    if attrs.get("applied"):
        facts.append(("applied", ", ".join(f"{path} = {value}" for path, value in attrs["applied"].items())))
    method = integrators().get(str(attrs.get("integrator")))
    if method is not None:
        facts.append(("integrator", f"{method.name} (order {method.order}, {method.kind})"))
    elif attrs.get("integrator"):
        facts.append(("integrator", str(attrs["integrator"])))
    if method is not None and method.adaptive:
        facts.append(("timestep", "controlled"))
    elif isinstance(attrs.get("timestep"), float):
        facts.append(("timestep", f"{attrs['timestep']:.6g} s"))
    facts.append(("simulated", f"{trajectory.simulated_time:.6g} s, {screen.count(len(trajectory), 'sample')}"))
    facts.append(("accuracy", _accuracy(trajectory, why_unchecked)))
    figure = energy_figure(trajectory)
    if figure and (trajectory.certificate is None or trajectory.certificate.exchanges):
        facts.append((figure.name, f"{figure.value} {figure.remark}"))
    if len(trajectory.events):
        kinds = ", ".join(f"{number} {kind}" for kind, number in counts(trajectory.events).items())
        facts.append(("events", f"{len(trajectory.events)}: {kinds}"))
    return facts + screen.ignored_facts(map(str, attrs.get("ignored") or []))


def _accuracy(trajectory: Trajectory, why_unchecked: str) -> str:
    if trajectory.certificate is not None:
        return str(trajectory.certificate).removeprefix("accuracy: ")
    return f"not checked: {why_unchecked}" if why_unchecked else "not checked"
