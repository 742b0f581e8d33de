"""Processes that begin together and share a cache: one compiles, the others wait for it and find what it compiled."""

import contextlib
import os
from collections.abc import Iterator

from saltus.number.cache.storage import cache_directory

NAME = "compiling.lock"


@contextlib.contextmanager
def one_compiles() -> Iterator[None]:
    """The first of several processes goes through while the others wait; those go through together after it.

    Where the system has no such locks all go at once.
    """
    with open(cache_directory() / NAME, "ab") as file:
        first = _take(file.fileno())
        if not first:
            _wait(file.fileno())
        yield  # closing the file ends the lock


if os.name == "nt":

    def _take(descriptor: int) -> bool:
        return True

    def _wait(descriptor: int) -> None:
        pass

else:
    import fcntl

    def _take(descriptor: int) -> bool:
        """Whether no other process is at it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a network drive without locks
            pass
        return True

    def _wait(descriptor: int) -> None:
        """Until the process that is at it has come through."""
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
