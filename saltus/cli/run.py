"""`saltus run`: one model in motion, its accuracy, and the files that show it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from saltus.cli import INTERRUPTED, screen
from saltus.errors import DivergenceError, OptionError, RecordError, SaltusError

if TYPE_CHECKING:
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.simulation import Simulation


@dataclass(frozen=True)
class Outputs:
    """Where results go; None: nowhere."""

    plot: Path | None = None
    save: Path | None = None
    video: Path | None = None

    def check(self) -> None:
        """Raise the error that writing would raise, before there is anything to write."""
        if self.video is not None:
            from saltus.record.trajectory import no_video

            raise no_video(self.video)
        if self.plot is not None:
            check_figure(self.plot)
        if self.save is not None:
            from saltus.record.whole import check_writable

            if self.plot is not None and self.save.resolve() == self.plot.resolve():
                raise OptionError(f"--plot and --save name the same file, '{self.save}'")
            check_writable(self.save)

    def write(self, trajectory: Trajectory) -> tuple[list[str], list[SaltusError]]:
        """Write all that can be written; what was, in words, and what went wrong."""
        written: list[str] = []
        errors: list[SaltusError] = []
        for path, write, what in ((self.save, trajectory.save, "recording"), (self.plot, trajectory.plot, "figure")):
            if path is None:
                continue
            try:
                write(path)
                written.append(f"{path} ({what})")
            except SaltusError as error:
                errors.append(error)
            except Exception as error:
                # whatever one output meets, the others are still to be written
                errors.append(RecordError(path, f"{type(error).__name__}: {error}", what=what))
        return written, errors


def check_figure(path: Path) -> None:
    """Raise the error that writing a figure would raise."""
    from saltus.record.plot import figure_format
    from saltus.record.whole import check_writable

    figure_format(path)
    check_writable(path, what="figure")


def simulate(model: str, outputs: Outputs, *, duration, integrator, contact, timestep, sample, key, ignore, certify):
    """Run, report, write."""
    outputs.check()
    from saltus.model.load import load
    from saltus.simulate.simulation import Simulation

    sim = Simulation(load(model, ignore=ignore), integrator, contact, timestep)
    if key is not None:
        sim.reset(_key(sim, key))
    done = _run(sim, duration, sample, certify)
    trajectory = done.trajectory
    for warning in done.warnings:
        screen.say(f"warning: {warning}")
    if trajectory is None or not len(trajectory):
        raise done.error or KeyboardInterrupt
    _report(sim, done)
    written, errors = outputs.write(trajectory)
    for line in written:
        typer.echo(f"wrote {line}")
    for error in [*([done.error] if done.error else []), *errors]:
        screen.say(f"error: {error}")
    if done.error or errors:
        raise typer.Exit(1)
    if done.interrupted:
        raise typer.Exit(INTERRUPTED)


def _key(sim: Simulation, key: str) -> int | str:
    """A keyframe's name, or its number if no keyframe has that name."""
    number = key.removeprefix("-").isdigit() and key not in sim.model.names("key")
    return int(key) if number else key


@dataclass
class _Done:
    """A run, as far as it came."""

    trajectory: Trajectory | None = None
    error: DivergenceError | None = None
    interrupted: bool = False
    why_unchecked: str = ""
    warnings: list[str] = field(default_factory=list)


def _run(sim: Simulation, duration: float, sample: float, certify: bool) -> _Done:
    done = _Done()
    start = sim.snapshot()
    with screen.Activity() as activity:
        with screen.collected_warnings() as done.warnings:
            try:
                done.trajectory = sim.run(duration, sample, progress=activity.progress("simulating"))
            except DivergenceError as error:
                done.trajectory, done.error = error.trajectory, error
        activity.end("simulating")
        if done.trajectory is not None:
            done.interrupted = "interrupted_at" in done.trajectory.attrs
        if done.error or done.interrupted:
            done.why_unchecked = "the run did not finish"
        elif certify:
            _certify(sim, start, duration, sample, done, activity)
    return done


def _certify(sim: Simulation, start: Any, duration: float, sample: float, done: _Done, activity: screen.Activity):
    """Add the statement of accuracy; Ctrl-C here leaves the run as it is."""
    from saltus.simulate.certify import certify_run

    what = "checking its accuracy with finer steps"
    assert done.trajectory is not None
    with screen.collected_warnings() as warned, contextlib.suppress(KeyboardInterrupt):
        progress = activity.progress(what)
        done.trajectory.certificate = certify_run(sim, start, done.trajectory, duration, sample, None, progress)
    activity.end(what)
    if done.trajectory.certificate is None:
        done.interrupted, done.why_unchecked = True, "interrupted"
    else:
        done.warnings += [f"in the check of the accuracy: {w}" for w in warned if w not in done.warnings]


def _report(sim: Simulation, done: _Done) -> None:
    trajectory = done.trajectory
    assert trajectory is not None
    m, integrator = sim.model, sim.integrator
    parts = [screen.count(m.nbody - 1, "body"), screen.count(m.nv, "degree of freedom")]
    parts += [screen.count(m.nu, "control")] if m.nu else []
    facts = [
        ("model", f"{m.name}: {', '.join(parts)}"),
        ("integrator", f"{integrator.name} (order {integrator.order}, {integrator.kind})"),
        ("timestep", "controlled" if integrator.adaptive else f"{sim.timestep:.6g} s"),
        ("simulated", f"{trajectory.duration:.6g} s, {len(trajectory)} samples"),
        ("accuracy", _accuracy(done)),
    ]
    if trajectory.certificate is None:
        facts.append(("energy drift", f"{trajectory.energy_drift:.2g} of the energy in play"))
    facts += screen.ignored_facts(m.ignored)
    screen.print_facts(facts)


def _accuracy(done: _Done) -> str:
    assert done.trajectory is not None
    if done.trajectory.certificate is not None:
        return str(done.trajectory.certificate).removeprefix("accuracy: ")
    return f"not checked: {done.why_unchecked}" if done.why_unchecked else "not checked"
