"""Lanes: Python's operators on simulations side by side.

Reference: NumPy's elementwise arithmetic in the same precision. IEEE 754 says what +, -, *, / and comparisons give, so
in kernels that keep the order of operations results are equal bit by bit.
"""

import numpy as np
import pytest
from helpers.cases import REAL, WIDTH, Cases, same_bits

from saltus.number.components import zero_like
from saltus.number.functions import any_lane, sqrt, where
from saltus.number.kernels import interpret, kernel


@kernel(strict=True)
def arithmetic(x):
    a, b = x
    total, less, product, quotient = 1 * a, 1 * a, 1 * a, 1 * a
    total += b
    less -= b
    product *= 3
    quotient /= 0.7
    binary = (a + b, a - b, a * b, a / b, -a, a + b * a - b / a)
    whole = (a + 2, 2 + a, a - 2, 2 - a, a * 3, 3 * a, a / 3, 3 / a)
    real = (a + 0.1, 0.1 + a, a - 0.1, 0.1 - a, a * 0.1, 0.1 * a, a / 0.1, 0.1 / a)
    return binary + whole + real + (total, less, product, quotient)


@kernel(strict=True)
def comparisons(x):
    a, b = x
    no = zero_like(a)
    yes = no + 1.0
    ordered = (where(a < b, yes, no), where(a <= b, 1.0, no), where(a > b, 1.0, no), where(a >= b, yes, 0.0))
    equal = (where(a == b, yes, 0), where(a != b, yes, no))
    return ordered + equal + (where(a < 1, a, b), where(0.5 >= a, a, b), where(a == 0, a, b), where(2 != b, a, b))


@kernel(strict=True)
def masks(x):
    a, b = x
    small, positive = a < b, b > 0
    chosen = (where(small & positive, a, b), where(small | positive, a, b), where(~small, a, b))
    mixed = where(~(small & ~positive) | (a > 2.0), a, b)
    return chosen + (mixed, where(any_lane(small & positive), 1, zero_like(a)))


@kernel
def seen(x):
    """1 where a NaN that arises in different ways is seen, under the fast-math of kernels."""
    a, b = x
    no = zero_like(a)
    difference, product, quotient, root = a - a, 0.0 * a, b / b, sqrt(b)
    first = (where(a != a, 1.0, no), where(difference != difference, 1.0, no), where(product != product, 1.0, no))
    return first + (where(quotient != quotient, 1.0, no), where(root != root, 1.0, no), where(a == a, no, 1.0))


ARITHMETIC, COMPARISONS, MASKS = Cases(arithmetic, 2, 26), Cases(comparisons, 2, 10), Cases(masks, 2, 5)
SEEN = Cases(seen, 2, 6)


def numbers(kind):
    """Pairs of numbers of all magnitudes, and each special value with each."""
    rng = np.random.default_rng(3)
    dtype = np.float32 if kind.endswith("32") else np.float64
    info = np.finfo(dtype)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, np.inf, -np.inf, np.nan]
    special += [info.max, -info.max, info.tiny, info.smallest_subnormal, -info.smallest_subnormal, 1 + info.eps]
    pairs = np.array([(a, b) for a in special for b in special])
    ordinary = rng.standard_normal((301, 2)) * 10.0 ** rng.integers(-30, 30, (301, 2))
    return np.concatenate([pairs, ordinary, rng.uniform(-3, 3, (300, 2))]).astype(dtype)


@pytest.mark.parametrize("kind", REAL)
def test_arithmetic_is_ieee(kind):
    """Constants take the precision of lanes; among single floats they are double ones, in NumPy as in Numba."""
    x = numbers(kind)
    with np.errstate(all="ignore"):
        plain = interpret(arithmetic, np.float64 if kind == "float32" else None)
        expected = np.stack(plain((x[:, 0], x[:, 1])), axis=1).astype(x.dtype)
    assert same_bits(ARITHMETIC(kind, x), expected)


@pytest.mark.parametrize("kind", REAL)
def test_comparisons(kind):
    """A comparison with a NaN is false, but `!=` is true."""
    x = numbers(kind)
    a, b = x.T
    got = COMPARISONS(kind, x)
    assert np.array_equal(got[:, :6], np.stack([a < b, a <= b, a > b, a >= b, a == b, a != b], axis=1))
    chosen = np.stack([a < 1, a <= 0.5, a == 0, b != 2], axis=1)
    assert same_bits(got[:, 6:], np.where(chosen, a[:, None], b[:, None]))


@pytest.mark.parametrize("kind", WIDTH)
def test_masks_combine(kind):
    x = numbers(kind)
    a, b = x.T
    small, positive = a < b, b > 0
    chosen = np.stack([small & positive, small | positive, ~small, ~(small & ~positive) | (a > 2)], axis=1)
    assert same_bits(MASKS(kind, x)[:, :4], np.where(chosen, a[:, None], b[:, None]))


@pytest.mark.parametrize("kind", WIDTH)
def test_any_lane_sees_each_lane(kind):
    width = WIDTH[kind]
    x = np.empty((width + 1, width, 2))
    x[...] = (2.0, 1.0)
    for lane in range(width):
        x[lane, lane] = (1.0, 2.0)
    got = MASKS(kind, x.reshape(-1, 2))[:, 4].reshape(width + 1, width)
    assert (got[:width] == 1).all() and (got[width] == 0).all()


@pytest.mark.parametrize("kind", REAL)
def test_nan_stays_visible(kind):
    """x - x, 0 x, x / x and sqrt(-1) are NaN where IEEE says so; fast-math must not make them 0 or 1."""
    nan, inf = np.nan, np.inf
    x = np.array([(nan, 1), (inf, 0), (-inf, 4), (0, nan), (2, inf), (3, -1), (1, 9)], float)
    a, b = x.T
    expected = [np.isnan(a), ~np.isfinite(a), ~np.isfinite(a), ~np.isfinite(b) | (b == 0), ~(b >= 0), np.isnan(a)]
    assert np.array_equal(SEEN(kind, x), np.stack(expected, axis=1))


@pytest.mark.parametrize("kind", WIDTH)
def test_neighbours_do_not_matter(kind):
    """Each lane's arithmetic is the same among zeros, infinities and NaNs."""
    x = np.random.default_rng(5).uniform(-3, 3, (40, 2))
    alone = ARITHMETIC(kind, np.repeat(x, WIDTH[kind], axis=0))[:: WIDTH[kind]]
    for neighbour in (0.0, np.inf, np.nan):
        for lane in (0, 1, WIDTH[kind] - 1):
            mixed = np.full((len(x), WIDTH[kind], 2), neighbour)
            mixed[:, lane] = x
            got = ARITHMETIC(kind, mixed.reshape(-1, 2))[lane :: WIDTH[kind]]
            assert same_bits(got, alone)
