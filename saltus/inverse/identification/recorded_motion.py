"""Recorded motion as data of an identification: positions, velocities and controls at equal intervals, in windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError
from saltus.model.compile.drives.bristle_friction import bristle_actuators
from saltus.model.model import Model
from saltus.record.trajectory import Trajectory

Array = NDArray[np.float64]
Recording: TypeAlias = Trajectory | Mapping[str, ArrayLike]
#: One or several recorded motions.
Recordings: TypeAlias = Recording | Sequence[Recording]
EQUAL = 1e-6  # relative difference of intervals that count as equal


@dataclass(frozen=True, eq=False)
class RecordedMotion:
    """Samples: time [T] (s), qpos [T, nq], qvel [T, nv] (None: not measured), ctrl [T, nu], held; act [T, na].

    sensordata [T, nsensordata]; None where no sensor counts.
    """

    time: Array
    qpos: Array
    qvel: Array | None
    ctrl: Array
    act: Array
    sensordata: Array | None = None

    @property
    def interval(self) -> float:
        """Time from sample to sample (s)."""
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)


@dataclass(frozen=True, eq=False)
class Window:
    """A part of a recorded motion that is predicted from its start: samples first, ..., last of it."""

    motion: RecordedMotion
    first: int
    last: int
    number: int  # of the recording


def motions_of(model: Model, recordings: Any, sensors: bool = False) -> list[RecordedMotion]:
    """The motions in one or several recordings: `saltus.Trajectory`, or mappings with time, qpos, ctrl and qvel.

    `sensors`: with readings of all sensors, sensordata [T, nsensordata].

    Raises:
        OptionError: a recording lacks a part, has the wrong shape, is not finite, or has unequal intervals.
    """
    return [_motion(model, recording, k, sensors) for k, recording in enumerate(each_of(recordings))]


def each_of(recordings: Any) -> list[Any]:
    """One or several recordings as a list. OptionError: there is none."""
    single = isinstance(recordings, Mapping) or hasattr(recordings, "qpos")
    given = [recordings] if single else list(recordings) if isinstance(recordings, Iterable) else None
    if not given:
        raise OptionError(f"identify: recordings must be one or several recordings, got {recordings!r}")
    return given


def _motion(model: Model, recording: Any, k: int, sensors: bool) -> RecordedMotion:
    """A motion with its parts checked."""
    name = f"recordings[{k}]"

    def part(field: str, width: int, needed: bool = True) -> Array | None:
        value = recording.get(field) if isinstance(recording, Mapping) else getattr(recording, field, None)
        if value is None:
            if needed:
                raise OptionError(f"identify: {name} has no {field}{_states(model) if field == 'act' else ''}")
            return None
        found = numbers(f"{name}.{field}", value)
        if found.ndim == 1 and width == 1:
            found = found[:, None]
        if found.shape != (len(time), width):
            raise OptionError(f"identify: {name}.{field} must have shape {(len(time), width)}, not {found.shape}")
        if not np.isfinite(found).all():
            raise OptionError(f"identify: {name}.{field} must be finite; leave samples without values out")
        return found

    raw = recording.get("time") if isinstance(recording, Mapping) else getattr(recording, "time", None)
    if raw is None:
        raise OptionError(f"identify: {name} is no recording (there is no time)")
    time = numbers(f"{name}.time", raw)
    if time.ndim != 1 or len(time) < 3 or not np.isfinite(time).all():
        raise OptionError(f"identify: {name}.time must hold at least 3 finite times")
    steps = np.diff(time)
    if not (abs(steps - steps.mean()) <= EQUAL * abs(steps.mean())).all() or steps.mean() <= 0:
        raise OptionError(f"identify: {name}.time must rise by equal intervals; resample it first")
    qpos = part("qpos", model.nq)
    ctrl = part("ctrl", model.nu, needed=model.nu > 0)
    act = part("act", model.na, needed=model.na > 0)
    controls = np.zeros((len(time), 0)) if ctrl is None else ctrl
    assert qpos is not None
    states = np.zeros((len(time), 0)) if act is None else act
    readings = part("sensordata", model.nsensordata) if sensors else None
    return RecordedMotion(time, qpos, part("qvel", model.nv, needed=False), controls, states, readings)


def _states(model: Model) -> str:
    """The actuators with states, in words, and sources of states that are not measured."""
    bristles = set(bristle_actuators(model.mj_model).tolist())
    owners = np.flatnonzero(model.actuator_actnum > 0).tolist()
    names = [f"{model.names('actuator')[k]!r}{' (bend of bristles)' if k in bristles else ''}" for k in owners]
    less = ", or fit dry friction, saltus.Stribeck, which has none" if bristles else ""
    return (
        f", the states of actuators {', '.join(names)}, with which windows begin: give act [T, na], from a simulation "
        f"of the recorded motion where it was not measured, or zeros where windows begin at rest without load{less}"
    )


def windows_of(motions: list[RecordedMotion], length: float | None, after: float = 0.0) -> list[Window]:
    """Windows of a length (s) that follow one another; None: whole recordings, of at most 1 s each.

    `after`: time from the start of a recording (s) before which no window begins. OptionError: a recording is shorter.
    """
    found = []
    for number, motion in enumerate(motions):
        begin = int(np.ceil(after / motion.interval - EQUAL))
        samples = len(motion.time) - 1 - begin
        if samples < 2:
            raise OptionError(f"identify: recordings[{number}] is shorter than the longest delay, {after:g} s")
        wanted = min(1.0, samples * motion.interval) if length is None else length
        each = min(max(round(wanted / motion.interval), 2), samples)
        firsts = range(begin, begin + samples - each + 1, each)
        found += [Window(motion, first, first + each, number) for first in firsts]
    return found


def halved(windows: list[Window]) -> list[Window]:
    """Both halves of each window; those of fewer than 8 samples stay whole."""
    found = []
    for w in windows:
        middle = w.first + (w.last - w.first) // 2
        parts = [(w.first, middle), (middle, w.last)] if w.last - w.first >= 8 else [(w.first, w.last)]
        found += [Window(w.motion, first, last, w.number) for first, last in parts]
    return found
