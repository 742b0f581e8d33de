"""Attributes of a simulation: views of its memory that can be assigned to, and what it is made with, which stays."""

import numpy as np
import pytest
from helpers.mechanisms import SEVERAL_TREES
from numpy.testing import assert_array_equal

import saltus


def test_views_are_the_state():
    sim = saltus.Simulation(SEVERAL_TREES)
    qpos, qvel = sim.qpos, sim.qvel
    sim.step(5)
    assert_array_equal(qpos, sim.qpos)
    qvel[3] = 7.0
    assert sim.qvel[3] == 7.0 and sim.data.qvel[3] == 7.0
    sim.data.qpos[2] = 2.5
    assert qpos[2] == 2.5
    sim.qvel += 1.0
    assert qvel[3] == 8.0
    sim.qvel = 0.0
    assert not qvel.any()
    sim.xfrc_applied[1] = 1, 2, 3, 4, 5, 6
    assert sim.data.xfrc_applied[1, 5] == 6
    sim.time = 3.5
    assert sim.time == 3.5 and sim.data.time == 3.5


def test_wrong_shapes():
    sim = saltus.Simulation("chain")
    with pytest.raises(saltus.OptionError, match=r"qpos has shape \(6,\), not \(5,\)"):
        sim.qpos = np.zeros(5)
    with pytest.raises(saltus.OptionError, match=r"xfrc_applied has shape \(7, 6\), not \(7, 3\)"):
        sim.xfrc_applied = np.zeros((7, 3))
    with pytest.raises(saltus.OptionError, match=r"ctrl has shape \(0,\), not \(2,\)"):
        sim.ctrl = [1.0, 2.0]


@pytest.mark.parametrize("name, value", [("law", saltus.Hard()), ("integrator", "rk4"), ("model", "chain")])
def test_what_a_simulation_is_made_with_stays(name, value):
    sim = saltus.Simulation("pendulum")
    before = getattr(sim, name)
    with pytest.raises(saltus.OptionError, match=rf"{name} cannot be changed.*saltus\.Simulation\("):
        setattr(sim, name, value)
    assert getattr(sim, name) is before
