"""Recordings as tables and arrays for other programs: pandas, CSV, Parquet, MATLAB, NumPy."""

from __future__ import annotations

import csv
import importlib.util
import io
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.errors import OptionError, RecordError
from saltus.record.files.atomic_write import reason_of, write_whole
from saltus.record.files.limits import checked_path
from saltus.record.table.columns import COLUMNS
from saltus.record.table.lookup import flat_table
from saltus.record.table.trajectory_table import TrajectoryTable

if TYPE_CHECKING:
    import pandas

PARQUET = ".parquet"
ENGINES = ("pyarrow", "fastparquet")  # packages with which pandas writes Parquet


def to_pandas(table: TrajectoryTable, columns: str | Iterable[str] | None = None) -> pandas.DataFrame:
    """The samples as a data frame; see `Trajectory.to_pandas`."""
    try:
        import pandas
    except ImportError as error:
        raise OptionError(f"to_pandas needs pandas: pip install pandas ({error})") from error
    values, units = flat_table(table, columns)
    frame = pandas.DataFrame(values).set_index("time")
    frame.attrs["units"] = units
    return frame


def to_csv(table: TrajectoryTable, path: str | os.PathLike[str], columns: str | Iterable[str] | None = None) -> None:
    """Write the samples as CSV; see `Trajectory.to_csv`."""
    path = checked_path(path)
    values, _ = flat_table(table, columns)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(values)
    numbers = [(column.astype(int) if column.dtype == bool else column).tolist() for column in values.values()]
    writer.writerows(zip(*numbers, strict=True))
    write_whole(path, text.getvalue().encode())


def _parquet(table: TrajectoryTable) -> bytes:
    check_parquet()
    buffer = io.BytesIO()
    to_pandas(table).to_parquet(buffer)
    return buffer.getvalue()


def _npz(table: TrajectoryTable) -> bytes:
    """Columns by name, labels and units as "names_qpos" and "units_qpos", and the events."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {name: getattr(table, name) for name in _filled(table)}
    for what, labels in (("names", table.names), ("units", table.units)):
        arrays |= {f"{what}_{group}": np.array(found, np.str_) for group, found in labels.items() if found}
    np.savez(buffer, **arrays, events=np.asarray(table.events))
    return buffer.getvalue()


def _mat(table: TrajectoryTable) -> bytes:
    """Columns by name, structs `names` and `units` with cells of texts, and a struct of the events' fields."""
    from scipy.io import savemat

    content: dict[str, Any] = {name: getattr(table, name) for name in _filled(table)}
    for what, labels in (("names", table.names), ("units", table.units)):
        content[what] = {group: np.array(found, dtype=object) for group, found in labels.items() if found}
    events = table.events
    fields = {field: np.asarray(events[field]) for field in events.dtype.names or ()}
    content["events"] = {
        field: values.astype(object) if values.dtype.kind == "U" else values for field, values in fields.items()
    }
    buffer = io.BytesIO()
    savemat(buffer, content, long_field_names=True, oned_as="column")
    return buffer.getvalue()


def _filled(table: TrajectoryTable) -> list[str]:
    return [name for name in COLUMNS if 0 not in table.row_shape(name)]


WRITERS = {PARQUET: _parquet, ".mat": _mat, ".npz": _npz}
CSV = ".csv"
#: Suffixes of files that other programs read.
EXPORTS = (CSV, *WRITERS)


def export(table: TrajectoryTable, path: str | os.PathLike[str]) -> None:
    """Write a recording in the format of the suffix, one of `EXPORTS`."""
    path = checked_path(path)
    suffix = suffix_of(path)
    if suffix == CSV:
        to_csv(table, path)
        return
    try:
        content = WRITERS[suffix](table)
    except (ImportError, ValueError, TypeError, MemoryError) as error:
        raise RecordError(path, reason_of(error)) from error
    write_whole(path, content)


def suffix_of(path: str | os.PathLike[str]) -> str:
    """The suffix of a file's name, in small letters."""
    return os.path.splitext(os.fspath(path))[1].lower()


def check_parquet() -> None:
    """Raise OptionError unless pandas can write Parquet here."""
    if not any(importlib.util.find_spec(name) for name in ENGINES):
        raise OptionError("Parquet files (.parquet) need pandas and pyarrow: pip install pandas pyarrow")
