"""Shape functions of cells. Reference: polynomials of their order are interpolated exactly; NumPy evaluates them."""

import numpy as np
import pytest

from saltus.model.flex.cells import shape_functions


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("count", [1, 3])
def test_polynomials_are_interpolated_exactly(order, count):
    nodes, polynomial = np.arange(order * count + 1) / order, np.random.default_rng(0).normal(size=order + 1)
    for place in np.linspace(0.0, count, 25):
        weights = shape_functions(place, order, count)
        assert weights.sum() == pytest.approx(1.0, abs=1e-15) and np.count_nonzero(weights) <= order + 1
        assert weights @ np.polyval(polynomial, nodes) == pytest.approx(np.polyval(polynomial, place), abs=1e-14 * 30)
    for k, node in enumerate(nodes):
        np.testing.assert_array_equal(shape_functions(node, order, count), np.eye(len(nodes))[k])
