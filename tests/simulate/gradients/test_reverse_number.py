"""Numbers on a tape have the gradients of their functions.

References: derivatives by hand, and dual numbers; both to rounding.
"""

import numpy as np
import pytest

from saltus.simulate.gradients.dual_number import dual_array
from saltus.simulate.gradients.reverse_number import ReverseNumber, Tape

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


ARRAYS = {
    "one number": lambda x: x[1, 2] ** 2,
    "rows": lambda x: np.sum(x[-1] * x[0]) + x[:, 1].sum(),
    "masks": lambda x: x[np.array([True, False])].sum() + np.sum(x[[0, 1], [2, 0]] ** 2),
    "functions": lambda x: np.sum(np.sin(x)) + np.mean(x**2) + np.linalg.norm(x) + np.stack([x, x]).sum(),
    "operators": lambda x: (2.0 * x - x / 3.0 + np.ones((2, 3)) * x + x @ np.ones(3) @ np.ones(2)).sum(),
    "iteration": lambda x: sum(sum(row) for row in x) + len(x) * x[0, 0],
    "reshaped": lambda x: x.T.ravel()[3] * x.reshape(3, 2)[2, 1] * x.copy()[0, 0],
    "numbers with arrays": lambda x: (x[0, 1] * x).sum() + np.dot(x[0], x[1]) * x[0, 0],
    "part and whole": lambda x: x[0, 0] * np.sum(x) * x[0, 0],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_used_as_arrays(name):
    """An array makes its numbers when they are asked for; NumPy's arrays of dual numbers have all from the start."""
    values, tape = np.array([[0.3, 1.2, 0.7], [0.5, -0.4, 2.0]]), Tape()
    numbers, first = tape.array(values)
    found = ARRAYS[name](numbers)
    wanted = ARRAYS[name](dual_array(values, np.eye(6).reshape(2, 3, 6)))
    assert found.value == pytest.approx(wanted.value, rel=1e-14)
    np.testing.assert_allclose(tape.gradient(found)[first : first + 6], wanted.tangent, rtol=1e-13, atol=1e-15)


def test_an_array_can_be_written_into():
    numbers, first = (tape := Tape()).array([1.0, 2.0])
    numbers[0] = 3.0 * numbers[1]
    assert repr(numbers[1]) in repr(numbers)
    np.testing.assert_array_equal(tape.gradient(np.sum(numbers))[first : first + 2], [0.0, 4.0])


def test_a_long_run_makes_few_numbers(monkeypatch):
    """A loss of the last row alone."""
    made = []
    first = ReverseNumber.__init__
    monkeypatch.setattr(ReverseNumber, "__init__", lambda self, *given: (made.append(1), first(self, *given))[1])
    numbers, _ = Tape().array(np.zeros((1000, 7)))
    assert numbers.shape == (1000, 7) and len(numbers) == 1000
    np.sum(numbers[-1])
    assert len(made) < 20
