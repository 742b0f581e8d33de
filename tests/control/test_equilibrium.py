"""Equilibria. References: closed forms of statics; a run from the equilibrium, which stays where it is."""

import numpy as np
import pytest

import saltus
from saltus.errors import EventError, OptionError

G = 9.81
LINK = """<mujoco><worldbody><body><joint name="q" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.6" size=".02" mass="2" contype="0" conaffinity="0"/></body></worldbody>
  <actuator><motor name="m" joint="q" ctrlrange="-{limit} {limit}" ctrllimited="true"/></actuator></mujoco>"""
SPRING = """<mujoco><worldbody><body><joint name="z" type="slide" axis="0 0 1" stiffness="50" damping="1"/>
  <geom size=".1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
BOX = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 {z}"><freejoint/>
  <geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""


def test_a_weight_on_a_spring_hangs_by_m_g_over_k():
    found = saltus.equilibrium(saltus.Simulation(SPRING))
    assert found.reached and found.failed == ""
    np.testing.assert_allclose(found.qpos, [-2 * G / 50], rtol=1e-9)


def test_a_held_link_needs_the_torque_of_its_weight():
    """τ = m g l/2 sin q."""
    sim = saltus.Simulation(LINK.format(limit=20))
    sim.qpos[0] = 0.7
    before = sim.snapshot()
    found = saltus.equilibrium(sim, hold="q")
    assert found.reached
    np.testing.assert_allclose(found.qpos, [0.7])
    np.testing.assert_allclose(found.ctrl, [2 * G * 0.3 * np.sin(0.7)], rtol=1e-8)
    np.testing.assert_array_equal(sim.snapshot(), before)


def test_controls_stay_in_their_range():
    """At most 2 N m hold the link at sin q = 2/(m g l/2); a held one out of reach is not reached, and named."""
    sim = saltus.Simulation(LINK.format(limit=2))
    sim.qpos[0] = 0.7
    found = saltus.equilibrium(sim)
    assert found.reached and abs(found.ctrl[0]) <= 2.0
    np.testing.assert_allclose(2 * G * 0.3 * np.sin(found.qpos[0]), found.ctrl[0], atol=1e-8)
    held = saltus.equilibrium(sim, hold=["q"])
    assert not held.reached and "of q is left" in held.failed
    np.testing.assert_allclose(held.ctrl, [2.0])


def test_without_controls_the_link_hangs():
    sim = saltus.Simulation(LINK.format(limit=2))
    sim.qpos[0], sim.ctrl[0] = 0.7, 1.0
    found = saltus.equilibrium(sim, controls=False)
    np.testing.assert_allclose(found.ctrl, [1.0])
    np.testing.assert_allclose(np.sin(found.qpos), [1.0 / (2 * G * 0.3)], rtol=1e-8)


def test_a_box_on_the_floor_stays():
    sim = saltus.Simulation(BOX.format(z=0.0999))
    found = saltus.equilibrium(sim)
    assert found.reached
    sim.qpos = found.qpos
    sim.step(200)
    np.testing.assert_allclose(sim.qpos, found.qpos, atol=1e-9)
    assert 0 < 0.1 - found.qpos[2] < 1e-3


def test_a_box_in_the_air_has_none():
    found = saltus.equilibrium(saltus.Simulation(BOX.format(z=0.3)))
    assert not found.reached
    assert "acceleration -9.81 of" in found.failed
    assert "begin nearer to an equilibrium" in found.failed


def test_muscles_settle_their_activation():
    model = """<mujoco><worldbody><body><joint name="q" axis="0 1 0" stiffness="20" range="-60 60"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.6" size=".02" contype="0" conaffinity="0"/></body></worldbody>
      <actuator><muscle joint="q" lengthrange=".7 1.3" gear=".3" force="50"/></actuator></mujoco>"""
    sim = saltus.Simulation(model)
    sim.ctrl[0] = 0.4
    found = saltus.equilibrium(sim, controls=False)
    assert found.reached
    np.testing.assert_allclose(found.act, [0.4], atol=1e-9)  # da/dt = (u - a)/τ


def test_a_servo_without_integral_gain_does_not_settle_and_says_so():
    """Its error stays, kp e = m g l/2 sin q, so that the integral grows; with ki the joint is at its target."""
    for ki, reached in ((0.0, False), (5.0, True)):
        found = saltus.equilibrium(saltus.Simulation(LINK.format(limit=20), control=saltus.PID(20.0, ki, 2.0, 0.7)))
        assert found.reached == reached
    np.testing.assert_allclose(found.qpos, [0.7])
    found = saltus.equilibrium(saltus.Simulation(LINK.format(limit=20), control=saltus.PID(20.0, target=0.7)))
    assert "the PID of actuator 'm' has ki = 0: it rests" in found.failed and "give it a ki" in found.failed


def test_unknown_joints_are_named():
    with pytest.raises(OptionError, match="wrist"):
        saltus.equilibrium(saltus.Simulation("cart_pole"), hold="wrist")


def test_controls_that_act_later_are_refused():
    """With a delay a step under new controls has the force of former ones, and says nothing of theirs."""
    delayed = LINK.format(limit=5).replace('name="m"', 'name="m" delay=".02" nsample="11"')
    with pytest.raises(OptionError, match="equilibrium: delays"):
        saltus.equilibrium(saltus.Simulation(delayed), controls=False)


def test_steps_that_an_event_ends_are_refused():
    event = saltus.Event(lambda m, d: d.time - 0.001, terminal=True)
    with pytest.raises(EventError, match="leave terminal events out"):
        saltus.equilibrium(saltus.Simulation(LINK.format(limit=5), events=[event]))
