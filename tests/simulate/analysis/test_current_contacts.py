"""What touches now, and in which mode.

Law: Coulomb's. A block that slides keeps slipping until its friction has used up its speed, and sticks then; its floor
carries its weight in both modes, and the friction is μ times that while it slips. Tolerance: that of the solver's
forces (1e-8).
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.simulate.analysis.current_contacts import touching, touching_with_axes

WEIGHT = 2.0 * 9.81  # N
FRICTION = 0.5
BLOCK = f"""
<mujoco><option gravity="0 0 -9.81"/><statistic extent="1"/>
  <worldbody><geom name="floor" type="plane" size="0 0 1" friction="{FRICTION}"/>
    <body name="block" pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <geom name="block" size="0.1" mass="2" friction="{FRICTION}"/></body>
  </worldbody>
</mujoco>"""


@pytest.fixture
def block():
    return saltus.Simulation(BLOCK, contact="hard")


def test_what_slips_and_then_sticks(block):
    block.qvel[0] = 1.0
    ((*place, fx, fy, fz, gap, mode),) = touching(block.engine)
    assert_allclose(place, 0, atol=1e-12)
    assert_allclose([fx, fy, fz, gap], [-FRICTION * WEIGHT, 0, WEIGHT, 0], atol=1e-8)
    assert mode == 2
    block.run(1.0)
    ((*_, fx, _, fz, _, mode),) = touching(block.engine)
    assert_allclose([fx, fz], [0, WEIGHT], atol=1e-8)
    assert mode == 1


def test_what_is_near_is_open_and_what_is_far_is_not_told(block):
    block.qpos[1] = 0.01
    ((*_, fx, fy, fz, gap, mode),) = touching(block.engine)
    assert [fx, fy, fz, mode] == [0, 0, 0, 0]
    assert_allclose(gap, 0.01, atol=1e-12)
    block.qpos[1] = 0.5
    assert touching(block.engine).shape == (0, 8)


def test_soft_contact_has_no_modes():
    sim = saltus.Simulation(BLOCK)
    sim.qpos[1] = -1e-4
    assert touching(sim.engine)[:, 7].tolist() == [-1]
    assert touching(saltus.Simulation("pendulum").engine).shape == (0, 8)


@pytest.mark.parametrize("contact", ["soft", "hard"])
def test_axes_are_the_normal_and_a_tangent(contact):
    """On a floor whose normal is z; and of each contact those of its own row, also where some are open."""
    sim = saltus.Simulation(BLOCK, contact=contact)
    sim.qpos[1] = -1e-4 if contact == "soft" else 0.0
    table, axes = touching_with_axes(sim.engine)
    assert_allclose(axes[:, :3], np.tile([0, 0, 1], (len(table), 1)), atol=1e-12)
    assert_allclose(axes[:, 3:5] ** 2 @ [1, 1], 1, atol=1e-12)
    assert_allclose(axes[:, 5], 0, atol=1e-12)
    np.testing.assert_array_equal(table, touching(sim.engine))
    assert [part.shape for part in touching_with_axes(saltus.Simulation("pendulum").engine)] == [(0, 8), (0, 6)]


def test_looking_changes_nothing(block):
    block.qvel[0] = 1.0
    block.step(10)
    before = block.snapshot()
    touching(block.engine)
    np.testing.assert_array_equal(block.snapshot(), before)
