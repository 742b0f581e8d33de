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
from saltus.record.table.columns import POINTS, dtype_of
from saltus.record.table.events import EVENT_DTYPE, EventTable, event_table
from saltus.record.table.ledger import ACCOUNTS, WITHOUT_MOTIONS
from saltus.record.table.stored_model import StoredModel, described

if TYPE_CHECKING:
    from saltus.model.model import Model

_GROUPS = {
    **{group: group for group in ("qpos", "qvel", "act", "ctrl")},
    **{"contact": "contact_state", "mocap": "mocap_pos", "actuation": "actuation_state"},
    "tree": "tree_asleep",
    "motion": "prescribed_force",
}
_END = (
    "time",
    "qpos",
    "qvel",
    "act",
    "ctrl",
    "energy",
    "mocap_pos",
    "mocap_quat",
    *POINTS,
    "actuation_state",
    "ledger",
    "tree_asleep",
    "prescribed_force",
)


class TrajectoryTable:
    """Columns of a recording, with labels, units, events and provenance.

    `saltus.record.trajectory.Trajectory` lists the attributes, and adds files, plots, films and reports.
    """

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
        mocap_pos: ArrayLike | None = None,
        mocap_quat: ArrayLike | None = None,
        contact_mode: ArrayLike | None = None,
        contact_force: ArrayLike | None = None,
        contact_pos: ArrayLike | None = None,
        actuation_state: ArrayLike | None = None,
        ledger: ArrayLike | None = None,
        tree_asleep: ArrayLike | None = None,
        prescribed_force: ArrayLike | None = None,
        end: Mapping[str, ArrayLike] | None = None,
        events: NDArray[np.void] | None = None,
        names: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, Sequence[str]] | None = None,
        attrs: Mapping[str, object] | None = None,
        certificate: Certificate | None = None,
        model: Model | StoredModel | None = None,
    ) -> None:
        """Take the columns; omitted ones are empty, energies are nan, names are numbered ("qpos[0]", ...).

        `model`: the model that moved, for pictures and videos.

        Raises:
            OptionError: a field has the wrong shape or type; the message names it.
        """
        self.time: NDArray[np.float64] = _column("time", time)
        count = len(self.time)
        nothing = np.empty((count, 0))
        self.qpos: NDArray[np.float64] = _table("qpos", qpos, count)
        self.qvel: NDArray[np.float64] = _table("qvel", qvel, count)
        self.act: NDArray[np.float64] = _table("act", nothing if act is None else act, count)
        self.ctrl: NDArray[np.float64] = _table("ctrl", nothing if ctrl is None else ctrl, count)
        unknown = np.full((count, 2), np.nan)
        self.energy: NDArray[np.float64] = _table("energy", unknown if energy is None else energy, count, width=2)
        closed = nothing if contact_state is None else contact_state
        self.contact_state: NDArray[np.bool_] = _table("contact_state", closed, count, dtype=np.bool_)
        self.mocap_pos, self.mocap_quat = _poses(mocap_pos, mocap_quat, count)
        points = _points((contact_mode, contact_force, contact_pos), self.contact_state.shape)
        self.contact_mode: NDArray[np.int8] = points[0]
        self.contact_force: NDArray[np.float64] = points[1]
        self.contact_pos: NDArray[np.float64] = points[2]
        discrete = nothing if actuation_state is None else actuation_state
        self.actuation_state: NDArray[np.float64] = _table("actuation_state", discrete, count)
        self.ledger: NDArray[np.float64] = _table("ledger", nothing if ledger is None else ledger, count)
        if self.ledger.shape[1] not in (0, WITHOUT_MOTIONS, len(ACCOUNTS)):
            raise OptionError(f"ledger must have shape [{count}, {len(ACCOUNTS)}], got {list(self.ledger.shape)}")
        asleep = nothing if tree_asleep is None else tree_asleep
        self.tree_asleep: NDArray[np.int32] = _table("tree_asleep", asleep, count, dtype=np.int32)
        needed = nothing if prescribed_force is None else prescribed_force
        self.prescribed_force: NDArray[np.float64] = _table("prescribed_force", needed, count)
        self.end: dict[str, NDArray[np.float64]] | None = None if end is None else self._end_row(mapping("end", end))
        self.events: EventTable = event_table(np.empty(0, EVENT_DTYPE) if events is None else events)
        self.names: dict[str, list[str]] = self._labels("names", names)
        self.units: dict[str, list[str]] = self._labels("units", units)
        self.attrs: dict[str, PlainValue] = _attributes({} if attrs is None else mapping("attrs", attrs))
        self._model: Model | StoredModel | None = model
        self.certificate: Certificate | None = _of_samples(certificate, count)

    def _labels(self, what: str, given: Mapping[str, Sequence[str]] | None) -> dict[str, list[str]]:
        given = {} if given is None else mapping(what, given)
        if unknown := set(given) - set(_GROUPS):
            raise OptionError(f"{what}: unknown group {sorted(unknown)[0]!r} (known: {', '.join(_GROUPS)})")
        labels: dict[str, list[str]] = {}
        for group, variable in _GROUPS.items():
            width = getattr(self, variable).shape[1]
            default = [f"{group}[{i}]" for i in range(width)] if what == "names" else [""] * width
            labels[group] = [str(label) for label in given.get(group, default)]
            if len(labels[group]) != width:
                raise OptionError(f"{what}['{group}'] must have {width} entries, got {len(labels[group])}")
        return labels

    def _end_row(self, end: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
        row = {}
        for name in _END:
            shape = getattr(self, name).shape[1:]
            if name not in end and math.prod(shape) and dtype_of(name) is not np.float64:
                raise OptionError(f"end['{name}'] is missing")
            given = end.get(name, np.full(shape, np.nan if dtype_of(name) is np.float64 else 0))
            row[name] = _array(f"end['{name}']", given, dtype_of(name))
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


def _table(
    name: str, values: ArrayLike, count: int, width: int | None = None, dtype: type = np.float64
) -> NDArray[Any]:
    array = _array(name, values, dtype)
    if array.ndim != 2 or len(array) != count or width not in (None, array.shape[1]):
        raise OptionError(f"{name} must have shape [{count}, {width or 'n'}], got {list(array.shape)}")
    return array


def _poses(pos: ArrayLike | None, quat: ArrayLike | None, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mocap poses [count, n, 3] and [count, n, 4]."""
    if (pos is None) != (quat is None):
        raise OptionError("mocap_pos and mocap_quat go together, got one of them")
    if pos is None or quat is None:
        return np.empty((count, 0, 3)), np.empty((count, 0, 4))
    poses = _array("mocap_pos", pos, np.float64), _array("mocap_quat", quat, np.float64)
    if poses[0].shape != (count, *poses[0].shape[1:2], 3) or poses[1].shape != (*poses[0].shape[:2], 4):
        shapes = f"{list(poses[0].shape)} and {list(poses[1].shape)}"
        raise OptionError(
            f"mocap_pos and mocap_quat must have shapes [{count}, n, 3] and [{count}, n, 4], got {shapes}"
        )
    return poses


def _points(given: tuple[ArrayLike | None, ...], shape: tuple[int, ...]) -> list[NDArray[Any]]:
    """Modes, forces and positions of contact points: all of them or none, in the shape of `contact_state`."""
    if all(values is None or np.shape(values)[1:2] in ((), (0,)) for values in given):
        count = shape[0]
        return [np.empty((count, 0), np.int8), np.empty((count, 0, 3)), np.empty((count, 0, 3))]
    found = []
    for name, values in zip(POINTS, given, strict=True):
        if values is None:
            raise OptionError(f"contact_mode, contact_force and contact_pos go together; {name} is missing")
        expected = shape if name == "contact_mode" else (*shape, 3)
        array = _array(name, values, dtype_of(name))
        if array.shape != expected:
            raise OptionError(f"{name} must have shape {list(expected)}, as contact_state, got {list(array.shape)}")
        found.append(array)
    return found


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
