"""Centres of mass, inertias and axes about them. Reference: MuJoCo's at its own poses. Tolerance: rounding."""

import numpy as np
import pytest
from helpers.interpreted import Mechanism

from saltus.dynamics.tree import com_frame
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_inertias_and_axes_are_mujocos(seed):
    case = Mechanism(seed)
    case.take("xipos", "xmat", "xanchor", "xaxis")
    for function in (com_frame.centre_of_mass, com_frame.com_inertia, com_frame.com_dof):
        interpret(function)(case.m, case.d)
    case.agree("subtree_com", "cdof")
    np.testing.assert_allclose(case.d.cinert[1:], case.reference.cinert[1:], atol=1e-12)
    whole = case.d.subtree_com.copy()
    case.d.subtree_com[:] = np.nan
    interpret(com_frame.tree_centre_of_mass)(case.m, case.d)
    roots = case.theirs.body_rootid == np.arange(case.theirs.nbody)
    np.testing.assert_allclose(case.d.subtree_com[roots][1:], whole[roots][1:], atol=1e-14)
