"""Duals: values with exact derivatives along eight directions.

Reference: mpmath differentiates the same expressions, written again for it, with 50 digits. The chain rule adds a few
roundings, so 1e-13 relative to the largest term holds with room; the project asks for 1e-9.
"""

import mpmath
import numpy as np
import pytest
from helpers.cases import Cases, same_bits

from saltus.number.components import chain, frozen, seed, tangent_of, value_of, zero_like
from saltus.number.functions import absolute, atan2, clip, exp, floor, maximum, minimum, power, sincos, sqrt, where
from saltus.number.kernels import kernel
from saltus.number.kinds import NTANGENT
from saltus.spatial.quaternions import quat_exp, quat_log


@kernel(strict=True)
def arithmetic(x):
    a, b = x
    c = 1 * a
    c += b
    c -= 0.5
    c *= a
    c /= b
    first = (a + b, a - b, a * b, a / b, -a, 2 + a, a + 0.1, 3 - a, a - 0.3, 3 * a, a * 0.7, 2 / a, 0.7 / a, a / 3)
    return first + (c, a / (b + 1 / a) - b * (a - b) / a)


ARITHMETIC = Cases(arithmetic, 2, 16)
ARITHMETIC_AGAIN = [
    *(lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: -a),
    *(lambda a, b: 2 + a, lambda a, b: a + 0.1, lambda a, b: 3 - a, lambda a, b: a - 0.3, lambda a, b: 3 * a),
    *(lambda a, b: a * 0.7, lambda a, b: 2 / a, lambda a, b: 0.7 / a, lambda a, b: a / 3),
    *(lambda a, b: (a + b - 0.5) * a / b, lambda a, b: a / (b + 1 / a) - b * (a - b) / a),
]


@kernel(strict=True)
def functions(x):
    a, b = x
    s, c = sincos(a)
    sine, _ = sincos(sqrt(a * a + b * b) * c)
    first = (sqrt(a), exp(b), absolute(b), absolute(-b), floor(a), power(a, 1.7), power(a, -2), s, c)
    angles = (atan2(b, a), atan2(-b, -a), atan2(a, 0.5), atan2(0.5, a), atan2(-0.3, -b))
    chosen = (where(a < b, a, b), where(a < b, a, 2.0), minimum(a, b), maximum(a, b), clip(a, 0.2, 1.5))
    return first + angles + chosen + (sine * atan2(s, b) / sqrt(1 + c * c),)


FUNCTIONS = Cases(functions, 2, 20)
FUNCTIONS_AGAIN = [
    *(lambda a, b: mpmath.sqrt(a), lambda a, b: mpmath.exp(b)),
    *(lambda a, b: abs(b), lambda a, b: abs(-b), lambda a, b: mpmath.floor(a)),
    *(lambda a, b: a ** mpmath.mpf(1.7), lambda a, b: a**-2, lambda a, b: mpmath.sin(a), lambda a, b: mpmath.cos(a)),
    *(lambda a, b: mpmath.atan2(b, a), lambda a, b: mpmath.atan2(-b, -a), lambda a, b: mpmath.atan2(a, 0.5)),
    *(lambda a, b: mpmath.atan2(0.5, a), lambda a, b: mpmath.atan2(mpmath.mpf(-0.3), -b)),
    *(lambda a, b: a if a < b else b, lambda a, b: a if a < b else mpmath.mpf(2), min, max),
    lambda a, b: min(max(a, mpmath.mpf(0.2)), mpmath.mpf(1.5)),
    lambda a, b: (
        mpmath.sin(mpmath.sqrt(a * a + b * b) * mpmath.cos(a))
        * mpmath.atan2(mpmath.sin(a), b)
        / mpmath.sqrt(1 + mpmath.cos(a) ** 2)
    ),
]


@kernel(strict=True)
def comparisons(x):
    """Truth values of comparisons, which look at values alone."""
    a, b = x
    no = zero_like(a)
    return (
        where(a < b, 1, no),
        where(a <= b, 1, no),
        where(a > b, 1, no),
        where(a >= b, 1, no),
        where(a == b, 1, no),
        where(a != b, 1, no),
        where(a < 2, 1, no),
        where(a != a, 1, no),
    )


@kernel
def parts(x):
    a, b = x
    return (
        a + seed(value_of(b), 3),
        seed(2.0, -1) * a,
        seed(2.0, 8) * a,
        frozen(a) * b,
        chain(5.0, 7.0, a),
        zero_like(a) + tangent_of(a * b, 1),
        zero_like(a) + value_of(a),
    )


@kernel
def rotations(x):
    q = quat_exp(x)
    v = quat_log(q)
    return q + v


COMPARISONS, PARTS, ROTATIONS = Cases(comparisons, 2, 8), Cases(parts, 2, 7), Cases(rotations, 3, 7)


def states(n=40):
    """Random points away from kinks, with random tangents."""
    rng = np.random.default_rng(21)
    x = rng.uniform(0.05, 3, (n, 2))
    return x, rng.standard_normal((n, 2, NTANGENT))


@pytest.mark.parametrize(
    "cases, again", [(ARITHMETIC, ARITHMETIC_AGAIN), (FUNCTIONS, FUNCTIONS_AGAIN)], ids=["arithmetic", "functions"]
)
def test_derivatives(cases, again):
    x, dx = states()
    y, dy = cases("dual", x, dx)
    with mpmath.workdps(50):
        for p, (a, b) in enumerate(x):
            for column, f in enumerate(again):
                gradient = [mpmath.diff(f, (a, b), n) for n in ((1, 0), (0, 1))]
                exact = np.array(gradient, float) @ dx[p]
                scale = np.abs(np.array(gradient, float)) @ np.abs(dx[p])
                assert abs(y[p, column] - float(f(mpmath.mpf(a), mpmath.mpf(b)))) <= 1e-14 * (1 + abs(y[p, column]))
                assert (np.abs(dy[p, column] - exact) <= 1e-13 * scale).all(), (p, column)


@pytest.mark.parametrize("cases", [ARITHMETIC, FUNCTIONS], ids=["arithmetic", "functions"])
def test_values_are_those_of_floats(cases):
    """Carrying tangents changes no bit of the value."""
    x, dx = states()
    assert same_bits(cases("dual", x, dx)[0], cases("float64", x))


def test_without_tangents_there_are_none():
    x, dx = states(10)
    _, dy = FUNCTIONS("dual", x, 0 * dx)
    assert not dy.any()


def test_comparisons_see_the_value():
    x = np.array([[1, 2], [2, 1], [1, 1], [np.nan, 1]], float)
    dx = np.random.default_rng(22).standard_normal((4, 2, NTANGENT))
    a, b = x.T
    expected = [a < b, a <= b, a > b, a >= b, a == b, a != b, a < 2, a != a]
    y, dy = COMPARISONS("dual", x, dx)
    assert np.array_equal(y, np.stack(expected, axis=1)) and not dy.any()


def test_nan_reaches_the_tangents():
    y, dy = ARITHMETIC("dual", [[np.nan, 1.0]], np.ones((1, 2, NTANGENT)))
    assert np.isnan(y[0, 2]) and np.isnan(dy[0, 2]).all()


def test_parts():
    """`seed` sets one tangent, none if outside; `chain` is f(x) from f, f'; `frozen` and `value_of` drop tangents."""
    x, dx = states(5)
    (a, b), (da, db) = x.T, dx.transpose(1, 0, 2)
    y, dy = PARTS("dual", x, dx)
    third = np.eye(NTANGENT)[3]
    product = a[:, None] * db + b[:, None] * da
    values = [a + b, 2 * a, 2 * a, a * b, 0 * a + 5, product[:, 1], a]
    tangents = [da + third, 2 * da, 2 * da, a[:, None] * db, 7 * da, 0 * da, 0 * da]
    np.testing.assert_allclose(y, np.stack(values, axis=1), rtol=1e-15)
    np.testing.assert_allclose(dy, np.stack(tangents, axis=1), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("size", [0, 1e-20, 1e-9, 1e-6, 1e-3, 0.5, 3.1])
def test_rotations(size):
    """The exponential has the derivatives of cos, sin(|v|/2) v/|v|, also at 0; its logarithm gives v back, and dv."""
    rng = np.random.default_rng(23)
    v = rng.standard_normal((6, 3))
    v *= size / np.linalg.norm(v, axis=1)[:, None]
    dv = rng.standard_normal((6, 3, NTANGENT))

    def part(k):
        def exponential(*v):
            angle = mpmath.sqrt(sum(c * c for c in v))
            half = mpmath.mpf(1) / 2 if angle == 0 else mpmath.sin(angle / 2) / angle
            return mpmath.cos(angle / 2) if k == 0 else half * v[k - 1]

        return exponential

    y, dy = ROTATIONS("dual", v, dv)
    np.testing.assert_allclose(y[:, 4:], v, rtol=4e-15, atol=1e-300)
    np.testing.assert_allclose(
        dy[:, 4:], dv, rtol=0, atol=3e-12
    )  # near 0 the series' first terms, 1e-12 of dv, are kept
    with mpmath.workdps(70):
        for p in range(6):
            jacobian = [
                [mpmath.diff(part(k), tuple(v[p]), tuple(np.eye(3, dtype=int)[i])) for i in range(3)] for k in range(4)
            ]
            np.testing.assert_allclose(dy[p, :4], np.array(jacobian, float) @ dv[p], rtol=0, atol=4e-15)
