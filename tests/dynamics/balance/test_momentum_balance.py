"""The balance of momenta over a step: kinetic energy, momenta and work of trees of all joints, in plain Python.

Law: a step without forces keeps the kinetic energy, whatever its length; that of a free tree also its linear and
angular momentum; with forces the energy grows by h v̄ · force, and with weights falls by that of the centre of mass.
Reference: conserved quantities, from MuJoCo's energies and momenta at both ends.

Tolerances: the iteration ends where velocities change by 1e-13 of the largest.
"""

import mujoco
import numpy as np
import pytest
from helpers.plain_python import plain_python
from numpy.testing import assert_allclose

import saltus
from saltus.dynamics.balance.momentum_balance import momentum_balance

BOX = '<geom type="box" size=".1 .03 .02" pos=".1 .02 .01" contype="0" conaffinity="0"/>'
AXIS = '<joint axis="0 1 .3" pos=".02 0 .05"/>'
SLIDE = '<joint type="slide" axis="1 .2 .4"/>'
JOINTS = {
    "hinges": [AXIS, '<joint axis="1 0 0" armature=".002"/><joint axis="0 0 1" pos="0 .1 0"/>'],
    "slides": [AXIS, SLIDE, '<joint axis="1 1 0"/>'],
    "balls": ['<joint type="ball"/>', '<joint type="ball" pos=".01 .02 0"/>', '<joint type="ball" armature=".001"/>'],
    "two on a body": [SLIDE + '<joint type="ball" pos="0 .1 0"/>', AXIS],
}


def world(joints, base="", gravity="0 0 0"):
    """A chain of boxes, the first on a joint at the world."""
    inside = ""
    for joint in reversed(joints):
        inside = f'<body pos=".2 0 .05" euler="10 20 -30">{joint}{BOX}{inside}</body>'
    if base:
        inside = f'<body pos="0 0 1">{base}{BOX}{inside}</body>'
    return f'<mujoco><option gravity="{gravity}" timestep=".03"/><worldbody>{inside}</worldbody></mujoco>'


def moving(xml, seed=1, **options):
    sim = saltus.Simulation(xml, "energy_momentum", **options)
    rng = np.random.default_rng(seed)
    mujoco.mj_integratePos(sim.model.mujoco, sim.qpos, 0.7 * rng.standard_normal(sim.model.nv), 1.0)
    sim.qvel[:] = 3.0 * rng.standard_normal(sim.model.nv)
    return sim


def measured(sim):
    """Kinetic energy (J), centre of mass (m), linear and angular momentum [3] about it (kg m/s, kg m²/s)."""
    m, d = sim.model.mujoco, mujoco.MjData(sim.model.mujoco)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    mujoco.mj_forward(m, d)
    mujoco.mj_energyVel(m, d)
    mujoco.mj_subtreeVel(m, d)
    return d.energy[1], d.subtree_com[1].copy(), m.body_subtreemass[1] * d.subtree_linvel[1], d.subtree_angmom[1].copy()


@pytest.fixture(autouse=True)
def _plain():
    assert momentum_balance is not None
    with plain_python():
        yield


@pytest.mark.parametrize("name", JOINTS)
def test_kinetic_energy_stays(name):
    sim = moving(world(JOINTS[name]))
    energy = measured(sim)[0]
    for _ in range(4):
        before = sim.qvel.copy()
        sim.step()
        assert_allclose(measured(sim)[0], energy, rtol=1e-12)
        assert np.abs(sim.qvel - before).max() > 0.1
    assert sim.unconverged == 0


@pytest.mark.parametrize("base", ["<freejoint/>", '<joint type="free" armature=".2"/>'])
@pytest.mark.parametrize("name", JOINTS)
def test_free_trees_keep_energy_and_momenta(name, base):
    """The armature of a free joint is a mass without weight, which the momenta of bodies do not hold: energy alone."""
    sim = moving(world(JOINTS[name], base))
    energy, centre, linear, angular = measured(sim)
    for _ in range(3):
        sim.step()
        now = measured(sim)
        assert_allclose(now[0], energy, rtol=1e-12)
        if "armature" not in base:
            assert_allclose(now[2], linear, atol=1e-13)
            assert_allclose(now[3], angular, atol=1e-13)
            assert_allclose(now[1], centre + sim.time * linear / sim.model.mujoco.body_subtreemass[1], atol=1e-13)


def test_a_free_tree_falls_as_one_body():
    """Its centre of mass on a parabola, exactly; the energy relative to it and the angular momentum stay."""
    sim = moving(world(JOINTS["two on a body"], "<freejoint/>", "1 2 -9"))
    g, mass = np.array([1.0, 2.0, -9.0]), sim.model.mujoco.body_subtreemass[1]
    energy, centre, linear, angular = measured(sim)
    sim.step(4)
    t = sim.time
    now = measured(sim)
    assert_allclose(now[1], centre + t * linear / mass + 0.5 * t * t * g, atol=1e-12)
    assert_allclose(now[3], angular, atol=1e-13)
    assert_allclose(now[0] - now[2] @ now[2] / (2 * mass), energy - linear @ linear / (2 * mass), rtol=1e-12)


@pytest.mark.parametrize("name", JOINTS)
def test_weights_do_their_work(name):
    sim = moving(world(JOINTS[name], gravity="1 2 -9"))
    m = sim.model.mujoco
    energy, centre = measured(sim)[:2]
    sim.step(3)
    now = measured(sim)
    work = m.body_subtreemass[1] * np.array([1.0, 2.0, -9.0]) @ (now[1] - centre)
    assert abs(work) > 0.1
    assert_allclose(now[0] - energy, work, atol=1e-12 * energy)


@pytest.mark.parametrize("base", ["", "<freejoint/>"])
def test_applied_forces_do_theirs(base):
    """h v̄ · f; a free body's translation moves over the step by what its centre of mass does."""
    sim = moving(world(JOINTS["two on a body"], base))
    force = np.random.default_rng(4).standard_normal(sim.model.nv)
    sim.qfrc_applied[:] = force
    energy, before, position = measured(sim)[0], sim.qvel.copy(), sim.qpos[:3].copy()
    sim.step()
    mean = 0.5 * (before + sim.qvel)
    if base:
        mean[:3] = (sim.qpos[:3] - position) / sim.timestep
    assert_allclose(measured(sim)[0] - energy, sim.timestep * force @ mean, atol=1e-12 * energy)


def test_a_ball_joint_keeps_the_moment_about_the_weight():
    """A chain that hangs on a ball joint: angular momentum about the vertical."""
    sim = moving(world(['<joint type="ball"/>', AXIS, '<joint type="ball"/>'], gravity="0 0 -9"))

    def vertical():
        _, centre, linear, angular = measured(sim)
        return (angular + np.cross(centre - sim.model.mujoco.body_pos[1], linear))[2]

    before = vertical()
    sim.step(4)
    assert_allclose(vertical(), before, atol=1e-13)


def test_a_mocap_parent_stands_still():
    xml = f"""<mujoco><option gravity="0 0 0" timestep=".03"/><worldbody><body mocap="true" pos="1 0 0" euler="20 0 0">
      <body>{AXIS}{BOX}<body pos=".2 0 0"><joint type="ball"/>{BOX}</body></body></body></worldbody></mujoco>"""
    sim = moving(xml)
    energy = measured(sim)[0]
    sim.step(3)
    assert_allclose(measured(sim)[0], energy, rtol=1e-12)
