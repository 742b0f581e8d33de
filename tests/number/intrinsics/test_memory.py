"""Numbers at addresses: what NumPy sees in the same memory."""

import numpy as np
import pytest

from saltus.number.intrinsics.memory import (
    get,
    get9,
    get_int,
    get_number,
    put,
    put3,
    put_int,
    put_number,
    stack_area,
)
from saltus.number.kernels import entry


@entry(structs=())
def exchange(address, ints, i):
    """Double i and integer i, which become 7."""
    number, whole = get(address, i), get_int(ints, i)
    put(address, i, 7.0)
    put_int(ints, i, 7)
    return number, whole


@entry(structs=())
def through_the_stack(address, n):
    """The sum of the first n doubles at an address, copied to an area of the stack before."""
    area = stack_area(16)
    for i in range(n):
        put(area, i, get(address, i))
    total = 0.0
    for i in range(n):
        total = total + get(area, i)
    return total


@entry(structs=())
def turned(address):
    """Sets the first three doubles to the last three of nine; returns the middle of them."""
    a = get9(address, 0)
    put3(address, 0, (a[6], a[7], a[8]))
    return a[4]


@entry(structs=())
def doubled(address, single):
    """Doubles the number at an address."""
    put_number(address, single, 2.0 * get_number(address, single))


def test_doubles_and_integers():
    numbers, whole = np.arange(9.0), np.arange(10, 19)
    assert exchange(numbers.ctypes.data, whole.ctypes.data, 4) == (4.0, 14)
    assert numbers[4] == 7.0 and whole[4] == 7
    assert through_the_stack(numbers.ctypes.data, 9) == numbers.sum()
    assert turned(numbers.ctypes.data) == 7.0
    np.testing.assert_array_equal(numbers[:3], [6.0, 7.0, 8.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_of_either_precision(dtype):
    numbers = np.array([0.1, 0.2, 0.3], dtype)
    doubled(numbers.ctypes.data + numbers.itemsize, dtype == np.float32)
    np.testing.assert_array_equal(numbers, np.array([0.1, dtype(2) * dtype(0.2), 0.3], dtype))
