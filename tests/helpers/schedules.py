"""Seeded schedules: threads of which one runs at a time, and a seed says where another one goes on.

A thread offers to be stopped where it calls `Schedule.switch`; between two such places it runs alone. A seed repeats
its order. `traced` modules offer it at each of their lines.
"""

import random
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from types import FrameType, ModuleType
from typing import Any


class Schedule:
    """An order of threads. often: probability that another thread goes on where one offers it.

    most: offers after which threads are taken to wait for each other.
    """

    def __init__(self, seed: int, often: float = 1.0, traced: Collection[ModuleType] = (), most: int = 2_000_000):
        self._random, self._often, self._most = random.Random(seed), often, most
        self._files = {module.__file__ for module in traced}
        self._own = threading.local()
        self._ready: list[threading.Semaphore] = []
        self._alive: list[int] = []
        self._error: BaseException | None = None
        self.offers = 0

    @property
    def thread(self) -> int | None:
        """Number of the thread that asks; None: it has none of the works."""
        return getattr(self._own, "number", None)

    def run(self, works: Sequence[Callable[[], Any]]) -> None:
        """Do all works, each in a thread of its own; the first error is raised when all have ended."""
        self._ready = [threading.Semaphore(0) for _ in works]
        self._alive = list(range(len(works)))
        threads = [threading.Thread(target=self._begin, args=each, daemon=True) for each in enumerate(works)]
        for thread in threads:
            thread.start()
        self._ready[self._random.choice(self._alive)].release()
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def switch(self, *, waiting: bool = False) -> None:
        """Let another thread go on, if the seed says so; one that is `waiting` always lets others."""
        if self.thread is None:
            return
        self.offers += 1
        if self.offers > self._most:
            raise AssertionError("the threads wait for each other without end")
        if self._error is not None:
            raise SystemExit  # another thread has failed
        if waiting or self._random.random() < self._often:
            self._hand_on(self._random.choice(self._alive))

    def _hand_on(self, number: int) -> None:
        mine = self.thread
        if number != mine:
            self._ready[number].release()
            self._ready[mine].acquire()

    def _begin(self, number: int, work: Callable[[], Any]) -> None:
        self._own.number = number
        self._ready[number].acquire()
        try:
            if self._files:
                sys.settrace(self._look)
            work()
        except BaseException as error:
            self._error = self._error or (None if isinstance(error, SystemExit) else error)
        finally:
            sys.settrace(None)
            self._alive.remove(number)
            if self._alive:
                self._ready[self._random.choice(self._alive)].release()

    def _look(self, frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code.co_filename not in self._files:
            return None
        if event in ("call", "line"):
            self.switch()
        return self._look


class ScheduledLock:
    """A lock in the place of `threading.RLock`: who waits for it offers others to go on."""

    def __init__(self, schedule: Schedule):
        self._schedule, self._lock = schedule, threading.RLock()

    def acquire(self, blocking: bool = True) -> bool:
        while not self._lock.acquire(False):
            if not blocking:
                return False
            self._schedule.switch(waiting=True)
        return True

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> "ScheduledLock":
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
