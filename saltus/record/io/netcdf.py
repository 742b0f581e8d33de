"""Reading netCDF4 files into memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

from saltus.record.io.plain_hdf5 import check_plain

if TYPE_CHECKING:
    import xarray


def read_dataset(file: BinaryIO) -> xarray.Dataset:
    """Read all of a netCDF4 file into memory; a file that cannot be read may raise any exception."""
    import xarray

    check_plain(file, file.seek(0, os.SEEK_END))
    return xarray.load_dataset(
        file,  # pyright: ignore[reportArgumentType]
        engine="h5netcdf",
        decode_times=False,
        decode_timedelta=False,
        mask_and_scale=False,
    )
