"""The first number that steps cannot take. Reference: NumPy's own search."""

import numpy as np
import pytest

from saltus.simulate.diagnosis.bad_numbers import first_bad


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["qpos", "ctrl", "xfrc_applied"])
def test_the_first_is_named(name, value):
    fields = {"qpos": np.zeros(3), "ctrl": np.zeros(2), "xfrc_applied": np.zeros((2, 6))}
    assert first_bad(fields) is None
    fields[name].flat[-1] = value
    taken = name == "ctrl" and not np.isnan(value)  # within its limits an infinite control is a number
    assert first_bad(fields) == (None if taken else (name, fields[name].size - 1))
