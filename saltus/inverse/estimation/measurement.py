"""Readings of sensors as measurements: what a state predicts, its derivatives, and differences of readings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, words
from saltus.control.tangent_states import State, central_differences, put_state, state_of
from saltus.errors import EventError, OptionError
from saltus.model.sensor_enums import CONTACT, GEOMFROMTO, INSIDESITE, PLUGIN, QUATERNION, RANGEFINDER, TACTILE, USER
from saltus.simulate.derivatives.readings import why_none

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
UNSUITED = {  # readings that jump, so that they have no derivatives
    CONTACT: "contact",
    GEOMFROMTO: "fromto",
    INSIDESITE: "insidesite",
    PLUGIN: "plugin",
    RANGEFINDER: "rangefinder",
    TACTILE: "tactile",
    USER: "user",
}


class Measurement:
    """Chosen sensors of a simulation. `raw`: how many numbers they read; `size`: how many their errors have.

    An error is the difference of readings, that of a quaternion a rotation vector (rad) in the axes of the predicted
    frame. `names` [size] are those of the errors' components. `who` is named in errors.
    """

    def __init__(self, sim: Simulation, sensors: Sequence[str] | None, who: str):
        model = sim.model
        known = model.names("sensor")
        if not known:
            raise OptionError(f"{who}: the model has no sensors; add some to the file, such as <jointpos joint=.../>")
        chosen = range(len(known)) if sensors is None else [_index(known, name) for name in words("sensors", sensors)]
        self._who, self._sim, self._places = who, sim, np.zeros(0, int)
        self._quaternion: list[bool] = []
        self._spans: list[slice] = []
        self._exact: list[str] = []
        self._by_differences: list[int] = []  # errors of sensors whose derivatives are not exact
        self.names: list[str] = []
        for k in chosen:
            kind, dim = int(model.sensor_type[k]), int(model.sensor_dim[k])
            if kind in UNSUITED:
                raise OptionError(
                    f"{who}: the readings of sensor {known[k]!r} ({UNSUITED[kind]}) jump and have no derivatives; "
                    "name others in sensors="
                )
            turn = int(model.sensor_datatype[k]) == QUATERNION
            size = 3 if turn else dim
            self._quaternion.append(turn)
            self._spans.append(slice(len(self._places), len(self._places) + dim))
            self._places = np.append(self._places, model.sensor_adr[k] + np.arange(dim))
            if why_none(model, k):
                self._by_differences += range(len(self.names), len(self.names) + size)
            else:
                self._exact.append(known[k])
            self.names += [known[k]] if size == 1 else [f"{known[k]}[{i}]" for i in range(size)]
        if not self.names:
            raise OptionError(f"{who}: sensors must name at least one sensor")
        self.raw, self.size = len(self._places), len(self.names)

    def taken(self, y: ArrayLike) -> Array:
        """Readings [raw] of one time, NaN where one is missing; OptionError if they are not."""
        given = numbers("y", y)
        reading = given.reshape(-1) if given.ndim < 2 else np.zeros(0)
        if len(reading) != self.raw:
            raise OptionError(f"{self._who}: y must have {self.raw} readings, got {given.shape}")
        if np.isinf(reading).any():
            raise OptionError(f"{self._who}: readings must be finite, or NaN where they are missing")
        return np.array(reading)

    def series(self, measurements: ArrayLike, controls: ArrayLike | None) -> tuple[Array, Array | None]:
        """Measurements [T, raw] and controls [T - 1 or T, nu], if there are any; OptionError for other shapes."""
        y, nu = numbers("measurements", measurements), self._sim.model.nu
        if y.ndim != 2 or not len(y) or y.shape[1] != self.raw:
            raise OptionError(f"{self._who}: measurements must have shape (T, {self.raw}), not {y.shape}")
        u = None if controls is None else numbers("controls", controls)
        if u is not None and (u.ndim != 2 or u.shape[1] != nu or len(u) not in (len(y) - 1, len(y))):
            raise OptionError(f"{self._who}: controls must have shape {(len(y) - 1, nu)}, not {u.shape}")
        return y, u

    def read(self) -> Array:
        """Readings [raw] at the present state."""
        return self._sim.sensordata[self._places]

    def error(self, reading: Array, predicted: Array) -> Array:
        """Errors [size] of readings; NaN where a reading has a NaN."""
        parts = []
        for turn, span in zip(self._quaternion, self._spans, strict=True):
            if not turn:
                parts.append(reading[span] - predicted[span])
            elif not np.isfinite(reading[span]).all():
                parts.append(np.full(3, np.nan))
            else:
                parts.append(_turn(predicted[span], reading[span]))
        return np.concatenate(parts)

    def derivatives(self, size: int) -> tuple[Array, Array]:
        """Readings at the present state, and derivatives H [size of errors, size] by (dq, dv, dw).

        Exact, or central differences where `Simulation.linearize_sensors` refuses.
        """
        here, missing = self.read(), list(range(self.size))
        H = np.zeros((self.size, size))
        if self._exact:
            exact = [i for i in missing if i not in self._by_differences]
            try:
                H[exact] = self._slopes(self._sim.linearize_sensors(self._exact)[0], here)
                missing = self._by_differences
            except (OptionError, EventError):  # at this state
                pass
        if missing:
            H[missing] = self._differences(here, size)[missing]
        return here, H

    def _slopes(self, C: Array, here: Array) -> Array:
        """Derivatives of errors from those of the readings of the exact sensors; `here` [raw]: all readings.

        A rotation vector in the axes of a quaternion q changes by twice the vector part of q* dq.
        """
        parts, at, of_errors = [], 0, 0
        for turn, span in zip(self._quaternion, self._spans, strict=True):
            count, size = span.stop - span.start, 3 if turn else span.stop - span.start
            if of_errors not in self._by_differences:
                rows = C[at : at + count]
                parts.append(2.0 * _conjugate_product(here[span]) @ rows if turn else rows)
                at += count
            of_errors += size
        return np.concatenate(parts)

    def _differences(self, here: Array, size: int) -> Array:
        """Derivatives [size of errors, size] by central differences of readings, which are `here` [raw]."""
        sim = self._sim
        before = sim.snapshot()

        def apart(state: State) -> Array:
            put_state(sim, state)
            return self.error(self.read(), here)

        H = central_differences(sim.model, state_of(sim), size, apart)
        sim.restore(before)
        return H


def _conjugate_product(quat: Array) -> Array:
    """The matrix [3, 4] that gives the vector part of q* p for a quaternion p."""
    w, x, y, z = quat
    return np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])


def _turn(start: Array, end: Array) -> Array:
    """Rotation vector (rad) from one quaternion to another, in the axes of the first."""
    out, unit = np.zeros(3), end / max(np.linalg.norm(end), 1e-15)
    mujoco.mju_subQuat(out, unit, start)
    return out


def _index(known: list[str], name: str) -> int:
    """The number of a sensor."""
    if name not in known:
        raise OptionError.unknown("sensor", name, known)
    return known.index(name)
