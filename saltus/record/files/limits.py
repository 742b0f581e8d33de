"""Limits on the size of a file's content in memory, and checks of a path before it is opened.

Recordings may come from untrusted sources: a file of a kilobyte can claim to hold a terabyte, and a path can be a pipe
that never ends.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, BinaryIO

from saltus.errors import OptionError

LEAST = 2**28  # bytes that any file may unpack to
RATIO = 100  # and this many times its size


class Allowance:
    """What a file of `size` bytes may take in memory."""

    def __init__(self, size: int):
        self.size, self._left = size, max(LEAST, RATIO * size)

    def spend(self, count: int, what: str) -> None:
        """Take `count` bytes. ValueError, naming `what`, where there are not so many left."""
        self._left -= count
        if count < 0 or self._left < 0:
            raise ValueError(f"{what} would decompress to {count / 2**20:.0f} MiB or more, from {self.size} bytes")


def checked_path(path: Any) -> str:
    """A path as text. OptionError for numbers, which the system would take as files that are open already."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise OptionError(f"path must be text or a pathlib.Path, got {path!r}")
    return os.fspath(path)


def open_regular(path: str, *, follow: bool = True) -> BinaryIO:
    """Open a file to read. OSError for pipes, devices and sockets, which are not opened, and links unless `follow`."""
    _check_regular(os.stat(path, follow_symlinks=follow), path)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    try:
        _check_regular(os.fstat(descriptor), path)  # it may have been replaced in between
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _check_regular(found: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", path)
