"""The matrix of a step that is implicit in forces, its preconditioner, and conjugate gradients on it.

References: dense algebra of NumPy on M + Jᵀ W J, with W from central differences of the rows' forces (pieces of the
cost are quadratic, or cones: 1e-6); the inverse of the operator's own columns, where the preconditioner is exact.
Conjugate gradients end within their tolerance of the solution, and at once where the preconditioner is exact.
"""

from unittest import mock

import numpy as np
import pytest
from helpers.discrete_steps import RIGID, SOFT
from helpers.hessians import curvatures
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.contact.rows.cost import row_forces
from saltus.solve.implicit import implicit_operator
from saltus.solve.implicit.pcg import pcg

FACTOR, FOUND = implicit_operator.metric_factor, []


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def look(m, d):
    """The kernel, and what its preconditioner and the operator are on all unit vectors.

    One function for all cases: code in plain Python keeps the one that it has first called.
    """
    FACTOR(m, d)
    whole, inverse, metric = np.zeros((3, m.nv, m.nv))
    for i, unit in enumerate(np.eye(m.nv)):
        implicit_operator.metric_times(m, d, unit, metric[i])
        whole[i] = metric[i]
        plain(implicit_operator.add_rows_times)(m, d, unit, whole[i])
        plain(implicit_operator.metric_solve)(m, d, unit, inverse[i])
    M = np.zeros((m.nv, m.nv))
    for i in range(m.nv):
        for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i]):
            M[i, m.M_colind[k]] = M[m.M_colind[k], i] = d.M[k]
    FOUND.append((whole, inverse, metric, M, curvatures(m, d, plain(row_forces)), m.nv))


def steps(text, count=2):
    """What the operator was in steps of a body in contact."""
    sim = saltus.Simulation(text, "discrete", timestep=0.002)
    rng = np.random.default_rng(1)
    sim.qvel = 0.3 * rng.normal(size=sim.model.nv)
    FOUND.clear()
    with mock.patch.object(implicit_operator, "metric_factor", look):
        for _ in range(count):
            sim.step()
    return sim, list(FOUND)


@pytest.mark.filterwarnings("ignore::saltus.model.contact.clamped.ClampedWarning")
@pytest.mark.parametrize("name", ["soft", "stiff", "stiff cones", "the largest impedance"])
def test_rows_on_one_branch_each(name):
    """The preconditioner is then the inverse, up to rounding by the condition of the matrix."""
    _, found = steps(RIGID[name])
    assert found
    acting = 0
    for whole, inverse, metric, M, by_rows, n in found:
        np.testing.assert_allclose(metric, M, rtol=1e-13, atol=1e-13 * np.abs(M).max())
        np.testing.assert_allclose(whole - metric, by_rows, rtol=0, atol=1e-6 * max(np.abs(by_rows).max(), 1e-9))
        rounding = 1e-14 * np.linalg.cond(whole)
        assert rounding < 1e-5
        np.testing.assert_allclose(inverse @ whole, np.eye(n), rtol=0, atol=rounding)
        acting += bool(np.abs(by_rows).max() > 0)
    assert acting


@pytest.mark.parametrize("name", ["welded", "sheet", "on a body that turns"])
def test_conjugate_gradients_end_at_the_solution(name):
    """To the tolerance in the norm of the preconditioner, whatever couples the degrees of freedom."""
    sim, found = steps((RIGID | SOFT)[name], 1)
    inverse = found[-1][1]
    m, d = fields(sim.engine.m), fields(sim.engine.d)
    gradient = np.random.default_rng(2).normal(size=m.nv)
    np.testing.assert_allclose(inverse, inverse.T, rtol=0, atol=1e-10 * np.abs(inverse).max())
    assert np.linalg.eigvalsh(inverse + inverse.T).min() > 0.0
    plain(FACTOR)(m, d)
    A = np.zeros((m.nv, m.nv))
    for i, unit in enumerate(np.eye(m.nv)):
        plain(implicit_operator.metric_times)(m, d, unit, A[i])
        plain(implicit_operator.add_rows_times)(m, d, unit, A[i])
    for tolerance in (1e-2, 1e-10):
        d.metric_gradient[:] = gradient
        slope, first = plain(pcg)(m, d, np.True_, tolerance, 0.0)
        found = np.array(d.metric_search)
        assert slope == pytest.approx(gradient @ found, rel=1e-12) and slope < 0.0
        left = gradient + A @ found
        start, end = np.zeros(m.nv), np.zeros(m.nv)
        plain(implicit_operator.metric_solve)(m, d, gradient, start)
        plain(implicit_operator.metric_solve)(m, d, left, end)
        assert first == pytest.approx(gradient @ start, rel=1e-12)
        assert np.sqrt(max(left @ end, 0.0)) <= 1.01 * tolerance * np.sqrt(first)
    np.testing.assert_allclose(found, -np.linalg.solve(A, gradient), rtol=0, atol=1e-7 * np.abs(found).max())
    # nothing in lanes that do not take part, and none where it is small enough
    slope, _ = plain(pcg)(m, d, np.False_, 1e-10, 0.0)
    assert slope == 0.0 and not np.any(d.metric_search)
    plain(pcg)(m, d, np.True_, 1e-10, 1.01 * first)
    assert not np.any(d.metric_search)
