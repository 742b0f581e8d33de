"""Recordings as Zarr stores: layout and reading.

A store is a Zarr group (version 3) with an array for each column that has any entries, all along `time` and written in
chunks of the same number of samples, each chunk once. The group's attribute `trajectory` holds in JSON the data that do
not change during the run; `model_mjb` holds the model. The file `checkpoint.npz` is authoritative: it has the number of
committed samples, those of them that do not fill a chunk yet, and the state from which the run can be resumed. It is
replaced atomically, so it always describes a complete recording.

The checkpoint has its own checksum, and holds those of everything else: for each column a running checksum of its full
chunks (so none can be missing or exchanged), those of the model, and those of the `zarr.json` of the group and arrays.
Each chunk has a checksum, too (CRC-32C), which any reader of Zarr verifies.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from saltus.errors import RecordError, SaltusWarning
from saltus.files.checksum import digest
from saltus.files.opening import open_regular
from saltus.record.files.atomic_write import reason_of
from saltus.record.files.checksum import sealed_size, write_sealed
from saltus.record.files.limits import Allowance
from saltus.record.files.npz import read_arrays
from saltus.record.io.plain_zarr import METADATA, array_size, check_array, metadata_digest, opened_group
from saltus.record.table.certificate import Certificate
from saltus.record.table.columns import DIMENSIONS, dtype_of, row_shapes, tables
from saltus.record.table.events import EVENT_DTYPE
from saltus.record.table.stored_model import StoredModel
from saltus.record.table.trajectory_table import TrajectoryTable

FORMAT = 1
CHECKED = "checksums"  # key in the header of stores whose checkpoints hold checksums
UNVERIFIED = "was written before recordings had checksums: it cannot be verified; saving it again adds them"
GROUP = ""  # key of the group itself among the checksums of metadata
ATTRIBUTE = "trajectory"
HEADER = ("rows", "format", "shapes", "model", "attrs", "names", "units")  # entries of its header that readers need
CHECKPOINT = "checkpoint.npz"
MJB = "model_mjb"

# how a run ended; a run that was cut short is "running"
RUNNING, INTERRUPTED, DIVERGED, COMPLETE = "running", "interrupted", "diverged", "complete"


@dataclass
class Checkpoint:
    """The committed part of a recording.

    Attributes:
        count: committed samples. written: number of those that lie in chunks.
        status: one of the words above.
        position: place of the run in the time loop; empty where the run cannot be resumed.
        attrs: attributes of the recording beside those in the group.
        certificate: figures of the certificate, or None.
        arrays: by name: "tail_..." samples after the last full chunk, "end_..." the row at the run's end, "state_..."
            the state to resume from, "events", "certificate_error", "certificate_bound".
        digests: checksums in hexadecimal, by kind: "columns" (of samples in full chunks), "metadata"
            and "model", each by name; empty in stores from before there were any.
    """

    count: int
    written: int
    status: str
    position: dict[str, Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    certificate: dict[str, Any] | None = None
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    digests: dict[str, Any] = field(default_factory=dict)

    def part(self, kind: str) -> dict[str, NDArray[Any]]:
        """Arrays of a kind, by the rest of their names."""
        return {k.removeprefix(f"{kind}_"): v for k, v in self.arrays.items() if k.startswith(f"{kind}_")}

    def write(self, path: str) -> None:
        """Replace the checkpoint of the store at `path` atomically."""
        header = {k: v for k, v in vars(self).items() if k not in ("arrays", "digests")}
        arrays = {"header": _image(header), **({"digests": _image(self.digests)} if self.digests else {})}
        buffer = io.BytesIO()
        np.savez(buffer, **arrays, **self.arrays)  # pyright: ignore[reportArgumentType]
        write_sealed(os.path.join(path, CHECKPOINT), buffer.getbuffer())

    @classmethod
    def read(cls, path: str) -> Checkpoint:
        """Read the checkpoint of the store at `path`."""
        with open_regular(os.path.join(path, CHECKPOINT), follow=False) as file:
            size = sealed_size(file)
            content = io.BytesIO(file.read() if size is None else file.read(size))
        with zipfile.ZipFile(content) as archive:
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise ValueError("the checkpoint is compressed, which recordings do not use")
        arrays = read_arrays(content, len(content.getbuffer()))
        digests = json.loads(arrays.pop("digests").tobytes()) if "digests" in arrays else {}
        if digests and size is None:
            raise ValueError("the checksum at the end of the checkpoint is missing")
        return cls(**json.loads(arrays.pop("header").tobytes()), arrays=arrays, digests=digests)


def _image(content: Any) -> NDArray[np.uint8]:
    """JSON as an array of bytes."""
    return np.frombuffer(json.dumps(content, ensure_ascii=False).encode(), np.uint8)


class Store:
    """A store in its last committed state.

    Raises:
        RecordError: there is no store at `path`, nothing was committed, or it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], mode: Literal["r", "r+"] = "r"):
        self.path = os.fspath(path)
        if not os.path.isfile(os.path.join(self.path, "zarr.json")):
            raise RecordError(path, "is a directory, but not a Zarr store of Saltus", action="read")
        try:
            metadata = metadata_digest(self.path, GROUP)
            self.group = opened_group(self.path, mode)
            self.header = json.loads(str(self.group.attrs[ATTRIBUTE]))
            self.checkpoint = Checkpoint.read(self.path)
            rows, layout, *_ = (self.header[key] for key in HEADER)
            self.rows: int = rows
            # columns that older recordings lack are empty
            self.shapes = row_shapes() | {name: tuple(shape) for name, shape in self.header["shapes"].items()}
        except FileNotFoundError as error:
            raise RecordError(path, "nothing was committed before the run was interrupted", action="read") from error
        except KeyError as error:
            reason = f"a Zarr store, but not a recording of Saltus (there is no {error})"
            raise RecordError(path, reason, action="read") from error
        except Exception as error:
            # the exceptions of readers on broken files are open-ended
            raise RecordError(path, f"damaged recording ({reason_of(error)})", action="read") from error
        if layout > FORMAT:
            reason = f"written by a newer Saltus (layout {layout}, known {FORMAT})"
            raise RecordError(path, reason, action="read")
        if CHECKED in self.header and not self.verified:
            raise RecordError(path, "damaged recording (its checksums are missing)", action="read")
        with self._naming(METADATA):
            self._compare("metadata", GROUP, metadata)

    def __len__(self) -> int:
        return self.checkpoint.count

    @property
    def verified(self) -> bool:
        """Whether the store has checksums, with which all that is read is compared."""
        return bool(self.checkpoint.digests)

    @property
    def written(self) -> int:
        """Number of committed samples that lie in chunks; the others are in the checkpoint."""
        return self.checkpoint.written

    def column(self, name: str) -> NDArray[Any]:
        """Read all committed samples of a column.

        Raises:
            RecordError: the samples differ from those written.
        """
        with self._naming(f"column '{name}'"):
            out = np.empty((len(self), *self.shapes[name]), dtype=dtype_of(name))
            if out.size:
                array = self._array(name)
                out[: self.written] = array[: self.written]
                out[self.written :] = self.checkpoint.part("tail")[name]
                self._compare("columns", name, chained(out[: self.written], self.rows))
            return out

    def chunk(self, name: str, rows: slice) -> NDArray[Any]:
        """Committed samples of one chunk of a column."""
        if rows.start >= self.written:
            return self.checkpoint.part("tail")[name][rows.start - self.written : rows.stop - self.written]
        return np.asarray(self._array(name)[rows])

    def digest_of(self, name: str, count: int) -> bytes:
        """Running checksum of a column after `count` samples in full chunks; all existing chunks are verified.

        Raises:
            RecordError: the samples differ from those written.
        """
        with self._naming(f"column '{name}'"):
            array, found, asked = self._array(name), b"", b""
            for first in range(0, self.written, self.rows):
                found = digest(_bytes(array[first : first + self.rows]), found)
                asked = found if first + self.rows == count else asked
            self._compare("columns", name, found)
        return asked

    def stored_model(self) -> StoredModel | None:
        """The model.

        Raises:
            RecordError: the model differs from the one written.
        """
        if self.header["model"] is None:
            return None
        with self._naming("model"):
            self._check_metadata(MJB)
            array: Any = self.group[MJB]
            Allowance(array_size(self.path, MJB)).spend(array.nbytes, "the model")
            check_array(self.path, MJB, array.chunks, np.dtype(np.uint8), 1, packed=False)
            mjb = np.asarray(array[:]).tobytes()
            self._compare("model", MJB, digest(mjb))
            return StoredModel.read(mjb, self.header["model"], self.path)

    def check_size(self) -> None:
        """Raise ValueError if the columns unpack to much more than they take on the disk."""
        count = sum(len(self) * np.dtype(dtype_of(n)).itemsize * _entries(shape) for n, shape in self.shapes.items())
        Allowance(sum(array_size(self.path, n) for n in self.shapes)).spend(count, "what it holds")

    def _array(self, name: str) -> Any:
        """The array of a column, after a check of its files."""
        self._check_metadata(name)
        array: Any = self.group[name]
        shape = (self.rows, *self.shapes[name])
        if array.chunks != shape or array.dtype != dtype_of(name) or array.shape[0] < self.written:
            raise ValueError("its array has another shape or type than its metadata say")
        check_array(self.path, name, shape, array.dtype, -(-self.written // self.rows))
        return array

    def _check_metadata(self, name: str) -> None:
        """Raise ValueError where metadata differ from those written."""
        self._compare("metadata", name, metadata_digest(self.path, name))

    def _compare(self, kind: str, name: str, found: bytes) -> None:
        if self.verified and self.checkpoint.digests[kind].get(name) != found.hex():
            raise ValueError(f"the checksum of its {kind} does not match")

    @contextlib.contextmanager
    def _naming(self, what: str) -> Iterator[None]:
        """Turn any exception of readers on broken files inside the block into a RecordError."""
        try:
            yield
        except RecordError:
            raise
        except Exception as error:
            reason = f"damaged recording ({what}: {reason_of(error)})"
            raise RecordError(self.path, reason, action="read") from error

    def extras(self) -> dict[str, Any]:
        """Arguments of a Trajectory other than its columns and its model."""
        checkpoint, certificate = self.checkpoint, None
        if checkpoint.certificate is not None:
            figures = dict(checkpoint.certificate)
            figures["timesteps"] = tuple(figures["timesteps"])
            if "certificate_bound" in checkpoint.arrays:
                figures["bound"] = checkpoint.arrays["certificate_bound"]
            certificate = Certificate(error=checkpoint.arrays["certificate_error"], **figures)
        attrs = {**self.header["attrs"], **checkpoint.attrs}
        if checkpoint.status == RUNNING:  # cut short, or still running
            attrs["interrupted_at"] = checkpoint.position["time"]
        return {
            "end": checkpoint.part("end") or None,
            "events": checkpoint.arrays.get("events", np.empty(0, EVENT_DTYPE)),
            "names": self.header["names"],
            "units": self.header["units"],
            "attrs": attrs,
            "certificate": certificate,
        }


class StreamedTable(TrajectoryTable):
    """The table of a recording in a Zarr store, whose columns are read when they are first accessed."""

    def __init__(self, store: Store):
        self.store = store
        extras = store.extras()
        empty = tables(store.shapes, 0)
        certificate = extras.pop("certificate")
        super().__init__(**empty, **extras, model=store.stored_model())
        self.certificate = certificate
        for name in DIMENSIONS:
            delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        if name not in DIMENSIONS or "store" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        value = self.store.column(name)
        setattr(self, name, value)
        return value

    def _shape_of(self, column: str) -> tuple[int, ...]:
        return self.store.shapes[column]

    def __len__(self) -> int:
        return len(self.store)

    def __reduce__(self) -> Any:
        return load_store, (self.store.path,)


def load_store(path: str | os.PathLike[str]) -> TrajectoryTable:
    """The recording in a store, in memory; see `Trajectory.load`."""
    store = Store(path)
    try:
        store.check_size()
        columns = {name: store.column(name) for name in DIMENSIONS}
        trajectory = TrajectoryTable(**columns, **store.extras(), model=store.stored_model())
    except RecordError:
        raise
    except Exception as error:
        raise RecordError(path, f"damaged recording ({reason_of(error)})", action="read") from error
    if not store.verified:
        warnings.warn(f"recording '{store.path}' {UNVERIFIED}", SaltusWarning, stacklevel=4)
    return trajectory


def chained(samples: NDArray[Any], rows: int) -> bytes:
    """Running checksum of samples in full chunks of so many rows; b"" without any."""
    found = b""
    for first in range(0, len(samples), rows):
        found = digest(_bytes(samples[first : first + rows]), found)
    return found


def chain_on(before: bytes, chunk: NDArray[Any]) -> bytes:
    """The running checksum after one more chunk."""
    return digest(_bytes(chunk), before)


def _bytes(samples: Any) -> bytes:
    return np.ascontiguousarray(samples).tobytes()


def _entries(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=object)) if shape else 1
