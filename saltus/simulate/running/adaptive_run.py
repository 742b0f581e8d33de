"""A recorded run whose integrator chooses its own steps: samples, controls and ledgers from inside the steps.

Observing a run does not change its steps. Samples lie on the dense output of a step. A control function is called at
multiples of the timestep, with the state of the dense output there; if it changes nothing the step is kept, otherwise
the step is repeated up to there. A ledger takes its powers from the dense output, too.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NUNSOLVED
from saltus.model.event_enums import LEFT, WORST
from saltus.simulate.diagnosis import divergence
from saltus.simulate.engine import loops
from saltus.simulate.engine.snapshot import checkpoint, go_to, peeking
from saltus.simulate.running.fixed_run import Ended, Run
from saltus.solve.status import ENDED, EVENTS_FULL

FIRST = 16  # steps before compiled code first returns
WINDOW, AHEAD = 4096, 64  # most samples, and control times, that one call of compiled code passes
CHANGED = ("actuation_state", "ctrl", "userdata", "eq_active")  # fields that actions of events may change, as in rows
SAME = 1e-12  # s, relative to 1 s and to the time: nearer times are equal


class Instant(NamedTuple):
    """Instant in a run: time (s), number of the sample, number of the call of the control function; -1 for none."""

    time: float
    sample: int = -1
    control: int = -1


Passed = list[tuple[Instant, NDArray[np.float64]]]  # instants, and rows that compiled code wrote for them
State = dict[str, NDArray[np.float64]]


class AdaptiveRun(Run):
    """A run whose integrator chooses its own steps."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        plan = self.plan
        self.samples = plan.count + plan.beyond
        self.end = float(plan.start + plan.times(self.samples - 1, self.samples)[0])
        self.window, self.ahead = WINDOW, AHEAD
        #: state entries, and their new values, that the control function changes at the target
        self.change: tuple[NDArray[np.intp], NDArray[np.float64]] | None = None
        self.chunk = FIRST

    def record_steps(self) -> None:
        """Record all remaining samples."""
        engine = self.engine
        if self.control is not None and self.asked == 0:
            self.control(0)
            self.asked = 1
        while self.next < self.samples:
            target = self._target()
            instants, horizon = self._instants(target)
            before, events, began = checkpoint(engine), engine.events, self.clock()
            unsolved, start = int(engine.d.views["count"][NUNSOLVED]), engine.time
            single = self.book is not None or (self.control is not None and not self.changing)
            times = np.array([instant.time for instant in instants] + [target])
            rows, status = self._steps(times, 1 if single else self.chunk)
            passed = list(zip(instants, rows, strict=False))
            if engine.time > horizon:
                self._narrow(single)
            elif self._controls_stay(passed):
                self._append_passed(passed, self._works(passed, before, start, target))
                self._after_steps(status, target)
                if status == ENDED:
                    raise Ended
                self.pace(self.chunk, began)
                continue
            # repeat from the state before
            go_to(engine, before)
            engine.events = events
            engine.d.views["count"][NUNSOLVED] = unsolved

    def _target(self) -> float:
        """Time (s) at which the next step has to end: a change of controls, or the end of the run."""
        if self.changing and self.asked < self.plan.steps:
            return self._control_time(self.asked)
        return self.end

    def _control_time(self, k: int) -> float:
        return self.plan.start + k * self.plan.h

    def _instants(self, target: float) -> tuple[list[Instant], float]:
        """Samples and control times up to the target, and the first time that is not among them."""
        plan, horizon = self.plan, np.inf
        last = min(self.next + self.window, self.samples)
        found = [
            Instant(float(t), sample=self.next + k) for k, t in enumerate(plan.start + plan.times(self.next, last))
        ]
        if last < self.samples:
            horizon = float(plan.start + plan.times(last, last + 1)[0])
        if self.control is not None and not self.changing:
            beyond = min(self.asked + self.ahead, plan.steps)
            found += [Instant(self._control_time(k), control=k) for k in range(self.asked, beyond)]
            if beyond < plan.steps:
                horizon = min(horizon, self._control_time(beyond))
        least = target if target == self.end else target - SAME * (1.0 + abs(target))
        ending = target == self.end
        found = [i for i in found if i.time < least or (ending and i.sample >= 0)]
        return sorted(found, key=lambda i: (i.time, i.sample)), horizon

    def _steps(self, times: NDArray[np.float64], attempts: int) -> tuple[NDArray[np.float64], int]:
        """Take steps towards the last of the times; returns the states at the times passed, and a status."""
        engine = self.engine
        numbers = 1 + engine.model.nq + engine.model.nv + len(engine.act)
        if engine.locates_events:
            numbers += 4 * engine.m.nmode + sum(engine.d.views[name].size for name in CHANGED) + 1
        rows = np.zeros((len(times), numbers))
        engine.prepare(self.plan.h)
        engine.computed = None
        loop = loops.record_events if engine.locates_events else loops.recorder(engine.integrator)
        worst = engine.d.views["event_count"][WORST:]  # empty without events
        worst[:] = 0
        with engine.helping():
            reached, status = loop(engine.step_m, engine.d, times, 0, attempts, *engine.integrator.parameters, rows)
        engine.read_events()
        engine.keep_left()
        return rows[:reached], max(0 if status == EVENTS_FULL else status, *worst.tolist(), 0)

    def take_again(self, times: NDArray[np.float64], target: float) -> NDArray[np.float64]:
        """Take the next step towards a target (s); returns the states at ascending times inside it."""
        return self._steps(np.append(times, target), 1)[0][: len(times)]

    def _narrow(self, single: bool) -> None:
        """Take fewer steps at a time, or consider more instants, after steps went beyond the horizon of instants."""
        if single or self.chunk == 1:
            self.window, self.ahead = 2 * self.window, 2 * self.ahead
        self.chunk = self.most = max(1, self.chunk // 2)

    def put(self, row: NDArray[np.float64]) -> None:
        """Put the engine into a state that compiled code has written, with known contact modes."""
        engine = self.engine
        _, v, a, mode = np.cumsum([1, engine.model.nq, engine.model.nv, len(engine.act)]).tolist()
        data = engine.d.views
        data["time"][...], engine.qpos[:], engine.qvel[:], engine.act[:] = row[0], row[1:v], row[v:a], row[a:mode]
        if engine.locates_events:
            count = engine.m.nmode
            slip, first = mode + count, mode + 4 * count
            data["mode"][:], data["slip"][:] = row[mode:slip], row[slip:first].reshape(count, 3)
            for name in CHANGED:
                data[name][:] = row[first : first + data[name].size]
                first += data[name].size
            data["dense"][LEFT] = row[-1]
        engine.keep_left()
        engine.computed = None

    def _controls_stay(self, passed: Passed) -> bool:
        """Call the control function at all its times that were passed; returns whether it changed nothing."""
        asked = [(instant.control, row) for instant, row in passed if instant.control >= 0]
        if not asked:
            return True
        with peeking(self.engine):
            for k, row in asked:
                self.put(row)
                self.change = self._changed_by_control(k)
                if self.change is not None:
                    self.asked, self.changing = k, True
                    break
                self.asked = k + 1
        return self.change is None

    def _changed_by_control(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]] | None:
        """Places and new values of state entries that the control function changes; None if it changes none."""
        before = self.engine.state.copy()
        self.control(k)
        after = self.engine.state
        places = np.flatnonzero((before != after) & ~(np.isnan(before) & np.isnan(after)))
        return (places, after[places].copy()) if places.size else None

    def _works(self, passed: Passed, before: State, start: float, target: float) -> dict[float, NDArray[np.float64]]:
        """Ledger entries by the times of samples in the step from the state `before`."""
        book, end = self.book, self.engine.time
        if book is None:
            return {}
        marks = [float(row[0]) for instant, row in passed if instant.sample >= 0 and start < row[0] < end]
        first = book.work.copy()
        return {start: first} | dict(zip(marks, book.free_step(self, before, start, target, marks), strict=True))

    def _append_passed(self, passed: Passed, works: dict[float, NDArray[np.float64]]) -> None:
        """Record the samples that were passed; `works`: ledger entries by time, see `_works`."""
        held = None if self.book is None else self.book.work.copy()
        with peeking(self.engine):
            for instant, row in passed:
                if instant.sample >= 0:
                    if self.book is not None:
                        self.book.work[:] = works.get(float(row[0]), held)
                    self.put(row)
                    self.record_sample(last=instant.sample == self.plan.count)
                    self.next += 1
        if self.book is not None:
            self.book.work[:] = held

    def _after_steps(self, status: int, target: float) -> None:
        """Raise errors and give warnings after steps, and change controls that are due."""
        engine = self.engine
        if (status and status != ENDED) or engine.d.views["count"][NUNSOLVED]:
            divergence.handle(engine, self._last_good(), 0, status)
        if self.changing and self.asked < self.plan.steps and engine.time >= target and target < self.end:
            if self.change is not None:
                places, values = self.change
                engine.state[places], self.change = values, None
            else:
                self.changing = self._changed_by_control(self.asked) is not None
            self.asked += 1
        self.progress.update(engine.time - self.plan.start)
        if self.sink.due and self.change is None:
            self.commit()

    def _last_good(self) -> NDArray[np.float64]:
        """The state at the end of the last good step."""
        struct, state = self.engine.d, self.engine.state.copy()
        for name in ("qpos", "qvel", "act"):
            state[self.engine.rows_of(name)] = struct.views[f"{name}_saved"]
        return state
