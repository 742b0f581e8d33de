"""Streaming a recording to a Zarr store during a run, in constant memory.

Every few seconds, and whenever a chunk is full, the samples and the state are committed: see `saltus.record.io.store`.
After a crash or power failure, the run can be resumed from the last commit: chunks are on disk before the
checkpoint that refers to them.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import RecordError
from saltus.files.atomic_write import reach_disk
from saltus.files.checksum import digest
from saltus.record.files.atomic_write import reason_of
from saltus.record.io.plain_zarr import METADATA, chunk_path, metadata_digest
from saltus.record.io.sample_buffer import SampleBuffer
from saltus.record.io.store import (
    ATTRIBUTE,
    CHECKED,
    COMPLETE,
    FORMAT,
    GROUP,
    MJB,
    RUNNING,
    Checkpoint,
    Store,
    StreamedTable,
    chain_on,
)
from saltus.record.table.certificate import Certificate
from saltus.record.table.columns import DIMENSIONS, dtype_of
from saltus.record.table.events import EventLog, narrowed
from saltus.record.table.stored_model import StoredModel
from saltus.record.table.trajectory_table import TrajectoryTable

if TYPE_CHECKING:
    from saltus.model.model import Model

SECONDS = 2.0  # s between commits
CHUNK_BYTES = 2**18  # bytes of the samples of all columns together


class Stream(SampleBuffer):
    """A sink of samples like `TrajectoryBuilder`, on disk. Made by `create` or `reopen`."""

    resumable = True

    def __init__(self, path: str, header: Mapping[str, Any], arrays: Mapping[str, Any], checkpoint: Checkpoint):
        super().__init__({name: tuple(shape) for name, shape in header["shapes"].items()}, header["rows"])
        self.path, self.header = path, header
        # chunks of nothing but the fill value are written too, since nan has several bit patterns
        self._arrays = {name: array.with_config({"write_empty_chunks": True}) for name, array in arrays.items()}
        self._checkpoint = checkpoint
        self._written = 0  # samples in full chunks
        self._digests: dict[str, bytes] = dict.fromkeys(arrays, b"")  # running checksums of the columns' full chunks
        self._fixed = dict(checkpoint.digests)  # checksums that do not change
        self._unsettled: list[str] = []  # files that may not be on the disk yet
        self._committed = checkpoint.count
        self._next = time.monotonic() + SECONDS
        self._full_since = False  # a chunk was filled since the last commit
        self.attrs: dict[str, Any] = dict(checkpoint.attrs)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        shapes: Mapping[str, tuple],
        expected: int,
        *,
        names: Mapping[str, Sequence[str]],
        units: Mapping[str, Sequence[str]],
        attrs: Mapping[str, Any],
        model: Model | StoredModel | None,
        setup: Mapping[str, Any] | None = None,
    ) -> Stream:
        """Create a store for `expected` samples at most. `setup`: what is needed to make the simulation again.

        Raises:
            RecordError: `path` exists, or the store cannot be made.
        """
        name = os.fspath(path)
        check_new(name)
        stored = StoredModel.of(model) if model is not None and not isinstance(model, StoredModel) else model
        header = {
            "format": FORMAT,
            CHECKED: "in the checkpoint",
            "rows": _chunk_rows(shapes, expected),
            "shapes": {column: list(shape) for column, shape in shapes.items()},
            "names": {group: list(labels) for group, labels in names.items()},
            "units": {group: list(labels) for group, labels in units.items()},
            "attrs": dict(attrs),
            "model": None if stored is None else stored.about(),
            "setup": dict(setup or {}),
        }
        with _naming(name, 0):
            arrays = _make(name, header, max(expected, 1), stored)
            parts = (GROUP, *arrays, *([] if stored is None else [MJB]))
            digests = {
                "metadata": {part: metadata_digest(name, part).hex() for part in parts},
                "model": {} if stored is None else {MJB: digest(stored.mjb).hex()},
            }
        stream = cls(name, header, arrays, Checkpoint(0, 0, RUNNING, {}, digests=digests))
        stream._unsettled = [os.path.join(place, file) for place, _, files in os.walk(name) for file in files]
        return stream

    @classmethod
    def reopen(cls, path: str | os.PathLike[str]) -> tuple[Stream, Checkpoint]:
        """Reopen a store at its checkpoint, which is returned too; later samples are dropped, to be recorded again.

        Raises:
            RecordError: the store cannot be read.
        """
        store = Store(path, "r+")
        checkpoint = store.checkpoint
        arrays = {name: store.group[name] for name, shape in store.shapes.items() if 0 not in shape}
        again = dataclasses.replace(checkpoint, count=int(checkpoint.position["next"]), status=RUNNING)
        stream = cls(store.path, store.header, arrays, again)
        stream._written = min(again.count // store.rows * store.rows, store.written)
        if store.verified:
            stream._digests = {name: store.digest_of(name, stream._written) for name in arrays}
        rest = slice(stream._written, again.count)
        for name, column in stream._columns.items():
            if column.size:
                column[: again.count - stream._written] = store.chunk(name, rest)
        stream._count = again.count - stream._written
        events = checkpoint.arrays["events"]
        stream.event_log = EventLog(events[events["time"] <= checkpoint.position["time"]])
        return stream, checkpoint

    def __len__(self) -> int:
        return self._written + self._count

    @property
    def due(self) -> bool:
        """Whether it is time to commit."""
        return self._full_since or time.monotonic() >= self._next

    def commit(self, position: Mapping[str, Any], state: Mapping[str, NDArray[Any]]) -> None:
        """Commit the samples recorded so far, with the state from which the run can be resumed.

        `position`: where the time loop is; `next` in it is the number of samples before the state, `time` its time (s).
        """
        arrays = {f"state_{name}": np.array(value) for name, value in state.items()}
        self._commit(Checkpoint(len(self), self._written, RUNNING, dict(position), arrays=arrays))

    def finish(self, status: str = COMPLETE) -> TrajectoryTable:
        """Commit all samples, write the last chunk, and return the recording, whose columns are read on first access.

        A run that is not complete keeps the state of its last commit, to go on from there.
        """
        last = self._checkpoint
        position, state = (last.position, last.part("state")) if status != COMPLETE else ({}, {})
        arrays = {f"state_{name}": value for name, value in state.items()}
        self._commit(Checkpoint(len(self), self._written, status, dict(position), arrays=arrays))
        with _naming(self.path, self._committed):
            if self._count:
                self._write(self._count)
            if status == COMPLETE:
                for name, array in self._arrays.items():
                    array.resize((len(self), *array.shape[1:]))
                    self._unsettled.append(os.path.join(self.path, name, METADATA))
            self._settle()
        return StreamedTable(Store(self.path))

    def certify(self, trajectory: TrajectoryTable, certificate: Certificate | None) -> None:
        """Add the statement of accuracy to the trajectory that `finish` returned and to the store."""
        trajectory.certificate = certificate
        add_certificate(self.path, certificate)

    def _commit(self, checkpoint: Checkpoint) -> None:
        tail = {f"tail_{name}": column[: self._count].copy() for name, column in self._columns.items() if column.size}
        end = {f"end_{name}": np.asarray(value) for name, value in (self._end or {}).items()}
        checkpoint.arrays |= tail | end | {"events": narrowed(self.event_log.array())}
        checkpoint.attrs = dict(self.attrs)
        if self._fixed:  # missing in a store from before there were any
            columns = {name: value.hex() for name, value in self._digests.items()}
            checkpoint.digests = {**self._fixed, "columns": columns}
        with _naming(self.path, self._committed):
            self._settle()
            checkpoint.write(self.path)
        self._checkpoint, self._committed = checkpoint, checkpoint.count
        self._next, self._full_since = time.monotonic() + SECONDS, False

    def _make_room(self) -> None:
        """Write the full chunk. It counts from the next commit on; until then nothing refers to it."""
        with _naming(self.path, self._committed):
            self._write(self._count)
        for name in self._arrays:
            self._digests[name] = chain_on(self._digests[name], self._columns[name][: self._count])
        self._written += self._count
        self._count, self._full_since = 0, True

    def _write(self, count: int) -> None:
        for name, array in self._arrays.items():
            array[self._written : self._written + count] = self._columns[name][:count]
            number = self._written // self.header["rows"]
            self._unsettled.append(chunk_path(self.path, name, number, array.ndim))

    def _settle(self) -> None:
        """Flush the written files to the disk."""
        reach_disk(self._unsettled, self.path)
        self._unsettled = []


def check_new(path: str | os.PathLike[str]) -> None:
    """Raise RecordError if a store cannot be made at `path`, where nothing may exist yet."""
    name = os.fspath(path)
    directory = os.path.dirname(os.path.abspath(name))
    if os.path.lexists(name):
        raise RecordError(name, "exists already; remove it first")
    if not os.path.isdir(directory):
        raise RecordError(name, f"directory '{directory}' does not exist")
    if not os.access(directory, os.W_OK):
        raise RecordError(name, "permission denied")


def add_certificate(path: str | os.PathLike[str], certificate: Certificate | None) -> None:
    """Add a statement of accuracy to the recording in a store.

    Raises:
        RecordError: the store cannot be read or written.
    """
    if certificate is None:
        return
    store = Store(path)
    figures = dataclasses.asdict(certificate)
    for name in ("error", "bound"):
        store.checkpoint.arrays[f"certificate_{name}"] = figures.pop(name)
    store.checkpoint.certificate = figures
    with _naming(store.path, len(store)):
        store.checkpoint.write(store.path)


def save_store(trajectory: TrajectoryTable, path: str | os.PathLike[str]) -> None:
    """Save a recording in memory as a store; see `Trajectory.save`."""
    shapes = {name: getattr(trajectory, name).shape[1:] for name in DIMENSIONS}
    about = {"names": trajectory.names, "units": trajectory.units, "attrs": trajectory.attrs}
    stream = Stream.create(path, shapes, len(trajectory), **about, model=trajectory.stored_model)
    columns = {name: getattr(trajectory, name) for name in DIMENSIONS}
    for k in range(len(trajectory)):
        stream.append(**{name: column[k] for name, column in columns.items()})
    stream.event_log = EventLog(trajectory.events)
    if trajectory.end is not None:
        stream.end(**trajectory.end)
    stream.certify(stream.finish(), trajectory.certificate)


def _chunk_rows(shapes: Mapping[str, tuple], expected: int) -> int:
    """Samples per chunk: a power of two, for chunks of some hundred kilobytes."""
    size = sum(math.prod(shape) * np.dtype(dtype_of(name)).itemsize for name, shape in shapes.items())
    rows = 1 << max(int(math.log2(max(CHUNK_BYTES / size, 1.0))), 4)
    return min(rows, 1 << max(expected - 1, 1).bit_length())


def _make(path: str, header: Mapping[str, Any], expected: int, model: StoredModel | None) -> dict[str, Any]:
    """Make the store's group and arrays."""
    import zarr
    from zarr.codecs import Crc32cCodec, ZstdCodec

    plain = {k: v for k, v in header["attrs"].items() if isinstance(v, str) or (type(v) is float and math.isfinite(v))}
    group = zarr.open_group(path, mode="w-", zarr_format=3, attributes={**plain, ATTRIBUTE: json.dumps(header)})
    arrays = {}
    for name, shape in header["shapes"].items():
        if 0 in shape:
            continue
        dtype = np.dtype(dtype_of(name))
        arrays[name] = group.create_array(
            name,
            shape=(expected, *shape),
            chunks=(header["rows"], *shape),
            dtype=dtype,
            fill_value=math.nan if dtype.kind == "f" else dtype.type(0).item(),
            dimension_names=("time", *DIMENSIONS[name]),
            compressors=(ZstdCodec(level=0), Crc32cCodec()),
        )
    if model is not None:
        image = np.frombuffer(model.mjb, np.uint8)
        group.create_array(MJB, data=image, chunks=image.shape, dimension_names=("model_byte",), compressors=None)
    return arrays


@contextmanager
def _naming(path: str, committed: int) -> Iterator[None]:
    """Turn errors of the system into a RecordError that names the store and the samples that are kept."""
    try:
        yield
    except (OSError, RecordError) as error:
        reason = error.reason if isinstance(error, RecordError) else reason_of(error)
        kept = f"; the {committed} committed samples are kept" if committed else ""
        raise RecordError(path, reason + kept) from error
