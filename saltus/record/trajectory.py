"""The table of a run: states, controls and energies over time, with names, units and where it comes from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError, SaltusError
from saltus.record.certificate import Certificate, energy_drift

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

#: The least that `Trajectory.events` holds: when (s) and what ("impact", "liftoff", "stick", "slip", ...).
EVENT_DTYPE = np.dtype([("time", "f8"), ("kind", "U16")])

_GROUPS = {"qpos": "qpos", "qvel": "qvel", "act": "act", "ctrl": "ctrl", "contact": "contact_state"}


class Trajectory:
    """What a run recorded.

    Attributes:
        time [T]: s.
        qpos [T, nq]: positions (rad, m, quaternion parts).
        qvel [T, nv]: velocities (rad/s, m/s).
        act [T, na]: actuator activations.
        ctrl [T, nu]: controls.
        energy [T, 2]: potential and kinetic energy, J; nan where not recorded.
        contact_state [T, n]: whether each watched contact is closed, bool.
        events: structured array [E] with at least the fields time (s) and kind.
        names: labels of the columns, by group: qpos, qvel, act, ctrl, contact.
        units: units of the columns, by the same groups; "" for a quaternion part.
        attrs: where it comes from: model text, integrator, timestep, options, versions, ...; plain Python values.
        certificate: how accurate it is, where that was measured, otherwise None.
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
        events: NDArray[Any] | None = None,
        names: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, Sequence[str]] | None = None,
        attrs: Mapping[str, Any] | None = None,
        certificate: Certificate | None = None,
    ) -> None:
        """Take the columns; what is left out is empty, energies are nan, names are numbered ("qpos[0]", ...).

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
        self.events: NDArray[Any] = _events(np.empty(0, EVENT_DTYPE) if events is None else events)
        self.names: dict[str, list[str]] = self._labels("names", names)
        self.units: dict[str, list[str]] = self._labels("units", units)
        self.attrs: dict[str, Any] = _attributes(attrs or {})
        self.certificate: Certificate | None = certificate
        if certificate is not None and np.shape(certificate.error) != (count,):
            raise OptionError(f"certificate: error must have shape [{count}], got {list(np.shape(certificate.error))}")

    def _labels(self, what: str, given: Mapping[str, Sequence[str]] | None) -> dict[str, list[str]]:
        given = given or {}
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

    @property
    def total_energy(self) -> NDArray[np.float64]:
        """Potential plus kinetic energy [T], J."""
        return self.energy[:, 0] + self.energy[:, 1]

    @property
    def energy_drift(self) -> float:
        """Largest relative change of the energy over the run, work of motors and dampers included; nan if unknown."""
        return energy_drift(self.energy)

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, s."""
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        integrator = self.attrs.get("integrator")
        parts = [f"{self.duration:.4g} s", f"{len(self)} samples", *([str(integrator)] if integrator else [])]
        if not math.isnan(self.energy_drift):
            parts.append(f"energy drift {self.energy_drift:.2g}")
        return f"<Trajectory: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from saltus.record.html import trajectory_table

        return trajectory_table(self)

    def to_xarray(self) -> xarray.Dataset:
        """The recording as a dataset whose variables carry these attributes' names, with units and long names.

        `time` is the first dimension; the columns of `qpos` lie along `qpos_name`, whose coordinate holds the labels
        (`ds.qpos.sel(qpos_name="elbow")`), those of `energy` along `energy_kind`; events along `event`.
        """
        from saltus.record.dataset import to_dataset

        return to_dataset(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording as netCDF4, whole or not at all; `load` brings back every bit of it.

        Raises:
            RecordError: it cannot be written; a previous file at `path` is untouched.
        """
        from saltus.record.file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read a recording that `save` wrote.

        Raises:
            RecordError: there is no such file, or it is not a recording.
        """
        from saltus.record.file import load

        return load(path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw positions, velocities and energies over time; written to `path` too (.png, .svg, .pdf) where given.

        Raises:
            OptionError: another suffix.
            RecordError: the file cannot be written.
        """
        from saltus.record.plot import plot

        return plot(self, path)

    def video(self, path: str | os.PathLike[str], fps: int = 60) -> None:
        """Not there yet.

        Raises:
            SaltusError: always.
        """
        raise no_video(path)


def no_video(path: str | os.PathLike[str]) -> SaltusError:
    """The error for a wish that cannot be granted yet."""
    return SaltusError(
        f"cannot write video '{os.fspath(path)}': video output is not there yet; "
        "what exists: plot for a figure and save for the recording itself"
    )


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


def _array(name: str, values: ArrayLike, dtype: type) -> NDArray[Any]:
    try:
        return np.ascontiguousarray(values, dtype=dtype) if np.ndim(values) else np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{name} is not an array of numbers: {error}") from error


def _events(events: NDArray[Any]) -> NDArray[Any]:
    """The events, packed and in native byte order, as a file can hold them."""
    array = np.asarray(events)
    fields = array.dtype.names or ()
    if array.ndim != 1 or "time" not in fields or "kind" not in fields:
        raise OptionError(f"events must be a structured array [E] with fields time and kind, got {array.dtype}")
    packed = [(name, *_field(name, array.dtype[name])) for name in fields]
    return array.astype(np.dtype(packed))


def _field(name: str, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    base = dtype.base
    if not name.isidentifier() or base.kind not in "biufU" or (base.kind == "f" and base.itemsize not in (4, 8)):
        raise OptionError(f"events: field {name!r} of type {base} cannot be recorded (numbers, bool and text can)")
    return base.newbyteorder("="), dtype.shape


def _attributes(given: Mapping[str, Any]) -> dict[str, Any]:
    attributes = {}
    for key, value in given.items():
        name = str(key)
        if not name or "/" in name or name.startswith(("_", "trajectory_")):
            raise OptionError(f"attrs: the name {name!r} cannot be recorded (empty, with '/', or reserved)")
        attributes[name] = _plain(f"attrs['{name}']", value)
    return attributes


def _plain(name: str, value: Any) -> Any:
    """The value in plain Python types, which a file brings back as they are."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(f"{name}[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {str(key): _plain(f"{name}['{key}']", item) for key, item in value.items()}
    raise OptionError(f"{name}: {type(value).__name__} cannot be recorded (text, numbers, lists and mappings can)")
