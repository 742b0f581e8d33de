"""The Zarr store of a large sweep's results, which many processes can write at once and which can be read meanwhile.

Variables lie along the dimension `run`: each path of values, each measure, `status` and `note` (text in UTF-8). They
are in blocks of `block` runs. A block belongs to one writer; each of its files appears whole or not at all, and that of
its checksums last, so that a block with checksums is complete. Writing a block again gives equal files. Whatever is
read is compared with the checksums (`saltus.record.io.sweep`). Stores from before there were any are continued as they
are: in them, a block with a status is complete.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError, RecordError
from saltus.record.files.atomic_write import reason_of
from saltus.record.files.lock import FileLock
from saltus.record.io.plain_zarr import METADATA, chunk_path
from saltus.record.io.sweep.seals import Seals, column_digest
from saltus.record.io.sweep.stored import (
    ATTRIBUTE,
    FORMAT,
    NOTE,
    RUN,
    STATUS,
    STATUSES,
    StoredSweep,
    shared_part,
)
from saltus.record.io.sweep_store import plain
from saltus.record.table.sweep_table import text_of

if TYPE_CHECKING:
    import xarray

LONGEST = 400  # bytes of a note
OWN = (RUN, STATUS, NOTE, "case")
TRIES = 5  # times that a block is written where another process writes it, too
WINDOWS = os.name == "nt"
REFUSED = frozenset('<>:"|?*\\')  # by Windows, in names of files


class SweepStore:
    """A store by its path; it can be sent to other processes, which open it for themselves.

    `points`, `cases`: values and names of all runs. `about`: settings that they share, as JSON holds them.
    """

    def __init__(self, path: str | os.PathLike[str], measures: Sequence[str], count: int, block: int):
        self.path, self.measures, self.count, self.block = os.path.abspath(path), tuple(measures), count, block
        self.values_exact = False  # whether `points` gives runs' values as they were, and not as text
        self._stored: StoredSweep | None = None
        self._values: dict[str, tuple[NDArray[Any], dict[str, Any]]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_stored": None, "_values": None}

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
            if os.path.isfile(os.path.join(store.path, METADATA)):
                store._check(header, values, paths)
            else:
                if os.path.isdir(store.path) and os.listdir(store.path):
                    raise RecordError(path, "is a folder, but not the store of a sweep", what="sweep")
                store._create(header, values, paths, cases, measures)
                os.replace(store._unfinished, store.path)
            store.values_exact = all(_comes_back(path, points) for path in paths)
        except (OptionError, RecordError):  # of another sweep, or damaged
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RecordError(path, reason_of(error), what="sweep") from error
        return store

    @property
    def _unfinished(self) -> str:
        """Path at which the store is made before it is renamed, so that it exists as a whole or not at all."""
        return f"{self.path}.new"

    @property
    def stored(self) -> StoredSweep:
        """The store as it is read."""
        if self._stored is None:
            self._stored = StoredSweep(self.path, "r+")
        return self._stored

    def _check(self, header: dict[str, Any], values: list[dict[str, Any]], paths: Sequence[str]) -> None:
        stored = self.stored
        self.block = stored.block
        old, new = stored.header["about"], header["about"]
        different = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        if self.count != stored.count:
            different.append("number of runs")
        else:
            columns, before = {path: _column(path, values) for path in paths}, stored.values()
            same = all(
                name_of(path) in before and column.equals(*before[name_of(path)]) for path, column in columns.items()
            )
            different += [] if same else ["values"]
        if different:
            raise OptionError(
                f"'{self.path}' contains a sweep with another {', '.join(different)}; use another store, or remove it"
            )
        stored.warn_if_unprotected()

    def _create(
        self,
        header: dict[str, Any],
        values: list[dict[str, Any]],
        paths: Sequence[str],
        cases: Sequence[str],
        measures: Mapping[str, str],
    ) -> None:
        import zarr
        from zarr.codecs import Crc32cCodec, ZstdCodec

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
        packed: Any = {"compressors": (ZstdCodec(level=0), Crc32cCodec())}
        columns = {name: _column(path, values) for name, path in zip(names, paths, strict=True)}
        if cases:
            columns["case"] = _texts(list(cases), {})
        for name, column in columns.items():
            dimensions = [RUN, *(f"{name}_{k}" for k in range(column.array.ndim - 1))]
            attrs = column.attrs | {"role": "value"}
            shape, dtype = column.array.shape, column.array.dtype
            array = group.create_array(
                name, shape=shape, dtype=dtype, dimension_names=dimensions, attributes=attrs, **packed
            )
            array[...] = column.array
        for name, unit in measures.items():
            made = {"shape": (n,), "chunks": (block,), "dimension_names": [RUN], "fill_value": np.nan, **packed}
            group.create_array(name, dtype="f8", attributes={"units": unit} if unit else {}, **made)
        meanings = {"flag_values": list(range(len(STATUSES))), "flag_meanings": " ".join(map(_word, STATUSES))}
        made = {"shape": (n, LONGEST), "chunks": (block, LONGEST), "dimension_names": [RUN, "byte"], **packed}
        group.create_array(NOTE, dtype="u1", **made)
        made = {"shape": (n,), "chunks": (block,), "dimension_names": [RUN], "fill_value": 0, **packed}
        group.create_array(STATUS, dtype="i1", attributes=meanings, **made)
        arrays = {name: column.array for name, column in columns.items()}
        shared = shared_part(self._unfinished, [*columns, *measures, NOTE, STATUS], arrays, n)
        Seals(self._unfinished).write_shared(shared)

    def write(self, first: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows of the block that begins with run `first`. RecordError: writing failed (disk full, ...)."""
        notes = np.zeros((len(rows), LONGEST), np.uint8)
        for k, row in enumerate(rows):
            text = row.get("note", "").encode()[:LONGEST]
            notes[k, : len(text)] = np.frombuffer(text, np.uint8)
        found = {
            name: np.array(
                [math.nan if x is None or x != x else x for x in (_measure(row, name) for row in rows)], float
            )
            for name in self.measures
        }
        status = np.array([STATUSES.index(row["status"]) for row in rows], np.int8)
        try:
            self._write(first // self.block, {**found, NOTE: notes, STATUS: status})
        except OSError as error:
            raise RecordError(self.path, reason_of(error), what="sweep") from error

    def _write(self, block: int, columns: Mapping[str, NDArray[Any]]) -> None:
        """Write the columns of a block; its checksums follow, and are compared, since another may write it, too."""
        stored, first = self.stored, block * self.block
        run = slice(first, first + self.size(first))
        if not stored.verified:
            for name, column in columns.items():
                stored.group[name][run] = column
            return
        digests = {name: column_digest(name, column) for name, column in columns.items()}
        for _ in range(TRIES):
            if stored.agrees(block, digests):
                return
            stored.seals.open_again(block)
            for name, column in columns.items():
                with contextlib.suppress(FileNotFoundError):  # of a part that is not overwritten, where it is damaged
                    os.unlink(chunk_path(self.path, name, block, column.ndim))
                stored.group[name][run] = column
            stored.seals.write_block(block, stored.shared, digests)
        if not stored.agrees(block, digests):
            raise RecordError(self.path, f"runs from {first} on are being written by another process", what="sweep")

    def points(self, first: int, count: int) -> list[dict[str, Any]]:
        """Values by path of some consecutive runs, as the store has them. RecordError: they are damaged."""
        if self._values is None:
            self._values = self.stored.values()
        columns = {}
        for column, attributes in self._values.values():
            if "path" in attributes:
                found = column[first : first + count].tolist()
                texts = json.loads(str(attributes.get("texts", "null")))
                columns[attributes["path"]] = found if texts is None else [texts[k] for k in found]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def size(self, first: int) -> int:
        """Number of runs in the block that begins with run `first`."""
        return min(self.block, self.count - first)

    def left(self) -> list[int]:
        """First run of each incomplete block; a block with a lost run is incomplete."""
        status = self.stored.statuses()
        again = (status == 0) | (status == STATUSES.index("lost"))
        return [first for first in range(0, self.count, self.block) if again[first : first + self.block].any()]

    def rows(self) -> list[dict[str, Any]]:
        """Rows of all runs; runs that were not done yet have a row that says so."""
        found = self.stored.rows(self.measures)
        measures = {name: column.tolist() for name, column in found.measures.items()}
        return [
            {
                "status": STATUSES[found.status[k]],
                "note": found.notes[k],
                "measures": {name: column[k] for name, column in measures.items()},
            }
            for k in range(self.count)
        ]

    def lock(self) -> FileLock:
        """Acquire the right to have this store filled. RecordError: another sweep has it."""
        return FileLock(self.path, what="sweep")


def open_dataset(path: str | os.PathLike[str]) -> xarray.Dataset:
    """Read the store of a sweep as a dataset: measures along `run`, values as coordinates; also while it grows.

    Raises:
        RecordError: `path` is not the store of a sweep, or it is damaged.
    """
    import xarray

    stored = StoredSweep(path)
    values, measures = stored.values(), stored.measures()
    rows = stored.rows(measures)
    made: dict[str, Any] = {}
    for name, (column, attributes) in values.items():
        about = {key: value for key, value in attributes.items() if key != "texts"}
        column = np.array(json.loads(attributes["texts"]), dtype=str)[column] if "texts" in attributes else column
        made[name] = ([RUN, *(f"{name}_{k}" for k in range(column.ndim - 1))], column, about)
    made |= {name: (RUN, rows.measures[name], about) for name, about in measures.items()}
    made[NOTE] = RUN, np.array(rows.notes, dtype=str)
    made[STATUS] = RUN, np.array(STATUSES)[rows.status]
    stored.warn_if_unprotected()
    return xarray.Dataset(made, attrs=dict(stored.group.attrs)).set_coords([*values, STATUS])


def block_times(path: str | os.PathLike[str]) -> dict[int, float]:
    """Times at which blocks were written (s, file modification times), by block number."""
    if found := Seals(os.fspath(path)).blocks():
        return found
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

    def equals(self, array: NDArray[Any], attrs: Mapping[str, Any]) -> bool:
        """Whether a stored column, with its attributes, holds the same values."""
        same = self.attrs.get("texts") == attrs.get("texts")
        return same and np.array_equal(array, self.array, equal_nan=self.array.dtype.kind == "f")


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


def _measure(row: Mapping[str, Any], name: str) -> Any:
    return (row.get("measures") or {}).get(name)
