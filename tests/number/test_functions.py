"""Elementary functions and selections on floats and lanes.

Reference: NumPy where IEEE 754 demands correct rounding (sqrt, floor, magnitude, selections: bit by bit), exact
rational arithmetic for the fused multiply-add (half a unit in the last place), mpmath for powers (2 units).
"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from helpers.cases import REAL, WIDTH, Cases, same_bits, ulps

from saltus.number.components import lane_count, lane_get, lane_set, zero_like
from saltus.number.functions import (
    absolute,
    any_lane,
    clip,
    exp,
    floor,
    fma,
    maximum,
    minimum,
    power,
    rarely,
    sqrt,
    where,
)
from saltus.number.kernels import interpret, kernel


@kernel(strict=True)
def functions(x):
    a, b = x
    one = (sqrt(a), absolute(a), floor(a), zero_like(a))
    two = (minimum(a, b), maximum(a, b), clip(a, -1.0, 2.0), minimum(a, 0.5), maximum(1.0, a))
    return one + two + (where(rarely(any_lane(a > 1e30)), a, b),)


@kernel(strict=True)
def products(x):
    a, b, c = x
    return fma(a, b, c), fma(a, 0.1, c), fma(2, b, -0.5), power(a, 1.7), power(b, -0.5), power(a, 3), exp(-a)


@kernel
def lanes(x):
    """Each lane in turn: twice the number plus the lane's place."""
    (a,) = x
    for i in range(lane_count(a)):
        a = lane_set(a, i, 2 * lane_get(a, i) + i)
    return (a,)


FUNCTIONS, PRODUCTS, LANES = Cases(functions, 2, 10), Cases(products, 3, 7), Cases(lanes, 1, 1)
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 1e5 + 0.25, 1e18, -1e18, np.inf, -np.inf, np.nan, 1e-40]


def real_type(kind):
    return np.float32 if kind.endswith("32") else np.float64


@pytest.mark.parametrize("kind", REAL)
def test_exact_functions(kind):
    """A NaN stays one, but `minimum` and `maximum` give the second argument if the first is one, as documented."""
    rng = np.random.default_rng(1)
    x = np.array([(a, b) for a in SPECIAL for b in SPECIAL], real_type(kind))
    x = np.concatenate([x, (rng.standard_normal((500, 2)) * 10.0 ** rng.integers(-8, 8, (500, 2))).astype(x.dtype)])
    a, b = x.T
    with np.errstate(invalid="ignore"):
        expected = [np.sqrt(a), np.abs(a), np.floor(a), np.zeros_like(a), np.where(a < b, a, b), np.where(a > b, a, b)]
        expected += [np.clip(a, -1, 2), np.where(a < 0.5, a, 0.5), np.where(a < 1, 1, a)]
    got = FUNCTIONS(kind, x)
    assert same_bits(got[:, :9], np.stack(expected, axis=1).astype(x.dtype))


@pytest.mark.parametrize("kind", REAL)
def test_condition_on_any_lane(kind):
    """All lanes go the same way, that of those for which the condition holds."""
    width = WIDTH.get(kind, 1)
    x = np.ones((width + 1, width, 2))
    x[..., 1] = 2
    for lane in range(width):
        x[lane, lane, 0] = 1e31
    got = FUNCTIONS(kind, x.reshape(-1, 2))[:, 9].reshape(width + 1, width)
    assert np.array_equal(got[:width], x[:width, :, 0].astype(got.dtype)) and (got[width] == 2).all()


@pytest.mark.parametrize("kind", REAL)
def test_fused_product_rounds_once(kind):
    """|fma(a, b, c) - (a b + c)| is at most half a unit, also where a b + c nearly cancels."""
    rng = np.random.default_rng(2)
    x = rng.uniform(0.1, 3, (300, 3)).astype(real_type(kind))
    x[:150, 2] = -x[:150, 0] * x[:150, 1]
    tenth, got = Fraction(float(real_type(kind)(0.1))), PRODUCTS(kind, x)
    for row, values in zip(x, got, strict=True):
        a, b, c = (Fraction(float(v)) for v in row)
        exact = (a * b + c, a * tenth + c, 2 * b - Fraction(1, 2))
        for value, e in zip(values[:3], exact, strict=True):
            rounded = np.spacing(real_type(kind)(abs(float(e))))
            assert abs(Fraction(float(value)) - e) <= Fraction(float(rounded)) / 2


@pytest.mark.parametrize("kind", REAL)
def test_power(kind):
    x = 10 ** np.random.default_rng(4).uniform(-5, 5, (200, 3)).astype(real_type(kind))
    got = PRODUCTS(kind, x)
    exponent = float(real_type(kind)(1.7))
    with mpmath.workdps(30):
        for column, base, y in ((3, x[:, 0], exponent), (4, x[:, 1], -0.5), (5, x[:, 0], 3)):
            assert ulps(got[:, column], [mpmath.mpf(float(b)) ** y for b in base]).max() <= 2
        assert ulps(got[x[:, 0] < 50, 6], [mpmath.exp(-float(b)) for b in x[x[:, 0] < 50, 0]]).max() <= 2


@pytest.mark.parametrize("kind", REAL)
def test_one_lane_at_a_time(kind):
    width = WIDTH.get(kind, 1)
    x = np.arange(3.0 * width)[:, None]
    assert np.array_equal(LANES(kind, x), 2 * x + np.arange(3 * width)[:, None] % width)


def test_plain_python_means_the_same():
    """Uncompiled, the functions take floats: they agree with those of the compiled kernel, to rounding for powers."""
    x = np.random.default_rng(6).uniform(0.1, 3, (20, 3))
    compiled = np.concatenate([FUNCTIONS("float64", x[:, :2]), PRODUCTS("float64", x)], axis=1)
    first, second = interpret(functions), interpret(products)
    plain = [first(tuple(map(float, row[:2]))) + second(tuple(map(float, row))) for row in x]
    np.testing.assert_allclose(plain, compiled, rtol=4e-16, atol=1e-15)  # a b + c rounds twice in plain Python
