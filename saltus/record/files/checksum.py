"""The seal of a recording, at the end of its file, which detects damage before any library parses the file.

Readers of netCDF4 (HDF5) and of ZIP archives ignore bytes after the content. The checksums of these formats cover less:
those of HDF5 omit attributes and data that are not in chunks, and a damaged structure can make its reader hang.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from saltus.files import checksum
from saltus.record.files.atomic_write import written_whole

MARK = b"\nSaltus recording, BLAKE2b-256:\n"
SIZE = len(MARK) + checksum.LENGTH  # bytes of a seal


def write_sealed(path: str | os.PathLike[str], content: bytes | memoryview, *, durable: bool = True) -> None:
    """Write a file whole or not at all, as `write_whole` does, with a seal behind the content."""
    with written_whole(path, durable=durable) as temporary, open(temporary, "wb") as file:
        file.write(content)
        file.write(checksum.seal(MARK, content))


def sealed_size(file: BinaryIO) -> int | None:
    """Bytes of content before the seal, after comparing them with it; None where there is no seal.

    The file is read through and stands at its start afterwards.

    Raises:
        saltus.files.checksum.Damaged: they differ.
    """
    return checksum.sealed_size(file, MARK)
