"""Factors after a rank-one change. Reference: NumPy's product of them. Tolerance: rounding times the condition."""

from types import SimpleNamespace

import numpy as np
import pytest

from saltus.number.kernels import interpret
from saltus.solve.soft.rank_one_update import rank_one


def factors(H):
    """L with ones on its diagonal and D of H = Lᵀ D L, from NumPy's Cholesky factor of the reversed matrix."""
    lower = np.linalg.cholesky(H[::-1, ::-1])[::-1, ::-1]
    scale = np.diag(lower)
    return (lower / scale).T, scale**2


@pytest.mark.parametrize("weight", [3.0, 1e-3, -0.05])
def test_the_factors_are_those_of_the_sum(weight):
    n, rng = 7, np.random.default_rng(0)
    half = rng.normal(size=(n, n))
    H, e = half @ half.T + np.eye(n), rng.normal(size=n)
    e[[1, 6]] = 0.0  # not on the path
    L, D = factors(H)
    np.testing.assert_allclose(L.T @ np.diag(D) @ L, H, atol=1e-13)
    rows, columns = np.tril_indices(n)
    d = SimpleNamespace(hessian=(L - np.eye(n) + np.diag(1 / D))[rows, columns], hessian_num=np.arange(n))
    d.hessian_col, d.solve_edge, d.edge_mark = columns, e.copy(), (e != 0).astype(int)
    interpret(rank_one)(SimpleNamespace(nv=n, layout=SimpleNamespace(features=frozenset())), d, weight)
    found = np.zeros((n, n))
    found[rows, columns] = d.hessian
    D = 1 / np.diag(found)
    np.fill_diagonal(found, 1.0)
    np.testing.assert_allclose(found.T @ np.diag(D) @ found, H + weight * np.outer(e, e), atol=1e-12)
    assert not d.edge_mark.any()
