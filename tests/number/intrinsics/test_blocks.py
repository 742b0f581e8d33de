"""The highest point of a block, against NumPy's `argmax` of the same products (of eight, in any order of summing);
multiples of blocks, against sums of integers.
"""

import numpy as np
import pytest

from saltus.number.intrinsics.blocks import AT_ONCE, add_multiple, higher_of_block
from saltus.number.kernels import PLAIN, entry
from saltus.number.structs import Field, Layout, Struct

STARS = Layout("Stars", {"star": Field("real", ("nblock", 3 * AT_ONCE))}, frozen=True)


@entry(structs=("m",))
def higher(m, block, x, y, z, least):
    """`higher_of_block` as Python calls it."""
    return higher_of_block(m.star, block, x, y, z, least)


def stars(points, kind):
    """A struct of blocks of points [n, AT_ONCE, 3]."""
    m = Struct(STARS, {"nblock": len(points)}, kind)
    m.star[:] = points.transpose(0, 2, 1).reshape(len(points), -1)
    return m


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_the_highest_of_a_block(kind):
    rng = np.random.default_rng(1)
    for _ in range(50):
        points, u = rng.normal(size=(3, AT_ONCE, 3)).astype(kind), rng.normal(size=3)
        m = stars(points, kind)
        heights = points[1].astype(float) @ u
        which, height = higher(m, 1, *u, -1e9)
        assert which == heights.argmax() and abs(height - heights.max()) < 1e-14 * np.abs(u).sum() * 4
        assert higher(m, 1, *u, heights.max() + 1e-9) == (-1, heights.max() + 1e-9)


def test_of_equal_ones_the_first():
    assert higher(stars(np.ones((1, AT_ONCE, 3)), "float64"), 0, 1.0, 0.0, 0.0, 0.0) == (0, 1.0)


SUMS = Layout("Sums", {"own": Field("real", ("n",)), "other": Field("real", ("n",))})


@entry(structs=("d",))
def add(d, i, factor, j):
    """`add_multiple` as Python calls it."""
    add_multiple(d.own, i, factor, d.other, j)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_a_multiple_of_a_block_is_added(kind):
    """Integers, whose sums and products are exact; entries beside the block stay."""
    d = Struct(SUMS, {"n": 3 * AT_ONCE}, kind)
    d.views["own"][:] = np.arange(3 * AT_ONCE)
    d.views["other"][:] = 100 + np.arange(3 * AT_ONCE)
    add(d, 5, 3.0, 9)
    expected = np.arange(3.0 * AT_ONCE)
    expected[5 : 5 + AT_ONCE] += 3.0 * (100 + np.arange(9, 9 + AT_ONCE))
    np.testing.assert_array_equal(d.views["own"], expected)


def test_uncompiled_it_adds_the_same():
    own, other = list(range(20)), list(range(100, 120))
    PLAIN[add_multiple](own, 2, 10, other, 4)
    assert own == [*range(2), *(i + 10 * (100 + i + 2) for i in range(2, 2 + AT_ONCE)), *range(10, 20)]
