"""The man who stands up, in every contact law.

References: Newton's third law (what carries him carries his weight once he is still), the order of what happens, which
the phases define, and the same motion with clocks in the place of events. Tolerances: 1 % of the weight;
1e-4 between clocks and events, which find the same instants to the integrator's tolerance, 1e-8, magnified by a body
that is unstable without its reflexes; soft contact sinks in by millimetres and is held to centimetres.
"""

import numpy as np
import pytest
from helpers.lab import do, opened, run

import saltus
from saltus.lab.scene.sit_to_stand import FOOT, MUSCLES, TRUNK, clocked, standing_up

DURATION = 4.0  # s


@pytest.fixture(scope="module")
def hard():
    sim = saltus.Simulation("sit_to_stand", contact="hard", control=standing_up())
    return sim.run(DURATION, sample=0.01)


def test_the_model_is_the_one_that_the_reflexes_are_for():
    model = saltus.load("sit_to_stand")
    assert model.nu == MUSCLES and model.names("body")[TRUNK] == "trunk" and model.names("body")[FOOT] == "foot"


@pytest.mark.slow
def test_he_stands_still_and_the_floor_carries_him(hard):
    last = hard.time > DURATION - 1
    assert np.ptp(hard.qpos[last, :2], axis=0).max() < 0.01
    assert np.abs(hard.qpos[last, 1:3]).max() < 0.1  # upright
    heel_and_toe = [k for k, name in enumerate(hard.names["contact"]) if "floor" in name]
    assert hard.contact_mode[last][:, heel_and_toe].tolist() == [[1, 1]] * last.sum()
    assert not np.delete(hard.contact_mode[last], heel_and_toe, axis=1).any()
    weight = 75 * 9.81
    np.testing.assert_allclose(hard.contact_force[last, :, 2].sum(axis=1), weight, rtol=0.01)


@pytest.mark.slow
def test_the_phases_come_in_their_order(hard):
    phase = hard.actuation_state[:, 0]
    assert (np.diff(phase) >= 0).all() and set(phase) == {0, 1, 2}
    events = hard.events
    rose, off = events["time"][events["kind"] == "actuator"]
    np.testing.assert_allclose(hard.actuation_state[-1, 1:], [rose, off], rtol=1e-12)
    leaves = events["time"][(events["kind"] == "liftoff") & (events["other"] == "buttock")]
    leaves = np.concatenate([leaves, events["time"][(events["kind"] == "liftoff") & (events["name"] == "buttock")]])
    assert rose < leaves.max() < off < DURATION - 2
    assert events["time"].max() < DURATION - 2  # nothing chatters while he stands


@pytest.mark.slow
def test_muscles_are_excited_and_have_states(hard):
    assert hard.ctrl.min() >= 0 and hard.ctrl.max() <= 1
    assert hard.act.shape[1] == MUSCLES and 0 < hard.act[:, 3].max() < 1
    rate = np.gradient(hard.act[:, 3], hard.time)
    assert np.abs(rate).max() < 1 / 0.01  # no faster than a muscle can be activated


@pytest.mark.slow
def test_clocks_do_what_events_do(hard):
    run = saltus.Simulation("sit_to_stand", contact="hard", control=clocked).run(DURATION, sample=0.01)
    np.testing.assert_allclose(run.qpos, hard.qpos, atol=1e-4)


@pytest.mark.slow
def test_he_stands_up_on_soft_contact_too(hard):
    run = saltus.Simulation("sit_to_stand", control=clocked).run(DURATION, sample=0.01)
    np.testing.assert_allclose(run.qpos[-1], hard.qpos[-1], atol=0.03)


@pytest.mark.slow
def test_the_scene_shows_him():
    session = opened("sit_to_stand")
    assert session.sim.contact == "hard"
    run(session, 0.1)
    frame = session.frame()
    assert sorted(frame.contacts[:, 7]) == [1, 1, 1, 1]
    do(session, "contact", name="soft")
    run(session, 3.9)
    do(session, "contact", name="hard")
    run(session, 0.5)
    assert session.sim.contact == "hard" and abs(session.sim.qpos[1]) < 0.02 and session.playing
