"""A recorded run of a batch: all simulations in steps of one length, with samples at whole steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import positive
from saltus.errors import DivergenceError, EventError, OptionError, warn
from saltus.record.batch_recording import BatchRecording
from saltus.record.io.memory_room import check_room
from saltus.record.table.columns import SIGNALS
from saltus.simulate.engine.engine import Engine
from saltus.simulate.running.run_metadata import names_and_units
from saltus.simulate.running.signals import Signals
from saltus.terminal.progress import Progress
from saltus.version import __version__

SAME = 1e-9  # relative: numbers of steps that are closer than this to whole ones are whole
STATE = ("time", "qpos", "qvel", "act", "ctrl", "actuation_state")


def run_batch(
    batch: Any,
    engine: Engine,
    duration: float,
    sample: float | None,
    control: Callable[[Any], Any] | None,
    progress: Any,
    record: Iterable[str],
) -> BatchRecording:
    """Run a Batch; see `Batch.run`. `engine`: a simulation of its model, which says what fields there are."""
    duration = positive("duration", duration)
    steps = _whole("duration", duration, batch.timestep)
    every = 1 if sample is None else _whole("sample", positive("sample", sample), batch.timestep)
    if control is not None and not callable(control):
        raise OptionError(
            "control must be a function of the batch; controllers in the loop belong to Batch(control=...)"
        )
    signals = Signals(engine, record)
    recorder = _Recorder(batch, engine, signals, steps // every + 1, every * batch.timestep)
    recorder.take()
    live = np.ones(batch.n, bool)
    error: DivergenceError | EventError | None = None
    bar = Progress(progress, duration)
    try:
        with bar:
            for done in range(0, steps, every):
                error = _advance(batch, min(every, steps - done), live, control) or error
                live &= ~(batch.ended | batch.diverged)
                if done + every <= steps:
                    recorder.take(live)
                if not live.any():
                    break
                bar.update((done + every) * batch.timestep)
    except KeyboardInterrupt:
        warn(f"interrupted; returning the {recorder.count} samples recorded so far")
    recording = recorder.recording(duration)
    if error is not None:
        error.trajectory = recording  # pyright: ignore[reportAttributeAccessIssue] (of many simulations)
        raise error
    return recording


def _advance(
    batch: Any, steps: int, live: NDArray[np.bool_], control: Callable[[Any], Any] | None
) -> DivergenceError | EventError | None:
    """Take steps of the living simulations; returns the error of those that could not, after which others go on."""
    found: DivergenceError | EventError | None = None
    for count in [steps] if control is None else [1] * steps:
        if control is not None and (value := control(batch)) is not None:
            batch.ctrl = value
        try:
            batch.step(count, None if live.all() else live)
        except (DivergenceError, EventError) as error:
            found = found or error
        if control is not None:
            live &= ~(batch.ended | batch.diverged)
            if not live.any():
                break
    return found


def _whole(name: str, time: float, step: float) -> int:
    """A time as a number of steps; OptionError unless it is a whole one."""
    count = round(time / step)
    if count < 1 or abs(time / step - count) > SAME * max(count, 1):
        near = max(count, 1) * step
        raise OptionError(
            f"{name} must be a whole number of timesteps in a batch, whose simulations step together: {time:g} s is no "
            f"multiple of {step:g} s; the nearest is {near:g} s"
        )
    return count


class _Recorder:
    """Columns that fill up sample by sample."""

    def __init__(self, batch: Any, engine: Engine, signals: Signals, room: int, sample: float):
        self._batch, self._engine, self._signals, self._sample = batch, engine, signals, sample
        self.count = 0
        model = engine.model
        self._read = (*STATE, *(["sensordata"] if model.nsensordata else []))
        first = dict(zip(self._read, batch.read(self._read), strict=True))
        sizes = {name: values.shape[1:] for name, values in first.items()}
        sizes = {"sensordata": (0,)} | sizes | {"signals": (len(signals.labels),)}
        size = 8 * batch.n * sum(int(np.prod(shape)) for shape in sizes.values())
        check_room(size, room, sample, ", or fewer simulations")
        self._columns = {name: np.full((batch.n, room, *shape), np.nan) for name, shape in sizes.items()}

    def take(self, live: NDArray[np.bool_] | None = None) -> None:
        """Record the present states, of the living simulations alone."""
        k, which = self.count, slice(None) if live is None else live
        fields = list(dict.fromkeys([*self._read, *(signal.field for signal, _ in self._signals.parts)]))
        values = dict(zip(fields, self._batch.read(fields), strict=True))
        for name in self._read:
            self._columns[name][which, k] = values[name][which]
        for signal, place in self._signals.parts:
            of_all = np.asarray(values[signal.field])
            part = of_all if signal.rows is None else of_all[(slice(None), signal.rows, *signal.rest)]
            self._columns["signals"][which, k, place] = part.reshape(self._batch.n, -1)[which]
        self.count = k + 1

    def recording(self, duration: float) -> BatchRecording:
        """The samples so far."""
        engine, signals = self._engine, self._signals
        names, units = names_and_units(engine)
        attrs = {
            "integrator": engine.integrator.name,
            "timestep": self._batch.timestep,
            "duration": duration,
            "sample": self._sample,
            "model_name": engine.model.name,
            "saltus_version": __version__,
            SIGNALS: signals.shapes,
        }
        return BatchRecording(
            {name: column[:, : self.count] for name, column in self._columns.items()},
            names=names | {"signal": signals.labels},
            units=units | {"signal": signals.units},
            attrs=attrs,
            model=engine.model,
        )
