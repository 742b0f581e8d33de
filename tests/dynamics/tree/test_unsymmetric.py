"""Unsymmetric systems on the tree's pattern. Reference: NumPy's solution. Tolerance: rounding times the condition."""

import numpy as np
import pytest
from helpers.tree_matrices import pattern, tree_matrix

from saltus.dynamics.tree.unsymmetric import unsymmetric_solve
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_the_solution_is_numpys(seed):
    m, d, _ = tree_matrix(seed)
    rng, (rows, columns) = np.random.default_rng(seed), pattern(m)
    d.lower, d.upper = (d.M * rng.uniform(0.8, 1.2, m.nC) for _ in range(2))
    A = np.zeros((m.nv, m.nv))
    A[columns, rows] = d.upper
    A[rows, columns] = d.lower  # the diagonal is in lower
    b = rng.normal(size=m.nv)
    x = b.copy()
    interpret(unsymmetric_solve)(m, d, x)
    expected = np.linalg.solve(A, b)
    np.testing.assert_allclose(x, expected, atol=1e-14 * np.linalg.cond(A) * np.abs(expected).max())
