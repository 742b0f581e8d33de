"""Kernels in plain Python by several threads under a schedule, with every access to shared memory looked at.

Two accesses to a number, one of which writes, are ordered if a chain of stores and loads by which threads wait leads
from one to the other; two without order are a data race, whatever the schedule (vector clocks: Flanagan & Freund,
FastTrack (2009)). Threads that write the same number to the same place, as marks, do no harm and are no race here.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from helpers.schedules import Schedule
from helpers.selves.exact import MEMORY, meanings
from saltus.number import kernels
from saltus.number.components import trailing_zeros
from saltus.number.kernels import Entry
from saltus.number.structs import Struct
from saltus.number.threads.atomics import call_address, count_up, load_acquire, store_release
from saltus.number.threads.team import TASK, TICKET

SIZE = 8  # bytes of a number


class Race(NamedTuple):
    """Two accesses to a field without order; writes: whether each of them writes. place: a line of the later one."""

    field: str
    threads: tuple[int, int]
    writes: tuple[bool, bool]
    place: str


class Clocks:
    """Vector clocks of several threads, and the last accesses to each number."""

    def __init__(self, schedule: Schedule, threads: int):
        self.schedule = schedule
        self._seen = [[1 if i == k else 0 for i in range(threads)] for k in range(threads)]
        self._stored: dict[int, list[int]] = {}
        self._written: dict[int, tuple[int, int]] = {}
        self._read: dict[int, dict[int, int]] = defaultdict(dict)
        self.races: set[Race] = set()
        self.tasks: set[int] = set()  # that the leader has begun

    def read(self, address: int, field: str) -> None:
        """A plain load of the number at an address."""
        mine = self.schedule.thread
        if mine is not None:
            self._compare(address, field, mine, writes=False)
            self._read[address][mine] = self._seen[mine][mine]

    def write(self, address: int, field: str, *, anew: bool) -> None:
        """A plain store; anew: of another number than is there."""
        mine = self.schedule.thread
        if mine is not None and (anew or address not in self._written):
            self._compare(address, field, mine, writes=True)
            self._written[address] = mine, self._seen[mine][mine]
            self._read.pop(address, None)

    def acquire(self, address: int) -> None:
        """A load after which this thread sees whatever was stored before the number."""
        mine = self.schedule.thread
        if mine is not None and address in self._stored:
            self._seen[mine] = list(map(max, self._seen[mine], self._stored[address]))

    def release(self, address: int) -> None:
        """A store by which others see all that this thread has stored before."""
        mine = self.schedule.thread
        if mine is not None:
            self._written[address] = mine, self._seen[mine][mine]
            self._stored[address] = list(self._seen[mine])
            self._seen[mine][mine] += 1

    def _compare(self, address: int, field: str, mine: int, *, writes: bool) -> None:
        seen = self._seen[mine]
        earlier = [(*self._written[address], True)] if address in self._written else []
        if writes:
            earlier += [(thread, time, False) for thread, time in self._read[address].items()]
        for thread, time, wrote in earlier:
            if thread != mine and time > seen[thread]:
                self.races.add(Race(field, (thread, mine), (wrote, writes), _place()))


def _place() -> str:
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename.rpartition('saltus/')[2]}:{frame.f_lineno}"


class WatchedArray:
    """A field of a struct; numbers are read and written through it, rows are such arrays."""

    def __init__(self, view: np.ndarray, field: str, clocks: Clocks):
        self.view, self.field, self.clocks = view, field, clocks

    def __len__(self) -> int:
        return len(self.view)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self.view)))

    def address(self, place: Any) -> int:
        """Address of the number at a place."""
        part = self.view[place : place + 1] if isinstance(place, int | np.integer) else self._part(place)
        return part.__array_interface__["data"][0]

    def _part(self, place: Any) -> np.ndarray:
        last = place[-1]
        return self.view[(*place[:-1], slice(last, last + 1))]

    def __getitem__(self, place: Any) -> Any:
        found = self.view[place]
        if isinstance(found, np.ndarray):
            return WatchedArray(found, self.field, self.clocks)
        self.clocks.read(self.address(place), self.field)
        return found

    def __setitem__(self, place: Any, value: Any) -> None:
        where = self.view[place]
        if isinstance(where, np.ndarray):
            value = [*value] if isinstance(value, WatchedArray) else value
            old = where.tobytes()
            self.view[place] = value
            new, start = where.tobytes(), where.__array_interface__["data"][0]
            for k in range(0, where.size * SIZE, SIZE):  # rows are contiguous
                self.clocks.write(start + k, self.field, anew=old[k : k + SIZE] != new[k : k + SIZE])
        else:
            self.view[place] = value
            self.clocks.write(self.address(place), self.field, anew=where.tobytes() != self.view[place].tobytes())


class WatchedStruct:
    """A struct as a kernel in plain Python takes it, whose fields are watched."""

    def __init__(self, struct: Struct, clocks: Clocks):
        self._struct = struct
        self._fields = {name: WatchedArray(view, name, clocks) for name, view in struct.views.items() if view.ndim}

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__["_fields"]
        return fields[name] if name in fields else getattr(self._struct, name)  # single numbers are never written


def watched(schedule: Schedule) -> Callable[[Any], Any]:
    """`interpret` for kernels whose threads wait for each other: they offer the schedule to let others go on."""

    def load(field: WatchedArray, place: int) -> int:
        schedule.switch()
        field.clocks.acquire(field.address(place))
        return field.view[place]

    def store(field: WatchedArray, place: int, value: int) -> None:
        schedule.switch()
        field.clocks.release(field.address(place))
        field.view[place] = value
        if place == TICKET:
            field.clocks.tasks.add(int(field.view[TASK]))

    def count(field: WatchedArray, place: int) -> int:
        schedule.switch()
        field.clocks.acquire(field.address(place))
        field.clocks.release(field.address(place))
        field.view[place] += 1
        return field.view[place] - 1

    own = {load_acquire: load, store_release: store, count_up: count}
    own[trailing_zeros] = lambda bits: kernels.PLAIN[trailing_zeros](int(bits))  # of NumPy's numbers, too
    own[call_address] = lambda address: schedule.switch(waiting=True)
    meaning = {**kernels.PLAIN, **MEMORY, **own}
    return lambda kernel: meanings(kernel._namespace["loop"] if isinstance(kernel, Entry) else kernel, meaning)
