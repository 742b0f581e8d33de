"""Atomic writing of what users ask for: see `saltus.files.atomic_write`, with errors that name the file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from saltus.errors import RecordError
from saltus.files.atomic_write import new_beside, replaced, target_of


def write_whole(path: str | os.PathLike[str], content: bytes | memoryview, *, what: str = "recording") -> None:
    """Write `content` to the file at `path`, which afterwards holds all of it or is what it was before.

    Raises:
        RecordError: the file cannot be written; nothing is left behind and a previous file is untouched.
    """
    with written_whole(path, what=what) as temporary, open(temporary, "wb") as file:
        file.write(content)


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], *, what: str = "recording", durable: bool = True) -> Iterator[str]:
    """A path to write to inside; what was written becomes the file at `path` at the end, or nothing does.

    The bytes go to a new file in the same directory, reach the disk if they are to be `durable`, and take the name in
    one step. A symbolic link is followed: its target is replaced.

    Raises:
        RecordError: the file cannot be written; nothing is left behind and a previous file is untouched.
    """
    try:
        with replaced(target_of(path), durable=durable) as temporary:
            yield temporary
    except OSError as error:
        raise RecordError(path, reason_of(error), what=what) from error


def check_writable(path: str | os.PathLike[str], *, what: str = "recording") -> None:
    """Find out whether `write_whole` could write `path`, before there is anything to write; leaves nothing behind.

    Raises:
        RecordError: it could not.
    """
    try:
        os.unlink(new_beside(target_of(path)))
    except OSError as error:
        raise RecordError(path, reason_of(error), what=what) from error


def reason_of(error: BaseException) -> str:
    """The error in a few words without its path, which the caller names."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    text = " ".join(str(error).split())
    return text or type(error).__name__
