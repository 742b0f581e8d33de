"""Columns of a recording by name: "theta", "qpos[theta]", "sensor[gyro][0]", "xpos[hand]", "energy"."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import words
from saltus.errors import OptionError, UnknownName
from saltus.record.table.columns import COLUMNS, SIGNALS
from saltus.record.table.labels import in_brackets
from saltus.record.table.trajectory_table import TrajectoryTable

PARTS = {"axis": "xyz", "quaternion_part": "wxyz"}
PREFIX = {"sensordata": "sensor"}  # of the labels of a column that has another name
GROUP_OF = {column.dimensions[0]: column.group for column in COLUMNS.values() if column.group}


def labels_of(table: TrajectoryTable, name: str) -> list[str]:
    """Full names of all numbers of a column, in the order of a flat row: "qpos[theta]", "contact_force[a b][x]"."""
    column, shape = COLUMNS[name], table.row_shape(name)
    if not shape:
        return [name]
    if name == SIGNALS:
        return list(table.names["signal"])
    group = GROUP_OF.get(column.dimensions[0], "")
    known = table.names[group] if group else list(column.labels)
    first = known[: shape[0]] if len(known) >= shape[0] else [str(k) for k in range(shape[0])]
    full = [in_brackets(PREFIX.get(name, name), label) for label in first]
    for dimension in column.dimensions[1:]:
        full = [f"{label}[{part}]" for label in full for part in PARTS[dimension]]
    return full


def units_of(table: TrajectoryTable, name: str) -> list[str]:
    """Units of all numbers of a column; "" for none."""
    column = COLUMNS[name]
    if column.units:
        return list(table.units[column.group])
    return [column.unit or ""] * math.prod(table.row_shape(name))


def known_names(table: TrajectoryTable) -> list[str]:
    """All names that `find` takes, but for those of parts of a label."""
    columns = [name for name in COLUMNS if 0 not in table.row_shape(name)]
    bare = [*table.names["qpos"], *table.names["qvel"], *table.names["sensor"]]
    return list(
        dict.fromkeys(
            [*bare, *columns, *signal_shapes(table), *(label for c in columns for label in labels_of(table, c))]
        )
    )


class Place(NamedTuple):
    """Place of a quantity in a recording: column, places in its flat rows, and shape of a row of the quantity."""

    column: str
    places: list[int]
    shape: tuple[int, ...]


def find(table: TrajectoryTable, name: str) -> NDArray[Any]:
    """Values [T, ...] of a column, joint, coordinate, sensor or signal.

    Raises:
        OptionError: the name is unknown or ambiguous.
    """
    column, places, shape = locate(table, name)
    if name == column:
        return getattr(table, column)
    return _flat(table, column)[:, places].reshape(len(table), *shape)


def locate(table: TrajectoryTable, name: str) -> Place:
    """The place of a quantity with a name; errors as of `find`."""
    if not isinstance(name, str):
        raise UnknownName(f"a column of a recording is found by its name, got {name!r}")
    full = _by_full_name(table, name)
    found = _by_bare_name(table, name)
    if full is not None and name not in found:
        found.append(name)
    if len(found) > 1:
        raise OptionError(f"{name!r} is ambiguous in this recording: write one of {', '.join(sorted(found))}")
    place = _by_full_name(table, found[0] if found else name)
    if place is None:
        known = known_names(table)
        inputs = [label for label in known if label in (f"ctrl[{name}]", f"act[{name}]")]
        if inputs:
            raise UnknownName(
                f"{name!r} is neither a joint nor a sensor of this recording; write {' or '.join(inputs)}"
            )
        raise UnknownName.unknown("column of a recording", name, known)
    return place


def _by_full_name(table: TrajectoryTable, name: str) -> Place | None:
    """Place of a column, a signal, a label, or of all labels that begin with a name."""
    if name in COLUMNS and 0 not in table.row_shape(name):
        shape = table.row_shape(name)
        return Place(name, list(range(math.prod(shape))), shape)
    first = 0
    for signal, shape in signal_shapes(table).items():
        count = math.prod(shape)
        if signal == name:
            return Place(SIGNALS, list(range(first, first + count)), tuple(shape))
        first += count
    if name.startswith("sensordata["):
        name = f"sensor{name.removeprefix('sensordata')}"
    for column in COLUMNS:
        if 0 in table.row_shape(column) or not (column == SIGNALS or name.startswith(f"{PREFIX.get(column, column)}[")):
            continue
        labels = labels_of(table, column)
        if name in labels:
            return Place(column, [labels.index(name)], ())
        parts = (f"{name}[", f"{name[:-1]}.")  # of a vector, or of a joint
        if places := [k for k, label in enumerate(labels) if label.startswith(parts)]:
            return Place(column, places, (len(places),))
    return None


def signal_shapes(table: TrajectoryTable) -> dict[str, list[int]]:
    """Shapes of the signals that the run was asked for, by name."""
    shapes: Any = table.attrs.get(SIGNALS)
    return shapes if isinstance(shapes, dict) and 0 not in table.row_shape(SIGNALS) else {}


def _flat(table: TrajectoryTable, column: str) -> NDArray[Any]:
    """A column [T, n]."""
    values = getattr(table, column)
    return values.reshape(len(values), math.prod(values.shape[1:]))


def _by_bare_name(table: TrajectoryTable, name: str) -> list[str]:
    """Full names of a joint's positions, of one coordinate, and of a sensor with this name."""
    found = []
    if any(name in (label, label.rpartition(".")[0]) for label in table.names["qpos"]):
        found.append(f"qpos[{name}]")
    elif name in table.names["qvel"]:
        found.append(f"qvel[{name}]")
    for label in table.names["sensor"]:
        full = in_brackets("sensor", label)
        if label == name or full.startswith(f"sensor[{name}]["):
            found.append(in_brackets("sensor", name))
    return list(dict.fromkeys(found))


def flat_table(
    table: TrajectoryTable, columns: str | Iterable[str] | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Numbers over time [T] and their units by full name, `time` first; `columns`: of these names, as `find` takes.

    Raises:
        OptionError: a name is unknown or ambiguous.
    """
    if columns is None:
        columns = [name for name in COLUMNS if 0 not in table.row_shape(name)]
    values, units = {"time": table.time}, {"time": "s"}
    for name in words("columns", columns):
        column, places, _ = locate(table, name)
        if column == "time":
            continue
        flat, labels, of_unit = _flat(table, column), labels_of(table, column), units_of(table, column)
        for k in places:
            values[labels[k]], units[labels[k]] = flat[:, k], of_unit[k]
    return values, units


class NamedColumns(TrajectoryTable):
    """A table of which quantities are read by their names."""

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Values [T, ...] of a joint's positions ("theta"), a coordinate ("root.vx"), a sensor, a column or a signal.

        Full names are those of `columns`: "qvel[theta]", "ctrl[motor]", "sensor[gyro][0]", "energy[kinetic]",
        "xpos[hand]" where it was recorded. Contact modes and states keep their types, int8 and bool.

        Raises:
            OptionError: the name is unknown (also a KeyError, so that NumPy takes recordings for no sequences) or
                ambiguous.
        """
        return find(self, name)

    @property
    def columns(self) -> dict[str, str]:
        """Units of all recorded numbers by full name, in the order of tables; "" for none."""
        found: dict[str, str] = {}
        for name in COLUMNS:
            if 0 not in self.row_shape(name):
                found |= dict(zip(labels_of(self, name), units_of(self, name), strict=True))
        return found
