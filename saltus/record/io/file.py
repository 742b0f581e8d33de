"""Recordings as netCDF4 files: written atomically, with a checksum, and read back bit for bit."""

from __future__ import annotations

import dataclasses
import json
import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.errors import OptionError, RecordError, SaltusWarning
from saltus.files.checksum import Damaged
from saltus.files.opening import open_regular
from saltus.record.files.atomic_write import reason_of
from saltus.record.files.checksum import SIZE, sealed_size, write_sealed
from saltus.record.files.limits import checked_path
from saltus.record.io.dataset import to_dataset
from saltus.record.io.export import EXPORTS, PARQUET, check_parquet, export, suffix_of
from saltus.record.io.isolated_reader import check_readable
from saltus.record.io.netcdf import read_dataset
from saltus.record.io.plain_hdf5 import stated_size
from saltus.record.table.certificate import Certificate
from saltus.record.table.columns import COLUMNS, DIMENSIONS, GROUPS
from saltus.record.table.stored_model import StoredModel
from saltus.record.table.trajectory_table import TrajectoryTable

if TYPE_CHECKING:
    import xarray

#: Suffix of recordings that are Zarr stores, and those that other programs know netCDF4 files by.
STORE = ".zarr"
NETCDF = (".nc", ".nc4", ".netcdf", ".h5", ".hdf5")

#: Version of the layout, in the file's attribute of this name; newer versions are refused.
FORMAT_ATTRIBUTE = "trajectory_format"
FORMAT = 2

#: Attribute of `time` in files that end with a seal; a file with the attribute but without the seal was altered.
SEALED, BY = "checksum", "BLAKE2b-256 of the file, at its end"
UNVERIFIED = "was written before recordings had checksums: it cannot be verified; saving it again adds them"

# attributes of the file itself, not of the recording, which cannot have attributes of these names
_CERTIFICATE, _EVENTS, _JSON = "trajectory_certificate", "trajectory_events", "trajectory_json"
_MODEL, _MJB = "trajectory_model", "model_mjb"


def save(trajectory: TrajectoryTable, path: str | os.PathLike[str]) -> None:
    """Write a recording to a file; see `Trajectory.save`."""
    path = checked_path(path)
    if os.path.isfile(path) or not os.path.exists(path):  # a directory or a pipe is refused by what it is
        check_suffix(path)
    if suffix_of(path) in EXPORTS:
        export(trajectory, path)
        return
    if suffix_of(path) == STORE:
        from saltus.record.io.stream import save_store

        save_store(trajectory, path)
        return
    try:
        content = _image(trajectory)
    except ImportError as error:
        raise RecordError(path, f"netCDF output needs xarray, h5netcdf and h5py ({error})") from error
    except OptionError:
        raise
    except (OSError, ValueError, TypeError, RuntimeError, MemoryError) as error:
        raise RecordError(path, reason_of(error)) from error
    write_sealed(path, content)


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raise OptionError for a suffix that is not a recording's, or of a format that cannot be written here."""
    suffix = suffix_of(path)
    if suffix not in (*NETCDF, STORE, *EXPORTS):
        known = f"{', '.join(NETCDF)} (netCDF4), {STORE} (Zarr) or {', '.join(EXPORTS)} (tables for other programs)"
        raise OptionError(f"the suffix of a recording must be {known}, got '{os.fspath(path)}'")
    if suffix == PARQUET:
        check_parquet()


def load(path: str | os.PathLike[str]) -> TrajectoryTable:
    """Read a recording from a file; see `Trajectory.load`."""
    path = checked_path(path)
    if os.path.isdir(path):
        from saltus.record.io.store import load_store

        return load_store(path)
    if suffix_of(path) in EXPORTS:
        reason = f"a table for other programs; Saltus reads recordings from {NETCDF[0]} and {STORE}"
        raise RecordError(path, reason, action="read")
    dataset, sealed = _opened(path)
    version = dataset.attrs.get(FORMAT_ATTRIBUTE)
    if version is None:
        raise RecordError(path, "netCDF, but not a recording of Saltus", action="read")
    try:
        if version > FORMAT:
            raise RecordError(path, f"written by a newer Saltus (layout {version}, known {FORMAT})", action="read")
        if not sealed and SEALED in dataset["time"].attrs:
            reason = "damaged recording, or rewritten by another program: the checksum at its end is missing"
            raise RecordError(path, reason, action="read")
        trajectory = _from_dataset(dataset, path)
    except RecordError:
        raise
    except Exception as error:
        raise RecordError(path, f"damaged recording ({reason_of(error)})", action="read") from error
    if not sealed:
        warnings.warn(f"recording '{path}' {UNVERIFIED}", SaltusWarning, stacklevel=3)
    return trajectory


def _image(trajectory: TrajectoryTable) -> memoryview:
    """The bytes of the file. Composed in memory, since HDF5 cannot recover from a disk that fills up under it."""
    dataset = to_dataset(trajectory)
    dataset.attrs = _attributes(trajectory)
    if (stored := trajectory.stored_model) is not None:
        dataset.attrs[_MODEL] = stored.about()
        dataset[_MJB] = ("model_byte", np.frombuffer(stored.mjb, np.uint8))
    dataset["time"].attrs[SEALED] = BY
    for variable in dataset.variables:
        # no fill value: a nan stays nan
        dataset[variable].encoding["_FillValue"] = None
    return memoryview(dataset.to_netcdf(engine="h5netcdf"))


def _opened(path: str) -> tuple[xarray.Dataset, bool]:
    """Contents of a file, and whether a checksum confirms that they are as written."""
    try:
        with open_regular(path) as file:
            behind = os.fstat(file.fileno()).st_size - stated_size(file)
            sealed = sealed_size(file) is not None
            if not sealed and behind == SIZE:
                raise Damaged("the checksum at its end is invalid")
            if not sealed:
                check_readable(path)
            return read_dataset(file), sealed
    except ImportError as error:
        reason = f"netCDF input needs xarray, h5netcdf and h5py ({error})"
        raise RecordError(path, reason, action="read") from error
    except Damaged as error:
        raise RecordError(path, f"damaged recording ({error})", action="read") from error
    except Exception as error:
        if (isinstance(error, OSError) and error.filename is not None) or "\0" in path:
            raise RecordError(path, reason_of(error), action="read") from error
        # the exceptions of HDF5 and its readers on broken files are open-ended
        raise RecordError(path, f"not a netCDF4 file, or a damaged one ({reason_of(error)})", action="read") from error


def _attributes(trajectory: TrajectoryTable) -> dict[str, Any]:
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
        del figures["error"], figures["bound"]
        stored[_CERTIFICATE] = json.dumps(figures)
    return stored


def _described(dtype: np.dtype[Any]) -> list[list[Any]]:
    return [[name, dtype[name].base.str, list(dtype[name].shape)] for name in dtype.names or ()]


def _from_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> TrajectoryTable:
    stored = dict(dataset.attrs)
    ends = {name: dataset[f"end_{name}"].values for name in DIMENSIONS if f"end_{name}" in dataset}
    return TrajectoryTable(
        **{name: dataset[name].values for name in DIMENSIONS if name in dataset},
        end=ends or None,
        events=_read_events(dataset, json.loads(stored[_EVENTS])),
        names={group: _labels(dataset, f"{group}_name") for group in GROUPS},
        units={group: _labels(dataset, f"{group}_unit") for group, name in GROUPS.items() if COLUMNS[name].units},
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
    if "certificate_bound" in dataset:
        figures["bound"] = dataset["certificate_bound"].values
    return Certificate(error=dataset["certificate_error"].values, **figures)
