"""Checksums of a sweep's Zarr store: a file for what all its runs share, and one for each block that is complete.

A block counts from the moment its file of checksums is there, and no longer while it is written again. Each file is
sealed, names the block, and holds the checksum of what all runs share: blocks cannot be exchanged, nor come from
another sweep.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.files.checksum import Damaged, digest, sealed_content
from saltus.files.opening import open_regular
from saltus.record.files.checksum import MARK, write_sealed

FOLDER = os.path.join("status", "checksums")  # in the folder of an array, where readers of Zarr do not look
SHARED = "sweep"
LARGEST = 2**26  # bytes of a file of checksums


class Seals:
    """The files of checksums in the store at `root`."""

    def __init__(self, root: str):
        self._root, self._folder = root, os.path.join(root, FOLDER)

    def path(self, block: int) -> str:
        """Path of a block's file."""
        return os.path.join(self._folder, str(block))

    def shared(self) -> tuple[dict[str, Any], str] | None:
        """Read the part that all runs share, and its own checksum; None in stores from before there were any.

        Raises:
            Damaged, OSError, ValueError: the file is damaged or cannot be read.
        """
        try:
            content = self._read(os.path.join(self._folder, SHARED))
        except FileNotFoundError:
            return None
        return json.loads(content), digest(content).hex()

    def write_shared(self, content: Mapping[str, Any]) -> None:
        """Write the part that all runs share into a new store. RecordError: it cannot be written."""
        os.makedirs(self._folder, exist_ok=True)
        write_sealed(os.path.join(self._folder, SHARED), _image(content))

    def blocks(self) -> dict[int, float]:
        """Times at which complete blocks were written (s, file modification times), by block number."""
        with contextlib.suppress(FileNotFoundError), os.scandir(self._folder) as files:
            return {int(file.name): file.stat().st_mtime for file in files if file.name.isdecimal()}
        return {}

    def block(self, block: int, shared: str) -> dict[str, str] | None:
        """Checksums of a block's columns by name; None where the block is not complete.

        Raises:
            Damaged, OSError, ValueError: the file is damaged, or is of another block or sweep.
        """
        try:
            found = json.loads(self._read(self.path(block)))
        except FileNotFoundError:
            return None
        if found["block"] != block or found["sweep"] != shared:
            raise Damaged(f"the checksums of block {block} are those of another block or sweep")
        return found["columns"]

    def write_block(self, block: int, shared: str, columns: Mapping[str, str]) -> None:
        """Declare a block complete. RecordError: the file cannot be written."""
        content = {"block": block, "sweep": shared, "columns": dict(columns)}
        write_sealed(self.path(block), _image(content), durable=False)

    def open_again(self, block: int) -> None:
        """Take back that a block is complete, before it is written anew."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(block))

    def _read(self, path: str) -> bytes:
        if os.path.islink(self._folder) or os.path.islink(os.path.dirname(self._folder)):
            raise OSError("its directory is a link")
        with open_regular(path, follow=False) as file:
            if os.fstat(file.fileno()).st_size > LARGEST:
                raise ValueError(f"a file of checksums has more than {LARGEST >> 20} MiB")
            return sealed_content(file, MARK)


def column_digest(name: str, values: NDArray[Any]) -> str:
    """Checksum, in hexadecimal, of values of a column; those of another column have another one."""
    return digest(np.ascontiguousarray(values).tobytes(), name.encode()).hex()


def _image(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=False).encode()
