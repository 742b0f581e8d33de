"""Cubic splines through points: SciPy's coefficients, and cubic polynomials that come back.

Reference: `scipy.interpolate.CubicSpline`, to the rounding of a well conditioned tridiagonal system.
"""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from saltus.model.compile.constraints.cubic_spline import spline_segments


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9, 200])
@pytest.mark.parametrize("periodic", [False, True])
def test_coefficients_are_scipys(n, periodic):
    if periodic and n == 2:
        return  # a period needs three points
    rng = np.random.default_rng(n)
    x, y = np.cumsum(rng.uniform(0.05, 2.0, n)), rng.normal(size=n)
    y[-1] = y[0] if periodic else y[-1]
    expected = CubicSpline(x, y, bc_type="periodic" if periodic else "not-a-knot").c[::-1].T
    found = spline_segments(x, y, periodic=periodic)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_points_of_a_cubic_polynomial_give_it():
    p = np.polynomial.Polynomial([0.3, -1.0, 0.5, 0.2])
    x = np.array([-1.0, -0.4, 0.3, 0.9, 2.0])
    for begin, c in zip(x, spline_segments(x, p(x), periodic=False), strict=False):
        np.testing.assert_allclose(c, p(np.polynomial.Polynomial([begin, 1.0])).coef, rtol=0, atol=1e-13)
