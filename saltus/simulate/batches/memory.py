"""Places in memory of arrays outside the compiled code.

A table has a row of integers for each array [n, a, b]: where its field begins in the list of rows of the state or the
workspace, a, b, the array's address, its three strides in bytes, and whether it is in single precision. Arrays of
either precision, with any strides, are thus copied in and out directly, several in one call.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

COLUMNS = 8
FIRST, MANY, EACH, ADDRESS, STRIDE, STRIDE_MANY, STRIDE_EACH, SINGLE = range(COLUMNS)


def table_of(arrays: Sequence[np.ndarray], firsts: Sequence[int]) -> NDArray[np.int64]:
    """The table of arrays [n], [n, a] or [n, a, b], float32 or float64, whose fields begin at `firsts`."""
    table = np.zeros((len(arrays), COLUMNS), np.int64)
    for row, array, first in zip(table, arrays, firsts, strict=True):
        shape, strides = array.shape + (1, 1), array.strides + (0, 0)
        row[:] = first, *shape[1:3], array.ctypes.data, *strides[:3], array.dtype == np.float32
    return table
