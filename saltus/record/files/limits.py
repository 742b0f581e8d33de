"""Limits on the size of a file's content in memory, and checks of a path before it is opened.

Recordings may come from untrusted sources: a file of a kilobyte can claim to hold a terabyte.
"""

from __future__ import annotations

import os
from typing import Any

from saltus.errors import OptionError

LEAST = 2**28  # bytes that any file may unpack to
RATIO = 100  # and this many times its size


class Allowance:
    """Budget of memory (bytes) for reading a file of `size` bytes."""

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
