"""Checksums of what is written, and seals: a mark and a BLAKE2b-256 at the end of a file, which detect damage.

A seal is a guard against damage, not against malice: whoever may write a file may write its checksum, too.
"""

from __future__ import annotations

import hashlib
import os
from typing import BinaryIO

LENGTH = 32  # bytes of a checksum
BLOCK = 2**20  # bytes that are read at once


class Damaged(ValueError):
    """A file is not what was written; the text says in what."""


def digest(content: bytes | memoryview, before: bytes = b"") -> bytes:
    """The checksum of `content`; with `before`, that of what comes before it, the checksum of both."""
    found = hashlib.blake2b(before, digest_size=LENGTH)
    found.update(content)
    return found.digest()


def seal(mark: bytes, content: bytes | memoryview, before: bytes = b"") -> bytes:
    """Seal to write behind `content`: a mark, by which readers know that there is a seal, and the checksum."""
    return mark + digest(content, before)


def sealed_size(file: BinaryIO, mark: bytes) -> int | None:
    """Bytes of content before the seal, after comparing them with it; None where there is no seal.

    The file is read through, block by block, and stands at its start afterwards.

    Raises:
        Damaged: they differ.
    """
    size, expected = _seal_of(file, mark)
    if expected is None:
        return None
    found, left = hashlib.blake2b(digest_size=LENGTH), size
    while left > 0 and (block := file.read(min(left, BLOCK))):
        found.update(block)
        left -= len(block)
    file.seek(0)
    if found.digest() != expected:
        raise Damaged("its checksum does not match: the file is damaged")
    return size


def sealed_content(file: BinaryIO, mark: bytes, before: bytes = b"") -> bytes:
    """The content of a sealed file. A file without a seal is not read.

    Raises:
        Damaged: it has no seal, or one that does not fit.
    """
    size, expected = _seal_of(file, mark)
    if expected is None:
        raise Damaged("it does not end as it should")
    content = file.read(size)
    if digest(content, before) != expected:
        raise Damaged("its bytes have changed")
    return content


def _seal_of(file: BinaryIO, mark: bytes) -> tuple[int, bytes | None]:
    """Bytes before the seal, and its checksum; None where there is none. The file stands at its start afterwards."""
    size = file.seek(0, os.SEEK_END) - len(mark) - LENGTH
    file.seek(max(size, 0))
    found = file.read(len(mark) + LENGTH)
    file.seek(0)
    return size, found[len(mark) :] if size >= 0 and found.startswith(mark) else None
