"""Loops over numbers that a field lists. Reference: the slices of the list."""

import numpy as np
import pytest

from saltus.number.kernels import entry, interpret, kernel
from saltus.number.structs import Layout, Struct, ints
from saltus.number.walks import walk, walk_back

LISTS = Layout("Lists", {**ints("n"), **ints("items", shape=("n",)), **ints("out", shape=("n",))})


@kernel
def write(d, first, last, back):
    k = 0
    if back:
        for i in walk_back(d.items, first, last):
            d.out[k] = i
            k += 1
    else:
        for i in walk(d.items, first, last):
            d.out[k] = i
            k += 1
    return k


wrote = entry(write, name="wrote", structs=("d",))


@pytest.mark.parametrize(("first", "last"), [(0, 6), (2, 5), (3, 3), (0, 1)])
@pytest.mark.parametrize("back", [0, 1])
def test_a_walk_goes_over_a_part_of_the_list(first, last, back):
    d = Struct(LISTS, {"n": 6})
    d.views["items"][...] = [4, 1, 7, 7, 0, 9]
    expected = [4, 1, 7, 7, 0, 9][first:last][:: -1 if back else 1]
    for function in (wrote, interpret(write)):
        d.views["out"][...] = -1
        assert function(d, first, last, back) == len(expected)
        np.testing.assert_array_equal(d.views["out"][: len(expected)], expected)
        assert (d.views["out"][len(expected) :] == -1).all()
