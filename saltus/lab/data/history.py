"""History of signals: a bounded table of samples, from which each page fetches those that it lacks.

A page's place in it is a pair (epoch, number of the next sample). The epoch changes whenever a page's samples become
invalid: other signals are plotted, or a run starts again; the page then gets all samples. A page that reads slowly thus
costs no memory, and gets everything that is still stored.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLES = 128  # the first byte of a message with samples; frames begin with their version
PIECE = 65536  # bytes of one message, at most
FIRST_ROOM = 1024  # samples
ROOM_FOR_MORE = 1.25  # capacity relative to `room`: old samples are dropped in blocks
_HEAD = struct.Struct("<BBHII")

Place = tuple[int, int]


class History:
    """Samples of all signals, of which pages receive a selection.

    `ids`: ids of the signals. `columns`: indices of the signals that pages receive. mark: the first byte of messages.
    One thread writes, any may read.
    """

    def __init__(self, ids: Sequence[str], columns: Sequence[int], most: int, most_bytes: int, mark: int = SAMPLES):
        self._mark = mark
        self.ids, self.columns = list(ids), list(columns)
        self._most, self._bytes = most, most_bytes
        self._lock = threading.Lock()
        self._revision = 1  # of the list of signals
        self._epoch = 0
        self._first = self._count = 0  # number of the first stored sample; count of stored samples
        self.last_time = -np.inf  # s, of the last sample
        self._times = np.empty(0)
        self._values = np.empty((0, len(self.ids)), np.float32)

    @property
    def revision(self) -> int:
        """Revision of the list of signals."""
        return self._revision

    def __len__(self) -> int:
        return self._count

    @property
    def room(self) -> int:
        """Number of samples that are kept at least."""
        width = 8 + 4 * len(self.ids)
        return max(2, min(self._most, int(self._bytes / (ROOM_FOR_MORE * width))))

    @property
    def times(self) -> NDArray[np.float64]:
        """Times (s) of all samples; nan at a break of the curves."""
        return self._times[: self._count].copy()

    def column(self, id: str) -> NDArray[np.float32]:
        """All samples of a signal in its unit; nan where it was not computed."""
        return self._values[: self._count, self.ids.index(id)].copy()

    # ------------------------------------------------------------ writing

    def append(self, time: float, row: NDArray[Any]) -> None:
        """Add a sample."""
        with self._lock:
            if self._count == len(self._times):
                self._make_room()
            self._times[self._count] = time
            with np.errstate(over="ignore"):  # values beyond the range of float32 become infinite
                self._values[self._count] = row
            self._count += 1
        if np.isfinite(time):
            self.last_time = time

    def fill(self, times: NDArray[Any], values: NDArray[Any]) -> None:
        """Replace all samples by these, [n] and [n, signals]; if there is not enough room, by every k-th."""
        every = max(1, -(-len(times) // self.room))
        with self._lock:
            self._times, self._values = times[::every].astype(float), values[::every].astype(np.float32)
            self._count = len(self._times)
            self._begin()
        self.last_time = float(times[-1])

    def part(self) -> None:
        """Break the curves: no line connects the last sample to the next."""
        if self._count and np.isfinite(self._times[self._count - 1]):
            self.append(np.nan, np.full(len(self.ids), np.nan))

    def _make_room(self) -> None:
        most = int(ROOM_FOR_MORE * self.room)
        if self._count >= most:
            gone = self._count - self.room + 1
            self._times[: self._count - gone] = self._times[gone : self._count].copy()
            self._values[: self._count - gone] = self._values[gone : self._count].copy()
            self._first, self._count = self._first + gone, self._count - gone
            return
        room = min(max(FIRST_ROOM, 2 * self._count), most)
        for name in ("_times", "_values"):
            old = getattr(self, name)
            grown = np.empty((room, *old.shape[1:]), old.dtype)
            grown[: self._count] = old[: self._count]
            setattr(self, name, grown)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._count = 0
            self._begin()
        self.last_time = -np.inf

    def cut(self, time: float) -> None:
        """Forget the samples after a time (s)."""
        with self._lock:
            kept = np.flatnonzero(self._times[: self._count] <= time)
            self._count = int(kept[-1]) + 1 if kept.size else 0
            self._begin()
            self.last_time = float(self._times[kept[-1]]) if kept.size else -np.inf

    def show(self, columns: Sequence[int]) -> None:
        """Give pages other columns."""
        with self._lock:
            self.columns = list(columns)
            self._begin()

    def relay(self, ids: Sequence[str], columns: Sequence[int], revision: int) -> None:
        """Change the list of signals; those that stay keep their samples, those of new ones are nan."""
        with self._lock:
            before = {id: k for k, id in enumerate(self.ids)}
            values = np.full((len(self._times), len(ids)), np.nan, np.float32)
            for k, id in enumerate(ids):
                if id in before:
                    values[:, k] = self._values[:, before[id]]
            self._values, self.ids, self.columns = values, list(ids), list(columns)
            self._revision = revision
            excess = self._count - self.room
            if excess > 0:
                self._times, self._values = self._times[excess:].copy(), self._values[excess:].copy()
                self._count -= excess
            self._begin()

    def _begin(self) -> None:
        self._epoch += 1
        self._first = 0

    # ------------------------------------------------------------ reading

    @property
    def end(self) -> Place:
        """The place of the next sample."""
        with self._lock:
            return self._epoch, self._first + self._count

    def since(self, place: Place | None, revision: int, until: Place) -> tuple[bytes, Place] | None:
        """A message with the samples from a place on, and the place after them; None if there are none before `until`.

        None too if the list of signals has another revision than the one that the page knows.
        """
        with self._lock:
            if revision != self._revision:
                return None
            anew = place is None or place[0] != self._epoch or place[1] < self._first
            start = self._first if place is None or anew else place[1]
            if not anew and (until[0] != self._epoch or start >= until[1]):
                return None
            most = max(1, (PIECE - 64) // (8 + 4 * len(self.columns)) - 1)
            rows = slice(start - self._first, min(self._count, start - self._first + most))
            message = self._encoded(rows, anew)
            return message, (self._epoch, self._first + rows.stop)

    def _encoded(self, rows: slice, anew: bool) -> bytes:
        """Encode some rows as a message; see `saltus.lab.messages.protocol`."""
        columns = np.array(self.columns, "<u2")
        count = rows.stop - rows.start
        head = _HEAD.pack(self._mark, int(anew), len(columns), self._revision, count)
        indices = columns.tobytes()
        padding = bytes(-(len(head) + len(indices)) % 8)
        values = self._values[rows][:, self.columns].T
        return head + indices + padding + self._times[rows].astype("<f8").tobytes() + values.astype("<f4").tobytes()
