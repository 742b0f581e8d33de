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


def updated(H, weights, e):
    """The product of the factors of H after rank-one updates, and whether each update said that few digits are left."""
    n = len(e)
    L, D = factors(H)
    np.testing.assert_allclose(L.T @ np.diag(D) @ L, H, atol=1e-13)
    rows, columns = np.tril_indices(n)
    d = SimpleNamespace(hessian=(L - np.eye(n) + np.diag(1 / D))[rows, columns], hessian_num=np.arange(n))
    d.hessian_col, d.solve_least, inexact = columns, 1 / D, []
    for weight in weights:
        d.solve_edge, d.edge_mark = e.copy(), (e != 0).astype(int)
        model = SimpleNamespace(nv=n, layout=SimpleNamespace(features=frozenset()))
        inexact.append(interpret(rank_one)(model, d, weight))
        assert not d.edge_mark.any()
    found = np.zeros((n, n))
    found[rows, columns] = d.hessian
    D = 1 / np.diag(found)
    np.fill_diagonal(found, 1.0)
    return found.T @ np.diag(D) @ found, inexact


def problem(n=7):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(n, n))
    e = rng.normal(size=n)
    e[[1, 6]] = 0.0  # not on the path
    return half @ half.T + np.eye(n), e


@pytest.mark.parametrize("weight", [3.0, 1e-3, -0.05])
def test_the_factors_are_those_of_the_sum(weight):
    H, e = problem()
    found, (inexact,) = updated(H, [weight], e)
    np.testing.assert_allclose(found, H + weight * np.outer(e, e), atol=1e-12)
    assert not inexact


def test_a_removal_that_leaves_few_digits_is_told():
    """A row that is 1e16 times as stiff as the rest hides its digits; added, it leaves every entry of D its own."""
    H, e = problem()
    assert updated(H, [1e4, -1e4], e)[1] == [False, False]
    assert updated(H, [1e17, -1e17], e)[1] == [False, True]
