"""Atomic writing: a file appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import time
from collections.abc import Iterable, Iterator

#: s between attempts to take the name of a file that another process is reading, which Windows refuses
WAITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[str]:
    """A path to write to inside; what was written becomes the file at `path` at the end, or nothing does.

    The bytes go to a new file in the same directory, which takes the name in one step.

    Args:
        path: what is made or replaced, whatever it is; `target_of` gives what a user's path means.
        durable: the bytes reach the disk before, so that the file is whole after a power failure, too. What is made
            again where it is damaged does without.

    Raises:
        OSError: the file cannot be written; nothing is left behind and a previous file is untouched.
    """
    target = os.fspath(path)
    temporary = new_beside(target)
    try:
        yield temporary
        if durable:
            _reach_disk(temporary)
        _take_name(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if durable:
        _settle_directory(os.path.dirname(target))


def target_of(path: str | os.PathLike[str]) -> str:
    """The file that a path means, links followed. OSError: there can be none, or what is there is no regular file."""
    try:
        target = os.path.realpath(path)
        directory = os.path.dirname(target)
        if not os.path.isdir(directory):
            raise OSError(f"directory '{directory}' does not exist")
    except ValueError as error:  # of paths that no system takes
        raise OSError(str(error)) from error
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise OSError("is a directory")
    if not stat.S_ISREG(mode):
        # replacing a device or a pipe by a file would break it for everyone
        raise OSError("is not a regular file")
    return target


def new_beside(target: str) -> str:
    """A new empty file in the directory of another."""
    made = os.path.join(os.path.dirname(target), f".saltus-{secrets.token_hex(8)}.tmp")
    os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    return made


def reach_disk(paths: Iterable[str], root: str) -> None:
    """Bring files, and the directories that they lie in up to `root`, to the disk: they survive a power failure."""
    directories = {os.path.dirname(root) or "."}
    for path in paths:
        _reach_disk(path)
        while path != root and (path := os.path.dirname(path)):
            directories.add(path)
    for directory in sorted(directories, key=len, reverse=True):
        _settle_directory(directory)


def _take_name(made: str, target: str) -> None:
    """Give a file the name of another; where that is being read and the system then refuses, a moment later."""
    for wait in WAITS:
        try:
            return os.replace(made, target)
        except PermissionError:
            if os.name != "nt":
                raise
            time.sleep(wait)
    os.replace(made, target)


def _reach_disk(path: str) -> None:
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _settle_directory(directory: str) -> None:
    """Make the new name durable where the system can; the content is already safe."""
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.open(directory or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
