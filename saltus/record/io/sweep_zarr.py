"""The Zarr store of a large sweep's results, which many processes can write at once and which can be read meanwhile.

Variables lie along the dimension `run`: each path of values, each measure, `status` and `note` (text in UTF-8). They
are in blocks of `block` runs. A block belongs to one writer; each of its files appears whole or not at all, and that of
`status` last, so that a block with a status is complete. Writing a block again gives equal files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError, RecordError
from saltus.record.files.atomic_write import reason_of
from saltus.record.files.lock import FileLock
from saltus.record.io.sweep_store import plain
from saltus.record.table.sweep_table import DONE, FAILED, NOT_RUN, text_of

if TYPE_CHECKING:
    import xarray

FORMAT = "saltus sweep 2"
ATTRIBUTE = "saltus_sweep"
RUN, STATUS, NOTE = "run", "status", "note"
STATUSES = (NOT_RUN, DONE, *FAILED)
LONGEST = 400  # bytes of a note
OWN = (RUN, STATUS, NOTE, "case")
WINDOWS = os.name == "nt"
REFUSED = frozenset('<>:"|?*\\')  # by Windows, in names of files


class SweepStore:
    """A store by its path; it can be sent to other processes, which open it for themselves.

    `points`, `cases`: values and names of all runs. `about`: settings that they share, as JSON holds them.
    """

    def __init__(self, path: str | os.PathLike[str], measures: Sequence[str], count: int, block: int):
        self.path, self.measures, self.count, self.block = os.path.abspath(path), tuple(measures), count, block
        self.values_exact = False  # whether `points` gives runs' values as they were, and not as text
        self._group: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_group": None}

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        about: Mapping[str, Any],
        points: Sequence[Mapping[str, Any]],
        paths: Sequence[str],
        cases: Sequence[str],
        measures: Mapping[str, str],
        block: int,
    ) -> SweepStore:
        """Open the store at a path; create it where there is none. `measures`: units by name.

        Raises:
            OptionError: the existing store belongs to another sweep; the message says what differs.
            RecordError: the store cannot be read or written.
        """
        store = cls(path, tuple(measures), len(points), block)
        header = json.loads(json.dumps({"format": FORMAT, "about": about, "block": block}))
        values = [plain(point) for point in points]
        try:
            if os.path.isfile(os.path.join(store.path, "zarr.json")):
                store._check(header, values, paths)
            else:
                store._create(header, values, paths, cases, measures)
                os.replace(store._unfinished, store.path)
                store._group = None
            store.values_exact = all(_comes_back(path, points) for path in paths)
        except OptionError:  # of another sweep
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RecordError(path, reason_of(error), what="sweep") from error
        return store

    @property
    def _unfinished(self) -> str:
        """Path at which the store is made before it is renamed, so that it exists as a whole or not at all."""
        return f"{self.path}.new"

    @property
    def group(self) -> Any:
        import zarr

        if self._group is None:
            self._group = zarr.open_group(self.path, mode="r+")
        return self._group

    def _check(self, header: dict[str, Any], values: list[dict[str, Any]], paths: Sequence[str]) -> None:
        before = json.loads(self.group.attrs[ATTRIBUTE])
        if before["format"] != FORMAT:
            raise ValueError(f"its format is {before['format']!r}")
        self.block = int(before["block"])
        old, new = before["about"], header["about"]
        different = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        if self.count != self.group[STATUS].shape[0]:
            different.append("number of runs")
        else:
            columns = {path: _column(path, values) for path in paths}
            same = all(
                name_of(p) in self.group and np.array_equal(self.group[name_of(p)][:], c.array, equal_nan=True)
                for p, c in columns.items()
            )
            different += [] if same else ["values"]
        if different:
            raise OptionError(
                f"'{self.path}' contains a sweep with another {', '.join(different)}; use another store, or remove it"
            )

    def _create(
        self,
        header: dict[str, Any],
        values: list[dict[str, Any]],
        paths: Sequence[str],
        cases: Sequence[str],
        measures: Mapping[str, str],
    ) -> None:
        import zarr

        names = [name_of(path) for path in paths]
        if repeated := next((x for k, x in enumerate([*names, *measures]) if x in [*names, *measures][:k]), ""):
            raise OptionError(f"the store cannot have two variables with the name {repeated!r}; name the measure")
        if taken := {*names, *measures} & {*OWN}:
            raise OptionError(f"the store has a variable {sorted(taken)[0]!r} of its own; name the measure")
        if WINDOWS and (bad := [x for x in (*names, *measures) if REFUSED & {*x} or x.endswith((" ", "."))]):
            raise OptionError(
                f"Windows takes no folder with the name {bad[0]!r}, which a variable of the store would have; "
                "rename it, or save the sweep as .json"
            )
        attributes: dict[str, Any] = {ATTRIBUTE: json.dumps(header)}
        group = zarr.open_group(self._unfinished, mode="w", zarr_format=3, attributes=attributes)
        n, block = self.count, min(self.block, max(self.count, 1))
        columns = {name: _column(path, values) for name, path in zip(names, paths, strict=True)}
        if cases:
            columns["case"] = _texts(list(cases), {})
        for name, column in columns.items():
            dimensions = [RUN, *(f"{name}_{k}" for k in range(column.array.ndim - 1))]
            attrs = column.attrs | {"role": "value"}
            array = group.create_array(
                name, shape=column.array.shape, dtype=column.array.dtype, dimension_names=dimensions, attributes=attrs
            )
            array[...] = column.array
        for name, unit in measures.items():
            made = {"shape": (n,), "chunks": (block,), "dimension_names": [RUN], "fill_value": np.nan}
            group.create_array(name, dtype="f8", attributes={"units": unit} if unit else {}, **made)
        meanings = {"flag_values": list(range(len(STATUSES))), "flag_meanings": " ".join(map(_word, STATUSES))}
        group.create_array(NOTE, shape=(n, LONGEST), chunks=(block, LONGEST), dtype="u1", dimension_names=[RUN, "byte"])
        made = {"shape": (n,), "chunks": (block,), "dimension_names": [RUN], "fill_value": 0}
        group.create_array(STATUS, dtype="i1", attributes=meanings, **made)

    def write(self, first: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows of the block that begins with run `first`. RecordError: writing failed (disk full, ...)."""
        run = slice(first, first + len(rows))
        notes = np.zeros((len(rows), LONGEST), np.uint8)
        for k, row in enumerate(rows):
            text = row.get("note", "").encode()[:LONGEST]
            notes[k, : len(text)] = np.frombuffer(text, np.uint8)
        try:
            for name in self.measures:
                found = [(row.get("measures") or {}).get(name) for row in rows]
                self.group[name][run] = np.array([np.nan if x is None else x for x in found])
            self.group[NOTE][run] = notes
            self.group[STATUS][run] = np.array([STATUSES.index(row["status"]) for row in rows], np.int8)
        except OSError as error:
            raise RecordError(self.path, reason_of(error), what="sweep") from error

    def points(self, first: int, count: int) -> list[dict[str, Any]]:
        """Values by path of some consecutive runs, as the store has them."""
        columns = {}
        for _, array in self.group.arrays():
            if "path" in array.attrs:
                found = array[first : first + count].tolist()
                texts = json.loads(str(array.attrs.get("texts", "null")))
                columns[array.attrs["path"]] = found if texts is None else [texts[k] for k in found]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def size(self, first: int) -> int:
        """Number of runs in the block that begins with run `first`."""
        return min(self.block, self.count - first)

    def left(self) -> list[int]:
        """First run of each incomplete block; a block with a lost run is incomplete."""
        status = self.group[STATUS][:]
        again = (status == 0) | (status == STATUSES.index("lost"))
        return [first for first in range(0, self.count, self.block) if again[first : first + self.block].any()]

    def rows(self) -> list[dict[str, Any]]:
        """Rows of all runs; runs that were not done yet have a row that says so."""
        measures = {name: self.group[name][:].tolist() for name in self.measures}
        status, notes = self.group[STATUS][:], self.group[NOTE][:]
        told = notes.any(axis=1)
        return [
            {
                "status": STATUSES[status[k]],
                "note": _text(notes[k]) if told[k] else "",
                "measures": {name: column[k] for name, column in measures.items()},
            }
            for k in range(self.count)
        ]

    def lock(self) -> FileLock:
        """Acquire the right to have this store filled. RecordError: another sweep has it."""
        return FileLock(self.path, what="sweep")


def open_dataset(path: str | os.PathLike[str]) -> xarray.Dataset:
    """Open the store of a sweep as a dataset: measures along `run`, values as coordinates; also while it grows.

    Raises:
        RecordError: `path` is not the store of a sweep.
    """
    import xarray
    import zarr

    try:
        group = zarr.open_group(path, mode="r")
        if json.loads(str(group.attrs[ATTRIBUTE]))["format"] != FORMAT:
            raise ValueError("it has another format")
    except (OSError, ValueError, KeyError) as error:
        raise RecordError(path, f"not a sweep: {reason_of(error)}", action="read", what="sweep") from error
    raw = xarray.open_zarr(path, consolidated=False)
    values = [name for name, variable in raw.variables.items() if variable.attrs.get("role") == "value"]
    texts = {name: raw[name].attrs["texts"] for name in values if "texts" in raw[name].attrs}
    made: dict[Any, Any] = {
        name: (
            RUN,
            np.array(json.loads(words), dtype=str)[raw[name].values],
            {"path": raw[name].attrs.get("path", name)},
        )
        for name, words in texts.items()
    }
    made[NOTE] = RUN, np.array([_text(row) for row in raw[NOTE].values], dtype=str)
    made[STATUS] = RUN, np.array(STATUSES)[raw[STATUS].values]
    return raw.drop_vars([*made]).assign(made).set_coords([*values, STATUS])


def block_times(path: str | os.PathLike[str]) -> dict[int, float]:
    """Times at which blocks were written (s, file modification times), by block number."""
    try:
        with os.scandir(os.path.join(path, STATUS, "c")) as files:
            return {int(file.name): file.stat().st_mtime for file in files if file.name.isdecimal()}
    except FileNotFoundError:  # nothing is written yet
        return {}


def name_of(path: str) -> str:
    """Name of the variable for the values of a path, without slashes, which are folders in a store."""
    return path.replace("/", ".")


class _Column:
    """Values of all runs as an array, with descriptive attributes."""

    def __init__(self, array: NDArray[Any], attrs: dict[str, Any]):
        self.array, self.attrs = array, attrs


def _column(path: str, values: Sequence[Mapping[str, Any]]) -> _Column:
    """Numbers where all are; of other values their number in a list of texts."""
    given = [point.get(path, np.nan) for point in values]
    attrs = {"path": path, "long_name": path}
    if all(isinstance(x, int | float) and not isinstance(x, bool) for x in given):
        return _Column(np.array(given, float), attrs)
    if all(isinstance(x, list) for x in given):
        try:
            return _Column(np.array(given, float), attrs)
        except (ValueError, TypeError):
            pass
    return _texts([text_of(point[path]) if path in point else "" for point in values], attrs)


def _texts(texts: list[str], attrs: dict[str, Any]) -> _Column:
    known = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    return _Column(np.array([known[text] for text in texts], np.int32), attrs | {"texts": json.dumps([*known])})


def _comes_back(path: str, points: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a column holds a path's values exactly: all fractions, or all texts."""
    kinds = {type(point.get(path)) for point in points}
    return kinds <= {float} or kinds <= {str}


def _word(text: str) -> str:
    return text.replace(" ", "_")


def _text(row: Iterable[int]) -> str:
    return bytes(row).rstrip(b"\0").decode(errors="ignore")
