"""Contacts of a batch are those of its simulations.

Law: `Simulation.data.contact` at the same state, contact by contact, in the same order, and mj_contactForce of MuJoCo
4.0; Newton's third law and weight for sums. Tolerances: 1e-12 of the largest number against Simulation, 1e-8 of the
largest force against MuJoCo's solver at its tightest.
"""

import mujoco
import numpy as np
import pytest
from helpers.batches import moved, scene, singles
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.errors import OptionError
from saltus.number.kinds import LANES
from saltus.simulate.analysis.current_contacts import touching

WIDTH = LANES["float64"].width
GAP = """
<mujoco><worldbody><geom name="floor" type="plane" size="3 3 .1" margin="0.01" gap="0.04"/>
  <body pos="0 0 0.12"><freejoint/><geom name="heavy" size="0.1" mass="2"/></body>
  <body pos="0.5 0 0.12"><freejoint/><geom name="ball" size="0.1" mass="1" condim="6"/></body>
</worldbody></mujoco>"""


@pytest.fixture(scope="module")
def batch():
    batch = moved(saltus.Batch(scene(), WIDTH + 3, threads=1))
    qpos = batch.qpos
    qpos[:, 8] += np.linspace(-0.01, 0.03, batch.n)  # the ball's height
    batch.qpos = qpos
    return batch


def assert_same_as_singles(batch):
    found = batch.contacts()
    sims = singles(batch)
    assert_array_equal(found.count, [len(sim.data.contact) for sim in sims])
    assert np.all(np.diff(found.simulation) >= 0)
    for i, sim in enumerate(sims):
        mine, wanted, table = found.simulation == i, sim.data.contact, touching(sim.engine)
        for name in ("geom1", "geom2", "flex"):
            assert_array_equal(getattr(found, name)[mine], wanted[name])
        for name in ("dist", "pos", "frame"):
            assert_allclose(getattr(found, name)[mine], wanted[name], rtol=0, atol=1e-12)
        close = 1e-12 * max(abs(table[:, 3:6]).max(initial=0), 1.0)
        assert_allclose(found.world_force[mine], table[:, 3:6], rtol=0, atol=close)
    return found


@pytest.mark.slow
def test_equals_single_simulations(batch):
    found = assert_same_as_singles(batch)
    assert len(np.unique(found.count)) > 1  # not the same in all lanes


def test_in_the_gap():
    """Contacts between margin and margin + gap are listed in the simulations in which they are, without force."""
    batch = saltus.Batch(GAP, 5, threads=1)
    batch.qpos = batch.qpos + np.linspace(-0.03, 0.05, 5)[:, None] * np.eye(14)[2]
    found = assert_same_as_singles(batch)
    apart = found.dist > 0.01
    assert apart.any() and (~apart).any()
    assert not found.force[apart].any()


@pytest.mark.slow
def test_equals_mujoco():
    """Forces and torques in contact frames."""
    batch = moved(saltus.Batch("humanoid", 5, threads=1), 10)
    batch.qpos = batch.qpos - 0.004 * np.eye(batch.model.nq)[2]  # feet in the floor
    found = batch.contacts()
    m = saltus.load("humanoid").mujoco
    m.opt.tolerance, m.opt.iterations = 0.0, 100
    d = mujoco.MjData(m)
    assert len(found) > 10
    for i in range(batch.n):
        for name in ("qpos", "qvel", "ctrl", "xfrc_applied"):
            getattr(d, name)[...] = batch.read(name)[i]
        mujoco.mj_forward(m, d)
        mine = np.flatnonzero(found.simulation == i)
        assert len(mine) == d.ncon
        for k, row in enumerate(mine):
            wanted = np.zeros(6)
            mujoco.mj_contactForce(m, d, k, wanted)
            assert (found.geom1[row], found.geom2[row]) == tuple(d.contact.geom[k])
            assert_allclose(found.force[row], wanted, rtol=0, atol=1e-8 * max(1.0, abs(wanted).max()))
            assert_allclose(found.dist[row], d.contact.dist[k], rtol=0, atol=1e-11)


@pytest.mark.slow
def test_room_grows(batch, monkeypatch):
    """However little room there is at first."""
    wanted = batch.contacts()
    monkeypatch.setattr("saltus.simulate.batches.contacts.ROOM", 1)
    found = batch.contacts()
    for name in ("simulation", "geom1", "dist", "force"):
        assert_array_equal(getattr(found, name), getattr(wanted, name))


@pytest.mark.slow
def test_on_threads():
    """The same table, whichever thread has looked at which simulations."""
    alone, shared = (moved(saltus.Batch(scene(), 4 * WIDTH + 1, threads=k), 30) for k in (1, 3))
    shared.lanes.pace = 1.0
    wanted = alone.contacts()
    for _ in range(20):
        found = shared.contacts()
        for name in ("simulation", "geom2", "pos", "force"):
            assert_array_equal(getattr(found, name), getattr(wanted, name))


def test_sums_of_forces():
    """Two balls that rest are carried by the floor."""
    batch = saltus.Batch(GAP, 3, threads=1)
    batch.step(2000)
    weight = 9.81 * np.array([0, 0, 1.0])
    on_ball, on_heavy = batch.contact_force("ball", "floor"), batch.contact_force("heavy")
    assert_allclose(on_ball, np.tile(1 * weight, (3, 1)), rtol=0, atol=1e-3)
    assert_allclose(on_heavy, np.tile(2 * weight, (3, 1)), rtol=0, atol=1e-3)
    assert_allclose(batch.contact_force("floor", ["ball", 1]), -on_ball - on_heavy, rtol=0, atol=1e-12)
    assert_array_equal(batch.contact_force(2, kind="body"), on_ball)
    assert_array_equal(batch.contact_force("ball", "heavy"), np.zeros((3, 3)))


def test_nothing_can_touch():
    batch = saltus.Batch("pendulum", 3, threads=1)
    found = batch.contacts()
    assert len(found) == 0 and found.frame.shape == (0, 3, 3)
    assert_array_equal(found.count, [0, 0, 0])


def test_wrong_names():
    batch = saltus.Batch(GAP, 3, threads=1)
    with pytest.raises(KeyError, match="no geom 'flor'"):
        batch.contact_force("ball", "flor")
    with pytest.raises(OptionError, match="unknown kind 'site'"):
        batch.contact_force("ball", kind="site")
    with pytest.raises(OptionError, match="no geom 99"):
        batch.contact_force(99)
