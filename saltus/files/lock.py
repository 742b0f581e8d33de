"""The system's locks on files: they end with the process that has them, however it ends."""

from __future__ import annotations

import errno
import os

from filelock import FileLock

#: Errors of systems and network drives that have no locks.
WITHOUT_LOCKS = {getattr(errno, name) for name in ("ENOLCK", "ENOSYS", "EOPNOTSUPP", "ENOTSUP") if hasattr(errno, name)}


def system_lock(path: str | os.PathLike[str]) -> FileLock:
    """A lock on a file, for all threads of this process together.

    Its `acquire(blocking=False)` raises `filelock.Timeout` where another process or object has it, and OSError with a
    number of `WITHOUT_LOCKS` where there are no locks: a file that only says who has it would outlive its writer.
    """
    return FileLock(path, thread_local=False, fallback_to_soft=False)
