"""Eviction of compiled code: the files that were used last are kept, up to a size.

A file is used when it is read. Its time of modification says when that was, to a day. The directories of all versions
count together.
"""

import contextlib
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

LIMIT = 4 * 2**30  # bytes of compiled code that are kept at most
LEFT = 0.8  # what is left of that when files are removed
DAY = 86400.0  # s
IN_USE = 3600.0  # s; files that a running process may be about to read stay
EACH = 3600.0  # s between looks at all files
LOOKED = "looked_at"  # the file whose time says when that was

SUFFIX = ".nbc"
VERSION = re.compile("[0-9a-f]{16}")  # what the directory of a version is called


class Kept(NamedTuple):
    """A file of compiled code."""

    path: Path
    size: int  # bytes
    used: float  # s since the epoch


def mark_used(path: str) -> None:
    """A file has been read now; it is written down once a day."""
    with contextlib.suppress(OSError):
        if time.time() - os.stat(path).st_mtime > DAY:
            os.utime(path)


def directories(root: Path) -> list[Path]:
    """A directory and those of versions in it; nothing else below it is ours."""
    with contextlib.suppress(OSError):
        return [root, *(path for path in sorted(root.iterdir()) if VERSION.fullmatch(path.name) and path.is_dir())]
    return []


def kept(root: Path) -> list[Kept]:
    """The files in a directory and those of versions, those first that were not used for the longest time."""
    found = []
    for path in (path for directory in directories(root) for path in directory.glob(f"*{SUFFIX}")):
        with contextlib.suppress(OSError):  # another process has removed it
            status = path.stat()
            found.append(Kept(path, status.st_size, status.st_mtime))
    return sorted(found, key=lambda file: file.used)


def total(files: list[Kept]) -> int:
    """Bytes of files."""
    return sum(file.size for file in files)


def evict(root: Path, limit: int = LIMIT) -> list[Path]:
    """Remove files where there are more than `limit` bytes; those that are removed."""
    files, now = kept(root), time.time()
    over = total(files) - LEFT * limit
    if total(files) <= limit:
        return []
    removed = []
    for file in files:
        if over <= 0.0 or now - file.used < IN_USE:
            break
        if remove(file.path):
            removed.append(file.path)
            over -= file.size
    return removed


def evict_now_and_then(root: Path) -> list[Path]:
    """`evict`, unless some process has done so lately."""
    looked = root / LOOKED
    with contextlib.suppress(OSError):
        if time.time() - looked.stat().st_mtime < EACH:
            return []
    with contextlib.suppress(OSError):
        looked.touch()
        return evict(root)
    return []


def remove(path: Path) -> bool:
    """Remove a file; whether it was there and could be removed. What needs it is compiled anew."""
    with contextlib.suppress(OSError):
        path.unlink()
        return True
    return False


def clear(root: Path) -> list[Kept]:
    """Remove all files, and directories of versions that are empty then; the files that were removed."""
    removed = [file for file in kept(root) if remove(file.path)]
    for directory in directories(root)[1:]:
        with contextlib.suppress(OSError):  # not empty
            directory.rmdir()
    return removed
