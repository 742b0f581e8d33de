"""Locks: files that one program at a time may write."""

from __future__ import annotations

import contextlib
import errno
import os
import warnings
from typing import BinaryIO

from saltus.errors import RecordError, SaltusWarning
from saltus.record.files.atomic_write import reason_of

WITHOUT_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}  # of some network drives


class FileLock:
    """The right to write a file, until `release` or the end of the process, however it comes.

    It is the system's lock on a file beside it (`.NAME.lock`), since the file itself may be replaced. Nobody waits.

    Raises:
        RecordError: another has it; or it cannot be had.
    """

    def __init__(self, path: str | os.PathLike[str], *, what: str = "recording"):
        target = os.path.realpath(path)
        self._name = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.lock")
        self._file: BinaryIO | None = None
        while self._file is None:
            file = None
            try:
                file = open(self._name, "ab")  # noqa: SIM115  (it stays open)
                _take(file)
                # who had it may have removed the file after it was opened here
                if os.path.samestat(os.stat(self._name), os.fstat(file.fileno())):
                    self._file = file
            except FileNotFoundError as error:
                if file is None:  # no such directory; or else the file was removed a moment ago
                    raise RecordError(path, reason_of(error), what=what) from error
            except (BlockingIOError, PermissionError) as error:
                if file is None:
                    raise RecordError(path, reason_of(error), what=what) from error
                raise RecordError(path, f"another {what} is being written there", what=what) from error
            except OSError as error:
                if file is None or error.errno not in WITHOUT_LOCKS:
                    raise RecordError(path, reason_of(error), what=what) from error
                text = f"'{os.fspath(path)}' is on a file system without locks; no other {what} may be written there"
                warnings.warn(text, SaltusWarning, stacklevel=4)
                self._file = file
            finally:
                if file is not None and self._file is None:
                    file.close()

    def release(self) -> None:
        """Let others have it."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._name)
            with contextlib.suppress(OSError):
                _leave(self._file)  # a forked child may have the file open, too
            self._file.close()
            self._file = None


if os.name == "nt":
    import msvcrt

    def _take(file: BinaryIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    def _leave(file: BinaryIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: BinaryIO) -> None:
        """BlockingIOError: another has it."""
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _leave(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)
