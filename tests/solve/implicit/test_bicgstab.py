"""BiCGSTAB on small unsymmetric systems. References: NumPy's dense solution, and the theory of the method.

van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992): residuals are polynomials of Bi-CG's times others, so that a system
of n unknowns is solved after n iterations, and a further one for rounding; with an exact preconditioner after one.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain

from saltus.solve.implicit import bicgstab


def system(n, seed):
    """An unsymmetric matrix, diagonals of a mass matrix, and a right-hand side."""
    rng = np.random.default_rng(seed)
    return (
        np.eye(n) * rng.uniform(1.0, 3.0, n) + 0.6 * rng.normal(size=(n, n)),
        rng.uniform(0.5, 2.0, n),
        rng.normal(size=n),
    )


def times(m, d, y, z):
    """`bicgstab.times` of a system whose matrices the model has."""
    d.metric_search[:] = np.linalg.solve(m.preconditioner, y)
    z[:] = m.matrix @ d.metric_search


def no_factor(m, d):
    pass


def solved(matrix, preconditioner, mass, b, iterations, monkeypatch):
    """x and the status after so many iterations."""
    n = len(b)
    iteration = plain(bicgstab.bicgstab)
    for name, value in {"times": times, "factor": no_factor, "ITERATIONS": iterations}.items():
        monkeypatch.setitem(iteration.__globals__, name, value)
    m = SimpleNamespace(nv=n, M_rowadr=np.arange(n), M_rownnz=np.ones(n, int))
    m.matrix, m.preconditioner = matrix, preconditioner
    fields = (
        "metric_change",
        "pcg_residual",
        "metric_gradient",
        "pcg_search",
        "pcg_product",
        "metric_search",
        "metric_image",
    )
    d = SimpleNamespace(time=0.0, M=mass, **{name: np.full(n, np.nan) for name in fields})
    x = b.copy()
    return x, iteration(m, d, x)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_as_many_iterations_as_unknowns(n, seed, monkeypatch):
    matrix, mass, b = system(n, seed)
    x, status = solved(matrix, np.diag(np.diag(matrix)), mass, b, n + 1, monkeypatch)
    assert status == 0
    np.testing.assert_allclose(x, np.linalg.solve(matrix, b), rtol=0, atol=1e-11 * np.linalg.cond(matrix))


def test_an_exact_preconditioner_needs_one_iteration(monkeypatch):
    matrix, mass, b = system(6, 1)
    x, status = solved(matrix, matrix, mass, b, 1, monkeypatch)
    assert status == 0
    np.testing.assert_allclose(x, np.linalg.solve(matrix, b), rtol=0, atol=1e-12 * np.linalg.cond(matrix))


def test_too_few_iterations_are_told(monkeypatch):
    matrix, mass, b = system(6, 2)
    assert solved(matrix, np.eye(6), mass, b, 2, monkeypatch)[1] == 1


def test_nothing_to_solve(monkeypatch):
    matrix, mass, b = system(3, 0)
    x, status = solved(matrix, np.eye(3), mass, 0.0 * b, 5, monkeypatch)
    assert status == 0
    np.testing.assert_array_equal(x, 0.0)
