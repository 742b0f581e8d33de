"""The coefficients of Radau IIA are those of collocation, and T parts the inverse of A.

Laws: the simplifying assumptions B(5) and C(3), with nodes at the zeros of d²/dx² (x² (x - 1)³) (Hairer & Wanner,
Solving Ordinary Differential Equations II (1996), IV.5); stiff accuracy, b = last row of A; A⁻¹ T = T Λ.
Tolerances: rounding.
"""

import numpy as np
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

from saltus.integrate.dense.dormand_prince import DENSE, WEIGHTS
from saltus.integrate.radau.dense import INNER, OTHER
from saltus.integrate.radau.tableau import ALPHA, BETA, ERROR, FROM_STAGES, NODES, POLYNOMIAL, REAL, TABLEAU, TO_STAGES

A, B, C = TABLEAU.a, TABLEAU.b, TABLEAU.c
T, BACK = (np.reshape(x, (3, 3)) for x in (TO_STAGES, FROM_STAGES))


def test_nodes_and_weights_are_those_of_collocation():
    zeros = (Polynomial([0, 0, 1]) * Polynomial([-1, 1]) ** 3).deriv(2).roots()
    assert_allclose(np.sort(zeros.real)[[0, 1, 2]], C, rtol=0, atol=1e-7)  # a double zero at 1 is as exact as this
    assert_allclose(C, NODES, rtol=0, atol=1e-15)
    for k in range(1, 6):
        assert_allclose(B @ C ** (k - 1), 1 / k, rtol=0, atol=1e-15)
    for k in range(1, 4):
        assert_allclose(A @ C ** (k - 1), C**k / k, rtol=0, atol=1e-15)
    assert (A[-1] == B).all()


def test_the_transformation_parts_the_inverse():
    parted = np.array([[REAL, 0, 0], [0, ALPHA, -BETA], [0, BETA, ALPHA]])
    assert_allclose(BACK @ np.linalg.inv(A) @ T, parted, rtol=0, atol=1e-13)
    assert_allclose(BACK @ T, np.eye(3), rtol=0, atol=1e-14)


def test_the_error_estimate_vanishes_on_cubics():
    """The embedded formula is of third order: for y = t, t², t³ with h = 1 it finds y' at the start, negative."""
    for k, slope in ((1, 1.0), (2, 0.0), (3, 0.0)):
        assert_allclose(slope + np.dot(ERROR, C**k), 0.0, rtol=0, atol=1e-13)


def test_the_polynomial_passes_through_the_stages():
    z = np.array([0.3, -0.7, 1.1])
    coefficients = np.reshape(POLYNOMIAL, (3, 3)) @ z
    assert_allclose([c * (coefficients @ [1, c, c * c]) for c in C], z, rtol=0, atol=1e-14)


def test_two_stages_can_carry_any_mean_slope_in_the_dense_output():
    """The matrix of `put_polynomial` is well conditioned, so that the polynomial loses no digits."""
    matrix = np.array([[WEIGHTS[INNER], WEIGHTS[OTHER]], [DENSE[INNER], DENSE[OTHER]]])
    assert np.linalg.cond(matrix) < 100
