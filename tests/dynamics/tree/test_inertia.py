"""The inertia of joints. Reference: MuJoCo's full M at its own inertias of bodies and axes. Tolerance: rounding."""

import numpy as np
import pytest
from helpers import oracle
from helpers.interpreted import Mechanism
from helpers.states import dense

from saltus.dynamics.tree.inertia import composite_inertia
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_inertia_is_mujocos(seed):
    case = Mechanism(seed)
    case.take("cinert", "cdof")
    interpret(composite_inertia)(case.m, case.d)
    lower = np.tril(dense(case.model, case.d.M))
    expected = oracle.full_inertia(case.theirs, case.reference)
    np.testing.assert_allclose(lower + np.tril(lower, -1).T, expected, atol=1e-13 * np.abs(expected).max())
