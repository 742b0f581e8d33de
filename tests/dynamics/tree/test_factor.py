"""Factors of the inertia. Reference: NumPy's solution with MuJoCo's M. Tolerance: rounding times the condition of M."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.tree_matrices import pattern, tree_matrix

from saltus.dynamics.tree import factor
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_products_and_solutions_are_numpys(seed):
    m, d, dense = tree_matrix(seed)
    b, y = np.random.default_rng(seed).normal(size=m.nv), np.zeros(m.nv)
    interpret(factor.multiply)(m, d, b, y)
    np.testing.assert_allclose(y, dense @ b, atol=1e-13 * np.abs(dense).max() * m.nv)
    interpret(factor.factor)(m, d)
    x = b.copy()
    interpret(factor.solve)(m, d, x)
    expected = np.linalg.solve(dense, b)
    np.testing.assert_allclose(x, expected, atol=1e-15 * np.linalg.cond(dense) * np.abs(expected).max())
    # M = Lᵀ D L with L of ones on its diagonal; in two halves the same solution
    rows, columns = pattern(m)
    L, D = np.zeros((m.nv, m.nv)), np.diag(1.0 / d.qLDiagInv)
    L[rows, columns] = d.qLD
    np.fill_diagonal(L, 1.0)
    np.testing.assert_allclose(L.T @ D @ L, dense, atol=1e-13 * np.abs(dense).max())
    halves = np.r_[7.0, b]
    interpret(factor.solve_half)(m, d, halves, 1)
    interpret(factor.solve_rest)(m, d, halves[1:])
    np.testing.assert_array_equal(halves, np.r_[7.0, x])


@pytest.mark.parametrize("seed", range(4))
def test_prescribed_degrees_of_freedom_are_uncoupled(seed):
    """Their accelerations are given: the others solve their own part of M x = b, and those given get nothing."""
    m, d, dense = tree_matrix(seed)
    rng = np.random.default_rng(seed)
    given = np.sort(rng.choice(m.nv, size=3, replace=False))
    free = np.setdiff1d(np.arange(m.nv), given)
    m.layout = SimpleNamespace(features={"prescribed"})
    m.dof_prescribed, m.nmotion, m.motion_dofadr = np.isin(np.arange(m.nv), given), len(given), given
    b = rng.normal(size=m.nv)
    x = b.copy()
    interpret(factor.factor)(m, d)
    interpret(factor.solve)(m, d, x)
    expected, part = np.zeros(m.nv), dense[np.ix_(free, free)]
    expected[free] = np.linalg.solve(part, b[free])
    np.testing.assert_allclose(x, expected, atol=1e-15 * np.linalg.cond(part) * np.abs(expected).max())
