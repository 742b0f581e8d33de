"""Zarr stores as recordings: what lies where, and reading them.

A store is a Zarr group (version 3) with an array for each column that has any entries, all along `time` and written in
chunks of the same number of samples, each chunk once. The group's attribute `trajectory` says in JSON what does not
change during the run; `model_mjb` holds the model. The file `checkpoint.npz` is the one that counts: it says how many
samples are committed, and holds those of them that do not fill a chunk yet, and the state from which the run can go on.
It is replaced as a whole, so that at any moment it describes a recording that is there.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from saltus.errors import RecordError
from saltus.record.certificate import Certificate
from saltus.record.columns import DIMENSIONS, dtype_of, row_shapes
from saltus.record.events import EVENT_DTYPE
from saltus.record.stored_model import StoredModel
from saltus.record.trajectory import Trajectory
from saltus.record.whole import reason_of, write_whole

FORMAT = 1
ATTRIBUTE = "trajectory"
CHECKPOINT = "checkpoint.npz"
MJB = "model_mjb"

# how a run ended; one that was cut short is "running"
RUNNING, INTERRUPTED, DIVERGED, COMPLETE = "running", "interrupted", "diverged", "complete"


@dataclass
class Checkpoint:
    """What is committed.

    Attributes:
        count: samples. written: those that lie in chunks.
        status: one of the words above.
        position: where the run is, as the time loop counts; empty where it cannot go on.
        attrs: attributes of the recording beside those in the group.
        certificate: its figures, or None.
        arrays: by name: "tail_..." samples after the last full chunk, "end_..." the row at the run's end, "state_..."
            what the run goes on from, "events", "certificate_error".
    """

    count: int
    written: int
    status: str
    position: dict[str, Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    certificate: dict[str, Any] | None = None
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def part(self, kind: str) -> dict[str, NDArray[Any]]:
        """The arrays of a kind, by the rest of their names."""
        return {k.removeprefix(f"{kind}_"): v for k, v in self.arrays.items() if k.startswith(f"{kind}_")}

    def write(self, path: str) -> None:
        """Put it into the store at `path` in one step."""
        header = {k: v for k, v in vars(self).items() if k != "arrays"}
        image = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), np.uint8)
        buffer = io.BytesIO()
        np.savez(buffer, header=image, **self.arrays)  # pyright: ignore[reportArgumentType]
        write_whole(os.path.join(path, CHECKPOINT), buffer.getbuffer())

    @classmethod
    def read(cls, path: str) -> Checkpoint:
        """The one in the store at `path`."""
        with np.load(os.path.join(path, CHECKPOINT), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return cls(**json.loads(arrays.pop("header").tobytes()), arrays=arrays)


class Store:
    """A store that is there, as it was committed last.

    Raises:
        RecordError: there is none at `path`, nothing was committed, or it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], mode: Literal["r", "r+"] = "r"):
        self.path = os.fspath(path)
        if not os.path.isfile(os.path.join(self.path, "zarr.json")):
            raise RecordError(path, "is a directory, but not a Zarr store of Saltus", action="read")
        try:
            self.group = _opened(self.path, mode)
            self.header = json.loads(str(self.group.attrs[ATTRIBUTE]))
            self.checkpoint = Checkpoint.read(self.path)
            self.rows: int = self.header["rows"]
            # columns that a recording of before has not got are empty
            self.shapes = row_shapes(0, 0) | {name: tuple(shape) for name, shape in self.header["shapes"].items()}
        except FileNotFoundError as error:
            raise RecordError(path, "nothing was committed before the run was cut short", action="read") from error
        except KeyError as error:
            reason = f"a Zarr store, but not a recording of Saltus (there is no {error})"
            raise RecordError(path, reason, action="read") from error
        except Exception as error:
            # what broken files make their readers raise is open-ended
            raise RecordError(path, f"damaged recording ({reason_of(error)})", action="read") from error
        if self.header["format"] > FORMAT:
            reason = f"written by a newer Saltus (layout {self.header['format']}, known {FORMAT})"
            raise RecordError(path, reason, action="read")

    def __len__(self) -> int:
        return self.checkpoint.count

    @property
    def written(self) -> int:
        """How many of the committed samples lie in chunks; the others are in the checkpoint."""
        return self.checkpoint.written

    def column(self, name: str) -> NDArray[Any]:
        """All committed samples of a column."""
        out = np.empty((len(self), *self.shapes[name]), dtype=dtype_of(name))
        if out.size:
            array: Any = self.group[name]
            out[: self.written] = array[: self.written]
            out[self.written :] = self.checkpoint.part("tail")[name]
        return out

    def chunk(self, name: str, rows: slice) -> NDArray[Any]:
        """Committed samples of a column, of one chunk."""
        if rows.start >= self.written:
            return self.checkpoint.part("tail")[name][rows.start - self.written : rows.stop - self.written]
        array: Any = self.group[name]
        return np.asarray(array[rows])

    def stored_model(self) -> StoredModel | None:
        """The model."""
        if self.header["model"] is None:
            return None
        mjb: Any = self.group[MJB]
        return StoredModel.read(np.asarray(mjb[:]).tobytes(), self.header["model"], self.path)

    def extras(self) -> dict[str, Any]:
        """What a Trajectory has beside its columns and its model."""
        checkpoint, certificate = self.checkpoint, None
        if checkpoint.certificate is not None:
            figures = dict(checkpoint.certificate)
            figures["timesteps"] = tuple(figures["timesteps"])
            certificate = Certificate(error=checkpoint.arrays["certificate_error"], **figures)
        attrs = {**self.header["attrs"], **checkpoint.attrs}
        if checkpoint.status == RUNNING:  # cut short, or still going on
            attrs["interrupted_at"] = checkpoint.position["time"]
        return {
            "end": checkpoint.part("end") or None,
            "events": checkpoint.arrays.get("events", np.empty(0, EVENT_DTYPE)),
            "names": self.header["names"],
            "units": self.header["units"],
            "attrs": attrs,
            "certificate": certificate,
        }


class StreamedTrajectory(Trajectory):
    """A recording in a Zarr store whose columns are read when they are first looked at, each by itself."""

    def __init__(self, store: Store):
        self._store = store
        extras = store.extras()
        empty = {name: np.empty((0, *shape), dtype=dtype_of(name)) for name, shape in store.shapes.items()}
        certificate = extras.pop("certificate")
        super().__init__(**empty, **extras, model=store.stored_model())
        self.certificate = certificate
        for name in DIMENSIONS:
            delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        if name not in DIMENSIONS or "_store" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        value = self._store.column(name)
        setattr(self, name, value)
        return value

    def __len__(self) -> int:
        return len(self._store)

    def __reduce__(self) -> Any:
        return load_store, (self._store.path,)


def load_store(path: str | os.PathLike[str]) -> Trajectory:
    """The recording in a store, in memory; see `Trajectory.load`."""
    store = Store(path)
    try:
        columns = {name: store.column(name) for name in DIMENSIONS}
        return Trajectory(**columns, **store.extras(), model=store.stored_model())
    except Exception as error:
        raise RecordError(path, f"damaged recording ({reason_of(error)})", action="read") from error


def _opened(path: str, mode: Literal["r", "r+"]) -> Any:
    try:
        import zarr
    except ImportError as error:
        raise RecordError(path, f"Zarr stores need zarr ({error})", action="read") from error
    return zarr.open_group(path, mode=mode)
