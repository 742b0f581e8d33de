"""The highest point of a block, against NumPy's `argmax` of the same products (of eight, in any order of summing)."""

import numpy as np
import pytest

from saltus.number.intrinsics.blocks import AT_ONCE, higher_of_block
from saltus.number.kernels import entry
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
