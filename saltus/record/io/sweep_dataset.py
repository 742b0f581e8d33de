"""The table of a sweep as an xarray dataset: measures over the varied values, or over the runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.record.table.sweep_table import CASE, SweepTable

if TYPE_CHECKING:
    import xarray

RUN = "run"


def sweep_dataset(table: SweepTable) -> xarray.Dataset:
    """The table as a Dataset; see `Sweep.to_xarray`."""
    import xarray

    rows = table.array()
    grid = None if table.cases else _grid([rows[path] for path in table.paths])
    if grid is None:
        dimensions, shape, order = (RUN,), (len(table),), np.arange(len(table))
        coordinates: dict[str, Any] = {path: (RUN, rows[path]) for path in table.paths}
        if table.cases:
            coordinates[CASE] = (RUN, rows[CASE])
    else:
        values, order = grid
        dimensions, shape = table.paths, tuple(map(len, values))
        coordinates = {path: (path, found) for path, found in zip(table.paths, values, strict=True)}
    variables: dict[str, Any] = {}
    for name, unit in zip(table.measures, table.units, strict=True):
        about = {"units": unit} if unit else {}
        variables[name] = (dimensions, table[name][order].reshape(shape), about)
    variables["status"] = (dimensions, np.array(table.status, np.str_)[order].reshape(shape))
    variables["note"] = (dimensions, np.array(table.notes, np.str_)[order].reshape(shape))
    return xarray.Dataset(variables, coordinates, {"title": table.title})


def _grid(columns: list[NDArray[Any]]) -> tuple[list[NDArray[Any]], NDArray[np.intp]] | None:
    """Values of each path and the runs in the order of all combinations of them, or None if those are not the runs."""
    if not columns or any(column.dtype.kind == "f" and np.isnan(column).any() for column in columns):
        return None
    values: list[NDArray[Any]] = []
    places: list[NDArray[np.intp]] = []
    for column in columns:
        found, place = np.unique(column, return_inverse=True)
        values.append(found)
        places.append(place)
    shape = tuple(map(len, values))
    flat = np.ravel_multi_index(tuple(places), shape)
    if len(flat) != math.prod(shape) or len(np.unique(flat)) != len(flat):
        return None
    return values, np.argsort(flat)
