"""Reference motions from tables: CSV files, data frames and mappings of columns."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError
from saltus.model.enums import BALL, FREE
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.trajectories.reference_motion import ReferenceMotion
from saltus.trajectories.way_points import spline

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]
#: A table of positions: the path of a CSV file, a data frame of pandas, or columns by name.
MotionTable: TypeAlias = "str | os.PathLike[str] | pandas.DataFrame | Mapping[str, ArrayLike]"
QUATERNION, PLACE = ("qw", "qx", "qy", "qz"), ("x", "y", "z")
WHO = "read_motion"


def read_motion(model: ModelSource, table: MotionTable, *, at_rest: bool = False) -> ReferenceMotion:
    """The cubic spline through the rows of a table: of a CSV file, a data frame, or columns by name.

    It has a column `time` (s; of a data frame also its index) and one for each joint that moves, by its name or as
    `Trajectory.to_csv` and `to_pandas` write it: `qpos[knee]`; of ball joints `hip.qw`, `hip.qx`, `hip.qy`, `hip.qz`,
    of free joints also `root.x`, `root.y`, `root.z`. Other columns are left out, and joints without columns stay at the
    model's qpos0. `at_rest`: as of `spline`, whose errors apply.

    Raises:
        OptionError: no such file, no time, no column of a joint, or a number that is none.
    """
    made = load(model)
    columns = _columns(table)
    if "time" not in columns:
        raise OptionError(f"{WHO}: the table has no column 'time'; there are: {', '.join(columns)}")
    joints, found = [], []
    for name, labels in _labels(made).items():
        there = [next((n for n in (f"qpos[{label}]", label) if n in columns), None) for label in labels]
        if any(there):
            if missing := [label for label, n in zip(labels, there, strict=True) if n is None]:
                raise OptionError(f"{WHO}: joint {name!r} has no column {missing[0]!r}")
            joints.append(name)
            found += [columns[n] for n in there if n is not None]
    if not joints:
        raise OptionError(f"{WHO}: no column has the name of a joint; joints are: {', '.join(_labels(made))}")
    return spline(made, np.stack(found, axis=1), columns["time"], joints=joints, at_rest=at_rest)


def _labels(model: Model) -> dict[str, Sequence[str]]:
    """Names of the columns of each named joint."""
    found: dict[str, Sequence[str]] = {}
    for name, kind in zip(model.names("joint"), model.mj_model.jnt_type, strict=True):
        parts = (*(PLACE if kind == FREE else ()), *QUATERNION) if kind in (FREE, BALL) else ()
        if name:
            found[name] = [f"{name}.{part}" for part in parts] or [name]
    return found


def _columns(table: MotionTable) -> dict[str, Array]:
    """Columns [n] of numbers by name; those of a file or frame that hold no numbers are left out."""
    if isinstance(table, (str, os.PathLike)):
        return _of_file(table)
    if hasattr(table, "columns") and hasattr(table, "index"):
        named = {str(c): table[c].to_numpy() for c in table.columns}  # type: ignore[union-attr]
        if "time" not in named and table.index.name == "time":  # type: ignore[union-attr]
            named["time"] = table.index.to_numpy()  # type: ignore[union-attr]
        return {name: np.asarray(c, float) for name, c in named.items() if np.issubdtype(c.dtype, np.number)}
    if not isinstance(table, Mapping):
        raise OptionError(f"{WHO}: table must be a path, a data frame or a mapping, got {type(table).__name__}")
    named = {str(name): numbers(f"{WHO}: {name}", column) for name, column in table.items()}
    lengths = {column.shape for column in named.values()}
    if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
        raise OptionError(f"{WHO}: columns must be as long as each other, got shapes {sorted(lengths)}")
    return named


def _of_file(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Columns of a CSV file with names in its first line."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        raise OptionError(f"{WHO}: {os.fspath(path)} cannot be read: {error}") from None
    if len(rows) < 2:
        raise OptionError(f"{WHO}: {os.fspath(path)} has no rows below its names")
    names = [name.strip() for name in rows[0]]
    for k, row in enumerate(rows[1:], 2):
        if len(row) != len(names):
            raise OptionError(f"{WHO}: row {k} of {os.fspath(path)} has {len(row)} columns, not {len(names)}")
    found = {}
    for name, column in zip(names, zip(*rows[1:], strict=True), strict=True):
        try:
            found[name] = np.array([float(x) for x in column])
        except ValueError:
            continue  # text, such as a remark
    return found
