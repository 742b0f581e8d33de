"""Recordings as files: netCDF4, written whole or not at all, read back bit for bit."""

from __future__ import annotations

import dataclasses
import io
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.errors import RecordError
from saltus.record.certificate import Certificate
from saltus.record.columns import DIMENSIONS
from saltus.record.dataset import to_dataset
from saltus.record.stored_model import StoredModel
from saltus.record.trajectory import Trajectory
from saltus.record.whole import reason_of, write_whole

if TYPE_CHECKING:
    import xarray

#: Suffix of recordings that are Zarr stores.
STORE = ".zarr"

#: Version of the layout, in the file's attribute of this name; a reader refuses what is newer than itself.
FORMAT_ATTRIBUTE = "trajectory_format"
FORMAT = 2

# attributes of the file itself, not of the recording, which can have none by such a name
_CERTIFICATE, _EVENTS, _JSON = "trajectory_certificate", "trajectory_events", "trajectory_json"
_MODEL, _MJB = "trajectory_model", "model_mjb"


def save(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """See `Trajectory.save`."""
    if os.fspath(path).endswith(STORE):
        from saltus.record.stream import save_store

        save_store(trajectory, path)
        return
    try:
        content = _image(trajectory)
    except ImportError as error:
        raise RecordError(path, f"netCDF output needs xarray, h5netcdf and h5py ({error})") from error
    except (OSError, ValueError, TypeError, RuntimeError, MemoryError) as error:
        raise RecordError(path, reason_of(error)) from error
    write_whole(path, content)


def load(path: str | os.PathLike[str]) -> Trajectory:
    """See `Trajectory.load`."""
    if os.path.isdir(path):
        from saltus.record.store import load_store

        return load_store(path)
    try:
        with open(path, "rb") as file:
            dataset = _opened(path, file)
    except (OSError, ValueError) as error:
        raise RecordError(path, reason_of(error), action="read") from error
    version = dataset.attrs.get(FORMAT_ATTRIBUTE)
    if version is None:
        raise RecordError(path, "netCDF, but not a recording of Saltus", action="read")
    if version > FORMAT:
        raise RecordError(path, f"written by a newer Saltus (layout {version}, known {FORMAT})", action="read")
    try:
        return _from_dataset(dataset, path)
    except Exception as error:
        raise RecordError(path, f"damaged recording ({reason_of(error)})", action="read") from error


def _image(trajectory: Trajectory) -> memoryview:
    """The bytes of the file. Composed in memory, since HDF5 cannot recover from a disk that fills up under it."""
    dataset = to_dataset(trajectory)
    dataset.attrs = _attributes(trajectory)
    if (stored := trajectory.stored_model) is not None:
        dataset.attrs[_MODEL] = stored.about()
        dataset[_MJB] = ("model_byte", np.frombuffer(stored.mjb, np.uint8))
    for variable in dataset.variables:
        # no fill value: a nan stays the nan it is
        dataset[variable].encoding["_FillValue"] = None
    return memoryview(dataset.to_netcdf(engine="h5netcdf"))


def _opened(path: str | os.PathLike[str], file: io.BufferedReader) -> xarray.Dataset:
    import xarray

    try:
        return xarray.load_dataset(
            file, engine="h5netcdf", decode_times=False, decode_timedelta=False, mask_and_scale=False
        )
    except ImportError as error:
        reason = f"netCDF input needs xarray, h5netcdf and h5py ({error})"
        raise RecordError(path, reason, action="read") from error
    except Exception as error:
        # what a broken file makes HDF5 and its readers raise is open-ended
        raise RecordError(path, f"not a netCDF4 file, or a damaged one ({reason_of(error)})", action="read") from error


def _attributes(trajectory: Trajectory) -> dict[str, Any]:
    """Text, floats and integers as they are, everything else as JSON with its name noted."""
    stored: dict[str, Any] = {}
    encoded = []
    for name, value in trajectory.attrs.items():
        if type(value) in (str, float) or (type(value) is int and abs(value) < 2**63):
            stored[name] = value
        else:
            stored[name] = json.dumps(value, ensure_ascii=False)
            encoded.append(name)
    stored[FORMAT_ATTRIBUTE] = FORMAT
    stored[_JSON] = json.dumps(encoded)
    stored[_EVENTS] = json.dumps(_described(trajectory.events.dtype))
    if trajectory.certificate is not None:
        figures = dataclasses.asdict(trajectory.certificate)
        figures.pop("error")
        stored[_CERTIFICATE] = json.dumps(figures)
    return stored


def _described(dtype: np.dtype[Any]) -> list[list[Any]]:
    return [[name, dtype[name].base.str, list(dtype[name].shape)] for name in dtype.names or ()]


def _from_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> Trajectory:
    stored = dict(dataset.attrs)
    groups = ("qpos", "qvel", "act", "ctrl")
    ends = {name: dataset[f"end_{name}"].values for name in DIMENSIONS if f"end_{name}" in dataset}
    return Trajectory(
        **{name: dataset[name].values for name in DIMENSIONS if name in dataset},
        end=ends or None,
        events=_read_events(dataset, json.loads(stored[_EVENTS])),
        names={group: _labels(dataset, f"{group}_name") for group in (*groups, "contact", "mocap", "actuation")},
        units={group: _labels(dataset, f"{group}_unit") for group in groups},
        attrs=_read_attributes(stored),
        certificate=_read_certificate(dataset, stored),
        model=StoredModel.read(dataset[_MJB].values.tobytes(), stored[_MODEL], path) if _MODEL in stored else None,
    )


def _labels(dataset: xarray.Dataset, name: str) -> list[str]:
    return [str(label) for label in dataset[name].values] if name in dataset else []


def _read_events(dataset: xarray.Dataset, described: list[list[Any]]) -> np.ndarray:
    dtype = np.dtype([(name, base, tuple(shape)) for name, base, shape in described])
    events = np.empty(dataset.sizes["event"], dtype)
    for field in dtype.names or ():
        events[field] = dataset[f"event_{field}"].values
    return events


def _read_attributes(stored: dict[str, Any]) -> dict[str, Any]:
    encoded = set(json.loads(stored[_JSON]))
    return {
        name: json.loads(value) if name in encoded else value
        for name, value in stored.items()
        if name not in (FORMAT_ATTRIBUTE, _CERTIFICATE, _EVENTS, _JSON, _MODEL)
    }


def _read_certificate(dataset: xarray.Dataset, stored: dict[str, Any]) -> Certificate | None:
    if _CERTIFICATE not in stored:
        return None
    figures = json.loads(stored[_CERTIFICATE])
    figures["timesteps"] = tuple(figures["timesteps"])
    return Certificate(error=dataset["certificate_error"].values, **figures)
