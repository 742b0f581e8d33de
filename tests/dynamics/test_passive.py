"""Springs and dampers of joints. References: MuJoCo's; minus the gradient of the springs' energy, by differences."""

import mujoco
import numpy as np
import pytest
from helpers.interpreted import Mechanism

from saltus.dynamics.energy import spring_energy
from saltus.dynamics.passive import dampers, springs
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_forces_are_mujocos(seed):
    case = Mechanism(seed)
    interpret(springs)(case.m, case.d)
    interpret(dampers)(case.m, case.d)
    case.agree("qfrc_spring", "qfrc_damper")
    assert np.any(case.d.qfrc_spring) and np.any(case.d.qfrc_damper)


def test_springs_give_their_energy_and_dampers_have_their_slope():
    """Central differences: 1e-10 by truncation and rounding with h = 1e-4 and 1e-5, times stiffness."""
    case = Mechanism(1)
    m, d, h = case.m, case.d, 1e-4
    interpret(springs)(m, d)
    force, v = d.qfrc_spring.copy(), np.random.default_rng(0).normal(size=m.nv)
    at = []
    for s in (-h, h):
        d.qpos[:] = case.state["qpos"]
        mujoco.mj_integratePos(case.theirs, d.qpos, v, s)
        at.append(interpret(spring_energy)(m, d))
    # of free and ball joints the force is along the rotation vector, whose change of length is the speed along it
    assert force @ v == pytest.approx(-(at[1] - at[0]) / (2 * h), rel=1e-6)
    interpret(dampers)(m, d)
    slope, found = d.qfrc_damper_slope.copy(), []
    for s in (-1e-5, 1e-5):
        d.qvel[:] = case.state["qvel"] + s
        interpret(dampers)(m, d)
        found.append(d.qfrc_damper.copy())
    np.testing.assert_allclose(-(found[1] - found[0]) / 2e-5, slope, atol=1e-8 * max(1.0, np.abs(slope).max()))
