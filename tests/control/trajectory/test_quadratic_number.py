"""First and second derivatives of numbers for costs, against mpmath's differences with 50 digits."""

import mpmath
import numpy as np
import pytest

from saltus.control.trajectory.quadratic_number import QuadraticNumber, StagesDiffer, numbers_of

FUNCTIONS = [
    "sin",
    "cos",
    "tan",
    "tanh",
    "sqrt",
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "arctan",
    "arcsin",
    "arccos",
    "sinh",
    "cosh",
]


def gradient_of(found):
    return np.array([found.gradient[k] for k in range(2)])


def hessian_of(found):
    return np.array([[found.hessian[min(i, j), max(i, j)] for j in range(2)] for i in range(2)])


NAMES = {"arctan": "atan", "arcsin": "asin", "arccos": "acos"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    x, y = numbers_of(np.array([0.7, 0.4]), range(2), True)
    found = getattr(np, name)(np.array([x * y + 0.3 * y]))[0]

    def f(a, b):
        return getattr(mpmath, NAMES.get(name, name))(a * b + mpmath.mpf("0.3") * b)

    with mpmath.workdps(50):
        at = mpmath.mpf(0.7), mpmath.mpf(0.4)
        slopes = [mpmath.diff(f, at, n) for n in ((1, 0), (0, 1))]
        curves = [[mpmath.diff(f, at, n) for n in row] for row in (((2, 0), (1, 1)), ((1, 1), (0, 2)))]
    # 0.3 in floats is within 1e-17 of three tenths; 2e-15 is rounding of numbers near 1
    np.testing.assert_allclose(gradient_of(found), np.array(slopes, float), rtol=1e-14)
    np.testing.assert_allclose(hessian_of(found), np.array(curves, float), rtol=1e-12, atol=2e-15)


def test_arithmetic():
    x, y = numbers_of(np.array([1.3, -0.4]), range(2), True)
    found = (2 - x) / y + x**3 / (1 + y * y) - 3 / x + abs(y) + np.hypot(x, y)

    def f(a, b):
        return (2 - a) / b + a**3 / (1 + b * b) - 3 / a - b + mpmath.sqrt(a * a + b * b)

    with mpmath.workdps(50):
        at = mpmath.mpf(1.3), mpmath.mpf(-0.4)
        curves = [[float(mpmath.diff(f, at, n)) for n in row] for row in (((2, 0), (1, 1)), ((1, 1), (0, 2)))]
        slopes = [float(mpmath.diff(f, at, n)) for n in ((1, 0), (0, 1))]
    np.testing.assert_allclose(gradient_of(found), slopes, rtol=1e-14)
    np.testing.assert_allclose(hessian_of(found), curves, rtol=1e-13)


def test_it_is_no_float():
    x = QuadraticNumber(1.0, {0: 1.0})
    with pytest.raises(TypeError, match="loses them as a float"):
        float(x)
    assert x > 0.5 and x == 1.0 and x < 2 and repr(x) == "1.0"


def expression(x, y):
    """Through all functions and operations; x and y between 0 and 1, y 0 at places."""
    total = abs(x - 0.5) * y**2 + np.sqrt(y) * x + (x + 2) ** 1.5 / (1 + y) - 2**y + np.arctan2(2 + x, y) - (+x)
    for name in FUNCTIONS:
        total = total + 0.1 * getattr(np, name)(np.array([0.5 * x + 0.2 + 0.1 * y * x]))[0]
    return total + np.hypot(x, y) + y**0 + y**1 + (y + x) ** -1


def test_numbers_of_many_stages_are_those_of_each():
    """Values, gradients and Hessians of arrays are those of single numbers; 0 to powers is an exception."""
    values = np.random.default_rng(1).uniform(0.05, 0.95, (2, 6))
    values[1, 2] = 0.0
    found = expression(*numbers_of(values, range(2), True))
    for k in range(values.shape[1]):
        single = expression(*numbers_of(values[:, k], range(2), True))
        np.testing.assert_allclose(found.value[k], single.value, rtol=1e-14)
        np.testing.assert_allclose(gradient_of(found)[:, k], gradient_of(single), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(hessian_of(found)[:, :, k], hessian_of(single), rtol=1e-12, atol=1e-14)


def test_comparisons_at_many_stages():
    (x,) = numbers_of(np.array([[1.0, 2.0, 3.0]]), range(1), True)
    assert x > 0.5 and x >= 1 and not x < 1 and x <= 3 and x != 4 and x
    for differs in (lambda: x > 1.5, lambda: x == 2.0, lambda: bool(x - 2.0), lambda: np.arctan2(x, 2.0)):
        with pytest.raises(StagesDiffer, match="different outcomes"):
            differs()


def test_entries_of_quadratic_terms_are_plain_numbers():
    """So that the second derivatives of a quadratic cost take no arrays."""
    x, y = numbers_of(np.ones((2, 50)), range(2), True)
    found = 0.5 * x**2 + 3 * x * x + (y - 1.0) * (y - 1.0)
    assert found.hessian == {(0, 0): 7.0, (1, 1): 2.0}
