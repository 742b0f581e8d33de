"""A recorded run: steps, controls, and samples at exact times."""

import os
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.arguments import flag, numbers, path_of, positive
from saltus.errors import OptionError
from saltus.record.io.memory_room import check_room, sample_size
from saltus.record.recorder import TrajectoryBuilder
from saltus.record.table.columns import SIGNALS, row_shapes
from saltus.record.table.ledger import ACCOUNTS, ATTRIBUTE, WITHOUT_MOTIONS
from saltus.record.trajectory import Trajectory
from saltus.simulate.diagnosis.instability import warn_if_unstable
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import marked
from saltus.simulate.engine.step_counts import restart_kinds, solver_count
from saltus.simulate.laws.control import Controller
from saltus.simulate.running.adaptive_run import AdaptiveRun
from saltus.simulate.running.contact_columns import point_count
from saltus.simulate.running.fixed_run import Run
from saltus.simulate.running.run_metadata import attributes, description
from saltus.simulate.running.schedule import Plan
from saltus.simulate.running.signals import Signals
from saltus.simulate.running.work_ledger import Ledger

if TYPE_CHECKING:
    from saltus.record.io.stream import Stream

#: Ways to keep a long run out of memory, at the end of a message.
ON_DISK = ', or record to disk with save="run.zarr" (--save run.zarr)'


def run(
    engine: Engine,
    sim: Any,
    again: Callable[..., Any],
    duration: float,
    sample: float,
    control: Any,
    progress: Any,
    *,
    certify: bool,
    save: str | os.PathLike[str] | None,
    ledger: bool,
    record: Iterable[str] = (),
) -> "Trajectory":
    """Run a simulation; see `Simulation.run`.

    `sim`: argument of control functions. `again`: makes a copy of it with other values for the given options.
    """
    duration, sample = positive("duration", duration), positive("sample", sample)
    certify, ledger = flag("certify", certify), flag("ledger", ledger)
    plan = Plan(engine.time, duration, sample, engine.timestep)
    engine.prepare()
    engine.place_mocap()
    start = marked(engine)
    with controlled_by(engine, control):
        engine.loop.soon(engine.step_m, engine.d)
        apply = control_function(sim, control, plan.steps)
        book = Ledger(engine) if ledger else None
        signals = signals_of(engine, record)
        sink = (
            _builder(engine, plan, book, signals)
            if save is None
            else _stream(engine, plan, control, save, book, signals)
        )
        trajectory = make_run(engine, plan, sink, apply, progress, book, signals).record()
    if certify and "interrupted_at" not in trajectory.attrs:
        from saltus.simulate.running.certify import certify_run

        sink.certify(trajectory, certify_run(engine, again, start, trajectory, duration, sample, control, progress))
    return trajectory


@contextmanager
def controlled_by(engine, control):
    """Use a controller in the time loop within the block."""
    before = engine.control
    if isinstance(control, Controller):
        engine.set_control(control)
    warn_if_unstable(engine)
    try:
        yield
    finally:
        if engine.control is not before:
            engine.set_control(before)


def signals_of(engine: Engine, record: Iterable[str]) -> Signals | None:
    """Signals that a run records on request; None without a request."""
    signals = Signals(engine, record)
    return signals if signals.labels else None


def _builder(engine: Engine, plan: Plan, book: Ledger | None, signals: Signals | None) -> TrajectoryBuilder:
    """Recorder of a run in memory; OptionError if that is too little."""
    sizes, about = about_run(engine, plan.duration, plan.sample, book, signals)
    check_room(sample_size(row_shapes(**sizes)), plan.count, plan.sample, ON_DISK)
    return TrajectoryBuilder(**sizes, **about, expected=plan.count)


def _stream(
    engine: Engine,
    plan: Plan,
    control: Any,
    path: str | os.PathLike[str],
    book: Ledger | None,
    signals: Signals | None,
) -> "Stream":
    """Recorder of a run to a Zarr store."""
    from saltus.record.io.stream import Stream
    from saltus.simulate.running.run_setup import setup_of

    if not os.fspath(path_of("save", path)).endswith(".zarr"):
        raise OptionError(f"save must be a Zarr store (.zarr), got '{os.fspath(path)}'; Trajectory.save writes netCDF")
    sizes, about = about_run(engine, plan.duration, plan.sample, book, signals)
    setup = setup_of(engine, plan, control) | {"ledger": book is not None}
    setup["record"] = [] if signals is None else signals.asked
    return Stream.create(path, row_shapes(**sizes), plan.count, **about, setup=setup)


def about_run(
    engine: Engine,
    duration: float,
    sample: float,
    book: Ledger | None = None,
    signals: Signals | None = None,
) -> tuple[dict[str, int], dict[str, Any]]:
    """Sizes of a recording's columns, by the names of `row_shapes`, and its further metadata."""
    model = engine.model
    if "about" not in engine.memo:
        engine.memo["about"] = description(engine)
    about = {**engine.memo["about"]}
    about["attrs"] = about["attrs"] | attributes(engine, duration, sample)
    pairs = len(about["names"]["contact"])
    sizes = {"nq": model.nq, "nv": model.nv, "na": len(engine.act), "nu": model.nu}
    sizes |= {"ncontact": pairs, "nmocap": model.nmocap, "npoint": point_count(engine)}
    sizes |= {"nactuation": len(engine.actuation_state), "ntree": len(engine.tree_asleep)}
    sizes["nmotion"], sizes["nsensordata"] = len(engine.motions.joints), model.nsensordata
    sizes["nrestart"], sizes["nsolver"] = restart_kinds(engine), solver_count(engine)
    if book is not None:
        sizes["nledger"] = len(ACCOUNTS) if engine.motions.joints else WITHOUT_MOTIONS
        about["attrs"][ATTRIBUTE] = book.rule
    if signals is not None:
        sizes["nsignal"] = len(signals.labels)
        about["names"] = about["names"] | {"signal": signals.labels}
        about["units"] = about["units"] | {"signal": signals.units}
        about["attrs"][SIGNALS] = signals.shapes
    return sizes, about | {"model": model}


def make_run(
    engine: Engine,
    plan: Plan,
    sink: "TrajectoryBuilder | Stream",
    control: Callable[[int], None] | None,
    progress: Any,
    book: Ledger | None,
    signals: Signals | None = None,
) -> Run:
    """Run object that suits the integrator; see `Run`."""
    held = engine.control is not None and engine.control.hold
    kind = AdaptiveRun if engine.integrator.adaptive and not held else Run
    return kind(engine, plan, sink, control, progress, book, signals)


def control_function(sim: Any, control: Any, steps: int) -> Callable[[int], None] | None:
    """Function of the step number that sets a simulation's controls, or None for constant controls."""
    if control is None or isinstance(control, Controller):
        return None
    nu = sim.model.nu
    if callable(control):

        def call(step: int) -> None:
            sim.engine.in_control = True
            try:
                value = control(sim)
            finally:
                sim.engine.in_control = False
            if value is not None:
                _assign(sim, value, "control(sim)")

        return call
    values = numbers("control", control)
    if values.shape == (nu,):
        _assign(sim, values, "control")
        return None
    if values.ndim == 2 and values.shape[1] == nu and len(values) >= steps:

        def look_up(step: int) -> None:
            sim.ctrl[:] = values[step]

        return look_up
    raise OptionError(f"control has shape {values.shape}; expected ({nu},) to hold, or ({steps}, {nu}), one row a step")


def _assign(sim, value, name):
    value = np.asarray(value, float)
    if value.shape != (sim.model.nu,):
        if value.shape == () and sim.model.nu == 1:
            value = value.reshape(1)
        else:
            raise OptionError(f"{name} gives shape {value.shape}; expected ({sim.model.nu},)")
    sim.ctrl[:] = value
