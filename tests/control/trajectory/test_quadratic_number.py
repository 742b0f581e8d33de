"""First and second derivatives of numbers for costs, against mpmath's differences with 50 digits."""

import mpmath
import numpy as np
import pytest

from saltus.control.quadratic_number import QuadraticNumber, quadratic_array

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
NAMES = {"arctan": "atan", "arcsin": "asin", "arccos": "acos"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    x, y = quadratic_array([0.7, 0.4], np.eye(2))
    found = getattr(np, name)(np.array([x * y + 0.3 * y]))[0]

    def f(a, b):
        return getattr(mpmath, NAMES.get(name, name))(a * b + mpmath.mpf("0.3") * b)

    with mpmath.workdps(50):
        at = mpmath.mpf(0.7), mpmath.mpf(0.4)
        slopes = [mpmath.diff(f, at, n) for n in ((1, 0), (0, 1))]
        curves = [[mpmath.diff(f, at, n) for n in row] for row in (((2, 0), (1, 1)), ((1, 1), (0, 2)))]
    # 0.3 in floats is within 1e-17 of three tenths; 2e-15 is rounding of numbers near 1
    np.testing.assert_allclose(found.gradient, np.array(slopes, float), rtol=1e-14)
    np.testing.assert_allclose(found.hessian, np.array(curves, float), rtol=1e-12, atol=2e-15)


def test_arithmetic():
    x, y = quadratic_array([1.3, -0.4], np.eye(2))
    found = (2 - x) / y + x**3 / (1 + y * y) - 3 / x + abs(y) + np.hypot(x, y)

    def f(a, b):
        return (2 - a) / b + a**3 / (1 + b * b) - 3 / a - b + mpmath.sqrt(a * a + b * b)

    with mpmath.workdps(50):
        at = mpmath.mpf(1.3), mpmath.mpf(-0.4)
        curves = [[float(mpmath.diff(f, at, n)) for n in row] for row in (((2, 0), (1, 1)), ((1, 1), (0, 2)))]
        slopes = [float(mpmath.diff(f, at, n)) for n in ((1, 0), (0, 1))]
    np.testing.assert_allclose(found.gradient, slopes, rtol=1e-14)
    np.testing.assert_allclose(found.hessian, curves, rtol=1e-13)


def test_it_is_no_float():
    x = QuadraticNumber(1.0, np.ones(1), 0.0)
    with pytest.raises(TypeError, match="loses them as a float"):
        float(x)
    assert x > 0.5 and x == 1.0 and x < 2 and repr(x) == "1.0"
