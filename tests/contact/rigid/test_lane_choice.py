"""Choices of axes, rows and columns. Reference: NumPy's roll, take and argmax."""

import numpy as np
import pytest

from saltus.contact.rigid import lane_choice as choice
from saltus.number.kernels import interpret

R = np.arange(1.0, 10.0).reshape(3, 3)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_choices_are_numpys(k):
    flat, a = tuple(R.ravel()), (5.0, 6.0, 7.0)
    expected = {
        choice.pick3: (a[k], a),
        choice.component: (a[k], a),
        choice.row: (R[k], flat),
        choice.column: (R[:, k], flat),
        choice.cycled: (np.roll(a, -k), a),
        choice.uncycled: (np.roll(a, k), a),
        choice.cycled_columns: (np.roll(R, -k, axis=1).ravel(), flat),
        choice.cycled_rows: (np.roll(R, -k, axis=0).ravel(), flat),
    }
    for function, (value, given) in expected.items():
        np.testing.assert_array_equal(interpret(function)(k, given), value, err_msg=str(function))
    np.testing.assert_array_equal(interpret(choice.transposed)(flat), R.T.ravel())


def test_the_largest_is_the_first_of_equals():
    for values in np.ndindex(3, 3, 3):
        signed = np.array(values) * [1.0, -1.0, 1.0]
        assert interpret(choice.largest3)(tuple(signed)) == np.argmax(np.abs(signed))
