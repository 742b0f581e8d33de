"""Slopes of the stages of the last step.

Law: on x' = v, v' = -x the slopes are linear in the state, k_i = A (y + h Σ a_ij k_j) with A = [[0, 1], [-1, 0]].
Tolerance: rounding.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.simulate.analysis.stage_slopes import stage_slopes

OSCILLATOR = """
<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="slide" axis="1 0 0" stiffness="1"/>
  <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
A = np.array([[0.0, 1.0], [-1.0, 0.0]])
H = 0.1


def started(integrator):
    sim = saltus.Simulation(OSCILLATOR, integrator, timestep=H)
    sim.qpos[:], sim.qvel[:] = 0.8, -0.3
    return sim


@pytest.mark.parametrize("integrator", ["rk4", "midpoint"])
def test_slopes_are_those_of_the_tableau(integrator):
    sim = started(integrator)
    table = sim.integrator.tableau
    assert stage_slopes(sim.engine) is None  # before the first step
    for _ in range(3):
        y = np.array([sim.qpos[0], sim.qvel[0]])
        sim.step()
        slopes = []
        for row in table[:-1]:
            slopes.append(A @ (y + H * sum((a * k for a, k in zip(row[1:], slopes, strict=False)), np.zeros(2))))
        found = stage_slopes(sim.engine)
        assert found is not None
        assert_allclose(found[:, :, 0], slopes, rtol=1e-13)
    sim.energy()  # reading changes nothing
    assert_allclose(stage_slopes(sim.engine)[:, :, 0], slopes, rtol=1e-13)
    sim.qvel[:] = 2.0
    assert stage_slopes(sim.engine) is None


@pytest.mark.parametrize("integrator", ["dopri5", "implicit_midpoint", "euler"])
def test_methods_that_keep_no_slopes_have_none(integrator):
    sim = started(integrator)
    sim.step()
    assert stage_slopes(sim.engine) is None
    assert (sim.integrator.tableau is None) == (integrator == "euler")
