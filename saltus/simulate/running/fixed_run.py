"""A recorded run with a fixed timestep and samples at exact times, also inside steps."""

import time as clock
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.errors import DivergenceError, EventError, warn
from saltus.record.recorder import TrajectoryBuilder
from saltus.record.trajectory import Trajectory
from saltus.simulate import stepping
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.sensing import sensordata
from saltus.simulate.engine.snapshot import checkpoint, peeking
from saltus.simulate.engine.step_counts import StepCounts
from saltus.simulate.running.contact_columns import energy_and_contacts
from saltus.simulate.running.schedule import ROUNDING, Plan
from saltus.simulate.running.signals import Signals
from saltus.simulate.running.work_ledger import Ledger
from saltus.terminal.progress import Progress

if TYPE_CHECKING:
    from saltus.record.io.stream import Stream

CHUNK_SECONDS = 0.1  # time after which compiled code returns, for progress and interrupts
GROWTH = 4  # factor for the number of steps per call, while calls are shorter than that


def sample_row(engine: Engine, counts: StepCounts, further: Collection[str] | None = None) -> dict[str, Any]:
    """Row of a recording for the present state; `further`: columns beyond the usual ones (None: all)."""
    counted = counts.columns()
    if engine.control is not None and not engine.control.hold:
        stepping.forward(engine)  # compute the controls that belong to this state
    forces = {}
    if engine.motions.joints:
        if not engine.is_computed():
            stepping.forward(engine)
        forces["prescribed_force"] = engine.d.views["qfrc_prescribed"][engine.m.motion_dofadr]
    energy, contacts = energy_and_contacts(engine)
    state = {"time": engine.time, "qpos": engine.qpos, "qvel": engine.qvel, "act": engine.act, "ctrl": engine.ctrl}
    if engine.model.nsensordata and (further is None or "sensordata" in further):
        forces["sensordata"] = readings(engine)
    poses = dict(zip(("mocap_pos", "mocap_quat"), engine.guidance.mocap_poses(), strict=True))
    return (
        state
        | poses
        | {"energy": energy, "actuation_state": engine.actuation_state, "tree_asleep": engine.tree_asleep}
        | contacts
        | counted
        | forces
    )


def readings(engine: Engine) -> np.ndarray:
    """Readings of all sensors [nsensordata] at the present state; nan where its forces cannot be computed."""
    with peeking(engine):
        try:
            failed = not engine.is_computed() and engine.forward()
        except EventError:
            failed = True
        if failed:
            return np.full(engine.model.nsensordata, np.nan)
        return sensordata(engine.model, engine.law_timestep, engine.laws, engine.d)


class Ended(Exception):
    """Signals that an event has ended the run."""


class Run:
    """Run in steps of fixed length: position in its plan, and destination of the samples.

    `sink`: a TrajectoryBuilder or a Stream. `control`: a function of the step that sets its controls,
    or None for constant controls. `book`: a ledger to keep, or None. `signals`: what to record beyond
    the usual columns.
    """

    def __init__(
        self,
        engine: Engine,
        plan: Plan,
        sink: "TrajectoryBuilder | Stream",
        control,
        progress,
        book: Ledger | None = None,
        signals: Signals | None = None,
    ):
        self.book, self.signals = book, signals
        self.engine, self.plan, self.sink, self.control = engine, plan, sink, control
        self.counts = StepCounts(engine)
        self.next = 0  # sample to record next
        self.done = 0  # whole steps taken
        self.controlled_step = -1
        # for adaptive integrators: number of the next control time, and whether controls change
        self.asked, self.changing = 0, False
        self.clock = clock.perf_counter
        self.failed, self.unproved = engine.unconverged, engine.unproved  # counts before the run
        self.passed = len(engine.passed)
        self.seen = len(engine.events)  # events before the run and those passed on to the sink
        self.chunk = 1  # steps to take before returning from compiled code
        self.most = 1 << 62  # upper limit of the chunk
        self.progress = Progress(progress, plan.duration)

    def resume(self, position: dict[str, Any]) -> None:
        """Continue from a position; the simulation holds the state."""
        self.next, self.done, self.controlled_step = (position[name] for name in ("next", "done", "controlled_step"))
        self.asked, self.changing = position.get("asked", 0), position.get("changing", False)
        self.failed = self.engine.unconverged - position["unconverged"]
        self.unproved = self.engine.unproved - position.get("unproved", 0)
        self.counts.resume(position)
        if self.book is not None:
            self.book.work[:] = position["work"]

    def record(self) -> "Trajectory":
        """Record all samples and return the recording, or the part recorded before an interruption."""
        status = "complete"
        try:
            if self.sink.resumable:
                self.commit()
            with self.progress:
                self._begin()
                self.record_steps()
        except (DivergenceError, EventError) as error:
            self._note_events()
            self._note_failed_steps()
            self.sink.attrs["diverged" if isinstance(error, DivergenceError) else "stopped"] = str(error)
            error.trajectory = Trajectory.of(self.sink.finish("diverged"))
            raise
        except Ended:
            self.sink.attrs["ended_by"] = str(self.engine.events["name"][-1])
            self.sink.end(**self._row())
        except KeyboardInterrupt:
            status = "interrupted"
            self.sink.attrs["interrupted_at"] = self.engine.time
            text = (
                f"interrupted at t = {self.engine.time:.6g} s; returning the {len(self.sink)} samples recorded so far"
            )
            warn(text)
        self._note_events()
        self._note_failed_steps()
        return Trajectory.of(self.sink.finish(status))

    def _begin(self):
        """Find the contact modes of the first sample; if that fails, record it without them and raise the error."""
        try:
            stepping.begin(self.engine)
        except EventError:
            if self.next == 0:
                self._append()
            raise

    def _note_failed_steps(self):
        if self.engine.unconverged > self.failed:
            self.sink.attrs["unconverged"] = self.engine.unconverged - self.failed
        if self.engine.unproved > self.unproved:
            self.sink.attrs["unproved"] = self.engine.unproved - self.unproved
        if len(self.engine.passed) > self.passed:
            self.sink.attrs["passed"] = "; ".join(self.engine.passed[self.passed :])

    def commit(self):
        """Let the sink store the state to resume from."""
        unconverged = self.engine.unconverged - self.failed
        self._note_events()
        position = {"next": self.next, "done": self.done, "controlled_step": self.controlled_step}
        position |= {"asked": self.asked, "changing": self.changing}
        position |= {"time": self.engine.time, "unconverged": unconverged}
        position["unproved"] = self.engine.unproved - self.unproved
        position |= self.counts.position()
        if self.book is not None:
            position["work"] = self.book.work.tolist()
        self.sink.commit(position, checkpoint(self.engine))

    # ------------------------------------------------------------ steps of one length

    def record_steps(self) -> None:
        """Record all remaining samples."""
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
        """Take whole steps until `steps` are taken, returning from compiled code regularly."""
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
        """Choose the number of steps before the next return, from the time that n steps took."""
        spent = clock.perf_counter() - began
        if n == self.chunk and spent < CHUNK_SECONDS / GROWTH:
            self.chunk = min(GROWTH * self.chunk, self.most)
        elif spent > 2 * CHUNK_SECONDS:
            self.chunk = max(1, self.chunk // 2)

    def _control_step(self):
        """Set the controls of the next step, once."""
        more = self.done < self.plan.steps
        if self.control is not None and more and self.controlled_step != self.done:
            self.controlled_step = self.done
            self.control(self.done)

    def _take(self, n, h):
        if self.book is None:
            ended = stepping.take_steps(self.engine, n, h)
        else:
            ended = any(self.book.step(h) for _ in range(n))
        self.counts.after_steps()
        if ended:
            raise Ended

    def _note_events(self):
        """Pass the events since the last call to the sink."""
        events = self.engine.events[self.seen :]
        if len(events):
            self.sink.events(events)
            self.seen = len(self.engine.events)

    # ------------------------------------------------------------ samples

    def _append_ahead(self, ahead):
        """Record a sample inside a step, then go back to its start; none if the run ends before it."""
        self.engine.prepare(self.plan.h)
        work = None if self.book is None else self.book.work.copy()
        try:
            with peeking(self.engine):  # the step itself logs these events again
                self.engine.d.views["memory"][:] = 0.0
                self._take(1, ahead)
                self._append()
        except Ended:
            pass  # the step itself will end the run
        finally:
            if self.book is not None:
                self.book.work[:] = work

    def _append(self):
        self.sink.append(**self._row())

    def record_sample(self, *, last: bool) -> None:
        """Record the present state as the next sample or, if `last`, as the end of the run without a sample."""
        (self.sink.end if last else self.sink.append)(**self._row())

    def _row(self) -> dict[str, Any]:
        row = sample_row(self.engine, self.counts, self.sink.further)
        if self.signals is not None:
            row["signals"] = self.signals.read()
        return row if self.book is None else row | {"ledger": self.book.accounts()}
