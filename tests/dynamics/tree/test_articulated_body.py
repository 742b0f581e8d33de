"""Articulated bodies. Reference: NumPy's solution of (M + h S) x = f with MuJoCo's M. Tolerance: the condition's."""

import numpy as np
import pytest
from helpers import oracle
from helpers.interpreted import Mechanism

from saltus.dynamics.tree.articulated_body import articulated_factor, articulated_solve
from saltus.number.kernels import interpret


@pytest.mark.parametrize("h", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_the_solution_is_numpys(seed, h):
    case = Mechanism(seed)
    case.take("cinert", "cdof")
    rng, nv = np.random.default_rng(seed), case.m.nv
    slope, force, x = rng.uniform(0.0, 2.0, nv), rng.normal(size=nv), np.zeros(nv)
    interpret(articulated_factor)(case.m, case.d, h, slope)
    interpret(articulated_solve)(case.m, case.d, case.d, force, 0, x)
    A = oracle.full_inertia(case.theirs, case.reference) + h * np.diag(slope)
    expected = np.linalg.solve(A, force)
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-14 * np.linalg.cond(A) * np.abs(expected).max())
