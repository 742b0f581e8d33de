"""Energies. Reference: MuJoCo's potential and kinetic energy at its own poses and velocities. Tolerance: rounding."""

import numpy as np
import pytest
from helpers.interpreted import Mechanism

from saltus.dynamics.energy import energy, energy_parts
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_energies_are_mujocos(seed):
    case = Mechanism(seed)
    case.take("xpos", "xmat", "xipos", "cinert", "cvel")
    interpret(energy)(case.m, case.d)
    case.agree("energy", tolerance=1e-13)
    parts = np.zeros(5)
    interpret(energy_parts)(case.m, case.d, parts)
    assert parts[0] == case.d.energy[1] and parts[1:].sum() == pytest.approx(case.d.energy[0], rel=1e-13, abs=1e-13)
    weight = -case.theirs.body_mass @ (case.reference.xipos @ case.theirs.opt.gravity)
    assert parts[1] == pytest.approx(weight, rel=1e-13, abs=1e-13)
