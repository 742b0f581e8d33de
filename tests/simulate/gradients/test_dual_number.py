"""Dual numbers in arrays of NumPy's follow the chain rule.

Reference: complex steps of the same expressions, whose derivative is exact to rounding (Squire & Trapp, SIAM Review 40
(1998)); for what is not analytic, the closed form.
"""

import numpy as np
import pytest

from saltus.simulate.gradients.dual_number import DualNumber, dual_array

FUNCTIONS = ["sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log1p"]
FUNCTIONS += ["log10", "sqrt"]
EXPRESSIONS = {name: (lambda x, name=name: getattr(np, name)(x[0] * 0.5) * x[1]) for name in FUNCTIONS}
EXPRESSIONS |= {
    "arithmetic": lambda x: (1 - x[0]) * (x[1] + 2) / (3 - x[1]) - 2 / x[0] + x[1] / 4 - (x[0] - x[1]) + (+x[0]),
    "powers": lambda x: x[0] ** 3 + x[1] ** -0.5 + x[0] ** x[1] + 2 ** x[1] + x[0] ** 0,
    "sums": lambda x: np.sum(x**2) + np.mean(x) * np.dot(x, x) + np.prod(x) + np.cumsum(x)[1],
    "log2": lambda x: np.log(x[0]) / np.log(2.0),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_derivatives_are_those_of_complex_steps(name):
    x, h = np.array([0.7, 1.3]), 1e-30
    found = EXPRESSIONS[name](dual_array(x, np.eye(2)))
    expected = [EXPRESSIONS[name](x + 1j * h * np.eye(2)[k]).imag / h for k in range(2)]
    assert found.value == pytest.approx(EXPRESSIONS[name](x), rel=1e-15)
    np.testing.assert_allclose(found.tangent, expected, rtol=1e-13, atol=1e-15)


def test_lengths_angles_and_absolute_values():
    x = dual_array([3.0, -4.0], np.eye(2))
    np.testing.assert_allclose(np.linalg.norm(x).tangent, [0.6, -0.8], rtol=1e-15)
    np.testing.assert_allclose(np.hypot(x[0], x[1]).tangent, [0.6, -0.8], rtol=1e-15)
    np.testing.assert_allclose(np.arctan2(x[1], x[0]).tangent, [4 / 25, 3 / 25], rtol=1e-15)
    np.testing.assert_allclose(abs(x[1]).tangent, [0, -1])
    np.testing.assert_allclose(np.maximum(x[0], x[1]).tangent, [1, 0])
    assert np.sqrt(DualNumber(0.0, np.ones(1))).tangent[0] == 0


@pytest.mark.parametrize("angle", np.arange(-7, 9) * np.pi / 8.5)
def test_angles_all_around(angle):
    """The angle of the point (x, y), and its derivatives -y/r² and x/r²."""
    point = 1.7 * np.cos(angle), 1.7 * np.sin(angle)
    x = dual_array(point, np.eye(2))
    found = np.arctan2(x[1], x[0])
    assert found.value == pytest.approx(angle, rel=1e-14, abs=1e-15)
    np.testing.assert_allclose(found.tangent, [-point[1] / 1.7**2, point[0] / 1.7**2], rtol=1e-14, atol=1e-15)


def test_a_float_would_lose_the_derivatives():
    with pytest.raises(TypeError, match="use NumPy's functions"):
        float(DualNumber(1.0, np.ones(1)))


@pytest.mark.parametrize("operation", [np.add, np.subtract, np.multiply, np.divide, np.power], ids=lambda f: f.__name__)
@pytest.mark.parametrize("other", ["numbers", "floats"])
def test_arrays_and_numbers_in_both_orders(operation, other):
    """Entry by entry, by the number's own operations."""
    x = dual_array(np.array([1.5, 2.0, 0.7]), np.eye(3))
    array = x[1:] if other == "numbers" else np.array([0.8, 3.0])
    operators = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**"}
    for text in ("array {} number", "number {} array"):
        text = text.format(operators[operation.__name__])
        found = eval(text, {"array": array, "number": x[0]})
        wanted = [eval(text, {"array": one, "number": x[0]}) for one in array]
        assert found.shape == (2,)
        np.testing.assert_array_equal([a.value for a in found], [a.value for a in wanted])
        np.testing.assert_array_equal([a.tangent for a in found], [a.tangent for a in wanted])
