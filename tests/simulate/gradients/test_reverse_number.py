"""Numbers on a tape have the gradients of their functions.

References: derivatives by hand, and dual numbers; both to rounding.
"""

import numpy as np
import pytest

from saltus.simulate.gradients.dual_number import dual_array
from saltus.simulate.gradients.reverse_number import Tape

FUNCTIONS = {
    "sums": lambda x: np.sum(x * x) + 3 * x[0] - x[1] / 2,
    "quotients": lambda x: x[0] / x[1] + 2 / x[2] - x[1] ** 3,
    "functions": lambda x: np.sin(x[0]) * np.exp(-x[1]) + np.sqrt(x[2]) * np.log(x[1]) + np.tanh(x[0] * x[2]),
    "powers": lambda x: x[1] ** x[2] + 2.0 ** x[0],
    "angles": lambda x: np.arctan2(x[0], x[1]) + np.hypot(x[0], x[2]),
    "lengths": lambda x: np.linalg.norm(x - 0.1) + abs(-x[1]),
    "repeated": lambda x: (x[0] + x[0]) * x[0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_dual_numbers(name):
    values, tape = np.array([0.3, 1.2, 0.7]), Tape()
    numbers, first = tape.array(values)
    found = FUNCTIONS[name](numbers)
    wanted = FUNCTIONS[name](dual_array(values, np.eye(3)))
    assert found.value == pytest.approx(wanted.value, rel=1e-14)
    np.testing.assert_allclose(tape.gradient(found)[first : first + 3], wanted.tangent, rtol=1e-13)


def test_by_hand():
    numbers, first = (tape := Tape()).array([[2.0, 3.0]])
    assert numbers.shape == (1, 2)
    found = numbers[0, 0] * numbers[0, 1] ** 2
    np.testing.assert_array_equal(tape.gradient(found)[first : first + 2], [9.0, 12.0])
