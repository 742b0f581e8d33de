"""Reading the Zarr store of a sweep, whose files may be damaged or not be files: numbers are as written, or refused."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from saltus.errors import RecordError, warn
from saltus.files.checksum import Damaged
from saltus.record.files.atomic_write import reason_of
from saltus.record.files.limits import LEAST, Allowance
from saltus.record.io.plain_zarr import METADATA, array_size, check_chunks, metadata_digest, opened_group
from saltus.record.io.sweep.seals import Seals, column_digest
from saltus.record.table.sweep_table import DONE, FAILED, NOT_RUN

FORMAT = "saltus sweep 3"
UNPROTECTED = "saltus sweep 2"  # from before there were checksums
UNVERIFIED = "was written before sweeps had checksums: it cannot be verified, and damaged numbers would not be noticed"
ATTRIBUTE = "saltus_sweep"
RUN, STATUS, NOTE = "run", "status", "note"
STATUSES = (NOT_RUN, DONE, *FAILED)
LARGEST_BLOCK = 2**20  # runs
SPAN = 2**26  # bytes of notes that are held at once
DTYPES = {"f": np.dtype("f8"), "i": np.dtype("i4")}  # of values, by kind


@dataclass(frozen=True)
class Rows:
    """Stored rows of all runs: `status` [n] counts in `STATUSES`, `measures` [n] by name, `notes` [n]."""

    status: NDArray[np.int8]
    measures: dict[str, NDArray[np.float64]]
    notes: list[str]


class StoredSweep:
    """The store of a sweep at a path, open to read, or with "r+" to write blocks.

    Attributes:
        group: the Zarr group.
        header: settings of the sweep, as JSON holds them: "format", "about", "block".
        block, count: runs in a block, and in all.
        verified: whether the store has checksums, with which all that is read is compared.
        shared: checksum of what all runs share; "" without checksums.

    Raises:
        RecordError: there is no store of a sweep at `path`, or it is damaged or cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], mode: Literal["r", "r+"] = "r"):
        self.path = os.fspath(path)
        self.seals = Seals(self.path)
        if not os.path.isfile(os.path.join(self.path, METADATA)):
            raise RecordError(path, "not a sweep: there is no Zarr store", action="read", what="sweep")
        with naming(path):
            self.group: Any = opened_group(self.path, mode)
            if ATTRIBUTE not in self.group.attrs:
                raise RecordError(path, "not a sweep: it is another Zarr store", action="read", what="sweep")
            self.header: dict[str, Any] = json.loads(str(self.group.attrs[ATTRIBUTE]))
            if self.header["format"] not in (FORMAT, UNPROTECTED):
                reason = f"not a sweep: its format is {self.header['format']!r}"
                raise RecordError(path, reason, action="read", what="sweep")
            found = self.seals.shared()
            if found is None and self.header["format"] == FORMAT:
                raise Damaged("its checksums are missing")
            self.verified = found is not None
            self._shared, self.shared = found or ({}, "")
            self._compare_metadata("")
            self.block = _whole(self.header["block"], 1, LARGEST_BLOCK)
            self.count = int(self._array(STATUS, np.dtype("i1")).shape[0])
            if self.verified and self.count != self._shared["count"]:
                raise Damaged("it has another number of runs than was written")
            if not isinstance(self.header["about"], dict):
                raise Damaged("its settings are no settings")

    def warn_if_unprotected(self) -> None:
        """Warn that damage would not be noticed, where the store has no checksums."""
        if not self.verified:
            warn(f"sweep '{self.path}' {UNVERIFIED}")

    def values(self) -> dict[str, tuple[NDArray[Any], dict[str, Any]]]:
        """Values of all runs by the name of their variable, each with its attributes.

        Raises:
            RecordError: they are not what was written.
        """
        with naming(self.path):
            return {name: self._value(name) for name in self._names() if self._attributes(name).get("role") == "value"}

    def measures(self) -> dict[str, dict[str, Any]]:
        """Attributes of the variables of all measures, by name. RecordError: they are damaged."""
        with naming(self.path):
            found = {name: self._attributes(name) for name in self._names() if name not in (NOTE, STATUS)}
        return {name: attributes for name, attributes in found.items() if attributes.get("role") != "value"}

    def units(self, measures: Iterable[str]) -> dict[str, str]:
        """Units of measures. RecordError: there are no such measures, or they are damaged."""
        with naming(self.path):
            return {name: str(self._array(name, np.dtype("f8")).attrs.get("units", "")) for name in measures}

    def rows(self, measures: Iterable[str], *, notes: bool = True) -> Rows:
        """Read the rows of all runs; those of incomplete blocks are not run.

        A block may be written again meanwhile: it is then read once more.

        Raises:
            RecordError: something is not what was written.
        """
        names = [*measures]
        with naming(self.path):
            for _ in range(3):
                complete = self._complete()
                try:
                    return self._rows(names, notes, complete)
                except Damaged:
                    if complete == self._complete():
                        raise
            return self._rows(names, notes, self._complete())

    def statuses(self) -> NDArray[np.int8]:
        """The status of each run [n]; see `rows`."""
        return self.rows((), notes=False).status

    def agrees(self, block: int, columns: Mapping[str, str]) -> bool:
        """Whether a block is complete and holds columns with these checksums."""
        try:
            if self.seals.block(block, self.shared) != columns:
                return False
            run = slice(block * self.block, (block + 1) * self.block)
            return all(column_digest(name, self.group[name][run]) == value for name, value in columns.items())
        except (Damaged, OSError, ValueError, KeyError, TypeError):
            return False

    # ------------------------------------------------------------ parts

    def _complete(self) -> dict[int, dict[str, str]]:
        """Checksums of the complete blocks."""
        last = math.ceil(self.count / self.block)
        found = {k: self.seals.block(k, self.shared) for k in sorted(self.seals.blocks()) if k < last}
        return {k: columns for k, columns in found.items() if columns is not None}

    def _rows(self, measures: list[str], notes: bool, complete: Mapping[int, Mapping[str, str]]) -> Rows:
        status = self._by_block(STATUS, np.dtype("i1"), np.int8(0), complete)
        if status.size and not 0 <= status.min() <= status.max() < len(STATUSES):
            raise Damaged("a run has a status that there is not")
        columns = {name: self._by_block(name, np.dtype("f8"), np.float64(np.nan), complete) for name in measures}
        return Rows(status, columns, self._notes(complete) if notes else [""] * self.count)

    def _by_block(self, name: str, dtype: np.dtype[Any], empty: Any, complete: Mapping[int, Any]) -> NDArray[Any]:
        """A column along the runs, compared block by block; `empty` where a block is not complete."""
        column = self._whole_column(self._array(name, dtype))
        if not self.verified:
            return column
        self._compare(name, 0, column, complete)
        whole = np.full_like(column, empty)
        for k in complete:
            run = slice(k * self.block, (k + 1) * self.block)
            whole[run] = column[run]
        return whole

    def _notes(self, complete: Mapping[int, Mapping[str, str]]) -> list[str]:
        array = self._array(NOTE, np.dtype("u1"), ndim=2)
        check_chunks(self.path, NOTE, math.prod(array.chunks))
        span = self.block * max(SPAN // max(self.block * array.shape[1], 1), 1)
        texts: list[str] = []
        for first in range(0, self.count, span):
            part = np.asarray(array[first : first + span])
            self._compare(NOTE, first // self.block, part, complete)
            told: NDArray[np.bool_] = np.any(part, axis=1)
            known = (first + k for k in range(len(part)))
            texts += [
                text_of_bytes(row) if told[k] and (not self.verified or run // self.block in complete) else ""
                for k, (row, run) in enumerate(zip(part, known, strict=True))
            ]
        return texts

    def _compare(self, name: str, first: int, part: NDArray[Any], complete: Mapping[int, Mapping[str, str]]) -> None:
        """Compare a column, from the block of number `first` on, with the checksums of complete blocks."""
        for k, columns in complete.items():
            at = (k - first) * self.block
            if 0 <= at < len(part) and columns.get(name) != column_digest(name, part[at : at + self.block]):
                raise Damaged(
                    f"'{name}' of runs {k * self.block} to {min((k + 1) * self.block, self.count) - 1} is not what was "
                    f"written; remove '{self.seals.path(k)}' and resume the sweep to have them run again"
                )

    def _names(self) -> list[str]:
        """Names of all arrays; nothing else in the folder is touched."""
        if self.verified:
            return [name for name in self._shared["metadata"] if name]
        files = ((name, os.path.join(self.path, name, METADATA)) for name in sorted(os.listdir(self.path)))
        return [name for name, file in files if os.path.lexists(file)]

    def _attributes(self, name: str) -> dict[str, Any]:
        self._compare_metadata(name)
        return dict(self.group[name].attrs)

    def _value(self, name: str) -> tuple[NDArray[Any], dict[str, Any]]:
        self._compare_metadata(name)
        array = self.group[name]
        array = self._array(name, DTYPES.get(array.dtype.kind), ndim=array.ndim)
        column, attributes = self._whole_column(array), dict(array.attrs)
        if self.verified and column_digest(name, column) != self._shared["values"][name]:
            raise Damaged(f"the values of '{name}' are not what was written")
        if "texts" in attributes:
            texts = json.loads(str(attributes["texts"]))
            if column.size and not 0 <= column.min() <= column.max() < len(texts):
                raise Damaged(f"the values of '{name}' are not among its texts")
        return column, attributes

    def _array(self, name: str, dtype: np.dtype[Any] | None, ndim: int = 1) -> Any:
        """An array after a check of its metadata."""
        self._compare_metadata(name)
        array: Any = self.group[name]
        if array.dtype != dtype or array.ndim != ndim or (name != STATUS and array.shape[0] != self.count):
            raise Damaged(f"'{name}' has another shape or type than in the store of a sweep")
        return array

    def _whole_column(self, array: Any) -> NDArray[Any]:
        if array.nbytes > LEAST:
            Allowance(array_size(self.path, "")).spend(array.nbytes, f"'{array.basename}'")
        check_chunks(self.path, array.basename, math.prod(array.chunks) * array.dtype.itemsize)
        return np.asarray(array[...])

    def _compare_metadata(self, name: str) -> None:
        found = metadata_digest(self.path, name)
        if self.verified and self._shared["metadata"].get(name) != found.hex():
            raise Damaged(f"the settings of '{name}' are not what was written" if name else "its settings have changed")


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn any exception of readers on broken files inside the block into a RecordError."""
    try:
        yield
    except RecordError:
        raise
    except Exception as error:
        raise RecordError(path, f"damaged sweep ({reason_of(error)})", action="read", what="sweep") from error


def text_of_bytes(row: Iterable[int]) -> str:
    """A note from its bytes."""
    return bytes(row).rstrip(b"\0").decode(errors="ignore")


def shared_part(root: str, names: Iterable[str], values: Mapping[str, NDArray[Any]], count: int) -> dict[str, Any]:
    """Checksums of a new store at `root` that all runs share: of the metadata of `names`, and of values."""
    return {
        "count": count,
        "metadata": {name: metadata_digest(root, name).hex() for name in ("", *names)},
        "values": {name: column_digest(name, column) for name, column in values.items()},
    }


def _whole(value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise Damaged(f"{value!r} is not a whole number from {least} to {most}")
    return value
