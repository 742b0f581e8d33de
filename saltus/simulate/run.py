"""A recorded run: steps, controls, and samples at exact times."""

import time as clock
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.errors import DivergenceError, OptionError, SaltusWarning
from saltus.record.recorder import TrajectoryBuilder
from saltus.simulate import divergence, loops
from saltus.simulate.control import Controller
from saltus.simulate.describe import attributes, names_and_units
from saltus.simulate.feedback import warn_if_unstable
from saltus.simulate.progress import Progress
from saltus.simulate.rows import pair_names

if TYPE_CHECKING:
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.simulation import Simulation

ROUNDING = 1e-9  # of a step: closer than this, a sample is at a step's end
CHUNK_SECONDS = 0.1  # compiled code returns this often, for progress and interrupts


def run(
    sim: "Simulation",
    duration: float,
    sample: float = 1 / 60,
    control: Any = None,
    progress: Any = None,
    *,
    certify: bool = False,
) -> "Trajectory":
    """Simulate `duration` seconds from the present state and record every `sample` seconds.

    Samples are at exact times whatever the step: a sample inside a step is the state after a shorter step of the same
    method from that step's start, so that sampling does not change the motion. The last step is shortened to end at
    `duration`.

    `control`: a function f(sim) -> ctrl [nu], called at the start of each step; an array [nu], held; an array [steps,
    nu], one row a step; or a controller in the time loop (`saltus.PID`, `saltus.controller`), whose states are the last
    of `act`. `progress`: True or False to show a bar or not (None: on long runs in a terminal), or a function of the
    fraction done. `certify`: repeat the run with half and a quarter of the step and put a statement of its accuracy
    into `certificate`.

    Ctrl-C ends the run early and returns what was recorded. DivergenceError carries what was recorded in `trajectory`.
    """
    duration, sample = positive("duration", duration), positive("sample", sample)
    start = sim.snapshot()
    with _controlled_by(sim, control):
        trajectory = _Run(sim, duration, sample, control, progress).record()
    if certify and "interrupted_at" not in trajectory.attrs:
        from saltus.simulate.certify import certify_run

        trajectory.certificate = certify_run(sim, start, trajectory, duration, sample, control, progress)
    return trajectory


@contextmanager
def _controlled_by(sim, control):
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


def positive(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise OptionError(f"{name} must be a number of seconds, got {value!r}") from None
    if not (number > 0 and np.isfinite(number)):
        raise OptionError(f"{name} must be positive and finite, got {number:g} s")
    return number


class _Run:
    """The state of a run: where its steps and samples are."""

    def __init__(self, sim, duration, sample, control, progress):
        self.sim, self.duration, self.sample = sim, duration, sample
        self.start, self.h = sim.time, sim.timestep
        self.whole = int(np.floor(duration / self.h + ROUNDING))
        self.rest = duration - self.whole * self.h
        if self.rest < ROUNDING * self.h:
            self.rest = 0.0
        self.done = 0  # whole steps taken
        self.chunk = 1
        self.control = _control(sim, control, self.whole + bool(self.rest))
        self.controlled_step = -1
        self.progress = Progress(progress, duration)
        count = int(np.floor(duration / sample * (1 + 1e-12))) + 1
        self.times = np.arange(count) * sample
        names, units = names_and_units(sim)
        m = sim.model
        names["contact"] = pair_names(m, sim._model)
        self.builder = TrajectoryBuilder(
            *(m.nq, m.nv, len(sim.act), m.nu),
            ncontact=len(names["contact"]),
            expected=count,
            names=names,
            units=units,
            attrs=attributes(sim, duration, sample),
        )

    def record(self):
        """All samples; what was recorded if interrupted."""
        failed = self.sim.unconverged
        try:
            with self.progress:
                if self.sim.integrator.adaptive and self.control is None:
                    self._record_free()
                else:
                    self._record_stepwise()
        except DivergenceError as error:
            error.trajectory = self.builder.finish()
            raise
        except KeyboardInterrupt:
            self.builder.attrs["interrupted_at"] = self.sim.time
            text = (
                f"interrupted at t = {self.sim.time:.6g} s; returning the {len(self.builder)} samples recorded so far"
            )
            warnings.warn(text, SaltusWarning, stacklevel=4)
        if self.sim.unconverged > failed:
            self.builder.attrs["unconverged"] = self.sim.unconverged - failed
        return self.builder.finish()

    def _record_stepwise(self):
        for t in self.times:
            steps = min(int(np.floor(t / self.h + ROUNDING)), self.whole)
            self._advance_to(steps)
            ahead = t - steps * self.h
            self._control_step()
            if ahead > ROUNDING * self.h:
                self._append_ahead(ahead)
            else:
                self._append()
        self._advance_to(self.whole)
        if self.rest:
            self._control_step()
            self._take(1, self.rest)

    def _advance_to(self, steps):
        """Take whole steps until `steps` are taken, returning now and then."""
        while self.done < steps:
            n = min(steps - self.done, self.chunk)
            if self.control is not None:
                self._control_step()
                n = 1
            began = clock.perf_counter()
            self._take(n, self.h)
            self.done += n
            self._pace(n, began)
            self.progress.update(self.done * self.h)

    def _pace(self, n, began):
        """Choose how many steps to take before returning again, from the time that n steps took."""
        spent = clock.perf_counter() - began
        if n == self.chunk and spent < 0.5 * CHUNK_SECONDS:
            self.chunk *= 2
        elif spent > 2 * CHUNK_SECONDS:
            self.chunk = max(1, self.chunk // 2)

    def _control_step(self):
        """Set the controls of the step that begins now, once."""
        more = self.done < self.whole + bool(self.rest)
        if self.control is not None and more and self.controlled_step != self.done:
            self.controlled_step = self.done
            self.control(self.sim, self.done)

    def _take(self, n, h):
        sim = self.sim
        sim._prepare()
        before = sim._state.copy()
        taken, status = sim._advance(n, h)
        if status:
            divergence.handle(sim, before, taken, status)
        sim._finish()

    def _append_ahead(self, ahead):
        """A sample inside a step: go there, record, come back."""
        sim = self.sim
        here, left = sim.snapshot(), sim._left
        sim._struct.views["memory"][:] = 0.0
        try:
            self._take(1, ahead)
            self._append()
        finally:
            sim._state[:] = here
            sim._left = left

    def _append(self):
        sim = self.sim
        if sim.control is not None and not sim.control.hold:
            sim.forward()  # the controls that belong to this state
        energy, closed = sim._sample()
        self.builder.append(sim.time, sim.qpos, sim.qvel, sim.act, sim.ctrl, energy, closed)

    def _record_free(self):
        """Adaptive steps of their own length, samples by dense output."""
        sim = self.sim
        ends = self.times.tolist()
        if self.duration - ends[-1] > ROUNDING * self.sample:
            ends.append(self.duration)
        times = self.start + np.array(ends)
        rows = np.zeros((len(times), 1 + sim.model.nq + sim.model.nv + len(sim.act)))
        sim._prepare()
        first = last = 0
        while last < len(times):
            began = clock.perf_counter()
            sim._computed = None
            arguments = (times, last, self.chunk, sim.time > self.start, *sim.integrator.parameters, rows)
            last, status = loops.record(sim._model, sim._struct, *arguments)
            after = sim._state.copy()
            for row in rows[first : min(last, len(self.times))]:
                self._append_row(row)
            sim._state[:] = after
            if status:
                divergence.handle(sim, self._last_good(), 0, status)
            sim._finish()
            first = last
            self._pace(self.chunk, began)
            self.progress.update(sim.time - self.start)

    def _last_good(self):
        """The state at the end of the last good step of a free run."""
        struct, state = self.sim._struct, self.sim._state.copy()
        for name in ("qpos", "qvel", "act"):
            state[self.sim._rows_of(name)] = struct.views[f"{name}_saved"]
        return state

    def _append_row(self, row):
        sim = self.sim
        nq, nv = sim.model.nq, sim.model.nv
        sim.time, sim.qpos, sim.qvel, sim.act = float(row[0]), *np.split(row[1:], [nq, nq + nv])
        self._append()


def _control(sim, control, steps) -> Callable | None:
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
    values = np.asarray(control, float)
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
