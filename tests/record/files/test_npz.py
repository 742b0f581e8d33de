"""Archives are read as NumPy reads them, and refused before memory is taken for what they only claim.

Reference: numpy.load, and the sizes of arrays written here.
"""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from saltus.record.files import limits
from saltus.record.files.npz import read_arrays

ARRAYS = {
    "rows": np.arange(12.0).reshape(3, 4),
    "columns": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "text": np.array("pendulum"),
    "empty": np.empty((0, 3)),
    "no_text": np.array(""),
    "table": np.zeros(2, [("time", "f8"), ("kind", "i4", (3,))]),
    "swapped": np.arange(3, dtype=">f8"),
}


def archive(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file


def read(file):
    return read_arrays(file, len(file.getbuffer()))


def test_arrays_are_those_that_numpy_reads():
    file = archive(**ARRAYS)
    found = read(file)
    file.seek(0)
    with np.load(file) as expected:
        assert [*found] == expected.files
        for name, array in found.items():
            np.testing.assert_array_equal(array, expected[name])
            assert array.dtype == expected[name].dtype and array.flags.writeable


def test_little_that_unpacks_to_much_takes_no_memory(monkeypatch):
    """Zeros, a thousandth of their size on the disk: eight times what is allowed here."""
    monkeypatch.setattr(limits, "LEAST", 2**20)
    file = archive(weight_0=np.zeros(2**20))
    assert len(file.getbuffer()) < 2**20 / 100
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"'weight_0\.npy' would decompress to 8 MiB or more"):
            read(file)
        assert tracemalloc.get_traced_memory()[1] < 2**19
    finally:
        tracemalloc.stop()


def header(text):
    content = io.BytesIO()
    np.lib.format.write_array(content, np.zeros(2))
    changed = content.getvalue().replace(b"(2,), }" + b" " * len(text), b"(2,), }".replace(b"2,", text) + b"  ")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("a.npy", changed)
    return file


def test_a_header_that_claims_more_than_there_is():
    with pytest.raises(ValueError, match=r"'a\.npy' has 16 bytes, its header says 8000000000000"):
        read(header(b"1000000000000,"))


def test_what_is_not_an_array():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("read.me", "text")
    with pytest.raises(ValueError, match=r"'read.me' is not an array"):
        read(file)
    with pytest.raises(ValueError, match="holds objects"):
        read(archive(a=np.array([None, {}], dtype=object)))
    with pytest.raises(zipfile.BadZipFile):
        read(io.BytesIO(b"no archive"))
