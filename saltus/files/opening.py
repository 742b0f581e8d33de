"""Opening a file to read that may be anything: a path can be a pipe that never ends, or a device."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

# opening a pipe must not wait for someone to write into it
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str, *, follow: bool = True) -> BinaryIO:
    """Open a file to read. OSError for pipes, devices and sockets, which are not opened, and links unless `follow`."""
    _check_regular(os.stat(path, follow_symlinks=follow), path)
    descriptor = os.open(path, FLAGS | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    try:
        _check_regular(os.fstat(descriptor), path)  # it may have been replaced in between
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _check_regular(found: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", path)
