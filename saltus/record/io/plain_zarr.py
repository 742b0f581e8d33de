"""The files of a Zarr store: places of chunks, metadata, and checks that it uses only features of recordings.

The files are checked before Zarr reads them: a link could lead to any file, a pipe never end, a few bytes decompress to
gigabytes.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from saltus.errors import RecordError
from saltus.files.checksum import digest
from saltus.files.opening import open_regular

METADATA = "zarr.json"
CODECS = (["bytes", "zstd", "crc32c"], ["bytes", "zstd"], ["bytes"])  # codecs with which recordings have been written
BLOCK = 4096  # bytes that a file takes at least
LARGEST = 2**26  # bytes of metadata


def chunk_path(root: str, name: str, number: int, ndim: int) -> str:
    """Path of the file of a chunk; chunks of an array follow each other along the first dimension."""
    return os.path.join(root, name, "c", str(number), *["0"] * (ndim - 1))


def metadata_digest(root: str, name: str) -> bytes:
    """Checksum of the metadata of an array or of the group (name "").

    An array's length is left out: it changes at the end of a run, and the checkpoint has the valid one.

    Raises:
        ValueError, OSError: the metadata cannot be read, or are not of an array as in recordings.
    """
    with open_regular(os.path.join(root, name, METADATA), follow=False) as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST:
            raise ValueError(f"its metadata have more than {LARGEST >> 20} MiB")
        found = json.loads(file.read(size))  # a buffer of the size that is asked for is made first
    if found["node_type"] == "array":
        found["shape"] = found["shape"][1:]
        _check_codecs(found)
    return digest(json.dumps(found, sort_keys=True).encode())


def check_array(
    root: str, name: str, chunk: Sequence[int], dtype: np.dtype[Any], count: int, *, packed: bool = True
) -> None:
    """Check the first `count` chunks of an array, each of shape `chunk`; `packed`: whether they are compressed.

    A missing chunk is no error: it may hold nothing but the fill value.

    Raises:
        ValueError: a chunk unpacks to another size. OSError: it is not a regular file.
    """
    size = math.prod(chunk) * dtype.itemsize
    if any(os.path.islink(os.path.join(root, place)) for place in (name, os.path.join(name, "c"))):
        raise OSError("its directory is a link")
    for number in range(count):
        path = chunk_path(root, name, number, len(chunk))
        with contextlib.suppress(FileNotFoundError):
            _check_chunk(path, size, packed)


def check_chunks(root: str, name: str, size: int) -> None:
    """Check all chunks of an array that there are: each is a regular file and unpacks to `size` bytes.

    Raises:
        ValueError: a chunk unpacks to another size. OSError: one is not a regular file, or a directory is a link.
    """
    top = os.path.join(root, name, "c")
    if os.path.islink(os.path.dirname(top)) or os.path.islink(top):
        raise OSError("its directory is a link")
    for place, folders, files in os.walk(top):
        if any(os.path.islink(os.path.join(place, folder)) for folder in folders):
            raise OSError("its directory is a link")
        for file in files:
            # others are being written, and may be gone already
            with contextlib.suppress(FileNotFoundError):
                if file.isdecimal():
                    _check_chunk(os.path.join(place, file), size, packed=True)


def opened_group(path: str, mode: Literal["r", "r+"]) -> Any:
    """Open a Zarr store of the version that Saltus writes, after a look at the files that Zarr reads for that.

    Raises:
        ValueError, OSError: its metadata cannot be read, or are not those of a group.
        RecordError: there is no package that reads them.
    """
    metadata_digest(path, "")
    try:
        import zarr
    except ImportError as error:
        raise RecordError(path, f"Zarr stores need zarr ({error})", action="read") from error
    return zarr.open_group(path, mode=mode, zarr_format=3, use_consolidated=False)


def array_size(root: str, name: str) -> int:
    """Bytes on the disk of an array's files, at least one block each."""
    found = 0
    for place, _, files in os.walk(os.path.join(root, name)):
        found += sum(max(BLOCK, os.lstat(os.path.join(place, file)).st_size) for file in files)
    return found


def _check_codecs(metadata: Any) -> None:
    names = [codec["name"] for codec in metadata["codecs"]]
    if names not in CODECS or metadata.get("storage_transformers"):
        raise ValueError(f"it is compressed by {', '.join(map(str, names))}; recordings are not")
    grid, keys = metadata["chunk_grid"]["name"], metadata["chunk_key_encoding"]
    if grid != "regular" or keys["name"] != "default" or keys.get("configuration", {}).get("separator", "/") != "/":
        raise ValueError("its chunks are not in the places that recordings use")


def _check_chunk(path: str, size: int, packed: bool) -> None:
    if os.path.islink(os.path.dirname(path)):
        raise OSError("is a link")
    with open_regular(path, follow=False) as file:
        start = file.read(18)
        found = _unpacked_size(start) if packed else file.seek(0, os.SEEK_END)
    if found != size:
        raise ValueError(f"a chunk decompresses to {found} bytes, not {size}")


def _unpacked_size(start: bytes) -> int:
    """Unpacked size that a Zstandard frame states (RFC 8878, section 3.1.1); -1 if it states none or is no frame."""
    if len(start) < 6 or start[:4] != b"\x28\xb5\x2f\xfd":
        return -1
    single = start[4] >> 5 & 1
    width = (single, 2, 4, 8)[start[4] >> 6]
    first = 5 + (1 - single) + (0, 1, 2, 4)[start[4] & 3]
    content = start[first : first + width]
    if not width or len(content) < width:
        return -1
    return int.from_bytes(content, "little") + (256 if width == 2 else 0)
