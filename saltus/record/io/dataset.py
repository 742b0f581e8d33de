"""A recording as an xarray dataset: names as coordinates, units and long names as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.record.table.columns import COLUMNS, SIGNALS, Column
from saltus.record.table.events import UNITS
from saltus.record.table.lookup import find, locate, signal_shapes

if TYPE_CHECKING:
    import xarray

    from saltus.record.table.trajectory_table import TrajectoryTable

_CERTIFIED = {
    "error": "estimated error of the generalized positions",
    "bound": "bound of the error of the generalized positions",
}


def to_dataset(trajectory: TrajectoryTable, *, apart: bool = False) -> xarray.Dataset:
    """A recording as an xarray Dataset; see `Trajectory.to_xarray`. `apart`: a variable for each signal."""
    import xarray

    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {}
    for name, column in COLUMNS.items():
        values = getattr(trajectory, name)
        if name == SIGNALS and apart:
            variables |= _signals(trajectory)
        elif column.always or values.shape[1]:
            (coordinates if name == "time" else variables)[name] = (
                ("time", *column.dimensions),
                values,
                _about(column, trajectory),
            )
            coordinates |= _labels(column, trajectory)
    variables.update(_end_variables(trajectory))
    variables.update(_event_variables(trajectory))
    attributes = dict(trajectory.attrs)
    if trajectory.certificate is not None:
        for name in ("error", "bound"):
            values = np.asarray(getattr(trajectory.certificate, name), dtype=np.float64)
            about = {"long_name": _CERTIFIED[name], "units": "rad, m"}
            variables[f"certificate_{name}"] = ("time", values, about)
        attributes["certificate"] = str(trajectory.certificate)
    return xarray.Dataset(variables, coordinates, attributes)


def _signals(trajectory: TrajectoryTable) -> dict[str, Any]:
    """A variable for each signal that the run was asked for, with its unit and dimensions of its own."""
    variables = {}
    for name, shape in signal_shapes(trajectory).items():
        _, places, _ = locate(trajectory, name)
        about = {"long_name": name, "units": _common_unit([trajectory.units["signal"][k] for k in places])}
        dimensions = [f"{name}_{axis}" for axis in range(len(shape))]
        variables[name] = (("time", *dimensions), find(trajectory, name), about)
    return variables


def _about(column: Column, trajectory: TrajectoryTable) -> dict[str, Any]:
    """Attributes of a column's variable."""
    unit = _common_unit(trajectory.units[column.group]) if column.units else column.unit
    return {"long_name": column.text} | ({} if unit is None else {"units": unit}) | dict(column.about)


def _labels(column: Column, trajectory: TrajectoryTable) -> dict[str, Any]:
    """Coordinates with the labels, and perhaps the units, of a column's first dimension."""
    if not (column.group or column.labels):
        return {}
    dimension = column.dimensions[0]
    width = getattr(trajectory, column.name).shape[1]
    labels = trajectory.names[column.group] if column.group else list(column.labels[:width])
    found = {dimension: (dimension, _text(labels))}
    if column.units:
        found[f"{column.group}_unit"] = (dimension, _text(trajectory.units[column.group]))
    return found


def _common_unit(units: list[str]) -> str:
    """Unit of all columns, or the units that occur, "1" for pure numbers; a coordinate holds each column's unit."""
    return ", ".join(dict.fromkeys(unit or "1" for unit in units)) or "1"


def _text(labels: list[str]) -> np.ndarray:
    return np.array(labels, dtype=np.str_)


def _end_variables(trajectory: TrajectoryTable) -> dict[str, Any]:
    """The row at the run's end, where no sample lies there."""
    if trajectory.end is None:
        return {}
    return {
        f"end_{name}": (COLUMNS[name].dimensions, value, {"long_name": f"{COLUMNS[name].text} at the end"})
        for name, value in trajectory.end.items()
        if COLUMNS[name].always or value.size
    }


def _event_variables(trajectory: TrajectoryTable) -> dict[str, Any]:
    """One variable per field of the events, along `event` and, for vectors, along dimensions of their own."""
    events = trajectory.events
    variables = {}
    for field in events.dtype.names or ():
        values = np.ascontiguousarray(events[field])
        extra = [f"event_{field}_{axis}" for axis in range(1, values.ndim)]
        about = {"long_name": f"{field} of the event", **({"units": UNITS[field]} if field in UNITS else {})}
        variables[f"event_{field}"] = (("event", *extra), values, about)
    return variables
