"""Contact points and forces of recorded states, against MuJoCo's mj_contactForce at the same state.

Tolerance: both solvers stop at their tolerance, here 1e-12 of MuJoCo's; accelerations agree to 1e-8 (the project's
promise), forces to 1e-6 of the largest.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.record import Trajectory
from saltus.record.film.frames import Film
from saltus.record.table.contact_forces import ContactForces, contact_table, recorded_contacts
from saltus.record.table.interpolate import Interpolator

SLIDING = """
<mujoco><option timestep="0.002" cone="{cone}"/><worldbody>
  <geom name="floor" type="plane" size="5 5 0.1" friction="0.5"/>
  <body pos="0 0 0.098"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="2"/></body>
  <body name="hand" mocap="true" pos="0 0 0.25"><geom type="sphere" size="0.06"/></body>
</worldbody></mujoco>"""


def by_mujoco(sim):
    """Contacts [n, 7] of a simulation's state."""
    m = sim.model.mujoco
    m.opt.tolerance = 1e-12
    d = mujoco.MjData(m)
    for name in ("qpos", "qvel", "ctrl", "mocap_pos", "mocap_quat"):
        getattr(d, name)[:] = getattr(sim, name)
    mujoco.mj_forward(m, d)
    table, force = np.zeros((d.ncon, 7)), np.zeros(6)
    for k, contact in enumerate(d.contact):
        mujoco.mj_contactForce(m, d, k, force)
        table[k] = [*contact.pos, *(contact.frame.reshape(3, 3).T @ force[:3]), contact.dist]
    return in_order(table)


def in_order(table):
    return table[np.lexsort(np.round(table[:, 2::-1], 6).T)]


def compare(model, duration):
    sim = saltus.Simulation(model)
    if sim.model.nv == 6:
        sim.qvel[:2] = 1.0, 0.3  # it slides
    trajectory = sim.run(duration, sample=duration)
    expected = by_mujoco(sim)
    state = {k: v[0] for k, v in Interpolator(trajectory, sim.model).at([sim.time]).items()}
    found = in_order(ContactForces(sim.model, sim.timestep).at(state))
    assert len(found) == len(expected) > 2 and (found[:, 7] == -1).all()
    assert_allclose(found[:, :3], expected[:, :3], rtol=0, atol=1e-9)
    assert_allclose(found[:, 3:6], expected[:, 3:6], rtol=0, atol=1e-6 * np.abs(expected).max())
    assert_allclose(found[:, 6], expected[:, 6], rtol=0, atol=1e-11)
    return sim


@pytest.mark.slow
def test_a_sliding_box_under_a_hand_with_pyramidal_friction():
    compare(SLIDING.format(cone="pyramidal"), 0.05)


@pytest.mark.slow
def test_a_sliding_box_under_a_hand_with_elliptic_friction():
    compare(SLIDING.format(cone="elliptic"), 0.05)


def test_the_table_of_a_simulation_is_the_same():
    sim = saltus.Simulation(SLIDING.format(cone="elliptic"))
    sim.forward()
    table = contact_table(sim.engine.m, sim.engine.d)
    assert len(table) == sim.data.ncon
    assert_allclose(table[:, :3], sim.data.contact["pos"])
    assert_allclose(table[:, 6], sim.data.contact["dist"])


def test_no_contacts():
    sim = saltus.Simulation("pendulum")
    state = {k: v[0] for k, v in Interpolator(sim.run(0.1), sim.model).at([0.0]).items()}
    assert ContactForces(sim.model).at(state).shape == (0, 8)


def test_with_hard_contact_they_are_those_that_were_recorded():
    """Of the nearest sample, those that are closed; the model's soft law has no part in them."""
    mode = np.array([[0, 0], [1, 0], [2, 1]])
    force, place = np.arange(18.0).reshape(3, 2, 3), np.arange(18.0, 36.0).reshape(3, 2, 3)
    columns = {"contact_state": mode > 0, "contact_mode": mode, "contact_force": force, "contact_pos": place}
    t = Trajectory([0.0, 1.0, 2.0], np.zeros((3, 1)), np.zeros((3, 1)), **columns)
    assert recorded_contacts(t, 0.4).shape == recorded_contacts(t, -1.0).shape == (0, 8)
    for time in (0.6, 1.0, 1.4):
        np.testing.assert_array_equal(recorded_contacts(t, time), [[*place[1, 0], *force[1, 0], 0.0, 1]])
    for time in (1.6, 2.0, 9.0):
        both = [[*place[2, k], *force[2, k], 0.0, 2 - k] for k in range(2)]
        np.testing.assert_array_equal(recorded_contacts(t, time), both)
    assert recorded_contacts(Trajectory([0.0], [[0]], [[0]]), 0.0).shape == (0, 8)
    film = Film.of(drawable(t), contacts=True)
    assert [len(still.contacts) for still, _, _ in film.moments(np.array([0.0, 1.0, 2.0]))] == [0, 1, 2]


def drawable(t):
    """The same of a model that can be drawn."""
    columns = {name: getattr(t, name) for name in ("contact_state", "contact_mode", "contact_force", "contact_pos")}
    return Trajectory(t.time, np.zeros((3, 1)), np.zeros((3, 1)), **columns, model=saltus.load("bouncing_ball"))
