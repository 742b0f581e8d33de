"""A checksum of a whole file at its end, which detects damage before any library parses the file.

Readers of netCDF4 (HDF5) and of ZIP archives ignore bytes after the content. The checksums of these formats cover less:
those of HDF5 omit attributes and data that are not in chunks, and a damaged structure can make its reader hang.
"""

from __future__ import annotations

import hashlib
import os
from typing import BinaryIO

from saltus.record.files.atomic_write import written_whole

MARK = b"\nSaltus recording, BLAKE2b-256:\n"
SIZE = len(MARK) + 32  # bytes of a seal
BLOCK = 2**20


class BrokenSeal(ValueError):
    """What a file holds is not what was written."""


def write_sealed(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """As `write_whole`, with a seal behind the content."""
    with written_whole(path) as temporary, open(temporary, "wb") as file:
        file.write(content)
        file.write(MARK + digest(content))


def sealed_size(file: BinaryIO) -> int | None:
    """Bytes of content before the seal, after comparing them with it; None where there is no seal.

    The file is read through and stands at its start afterwards.

    Raises:
        BrokenSeal: they differ.
    """
    size = file.seek(0, os.SEEK_END) - SIZE
    file.seek(max(size, 0))
    seal = file.read(SIZE)
    file.seek(0)
    if size < 0 or not seal.startswith(MARK):
        return None
    found, left = hashlib.blake2b(digest_size=32), size
    while left > 0 and (block := file.read(min(left, BLOCK))):
        found.update(block)
        left -= len(block)
    file.seek(0)
    if found.digest() != seal[len(MARK) :]:
        raise BrokenSeal("its checksum does not match: the file is damaged")
    return size


def digest(content: bytes | memoryview, before: bytes = b"") -> bytes:
    """The checksum of `content`; with `before`, that of what comes before it, the checksum of both."""
    found = hashlib.blake2b(before, digest_size=32)
    found.update(content)
    return found.digest()
