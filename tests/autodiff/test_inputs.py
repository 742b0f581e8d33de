"""Shapes of what is given to a step or run."""

import numpy as np
import pytest

from saltus.autodiff.inputs import check_shape, control_steps, gradient_of_parameter, of_parameters, rows_of_parameter
from saltus.errors import OptionError


def test_controls_say_how_many_steps():
    assert control_steps(np.zeros((5, 2)), (2,), None) == 5
    assert control_steps(np.zeros(2), (2,), 7) == 7
    assert control_steps(np.zeros((3, 5, 2)), (3, 2), 5) == 5
    assert control_steps(np.zeros((3, 2)), (3, 2), 4) == 4
    with pytest.raises(OptionError, match="how many"):
        control_steps(np.zeros(2), (2,), None)
    with pytest.raises(OptionError, match="ctrl has rows for 5"):
        control_steps(np.zeros((5, 2)), (2,), 4)
    for shape in ((3,), (5, 3), (5, 5, 2)):
        with pytest.raises(OptionError, match=r"ctrl must have shape \[2\], held, or \['steps', 2\]"):
            control_steps(np.zeros(shape), (2,), None)


def test_parameters_of_one_and_of_many():
    np.testing.assert_array_equal(rows_of_parameter("x", np.array(2.0), 1, None), [2.0])
    np.testing.assert_array_equal(rows_of_parameter("x", np.ones((2, 3)), 6, None), np.ones(6))
    assert rows_of_parameter("x", np.ones(4), 1, 4).shape == (4, 1)
    assert rows_of_parameter("x", np.ones((4, 2)), 2, 4).shape == (4, 2)
    with pytest.raises(OptionError, match=r"x takes 2 numbers, or \[4, 2\] for each simulation its own, not"):
        rows_of_parameter("x", np.ones(3), 2, 4)
    with pytest.raises(OptionError, match=r"x takes 1 numbers, not an array of shape \[2\]"):
        rows_of_parameter("x", np.ones(2), 1, None)
    columns = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(gradient_of_parameter(np.ones(2), columns), [12, 16])
    np.testing.assert_array_equal(gradient_of_parameter(np.ones((4, 2)), columns), columns)
    assert gradient_of_parameter(np.array(1.0), columns[:, :1]) == 12


def test_what_is_wrong_is_named():
    assert of_parameters(None) == ((), ())
    for wrong in ([1.0], {1: 2.0}, "x"):
        with pytest.raises(OptionError, match="parameters must be a dictionary"):
            of_parameters(wrong)
    with pytest.raises(OptionError, match=r"qvel must have shape \[3\], not \[2\]"):
        check_shape("qvel", np.zeros(2), (3,))
