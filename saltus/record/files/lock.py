"""Locks: files that one program at a time may write."""

from __future__ import annotations

import contextlib
import os
import warnings

from filelock import Timeout

from saltus.errors import RecordError, SaltusWarning
from saltus.files.lock import WITHOUT_LOCKS, system_lock
from saltus.record.files.atomic_write import reason_of


class FileLock:
    """The right to write a file, until `release` or the end of the process, however it comes.

    It is the system's lock on a file beside it (`.NAME.lock`), since the file itself may be replaced. Nobody waits.

    Raises:
        RecordError: another has it; or it cannot be had.
    """

    def __init__(self, path: str | os.PathLike[str], *, what: str = "recording"):
        target = os.path.realpath(path)
        directory, name = os.path.split(target)
        if not os.path.isdir(directory):  # which must not be made by mistake
            raise RecordError(path, "no such file or directory", what=what)
        self._lock = system_lock(os.path.join(directory, f".{name}.lock"))
        try:
            self._lock.acquire(blocking=False)
        except Timeout as error:
            raise RecordError(path, f"another {what} is being written there", what=what) from error
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise RecordError(path, reason_of(error), what=what) from error
            self._remove()
            text = f"'{os.fspath(path)}' is on a file system without locks; no other {what} may be written there"
            warnings.warn(text, SaltusWarning, stacklevel=4)

    def release(self) -> None:
        """Let others have it."""
        if self._lock.is_locked:
            self._remove()
            self._lock.release()

    def _remove(self) -> None:
        """Remove the file beside, where the system removes files that are open."""
        with contextlib.suppress(OSError):
            os.unlink(self._lock.lock_file)
