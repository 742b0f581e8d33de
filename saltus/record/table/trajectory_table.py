"""The table of a run: states, controls and energies over time, with names, units and provenance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import PlainValue, mapping
from saltus.errors import OptionError, RecordError
from saltus.record.table.certificate import Certificate, energy_drift
from saltus.record.table.columns import COLUMNS, FIXED, GROUPS, POINTS, Column
from saltus.record.table.events import EVENT_DTYPE, EventTable, event_table
from saltus.record.table.ledger import ACCOUNTS, WITHOUT_MOTIONS
from saltus.record.table.stored_model import StoredModel, described

if TYPE_CHECKING:
    from saltus.model.model import Model


TOGETHER = (*POINTS, "mocap_pos", "mocap_quat")  # columns whose shapes are checked together


class TrajectoryTable:
    """Columns of a recording, with labels, units, events and provenance.

    `saltus.record.trajectory.Trajectory` lists the attributes, and adds files, plots, films and reports.
    """

    time: NDArray[np.float64]
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    act: NDArray[np.float64]
    ctrl: NDArray[np.float64]
    energy: NDArray[np.float64]
    contact_state: NDArray[np.bool_]
    mocap_pos: NDArray[np.float64]
    mocap_quat: NDArray[np.float64]
    contact_mode: NDArray[np.int8]
    contact_force: NDArray[np.float64]
    contact_pos: NDArray[np.float64]
    actuation_state: NDArray[np.float64]
    ledger: NDArray[np.float64]
    tree_asleep: NDArray[np.int32]
    prescribed_force: NDArray[np.float64]
    restarts: NDArray[np.int32]
    solver_niter: NDArray[np.int32]
    sensordata: NDArray[np.float64]
    signals: NDArray[np.float64]

    def __init__(
        self,
        time: ArrayLike,
        qpos: ArrayLike,
        qvel: ArrayLike,
        act: ArrayLike | None = None,
        ctrl: ArrayLike | None = None,
        energy: ArrayLike | None = None,
        contact_state: ArrayLike | None = None,
        *,
        end: Mapping[str, ArrayLike] | None = None,
        events: NDArray[np.void] | None = None,
        names: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, Sequence[str]] | None = None,
        attrs: Mapping[str, object] | None = None,
        certificate: Certificate | None = None,
        model: Model | StoredModel | None = None,
        **more: ArrayLike | None,
    ) -> None:
        """Take the columns; omitted ones are empty, energies are nan, names are numbered ("qpos[0]", ...).

        `more`: further columns of `saltus.record.table.columns.COLUMNS`. `model`: the model that moved, for pictures
        and videos.

        Raises:
            OptionError: a field is unknown, or has the wrong shape or type; the message names it.
        """
        if unknown := more.keys() - COLUMNS.keys():
            raise OptionError.unknown("column of a recording", min(unknown), list(COLUMNS))
        given = {"qpos": qpos, "qvel": qvel, "act": act, "ctrl": ctrl, "energy": energy} | more
        given["contact_state"] = contact_state
        self.time = _column("time", time)
        count = len(self.time)
        for name, column in COLUMNS.items():
            if name != "time":
                setattr(self, name, _table(column, given.get(name), count))
        _check_poses(self, given)
        _check_points(self)
        if self.ledger.shape[1] not in (0, WITHOUT_MOTIONS, len(ACCOUNTS)):
            raise OptionError(f"ledger must have shape [{count}, {len(ACCOUNTS)}], got {list(self.ledger.shape)}")
        self.end: dict[str, NDArray[np.float64]] | None = None if end is None else self._end_row(mapping("end", end))
        self.events: EventTable = event_table(np.empty(0, EVENT_DTYPE) if events is None else events)
        self.names: dict[str, list[str]] = self._labels("names", names)
        self.units: dict[str, list[str]] = self._labels("units", units)
        self.attrs: dict[str, PlainValue] = _attributes({} if attrs is None else mapping("attrs", attrs))
        self._model: Model | StoredModel | None = model
        self.certificate: Certificate | None = _of_samples(certificate, count)

    def _labels(self, what: str, given: Mapping[str, Sequence[str]] | None) -> dict[str, list[str]]:
        given = {} if given is None else mapping(what, given)
        if unknown := set(given) - set(GROUPS):
            raise OptionError(f"{what}: unknown group {sorted(unknown)[0]!r} (known: {', '.join(GROUPS)})")
        labels: dict[str, list[str]] = {}
        for group, variable in GROUPS.items():
            width = getattr(self, variable).shape[1]
            default = [f"{group}[{i}]" for i in range(width)] if what == "names" else [""] * width
            labels[group] = [str(label) for label in given.get(group, default)]
            if len(labels[group]) != width:
                raise OptionError(f"{what}['{group}'] must have {width} entries, got {len(labels[group])}")
        return labels

    def _end_row(self, end: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
        if unknown := end.keys() - COLUMNS.keys():
            raise OptionError.unknown("column of a recording's end", min(unknown), list(COLUMNS))
        row = {}
        for name, column in COLUMNS.items():
            if not column.at_end:
                continue
            shape = getattr(self, name).shape[1:]
            if name not in end and math.prod(shape) and column.dtype is not np.float64:
                raise OptionError(f"end['{name}'] is missing")
            row[name] = _array(f"end['{name}']", end.get(name, np.full(shape, column.missing)), column.dtype)
            if row[name].size == 0:
                row[name] = row[name].reshape(shape)
            if row[name].shape != shape:
                raise OptionError(f"end['{name}'] must have shape {list(shape)}, got {list(row[name].shape)}")
        return row

    @property
    def model(self) -> Model | None:
        """The model that moved, rebuilt from the recording when first asked for; None where it is not known.

        Raises:
            RecordError: the recording holds a model that cannot be read here.
        """
        stored = self._model if self._model is not None else described(self.attrs)
        if isinstance(stored, StoredModel):
            self._model = stored = stored.restore()
        return stored

    @property
    def stored_model(self) -> StoredModel | None:
        """The model as stored in files; None where it is not known."""
        if self._model is None or isinstance(self._model, StoredModel):
            return self._model
        return StoredModel.of(self._model)

    @property
    def total_energy(self) -> NDArray[np.float64]:
        """Potential plus kinetic energy [T], J."""
        return self.energy[:, 0] + self.energy[:, 1]

    @property
    def energy_drift(self) -> float:
        """Largest relative change of the energy over the run, nan if unknown; see `saltus.record.energy_drift`.

        Work of motors, dampers and given equations is part of it; `energy_report` tells the integrator's error from it.
        """
        return energy_drift(self.energy)

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, s."""
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    @property
    def simulated_time(self) -> float:
        """Time from the first sample to the end of the run, s, where no sample need lie."""
        if self.end is None or "time" not in self.end or not len(self.time):
            return self.duration
        return float(self.end["time"] - self.time[0])

    def row_shape(self, column: str) -> tuple[int, ...]:
        """Shape of a sample in a column, without reading it.

        Raises:
            OptionError: there is no such column.
        """
        if not isinstance(column, str) or column not in COLUMNS:
            raise OptionError.unknown("column of a recording", column, list(COLUMNS))
        return self._shape_of(column)

    def _shape_of(self, column: str) -> tuple[int, ...]:
        return getattr(self, column).shape[1:]

    def __len__(self) -> int:
        return len(self.time)


def readable_model(trajectory: TrajectoryTable) -> tuple[Model | None, str]:
    """The model of a recording, or None and the reason: "" where the recording holds none."""
    try:
        return trajectory.model, ""
    except RecordError as error:
        return None, str(error)


def _column(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = _array(name, values, np.float64)
    if array.ndim != 1:
        raise OptionError(f"{name} must have shape [T], got {list(array.shape)}")
    return array


def _table(column: Column, given: ArrayLike | None, count: int) -> NDArray[Any]:
    """A column as an array [count, *row], or without entries if nothing is given; energies are then nan."""
    if given is None:
        return np.full((count, *column.shape(0)), column.missing, dtype=column.dtype)
    array = _array(column.name, given, column.dtype)
    if array.size == 0 and array.ndim == 2 and array.shape[1] == 0 and column.size:
        array = array.reshape(len(array), *column.shape(0))
    row = column.shape(array.shape[1] if array.ndim > 1 else 0)
    if array.shape != (count, *row) and column.name not in TOGETHER:
        wanted = ["n" if dimension not in FIXED else str(FIXED[dimension]) for dimension in column.dimensions]
        raise OptionError(
            f"{column.name} must have shape [{', '.join([str(count), *wanted])}], got {list(array.shape)}"
        )
    return array


def _check_poses(table: TrajectoryTable, given: Mapping[str, Any]) -> None:
    """Raise OptionError unless mocap poses are [T, n, 3] and [T, n, 4], or both missing."""
    if (given.get("mocap_pos") is None) != (given.get("mocap_quat") is None):
        raise OptionError("mocap_pos and mocap_quat go together, got one of them")
    pos, quat, count = table.mocap_pos, table.mocap_quat, len(table.time)
    if pos.shape != (count, *pos.shape[1:2], 3) or quat.shape != (*pos.shape[:2], 4):
        shapes = f"{list(pos.shape)} and {list(quat.shape)}"
        raise OptionError(
            f"mocap_pos and mocap_quat must have shapes [{count}, n, 3] and [{count}, n, 4], got {shapes}"
        )


def _check_points(table: TrajectoryTable) -> None:
    """Raise OptionError unless there are all columns of contact points, in the shape of `contact_state`, or none."""
    count, width = table.contact_state.shape
    found = {name: getattr(table, name) for name in POINTS}
    given = [name for name, values in found.items() if values.shape != (count, *COLUMNS[name].shape(0))]
    if not given:
        return
    for name, values in found.items():
        expected = (count, *COLUMNS[name].shape(width))
        if width and name not in given:
            raise OptionError(f"contact_mode, contact_force and contact_pos go together; {name} is missing")
        if values.shape != expected:
            raise OptionError(f"{name} must have shape {list(expected)}, as contact_state, got {list(values.shape)}")


def _array(name: str, values: ArrayLike, dtype: type) -> NDArray[Any]:
    try:
        return np.ascontiguousarray(values, dtype=dtype) if np.ndim(values) else np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"{name} is not an array of numbers: {error}") from error


def _of_samples(certificate: Certificate | None, count: int) -> Certificate | None:
    """The certificate, checked to have an error for each of so many samples."""
    if certificate is not None and not isinstance(certificate, Certificate):
        raise OptionError(f"certificate must be a Certificate, got {certificate!r}")
    if certificate is not None and np.shape(certificate.error) != (count,):
        raise OptionError(f"certificate: error must have shape [{count}], got {list(np.shape(certificate.error))}")
    return certificate


def _attributes(given: Mapping[str, object]) -> dict[str, PlainValue]:
    attributes = {}
    for key, value in given.items():
        name = str(key)
        if not name or "/" in name or name.startswith(("_", "trajectory_")):
            raise OptionError(f"attrs: the name {name!r} cannot be recorded (empty, with '/', or reserved)")
        attributes[name] = _plain(f"attrs['{name}']", value)
    return attributes


def _plain(name: str, value: Any) -> PlainValue:
    """The value in plain Python types, which a file restores exactly."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(f"{name}[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {str(key): _plain(f"{name}['{key}']", item) for key, item in value.items()}
    raise OptionError(f"{name}: {type(value).__name__} cannot be recorded (text, numbers, lists and mappings can)")
