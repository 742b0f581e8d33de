"""Fields give back what was put into them, and nothing beside it changes."""

import numpy as np
import pytest

from saltus.number.kernels import interpret
from saltus.spatial import fields


@pytest.mark.parametrize(
    ("load", "store", "n"), [(fields.load3, fields.store3, 3), (fields.load4, fields.store4, 4)], ids=["3", "4"]
)
def test_what_is_stored_is_loaded(load, store, n):
    field = np.arange(9.0)
    expected = np.r_[0.0, 1.0, -np.arange(1.0, n + 1), np.arange(n + 2.0, 9.0)]
    interpret(store)(field, 2, tuple(-np.arange(1.0, n + 1)))
    np.testing.assert_array_equal(field, expected)
    assert interpret(load)(field, 2) == tuple(expected[2 : n + 2])
