"""Arrays of other libraries are used as they lie in memory.

Law: what is written into a borrowed array is in the lender's memory (DLPack, the buffer protocol); what cannot be lent
or written is an error that names it. Equality is of bits.
"""

import array
import importlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from saltus.errors import OptionError
from saltus.simulate.batches.arrays import given, writable


class Tensor:
    """A tensor of another library on some device, whose DLPack is of one version or the other."""

    def __init__(self, values, device=1, old=False):
        self.values, self.device, self.old = values, device, old

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        if self.old and options.pop("max_version", None):
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.values.__dlpack__(**options)


class OldTensor(Tensor):
    """One that makes an array of itself as well, as PyTorch's do."""

    def __array__(self, dtype=None, copy=None):
        return self.values


class Copying(Tensor):
    """One that makes a new array of itself."""

    def __array__(self, dtype=None, copy=None):
        return self.values.copy()


def lent(out, values):
    """Whether what is written to `out`, borrowed, arrives in the memory of `values`."""
    found = writable("x", out, values.shape)
    found[...] = 3.0
    return bool(np.all(values == 3.0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_memory_is_lent(dtype):
    values = np.zeros((3, 2), dtype)
    assert lent(values, values)
    for kind in (Tensor(values), OldTensor(values, old=True), memoryview(values), values[::-1]):
        values[...] = 0.0
        assert lent(kind, values)
    block = array.array("d", [0.0, 0.0])
    writable("x", block, (2,))[...] = 1.5
    assert list(block) == [1.5, 1.5]


def test_what_cannot_be_written():
    values = np.zeros((2, 2))
    frozen = values.view()
    frozen.flags.writeable = False
    for out in (frozen, Tensor(frozen), memoryview(frozen), Tensor(values, old=True), Copying(frozen)):
        with pytest.raises(OptionError, match="read-only"):
            writable("qpos", out, (2, 2))
    with pytest.raises(OptionError, match=r"out of qpos is a Tensor on another device .*type 2"):
        writable("qpos", Tensor(values, device=2), (2, 2))
    with pytest.raises(OptionError, match=r"shape \(2, 3\), not \(2, 2\)"):
        writable("qpos", values, (2, 3))
    with pytest.raises(OptionError, match="float64 or float32, not int64"):
        writable("qpos", np.zeros((2, 2), int), (2, 2))
    with pytest.raises(OptionError, match="not >f8"):
        writable("qpos", np.zeros((2, 2), ">f8"), (2, 2))
    with pytest.raises(OptionError, match="must be an array or tensor, got list"):
        writable("qpos", [[0.0, 0.0], [0.0, 0.0]], (2, 2))
    assert not values.any()


def test_values_are_read_where_they_lie():
    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    for each in (values, values[::2], values.T):
        assert np.shares_memory(given("x", Tensor(each)), values) and given("x", each) is each
    assert_array_equal(given("x", [[1, 2]]), [[1.0, 2.0]])
    assert given("x", Tensor(np.arange(3))).dtype == np.float64
    with pytest.raises(OptionError, match="x must be numbers"):
        given("x", "abc")


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    out = torch.zeros((3, 2), dtype=torch.float32)
    writable("x", out, (3, 2))[...] = 2.0
    assert float(out.sum()) == 12.0
    assert_array_equal(given("x", torch.arange(3.0)), [0, 1, 2])
    assert_array_equal(torch.from_dlpack(np.ones(2)).numpy(), [1, 1])


def test_arrays_of_jax():
    pytest.importorskip("jax")
    numpy = importlib.import_module("jax.numpy")
    with pytest.raises(OptionError, match="read-only"):
        writable("x", numpy.zeros((3, 2)), (3, 2))
    assert_array_equal(given("x", numpy.arange(3.0)), [0, 1, 2])
