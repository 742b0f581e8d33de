"""Reading NumPy's archives (.npz) from anywhere: what an array claims to hold is compared with what is there first."""

from __future__ import annotations

import math
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from saltus.record.files.limits import Allowance

SUFFIX = ".npy"


def read_arrays(file: BinaryIO, size: int) -> dict[str, NDArray[Any]]:
    """Arrays of an archive of `size` bytes, by name. Memory is allocated after its sizes were found to be allowed.

    Raises:
        ValueError: it unpacks to too much, or an array has another size than its header says, or holds objects.
        zipfile.BadZipFile, OSError, EOFError: it is damaged, or no archive; readers may raise other errors on those.
    """
    with zipfile.ZipFile(file) as archive:
        allowance = Allowance(size)
        for entry in archive.infolist():
            allowance.spend(entry.file_size, f"'{entry.filename}'")
        return {entry.filename.removesuffix(SUFFIX): _array(archive, entry) for entry in archive.infolist()}


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    if not entry.filename.endswith(SUFFIX):
        raise ValueError(f"'{entry.filename}' is not an array")
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"'{entry.filename}' has a header of another version")
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        if dtype.hasobject:
            raise ValueError(f"'{entry.filename}' holds objects, not numbers or text")
        stated, there = math.prod(shape) * dtype.itemsize, entry.file_size - file.tell()
        if stated != there:
            raise ValueError(f"'{entry.filename}' has {there} bytes, its header says {stated}")
        content = file.read()
    if not dtype.itemsize:  # empty text
        return np.zeros(shape, dtype)
    return np.frombuffer(content, dtype).reshape(shape, order="F" if by_columns else "C").copy(order="K")
