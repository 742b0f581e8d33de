"""Predictions of windows of recorded motion, with their sensitivities by the start and by parameters.

Dual numbers run along (see `saltus.simulate.derivatives.run_tangents`). Residuals are differences from the prediction
to the data, of positions along their manifold; those of sensors follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.control.tangent_states import State, difference, displaced, put_state, state_of
from saltus.errors import DivergenceError, ModelError, OptionError
from saltus.inverse.identification.control_delays import ControlDelays, Held
from saltus.inverse.identification.recorded_motion import RecordedMotion, Window
from saltus.inverse.identification.sensor_channels import NONE, SensorChannels, by_state, exact, reading
from saltus.model.model import Model
from saltus.number.kinds import NTANGENT
from saltus.simulate.derivatives.linearize import run_tangents
from saltus.simulate.derivatives.run_tangents import RunTangents
from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
RELATIVE = 1e-5  # of a parameter, of central differences of readings


class Predicted(NamedTuple):
    """Residuals [samples, channels]; their derivatives by the start, dq and dv [samples, channels, 2 nv], and by the
    parameters [samples, channels, k], with the sign of predictions: residuals fall by them."""

    residual: Array
    by_start: Array
    by_parameters: Array


class Begun(NamedTuple):
    """A predicted motion, with derivatives along some groups of directions.

    held: its controls. slopes [samples, states, directions]: of its states. left: directions without derivatives yet.
    residual [samples, channels].
    """

    window: Window
    start: State
    values: Array
    held: list[list[Held]]
    slopes: Array
    states: list[State]
    left: list[int]
    residual: Array


class Predictor:
    """Predicts windows with values of parameters, of which it keeps the simulation."""

    def __init__(
        self,
        model: Model,
        names: Sequence[str],
        channels: NDArray[np.int64],
        options: Mapping[str, Any],
        sensors: SensorChannels = NONE,
    ):
        self.model, self.names, self.channels, self._options = model, tuple(names), channels, dict(options)
        self.sensors = sensors
        self.delays = ControlDelays(model, self.names)
        places = [i for i in range(len(self.names)) if i not in self.delays.sought.values()]
        self._places, self._own = places, tuple(self.names[i] for i in places)  # of parameters but delays
        self.simulated = 0.0  # s of motion, with tangents once for each group of directions
        self._sims: dict[tuple[bytes, float], Simulation] = {}

    def check_delays(self, motion: RecordedMotion, low: Array, high: Array) -> None:
        """OptionError for bounds of delays that the model's steps and histories do not have, or with sensors."""
        self.delays.check_bounds(self.names, low, high, motion.interval / self._steps(motion))
        if self.delays.sought and len(self.sensors.columns):
            raise OptionError("identify: delays are found from positions and velocities, not from sensors")

    def start_of(self, window: Window) -> State:
        """The measured state at the start of a window; velocities that are not measured by differences."""
        motion, k = window.motion, window.first
        if motion.qvel is not None:
            qvel = motion.qvel[k]
        else:
            zero = np.zeros(self.model.nv), np.zeros(0)
            apart = difference(self.model, (motion.qpos[k], *zero), (motion.qpos[k + 1], *zero))
            qvel = apart[: self.model.nv] / motion.interval
        return motion.qpos[k].copy(), qvel.copy(), motion.act[k].copy()

    def residual(self, window: Window, start: State, values: Array) -> Array | None:
        """Residuals [samples, channels] from a start; None where the motion diverges or the values are impossible."""
        sim = self._at_start(window, start, values)
        if sim is None:
            return None
        self.simulated += (window.last - window.first) * window.motion.interval
        rows: list[Array] = []
        try:
            for k, held in enumerate(self.delays.held(window, self._substeps(window), values)):
                sim.ctrl[:] = held[0].ctrl
                rows.append(self._compared(window, k, state_of(sim), held[0].ctrl, sim))
                for part in held if k < window.last - window.first else ():
                    sim.ctrl[:] = part.ctrl
                    sim.step(part.steps)
        except DivergenceError:
            return None
        found = np.array(rows)
        return found if np.isfinite(found).all() else None

    def predicted(self, window: Window, start: State, values: Array, by_start: bool = True) -> Predicted:
        """Residuals with derivatives, by the start only if asked for; DivergenceError if the motion diverges."""
        begun = self.begun(window, start, values, by_start)
        if begun is None:
            raise OptionError("identify: the model cannot have the values at which the search starts")
        return self.completed(begun)

    def begun(
        self, window: Window, start: State, values: Array, by_start: bool = True, by_parameters: bool = True
    ) -> Begun | None:
        """The motion with its first group of directions; None if the model cannot have the values.

        A trial costs one run, and the other groups follow where it is accepted. DivergenceError if the motion diverges.
        """
        sim = self._at_start(window, start, values)
        if sim is None:
            return None
        running = run_tangents(sim.engine, self._own)
        nv, first = self.model.nv, running.first_parameter
        late = [running.states + c for k in self.delays.sought for c in _range(self.delays.controls_of(k))]
        own = [*late, *range(first, first + len(self._own))] if by_parameters else []
        wanted = [*range(2 * nv if by_start else 0), *own]
        group = [k for k in wanted if k // NTANGENT == wanted[0] // NTANGENT]
        held = self.delays.held(window, self._substeps(window), values)
        slopes = np.zeros((window.last - window.first + 1, running.states, running.directions))
        found = Begun(window, start, values, held, slopes, [], wanted[len(group) :], np.zeros(0))
        self._run(found, running, group)
        rows = [self._compared(window, k, at, held[k][0].ctrl, sim) for k, at in enumerate(found.states)]
        return found._replace(residual=np.array(rows))

    def completed(self, begun: Begun) -> Predicted:
        """Residuals and derivatives of a motion that was begun, with the groups of directions that it lacks."""
        window, start, values, held, slopes, states, left, rows = begun
        sim = self._at_start(window, start, values)
        assert sim is not None
        running, nv = run_tangents(sim.engine, self._own), self.model.nv
        if left:
            self._run(begun, running, left)
        running.check_parameters(slopes[..., running.first_parameter :])
        slopes = self._in_order(slopes, running.states, running.first_parameter)
        chosen = slopes[:, self.channels]
        if len(self.sensors.columns):
            moved = self._sensor_slopes(window, states, values, slopes, [parts[0].ctrl for parts in held])
            chosen = np.concatenate([chosen, moved], axis=1)
        return Predicted(rows, chosen[..., : 2 * nv], chosen[..., 2 * nv :])

    def _run(self, begun: Begun, running: RunTangents, wanted: list[int]) -> None:
        """Run along a window once for each group of directions, whose slopes are written, and states if none are."""
        window, count = begun.window, len(begun.slopes)
        new = not begun.states
        for column in running.columns(wanted):
            self.simulated += (window.last - window.first) * window.motion.interval
            for k in range(count):
                for part in begun.held[k - 1] if k else ():
                    running.set_ctrl(part.ctrl, part.slope if self.delays.sought else None)
                    running.advance(part.steps)
                running.read(begun.slopes[k], column)
                if new:
                    act = running.values("act")[: self.model.na]
                    begun.states.append((running.values("qpos"), running.values("qvel"), act))
            new = False

    def _in_order(self, slopes: Array, states: int, first: int) -> Array:
        """Columns of slopes by dq and dv at the start, then by the parameters, those of delays among them."""
        nv, out = self.model.nv, np.zeros((*slopes.shape[:2], 2 * self.model.nv + len(self.names)))
        out[..., : 2 * nv] = slopes[..., : 2 * nv]
        out[..., [2 * nv + i for i in self._places]] = slopes[..., first : first + len(self._own)]
        for k, place in self.delays.sought.items():
            own = self.delays.controls_of(k)
            out[..., 2 * nv + place] = slopes[..., states + own.start : states + own.stop].sum(axis=-1)
        return out

    def _sensor_slopes(
        self, window: Window, states: list[State], values: Array, slopes: Array, controls: list[Array]
    ) -> Array:
        """Slopes of readings [samples, s], along the directions of those of the states."""
        moved = []
        for k, (here, S) in enumerate(zip(states, slopes, strict=True)):
            H, P = self._reading_slopes(window, controls[k], here, values)
            moved.append(H @ S)
            moved[-1][:, 2 * self.model.nv :] += P
        return np.array(moved)

    def _reading_slopes(self, window: Window, ctrl: Array, here: State, values: Array) -> tuple[Array, Array]:
        """Derivatives of readings in a state by the state [s, 2 nv + na] and by parameters [s, k] directly."""
        columns = self.sensors.columns
        sim = self._with_values(window, values)
        assert sim is not None
        found = reading(sim, columns, here, ctrl)
        slopes = exact(sim, self.sensors, self.names)
        if slopes is not None:
            return slopes
        P = self._by_parameters(window, here, ctrl, values, found)
        return by_state(sim, columns, here, ctrl), P

    def _by_parameters(self, window: Window, here: State, ctrl: Array, values: Array, found: Array) -> Array:
        """Derivatives [s, k] of readings, `found` at these values of the parameters, by central differences."""
        columns = self.sensors.columns
        P = np.zeros((len(columns), len(values)))
        for j, value in enumerate(values):
            ends = []
            for sign in (1.0, -1.0):
                moved = values.copy()
                moved[j] = value + sign * RELATIVE * max(abs(value), RELATIVE)
                other = self._with_values(window, moved)
                ends.append((value, found) if other is None else (moved[j], reading(other, columns, here, ctrl)))
            (after, high), (before, low) = ends
            P[:, j] = (high - low) / (after - before)
        return P

    def _missed(self, window: Window, k: int, found: Array) -> Array:
        """Differences [s] from readings to the data at sample k of a window."""
        data = window.motion.sensordata
        assert data is not None
        return data[window.first + k, self.sensors.columns] - found

    def moved(self, start: State, change: Array) -> State:
        """A start that is (dq, dv) away."""
        return displaced(self.model, start, np.concatenate([change, np.zeros(len(start[2]))]))

    def model_with(self, values: Array) -> Model:
        """The model with values of the parameters."""
        return self.model.changed(dict(zip(self.names, values.tolist(), strict=True)))

    def _substeps(self, window: Window) -> int:
        """Steps from sample to sample, none longer than the timestep asked for."""
        return self._steps(window.motion)

    def _steps(self, motion: RecordedMotion) -> int:
        """Steps from sample to sample of a motion."""
        longest = self._options.get("timestep") or float(self.model.opt.timestep)
        return max(1, int(np.ceil(motion.interval / longest - 1e-9)))

    def _at_start(self, window: Window, start: State, values: Array) -> Simulation | None:
        """A simulation with the parameters, at a start; None if the model cannot have these values."""
        sim = self._with_values(window, values)
        if sim is not None:
            sim.reset()
            put_state(sim, start)
        return sim

    def _with_values(self, window: Window, values: Array) -> Simulation | None:
        """A simulation with the parameters, in any state; None if the model cannot have these values."""
        timestep = window.motion.interval / self._substeps(window)
        key = values.tobytes(), timestep
        if key not in self._sims:
            options = {**self._options, "timestep": timestep}
            try:
                made = Simulation(self.model_with(values).changed(self.delays.none()), **options)
            except (ModelError, OptionError):
                if not self._sims:
                    raise
                return None
            if len(self._sims) > 8 + 2 * len(self.names):
                self._sims.clear()
            self._sims[key] = made
        return self._sims[key]

    def _compared(self, window: Window, k: int, here: State, ctrl: Array, sim: Simulation) -> Array:
        """Differences [channels] from a state, and the readings in it, to the data at sample k of a window."""
        row = self._difference(window, k, here)
        if not len(self.sensors.columns):
            return row
        return np.concatenate([row, self._missed(window, k, reading(sim, self.sensors.columns, here, ctrl))])

    def _difference(self, window: Window, k: int, here: State) -> Array:
        """Differences [channels] from a state to the data at sample k of a window."""
        motion, i = window.motion, window.first + k
        qvel = here[1] if motion.qvel is None else motion.qvel[i]
        return difference(self.model, here, (motion.qpos[i], qvel, here[2]))[self.channels]


def _range(part: slice) -> range:
    """The numbers of a slice."""
    return range(part.start, part.stop)
