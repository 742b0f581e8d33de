"""Momenta of subtrees. Reference: MuJoCo's mj_subtreeVel, at its own velocities. Tolerance: rounding."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from helpers.interpreted import Mechanism

from saltus.number.kernels import interpret
from saltus.sense.subtree import subtree_momenta


@pytest.mark.parametrize("seed", range(3))
def test_momenta_are_mujocos(seed):
    case = Mechanism(seed)
    their, found = case.reference, {name: np.zeros((case.m.nbody, 3)) for name in ("subtree_linvel", "subtree_angmom")}
    mujoco.mj_subtreeVel(case.theirs, their)
    data = SimpleNamespace(cinert=their.cinert, cvel=their.cvel, subtree_com=their.subtree_com, time=0.0, **found)
    interpret(subtree_momenta.kernel)(case.m, data)
    for name, value in found.items():
        expected = getattr(their, name)
        np.testing.assert_allclose(value, expected, atol=1e-13 * max(1.0, np.abs(expected).max()), err_msg=name)
