"""Processes that begin together and share a cache: one compiles, the others wait for it and find what it compiled."""

import contextlib
from collections.abc import Iterator

from filelock import Timeout

from saltus.files.lock import system_lock
from saltus.number.cache.storage import cache_directory

NAME = "compiling.lock"


@contextlib.contextmanager
def one_compiles() -> Iterator[None]:
    """The first of several processes goes through while the others wait; those go through together after it.

    Where the system has no such locks all go at once.
    """
    lock = system_lock(cache_directory() / NAME)
    with contextlib.suppress(OSError):  # no locks
        try:
            lock.acquire(blocking=False)
        except Timeout:
            with lock:  # until the process that is at it has come through, or has ended
                pass
    try:
        yield
    finally:
        lock.release()
