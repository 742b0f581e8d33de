"""Generalised forces of forces on bodies. Reference: MuJoCo's mj_applyFT. Tolerance: rounding."""

import mujoco
import numpy as np
import pytest
from helpers.interpreted import Mechanism

from saltus.dynamics.applied import add_cartesian_forces, add_power
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(3))
def test_forces_on_bodies_are_mujocos(seed):
    case = Mechanism(seed)
    case.take("xipos", "subtree_com", "cdof")
    found, expected = np.ones(case.m.nv), np.ones(case.m.nv)
    interpret(add_cartesian_forces)(case.m, case.d, found)
    for b, f in enumerate(case.state["xfrc_applied"]):
        mujoco.mj_applyFT(case.theirs, case.reference, f[:3], f[3:], case.reference.xipos[b], b, expected)
    np.testing.assert_allclose(found, expected, atol=1e-13 * np.abs(expected).max())


def test_power_goes_to_the_joints_that_have_an_entry():
    case = Mechanism(2)
    case.take("subtree_com", "cdof")
    b, nv = int(np.argmax(case.theirs.body_dofadr)), case.m.nv
    force, moment, expected = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.7, -1.1]), np.zeros(nv)
    origin = case.reference.subtree_com[case.theirs.body_rootid[b]]
    mujoco.mj_applyFT(case.theirs, case.reference, force, moment, origin, b, expected)
    dofs, row = np.r_[-9, np.arange(0, nv, 2), -9], np.zeros(nv)
    count = len(dofs) - 2
    stop = int(np.flatnonzero(expected)[0])
    interpret(add_power)(case.m, case.d, row, dofs, (1, count), b, tuple(force), tuple(moment), stop)
    wanted = np.where(np.arange(nv) > stop, expected, 0.0)[dofs[1:-1]]
    np.testing.assert_allclose(row[1 : count + 1], wanted, atol=1e-13)
    assert row[0] == 0.0 and not row[count + 1 :].any() and np.count_nonzero(wanted)
