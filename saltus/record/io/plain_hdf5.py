"""Checks that an HDF5 file uses only features of recordings: no other files, and a size that fits in memory.

HDF5 can keep data in other files (external storage, links, virtual datasets), run filters that are loaded as plugins,
and claim with a few bytes to hold terabytes. Recordings use none of this, so it is refused.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from saltus.record.files.limits import Allowance

SIGNATURE = b"\x89HDF\r\n\x1a\n"
FILTERS = {"deflate", "shuffle", "fletcher32"}  # filters that netCDF's own tools may have added
STRINGS = 16  # texts that are read at once
ENTRIES = 1024  # entries of an attribute, at most


def stated_size(file: BinaryIO) -> int:
    """Size in bytes that an HDF5 file states; the file is left at its start.

    Raises:
        ValueError: the file does not begin as HDF5 does, or is shorter.
    """
    start = file.read(48)
    if not start.startswith(SIGNATURE):
        raise ValueError("it does not begin like an HDF5 file")
    place = 40 if start[8:9] < b"\2" else 28  # place of the end address in the superblock, by its version
    size = int.from_bytes(start[place : place + 8], "little")
    if size > file.seek(0, os.SEEK_END):
        raise ValueError("it is cut off")
    file.seek(0)
    return size


def check_plain(file: BinaryIO, size: int) -> None:
    """Raise ValueError, which names the object, unless an HDF5 file of `size` bytes is plain; OSError if not HDF5."""
    import h5py

    allowance = Allowance(size)
    with h5py.File(file, "r") as root:
        _check_attributes(root, "the file", allowance)
        for name in map(str, root):
            link: Any = root.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                raise ValueError(f"'{name}' is a link to somewhere else ({type(link).__name__}), which is not followed")
            found = root[name]
            if not isinstance(found, h5py.Dataset):
                raise ValueError(f"'{name}' is a {type(found).__name__.lower()}, which recordings do not have")
            _check_dataset(found, name, allowance)
            _check_attributes(found, name, allowance)
    file.seek(0)


def _check_dataset(dataset: Any, name: str, allowance: Allowance) -> None:
    import h5py

    creation = dataset.id.get_create_plist()
    # checked in this order: the shape of a virtual dataset is that of files elsewhere
    if creation.get_layout() == h5py.h5d.VIRTUAL or creation.get_external_count():
        raise ValueError(f"the data of '{name}' are in another file, which is not opened")
    filters = {_filter_name(creation.get_filter(k)[0]) for k in range(creation.get_nfilters())}
    if filters - FILTERS:
        raise ValueError(f"'{name}' is compressed by {', '.join(sorted(filters - FILTERS))}; recordings are not")
    allowance.spend(dataset.size * dataset.dtype.itemsize, f"'{name}'")
    if dataset.dtype.kind != "O":
        return
    if h5py.check_string_dtype(dataset.dtype) is None or dataset.ndim > 1:
        raise ValueError(f"'{name}' has a type that recordings do not use")
    # many entries may refer to one long text
    for first in range(0, dataset.size, STRINGS):
        texts = dataset[first : first + STRINGS] if dataset.ndim else [dataset[()]]
        allowance.spend(sum(map(len, texts)), f"'{name}'")


def _check_attributes(owner: Any, name: str, allowance: Allowance) -> None:
    for key in owner.attrs:
        identity = owner.attrs.get_id(key)
        if _count(identity.shape) > ENTRIES:
            raise ValueError(f"attribute '{key}' of {name} has {_count(identity.shape)} entries")
        value = owner.attrs[key]
        allowance.spend(len(value) if isinstance(value, str | bytes) else getattr(value, "nbytes", 0), f"'{key}'")


def _count(shape: tuple[int, ...] | None) -> int:
    count = 1
    for length in shape or ():
        count *= length
    return count


def _filter_name(code: int) -> str:
    import h5py

    known = {h5py.h5z.FILTER_DEFLATE: "deflate", h5py.h5z.FILTER_SHUFFLE: "shuffle"}
    return {**known, h5py.h5z.FILTER_FLETCHER32: "fletcher32"}.get(code, f"filter {code}")
