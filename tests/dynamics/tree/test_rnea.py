"""Newton-Euler. Reference: MuJoCo's bias, and its M qacc + bias. Tolerance: rounding of some hundred products."""

import numpy as np
import pytest
from helpers import oracle
from helpers.interpreted import Mechanism

from saltus.dynamics.tree import rnea
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_bias_and_inverse_dynamics_are_mujocos(seed):
    case = Mechanism(seed)
    case.take("cinert", "cdof")
    m, d = case.m, case.d
    interpret(rnea.bias)(m, d)
    case.agree("qfrc_bias", tolerance=1e-12)
    d.qacc[:] = np.random.default_rng(seed).normal(size=m.nv)
    interpret(rnea.inverse)(m, d)
    expected = oracle.full_inertia(case.theirs, case.reference) @ d.qacc + case.reference.qfrc_bias
    np.testing.assert_allclose(d.qfrc_inverse, expected, atol=1e-12 * np.abs(expected).max())
    interpret(rnea.newton_euler_forward)(m, d, d, 0, 1)
    case.agree("cvel", "cdof_dot", tolerance=1e-12)
