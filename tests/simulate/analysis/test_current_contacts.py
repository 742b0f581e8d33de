"""What touches now, and in which mode.

Law: Coulomb's. A block that slides keeps slipping until its friction has used up its speed, and sticks then; its floor
carries its weight in both modes, and the friction is μ times that while it slips. Tolerance: that of the solver's
forces (1e-8).
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.simulate.analysis.current_contacts import present_contacts, touching

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
    table, axes, _ = present_contacts(sim.engine)
    assert_allclose(axes[:, :3], np.tile([0, 0, 1], (len(table), 1)), atol=1e-12)
    assert_allclose(axes[:, 3:5] ** 2 @ [1, 1], 1, atol=1e-12)
    assert_allclose(axes[:, 5], 0, atol=1e-12)
    np.testing.assert_array_equal(table, touching(sim.engine))
    nothing = present_contacts(saltus.Simulation("pendulum").engine)
    assert [part.shape for part in nothing] == [(0, 8), (0, 6), (3,)] and np.isnan(nothing.pressure).all()


def test_looking_changes_nothing(block):
    block.qvel[0] = 1.0
    block.step(10)
    before = block.snapshot()
    touching(block.engine)
    np.testing.assert_array_equal(block.snapshot(), before)


LOADED = """
<mujoco><worldbody>
  {ground}
  <body name="low" pos="0 0 {height}"><freejoint/>{shape}<geom size=".01" pos=".06 -.03 0" mass="1.5"/></body>
  {more}
</worldbody></mujoco>"""
PLANE, TABLE = '<geom type="plane" size="1 1 .1"/>', '<geom type="box" size="1 1 .1" pos="0 0 -.1"/>'
BOX = '<geom type="box" size=".1 .1 .05" mass="1"/>'
LEGS = "".join(
    f'<geom type="capsule" size=".01" fromto="{x} {y} -.04 {x} {y} .04"/>' for x in (-0.1, 0.1) for y in (-0.1, 0.1)
)
ON_TOP = (
    '<body name="high" pos="-.05 .05 .13"><freejoint/><geom size=".03" mass=".7" condim="6" friction="1 .1 .1"/></body>'
)


@pytest.mark.parametrize(
    "ground, shape, height, more",
    [(PLANE, BOX, 0.05, ""), (PLANE, BOX, 0.05, ON_TOP), (TABLE, LEGS, 0.05, "")],
)
def test_the_ground_pushes_below_the_centre_of_mass(ground, shape, height, more):
    """At rest no moment acts about the centre of pressure but that of the weight, which thus acts through it.

    What lies on top presses on the box, not on the ground, and counts by its weight alone; a table of a higher type
    than the legs has the forces on it, their opposites. Tolerance: the accelerations of 1e-4 m/s² that are
    left of the settling.
    """
    sim = saltus.Simulation(LOADED.format(ground=ground, shape=shape, height=height, more=more))
    sim.step(2000)
    pressure = present_contacts(sim.engine).pressure
    com = sim.data.subtree_com[0]
    assert np.abs(com[:2]).max() > 0.01
    assert_allclose(pressure[:2], com[:2], atol=1e-5)
    assert abs(pressure[2]) < 1e-3
    sim.qpos[2] += 0.5
    if not more:
        assert np.isnan(present_contacts(sim.engine).pressure).all()
