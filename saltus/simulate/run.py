"""A recorded run: steps, controls, and samples at exact times."""

import os
import time as clock
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.arguments import flag, numbers, path_of, positive
from saltus.errors import DivergenceError, EventError, OptionError, SaltusWarning
from saltus.record.recorder import TrajectoryBuilder
from saltus.record.table.ledger import ACCOUNTS, ATTRIBUTE
from saltus.record.trajectory import Trajectory
from saltus.simulate import checkpoint, divergence
from saltus.simulate.contact_points import energy_and_contacts, point_count
from saltus.simulate.control import Controller
from saltus.simulate.describe import attributes, description
from saltus.simulate.free_steps import FreeSteps
from saltus.simulate.ledger import Ledger
from saltus.simulate.plan import ROUNDING, Plan
from saltus.simulate.unstable import warn_if_unstable
from saltus.solve.status import ENDED
from saltus.terminal.progress import Progress

if TYPE_CHECKING:
    from saltus.record.io.stream import Stream
    from saltus.simulate.simulation import Simulation

CHUNK_SECONDS = 0.1  # compiled code returns this often, for progress and interrupts
GROWTH = 4  # times more steps before it returns again, as long as it returns more often than that


def run(
    sim: "Simulation",
    duration: float,
    sample: float = 1 / 60,
    control: Any = None,
    progress: Any = None,
    *,
    certify: bool = False,
    save: str | os.PathLike[str] | None = None,
    ledger: bool = False,
) -> "Trajectory":
    """See `Simulation.run`."""
    duration, sample = positive("duration", duration), positive("sample", sample)
    certify, ledger = flag("certify", certify), flag("ledger", ledger)
    plan = Plan(sim.time, duration, sample, sim.timestep)
    start = sim.snapshot()
    with controlled_by(sim, control):
        sim._loop.soon(sim._stepped, sim._struct)
        apply = control_function(sim, control, plan.steps)
        book = Ledger(sim) if ledger else None
        sink = _builder(sim, plan, book) if save is None else _stream(sim, plan, control, save, book)
        trajectory = Run(sim, plan, sink, apply, progress, book).record()
    if certify and "interrupted_at" not in trajectory.attrs:
        from saltus.simulate.certify import certify_run

        sink.certify(trajectory, certify_run(sim, start, trajectory, duration, sample, control, progress))
    return trajectory


@contextmanager
def controlled_by(sim, control):
    """Let a controller in the time loop work for a while."""
    before = sim.control
    if isinstance(control, Controller):
        sim.control = control
    if sim.control is not None:
        warn_if_unstable(sim)
    try:
        yield
    finally:
        if sim.control is not before:
            sim.control = before


def _builder(sim: "Simulation", plan: Plan, book: Ledger | None) -> TrajectoryBuilder:
    """What records in memory."""
    sizes, about = about_run(sim, plan.duration, plan.sample, book)
    return TrajectoryBuilder(**sizes, **about, expected=plan.count)


def _stream(sim: "Simulation", plan: Plan, control: Any, path: str | os.PathLike[str], book: Ledger | None) -> "Stream":
    """What records to a Zarr store."""
    from saltus.record.io.stream import Stream
    from saltus.record.table.columns import row_shapes
    from saltus.simulate.resume import setup_of

    if not os.fspath(path_of("save", path)).endswith(".zarr"):
        raise OptionError(f"save must be a Zarr store (.zarr), got '{os.fspath(path)}'; Trajectory.save writes netCDF")
    sizes, about = about_run(sim, plan.duration, plan.sample, book)
    setup = setup_of(sim, plan, control) | {"ledger": book is not None}
    return Stream.create(path, row_shapes(**sizes), plan.count, **about, setup=setup)


def about_run(
    sim: "Simulation", duration: float, sample: float, book: Ledger | None = None
) -> tuple[dict[str, int], dict[str, Any]]:
    """Sizes of a recording's columns by the names of `row_shapes`, and what else it holds."""
    model = sim.model
    if sim._about is None:
        sim._about = description(sim)
    about = {**sim._about, "attrs": sim._about["attrs"] | attributes(sim, duration, sample)}
    pairs = len(about["names"]["contact"])
    sizes = {"nq": model.nq, "nv": model.nv, "na": len(sim.act), "nu": model.nu}
    sizes |= {"ncontact": pairs, "nmocap": model.nmocap, "npoint": point_count(sim)}
    sizes |= {"nactuation": len(sim.actuation_state)}
    if book is not None:
        sizes["nledger"] = len(ACCOUNTS)
        about["attrs"][ATTRIBUTE] = book.rule
    return sizes, about | {"model": model}


def sample_row(sim: "Simulation") -> dict[str, Any]:
    """The present state as a sample."""
    if sim.control is not None and not sim.control.hold:
        sim.forward()  # the controls that belong to this state
    energy, contacts = energy_and_contacts(sim)
    state = {"time": sim.time, "qpos": sim.qpos, "qvel": sim.qvel, "act": sim.act, "ctrl": sim.ctrl}
    poses = {"mocap_pos": sim.mocap_pos, "mocap_quat": sim.mocap_quat}
    return state | poses | {"energy": energy, "actuation_state": sim.actuation_state} | contacts


class _Ended(Exception):
    """An event has ended the run."""


class Run:
    """The time loop: where it is in its plan, and where the samples go.

    `sink`: a TrajectoryBuilder or a Stream. `control`: a function (sim, step), or None where controls are held. `book`:
    a ledger to keep, or None.
    """

    def __init__(
        self,
        sim: "Simulation",
        plan: Plan,
        sink: "TrajectoryBuilder | Stream",
        control,
        progress,
        book: Ledger | None = None,
    ):
        self.book = book
        self.sim, self.plan, self.sink, self.control = sim, plan, sink, control
        self.next = 0  # sample to record next
        self.done = 0  # whole steps taken
        self.controlled_step = -1
        # of an adaptive integrator: the time of control that comes next, by its number, and whether controls change
        self.asked, self.changing = 0, False
        self.clock = clock.perf_counter
        self.failed = sim.unconverged  # before the run
        self.seen = len(sim.events)  # events that the sink has, and those before the run
        self.chunk = 1  # steps to take before returning from compiled code
        self.most = 1 << 62  # that these may become
        self.progress = Progress(progress, plan.duration)

    def resume(self, position: dict[str, Any]) -> None:
        """Go on from a position; the state is the simulation's."""
        self.next, self.done, self.controlled_step = (position[name] for name in ("next", "done", "controlled_step"))
        self.asked, self.changing = position.get("asked", 0), position.get("changing", False)
        self.failed = self.sim.unconverged - position["unconverged"]
        if self.book is not None:
            self.book.work[:] = position["work"]

    def record(self) -> "Trajectory":
        """All samples; what was recorded if interrupted."""
        status = "complete"
        try:
            if self.sink.resumable:
                self.commit()
            with self.progress:
                self._begin()
                held = self.sim.control is not None and self.sim.control.hold
                if not self.sim.integrator.adaptive or held:
                    self._record_stepwise()
                elif FreeSteps(self).record():
                    raise _Ended
        except (DivergenceError, EventError) as error:
            self._note_events()
            self._note_unconverged()
            self.sink.attrs["diverged" if isinstance(error, DivergenceError) else "stopped"] = str(error)
            error.trajectory = Trajectory.of(self.sink.finish("diverged"))
            raise
        except _Ended:
            self.sink.attrs["ended_by"] = str(self.sim.events["name"][-1])
            self.sink.end(**self._row())
        except KeyboardInterrupt:
            status = "interrupted"
            self.sink.attrs["interrupted_at"] = self.sim.time
            text = f"interrupted at t = {self.sim.time:.6g} s; returning the {len(self.sink)} samples recorded so far"
            warnings.warn(text, SaltusWarning, stacklevel=4)
        self._note_events()
        self._note_unconverged()
        return Trajectory.of(self.sink.finish(status))

    def _begin(self):
        """Find the modes of the first sample; where there are none it is recorded without."""
        try:
            self.sim.begin()
        except EventError:
            if self.next == 0:
                self._append()
            raise

    def _note_unconverged(self):
        if self.sim.unconverged > self.failed:
            self.sink.attrs["unconverged"] = self.sim.unconverged - self.failed

    def commit(self):
        """Let the sink keep the state to go on from."""
        unconverged = self.sim.unconverged - self.failed
        self._note_events()
        position = {"next": self.next, "done": self.done, "controlled_step": self.controlled_step}
        position |= {"asked": self.asked, "changing": self.changing}
        position |= {"time": self.sim.time, "unconverged": unconverged}
        if self.book is not None:
            position["work"] = self.book.work.tolist()
        self.sink.commit(position, checkpoint.take(self.sim))

    # ------------------------------------------------------------ steps of one length

    def _record_stepwise(self):
        plan = self.plan
        while self.next < plan.count:
            t = self.next * plan.sample
            steps = plan.step_of(t)
            self._advance_to(steps)
            ahead = t - steps * plan.h
            self._control_step()
            if ahead > ROUNDING * plan.h:
                self._append_ahead(ahead)
            else:
                self._append()
            self.next += 1
            if self.sink.due:
                self.commit()
        self._advance_to(plan.whole)
        if plan.rest:
            self._control_step()
            self._take(1, plan.rest)
        if plan.beyond:
            self.sink.end(**self._row())

    def _advance_to(self, steps):
        """Take whole steps until `steps` are taken, returning now and then."""
        while self.done < steps:
            n = min(steps - self.done, self.chunk)
            if self.control is not None:
                self._control_step()
                n = 1
            began = clock.perf_counter()
            self._take(n, self.plan.h)
            self.done += n
            self.pace(n, began)
            self.progress.update(self.done * self.plan.h)
            if self.sink.due:
                self.commit()

    def pace(self, n, began):
        """Choose how many steps to take before returning again, from the time that n steps took."""
        spent = clock.perf_counter() - began
        if n == self.chunk and spent < CHUNK_SECONDS / GROWTH:
            self.chunk = min(GROWTH * self.chunk, self.most)
        elif spent > 2 * CHUNK_SECONDS:
            self.chunk = max(1, self.chunk // 2)

    def _control_step(self):
        """Set the controls of the step that begins now, once."""
        more = self.done < self.plan.steps
        if self.control is not None and more and self.controlled_step != self.done:
            self.controlled_step = self.done
            self.control(self.sim, self.done)

    def _take(self, n, h):
        if self.book is None:
            ended = self._steps(n, h)
        else:
            ended = any(self.book.step(self._steps, h) for _ in range(n))
        if ended:
            raise _Ended

    def _steps(self, n, h):
        """Take n steps; whether an event has ended the run."""
        sim = self.sim
        sim._prepare()
        before = sim._state.copy()
        taken, status = sim._advance(n, h)
        if status and status != ENDED:
            divergence.handle(sim, before, taken, status)
        sim._finish(before)
        return status == ENDED

    def _note_events(self):
        """Give the sink the events since the last call."""
        events = self.sim.events[self.seen :]
        if len(events):
            self.sink.events(events)
            self.seen = len(self.sim.events)

    # ------------------------------------------------------------ samples

    def _append_ahead(self, ahead):
        """A sample inside a step: go there, record, come back. No sample where the run ends before it."""
        sim = self.sim
        sim._prepare()
        here, left, events = sim._state.copy(), sim._left, sim.events
        work = None if self.book is None else self.book.work.copy()
        sim._struct.views["memory"][:] = 0.0
        try:
            self._take(1, ahead)
            self._append()
        except _Ended:
            pass  # the step itself will find it
        finally:
            sim._state[:] = here
            sim._left = left
            sim.events = events  # they come again with the step
            if self.book is not None:
                self.book.work[:] = work

    def _append(self):
        self.sink.append(**self._row())

    def record_sample(self, *, last: bool) -> None:
        """Record the present state as the next sample; `last`: as the end, where no sample lies."""
        (self.sink.end if last else self.sink.append)(**self._row())

    def _row(self) -> dict[str, Any]:
        row = sample_row(self.sim)
        return row if self.book is None else row | {"ledger": self.book.accounts()}


def control_function(sim, control, steps) -> Callable | None:
    """A function (sim, step) that sets the controls, or None where they are held."""
    if control is None or isinstance(control, Controller):
        return None
    nu = sim.model.nu
    if callable(control):

        def call(sim, step):
            value = control(sim)
            if value is not None:
                _assign(sim, value, "control(sim)")

        return call
    values = numbers("control", control)
    if values.shape == (nu,):
        _assign(sim, values, "control")
        return None
    if values.ndim == 2 and values.shape[1] == nu and len(values) >= steps:

        def look_up(sim, step):
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
