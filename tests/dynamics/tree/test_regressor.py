"""Regressor of inverse dynamics. Reference: MuJoCo's mj_inverse, less passive forces, on random trees of all joints.

Forces are linear in the inertial parameters, so that the parameters of MuJoCo's model, taken from it by the theorem of
Huygens and Steiner, give its forces. Tolerance: rounding of some hundred products.
"""

import mujoco
import numpy as np
import pytest
from helpers.interpreted import Mechanism

from saltus.algorithms import inertial_parameters
from saltus.dynamics.tree.regressor import inertial_regressor
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_the_regressor_times_parameters_is_mujocos_inverse_dynamics(seed):
    case = Mechanism(seed)
    case.take("xpos", "xmat", "cinert", "cdof", "subtree_com")
    m, d = case.m, case.d
    theirs, reference = case.theirs, case.reference
    a = np.random.default_rng(seed).normal(size=m.nv)
    d.qacc[:] = a
    Y = np.full((m.nv, 10 * m.nbody), np.nan)
    interpret(inertial_regressor)(m, d, Y)
    reference.qacc[:] = a
    mujoco.mj_inverse(theirs, reference)
    expected = reference.qfrc_inverse + reference.qfrc_passive - theirs.dof_armature * a
    found = Y @ inertial_parameters(case.model).values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    # each body's own part, by MuJoCo's model without the masses of the others
    for b in range(1, m.nbody):
        theirs.body_mass[:], theirs.body_inertia[:] = 0.0, 0.0
        theirs.body_mass[b], theirs.body_inertia[b] = case.model.body_mass[b], case.model.body_inertia[b]
        theirs.dof_armature[:] = 0.0
        mujoco.mj_inverse(theirs, reference)
        part = Y[:, 10 * b : 10 * b + 10] @ inertial_parameters(case.model).values[10 * b : 10 * b + 10]
        alone = reference.qfrc_inverse + reference.qfrc_passive
        np.testing.assert_allclose(part, alone, rtol=0, atol=1e-12 * np.abs(expected).max())
