"""A recorded run whose integrator chooses its own steps: samples, controls and ledgers from inside the steps.

Nothing that looks at a run changes its steps. Samples lie on the dense output of a step. A control function is asked at
multiples of the timestep, with the state that the dense output has there; where it changes nothing the step stands,
and where it does the step is taken again, up to there. A ledger takes its powers from the dense output too.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NUNSOLVED
from saltus.contact.event.modes import LEFT
from saltus.simulate import checkpoint, divergence, loops
from saltus.solve.status import ENDED, EVENTS_FULL

if TYPE_CHECKING:
    from saltus.simulate.run import Run

FIRST = 16  # steps before compiled code first returns
WINDOW, AHEAD = 4096, 64  # samples, and times of control, that one call of compiled code may pass
SAME = 1e-12  # s, in parts of 1 s and of the time: nearer times are one


class Instant(NamedTuple):
    """A time (s) inside a run: of a sample, or of the control function, by their numbers; -1 for none."""

    time: float
    sample: int = -1
    control: int = -1


Passed = list[tuple[Instant, NDArray[np.float64]]]  # instants, and what compiled code has written there
State = dict[str, NDArray[np.float64]]


class FreeSteps:
    """The time loop of such a run; where it is in its plan is in the run, so that it can be resumed."""

    def __init__(self, run: "Run"):
        self.run, self.sim, self.plan = run, run.sim, run.plan
        self.samples = run.plan.count + run.plan.beyond
        self.end = float(run.plan.start + run.plan.times(self.samples - 1, self.samples)[0])
        self.window, self.ahead, self.most = WINDOW, AHEAD, 1 << 62
        self.change: tuple[NDArray[np.intp], NDArray[np.float64]] | None = (
            None  # of the state, where the step is to end
        )
        run.chunk = FIRST

    def record(self) -> bool:
        """All samples that are left; returns whether an event has ended the run."""
        run, sim = self.run, self.sim
        if run.control is not None and run.asked == 0:
            run.control(sim, 0)
            run.asked = 1
        while run.next < self.samples:
            target = self._target()
            instants, horizon = self._instants(target)
            before, events, began = checkpoint.take(sim), sim.events, run.clock()
            unsolved, start = int(sim._struct.views["count"][NUNSOLVED]), sim.time
            single = run.book is not None or (run.control is not None and not run.changing)
            times = np.array([instant.time for instant in instants] + [target])
            rows, status = self._steps(times, 1 if single else run.chunk)
            passed = list(zip(instants, rows, strict=False))
            if sim.time > horizon:
                self._narrow(single)
            elif self._controls_stay(passed):
                self._append(passed, self._works(passed, before, start, target))
                self._finish(status, target)
                if status == ENDED:
                    return True
                run.pace(run.chunk, began)
                continue
            # again, from the state before
            checkpoint.put(sim, before)
            sim.events = events
            sim._struct.views["count"][NUNSOLVED] = unsolved
        return False

    def _target(self) -> float:
        """Where steps are to end: where controls change, or the end."""
        if self.run.changing and self.run.asked < self.plan.steps:
            return self._control_time(self.run.asked)
        return self.end

    def _control_time(self, k: int) -> float:
        return self.plan.start + k * self.plan.h

    def _instants(self, target: float) -> tuple[list[Instant], float]:
        """Samples and times of control up to the target, and the first time that is not among them."""
        run, plan, horizon = self.run, self.plan, np.inf
        last = min(run.next + self.window, self.samples)
        found = [Instant(float(t), sample=run.next + k) for k, t in enumerate(plan.start + plan.times(run.next, last))]
        if last < self.samples:
            horizon = float(plan.start + plan.times(last, last + 1)[0])
        if run.control is not None and not run.changing:
            beyond = min(run.asked + self.ahead, plan.steps)
            found += [Instant(self._control_time(k), control=k) for k in range(run.asked, beyond)]
            if beyond < plan.steps:
                horizon = min(horizon, self._control_time(beyond))
        least = target if target == self.end else target - SAME * (1.0 + abs(target))
        ending = target == self.end
        found = [i for i in found if i.time < least or (ending and i.sample >= 0)]
        return sorted(found, key=lambda i: (i.time, i.sample)), horizon

    def _steps(self, times: NDArray[np.float64], attempts: int) -> tuple[NDArray[np.float64], int]:
        """Some steps towards the last of the times: the states at those that they passed, and a status."""
        sim = self.sim
        numbers = 1 + sim.model.nq + sim.model.nv + len(sim.act)
        if sim._located:
            numbers += 4 * sim._model.nmode + len(sim.actuation_state) + 1
        rows = np.zeros((len(times), numbers))
        sim._prepare()
        sim._computed = None
        loop = loops.record_events if sim._located else loops.record
        reached, status = loop(sim._stepped, sim._struct, times, 0, attempts, *sim.integrator.parameters, rows)
        sim._read_events()
        sim._left = sim._state.copy()
        return rows[:reached], 0 if status == EVENTS_FULL else status

    def take_again(self, times: NDArray[np.float64], target: float) -> NDArray[np.float64]:
        """The states at ascending times inside the next step towards a target (s), which is taken."""
        return self._steps(np.append(times, target), 1)[0][: len(times)]

    def _narrow(self, single: bool) -> None:
        """Take fewer steps at a time, or look farther, where steps have gone beyond what was looked at."""
        if single or self.run.chunk == 1:
            self.window, self.ahead = 2 * self.window, 2 * self.ahead
        self.run.chunk = self.run.most = max(1, self.run.chunk // 2)

    def put(self, row: NDArray[np.float64]) -> None:
        """Bring the simulation to a state that compiled code has written, whose modes are known."""
        sim = self.sim
        _, v, a, mode = np.cumsum([1, sim.model.nq, sim.model.nv, len(sim.act)]).tolist()
        sim.time, sim.qpos, sim.qvel, sim.act = float(row[0]), row[1:v], row[v:a], row[a:mode]
        if sim._located:
            data, count = sim._struct.views, sim._model.nmode
            slip, discrete = mode + count, mode + 4 * count
            data["mode"][:], data["slip"][:] = row[mode:slip], row[slip:discrete].reshape(count, 3)
            sim.actuation_state, data["dense"][LEFT] = row[discrete:-1], row[-1]
        sim._left = sim._state.copy()
        sim._computed = None

    def _controls_stay(self, passed: Passed) -> bool:
        """Ask the control function at all times of it that were passed; whether it has changed nothing."""
        asked = [(instant.control, row) for instant, row in passed if instant.control >= 0]
        if not asked:
            return True
        after, left = self.sim._state.copy(), self.sim._left
        for k, row in asked:
            self.put(row)
            self.change = self._changed_by_control(k)
            if self.change is not None:
                self.run.asked, self.run.changing = k, True
                break
            self.run.asked = k + 1
        self.sim._state[:] = after
        self.sim._left, self.sim._computed = left, None
        return self.change is None

    def _changed_by_control(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]] | None:
        """Where in the state the control function changes something, and to what; None where it does not."""
        before = self.sim._state.copy()
        self.run.control(self.sim, k)
        after = self.sim._state
        places = np.flatnonzero((before != after) & ~(np.isnan(before) & np.isnan(after)))
        return (places, after[places].copy()) if places.size else None

    def _works(self, passed: Passed, before: State, start: float, target: float) -> dict[float, NDArray[np.float64]]:
        """What the ledger holds at samples in the step that was taken from the state `before`, by their times."""
        book, end = self.run.book, self.sim.time
        if book is None:
            return {}
        marks = [float(row[0]) for instant, row in passed if instant.sample >= 0 and start < row[0] < end]
        first = book.work.copy()
        return {start: first} | dict(zip(marks, book.free_step(self, before, start, target, marks), strict=True))

    def _append(self, passed: Passed, works: dict[float, NDArray[np.float64]]) -> None:
        """Record the samples that were passed; `works`: by their times, see `_works`."""
        run, sim = self.run, self.sim
        after, left = sim._state.copy(), sim._left
        held = None if run.book is None else run.book.work.copy()
        for instant, row in passed:
            if instant.sample >= 0:
                if run.book is not None:
                    run.book.work[:] = works.get(float(row[0]), held)
                self.put(row)
                run.record_sample(last=instant.sample == run.plan.count)
                run.next += 1
        if run.book is not None:
            run.book.work[:] = held
        sim._state[:] = after
        sim._left, sim._computed = left, None

    def _finish(self, status: int, target: float) -> None:
        """After steps: errors and warnings, and the controls where they were to change."""
        run, sim = self.run, self.sim
        if (status and status != ENDED) or sim._struct.views["count"][NUNSOLVED]:
            divergence.handle(sim, self._last_good(), 0, status)
        if run.changing and run.asked < run.plan.steps and sim.time >= target and target < self.end:
            if self.change is not None:
                places, values = self.change
                sim._state[places], self.change = values, None
            else:
                run.changing = self._changed_by_control(run.asked) is not None
            run.asked += 1
        run.progress.update(sim.time - run.plan.start)
        if run.sink.due and self.change is None:
            run.commit()

    def _last_good(self) -> NDArray[np.float64]:
        """The state at the end of the last good step."""
        struct, state = self.sim._struct, self.sim._state.copy()
        for name in ("qpos", "qvel", "act"):
            state[self.sim._rows_of(name)] = struct.views[f"{name}_saved"]
        return state
