"""Atomic writing: a file is written completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator

from saltus.errors import RecordError


def write_whole(path: str | os.PathLike[str], content: bytes | memoryview, *, what: str = "recording") -> None:
    """Write `content` to the file at `path`, which afterwards holds all of it or is what it was before.

    Raises:
        RecordError: the file cannot be written; nothing is left behind and a previous file is untouched.
    """
    with written_whole(path, what=what) as temporary, open(temporary, "wb") as file:
        file.write(content)


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], *, what: str = "recording") -> Iterator[str]:
    """A path to write to inside; what was written becomes the file at `path` at the end, or nothing does.

    The bytes go to a new file in the same directory, reach the disk, and take the name in one step. A symbolic link is
    followed: its target is replaced.

    Raises:
        RecordError: the file cannot be written; nothing is left behind and a previous file is untouched.
    """
    temporary = ""
    try:
        target, temporary = _new_beside(path)
        yield temporary
        _reach_disk(temporary)
        os.replace(temporary, target)
    except BaseException as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            raise RecordError(path, reason_of(error), what=what) from error
        raise
    _settle_directory(os.path.dirname(target))


def check_writable(path: str | os.PathLike[str], *, what: str = "recording") -> None:
    """Find out whether `write_whole` could write `path`, before there is anything to write; leaves nothing behind.

    Raises:
        RecordError: it could not.
    """
    try:
        _, temporary = _new_beside(path)
        os.unlink(temporary)
    except OSError as error:
        raise RecordError(path, reason_of(error), what=what) from error


def reason_of(error: BaseException) -> str:
    """The error in a few words without its path, which the caller names."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    text = " ".join(str(error).split())
    return text or type(error).__name__


def _new_beside(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The file that a path means, and a new empty one in its directory."""
    try:
        target = os.path.realpath(path)
        _check_target(target)
        temporary = os.path.join(os.path.dirname(target), f".saltus-{secrets.token_hex(8)}.tmp")
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except ValueError as error:  # of paths that no system takes
        raise OSError(str(error)) from error
    return target, temporary


def _check_target(target: str) -> None:
    directory = os.path.dirname(target)
    if not os.path.isdir(directory):
        raise OSError(f"directory '{directory}' does not exist")
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise OSError("is a directory")
    if not stat.S_ISREG(mode):
        # replacing a device or a pipe by a file would break it for everyone
        raise OSError("is not a regular file")


def reach_disk(paths: Iterable[str], root: str) -> None:
    """Bring files, and the directories that they lie in up to `root`, to the disk: they survive a power failure."""
    directories = {os.path.dirname(root) or "."}
    for path in paths:
        _reach_disk(path)
        while path != root and (path := os.path.dirname(path)):
            directories.add(path)
    for directory in sorted(directories, key=len, reverse=True):
        _settle_directory(directory)


def _reach_disk(path: str) -> None:
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _settle_directory(directory: str) -> None:
    """Make the new name durable where the system can; the content is already safe."""
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
