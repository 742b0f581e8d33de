"""What cannot be accelerated is named: joints that move no mass, and actuators with infinite controls.

References: the first and the third of three hinges (x, y, x) lie on one axis where the second has not turned, and
nowhere near 0.1 rad; a motor's force is its control, which is finite if and only if a range bounds it.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.simulate.diagnosis.first_fault import first_to_go, label

GIMBAL = """<mujoco><worldbody><body>
  <joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0"/><joint name="c" axis="1 0 0"/>
  <geom type="capsule" fromto="0 0 0 0 .3 1" size=".05"/></body></worldbody></mujoco>"""
DRIVEN = """<mujoco><worldbody>
  <body><joint name="arm" axis="0 1 0"/><geom size=".1" pos="0 0 1"/></body>
  <body pos="1 0 0"><joint name="leg" type="slide"/><geom size=".1"/></body></worldbody>
  <actuator><motor name="turn" joint="arm" ctrlrange="-1 1"/><motor name="push" joint="leg"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def gimbal():
    with pytest.warns(Warning):
        return saltus.load(GIMBAL)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_a_singular_position_is_named(gimbal, integrator):
    sim = saltus.Simulation(gimbal, integrator)
    sim.qvel[0] = 0.1
    before = sim.qpos.copy()
    for move in (sim.forward, sim.step, lambda: sim.run(0.1), lambda: sim.data.qacc):
        with pytest.raises(
            saltus.DivergenceError, match=r"singular at this position: joints 'a', 'c' together"
        ) as error:
            move()
        assert error.value.dof == "a" and error.value.dof_index == 0 and error.value.timestep is None
    assert_allclose(sim.qpos, before)
    assert sim.time == 0.0
    # what does not depend on accelerations is there
    assert_allclose(np.linalg.eigvalsh(sim.full_M())[0], 0.0, atol=1e-15)
    assert np.isfinite(sim.data.xpos).all()
    sim.qpos[1] = 0.1
    sim.forward()
    assert_allclose(sim.full_M() @ sim.data.qacc, sim.data.qfrc_smooth, rtol=0, atol=1e-10)
    sim.step(3)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_a_bad_control_names_its_actuator(value):
    sim = saltus.Simulation(DRIVEN)
    if not np.isnan(value):
        sim.ctrl[0] = value
        sim.forward()
        assert sim.data.qfrc_actuator[0] == np.sign(value)
    sim.ctrl[:] = 0.0, value
    for move in (sim.forward, sim.step, lambda: sim.run(0.01), lambda: sim.data.qacc):
        with pytest.raises(saltus.DivergenceError, match=r"joint 'leg' .*ctrl\[1\] of actuator 'push'") as error:
            move()
        assert error.value.timestep is None and sim.time == 0.0
    sim.ctrl[:] = 0.0
    sim.step()


def test_overflowing_forces_are_no_accelerations():
    sim = saltus.Simulation(DRIVEN)
    sim.qfrc_applied[:] = 1e308, 0.0
    sim.xfrc_applied[1, 4] = 1e308
    sim.xfrc_applied[1, 0] = 1e308
    with pytest.raises(saltus.DivergenceError, match=r"joint 'arm' .*acceleration is not finite"):
        sim.forward()


def test_the_first_to_go():
    model = saltus.load(DRIVEN)
    bad = {"qvel": np.array([0.0, 1e11]), "qpos": np.zeros(2), "act": np.zeros(0), "time": np.zeros(())}
    assert first_to_go(model, bad) == (1, "velocity grew beyond 1e10")
    assert first_to_go(model, bad | {"qvel": np.array([np.nan, 0.0])}) == (0, "velocity is not finite")
    bad |= {"qvel": np.zeros(2), "qpos": np.array([0.0, np.nan])}
    assert first_to_go(model, bad) == (1, "position is not finite")
    assert label(model, "ctrl", 0) == "ctrl[0] of actuator 'turn'" and label(model, "time", 0) == "time"


def test_bristles_that_a_method_bends_too_far_are_named():
    """z decays at the rate σ₀ |v| / F_C, which passes 2.8/h of rk4 at 28 mm/s: there bristles hold a block that slides.

    Velocity and deflection stay bounded, but no deflection above F_S/σ₀ follows from the law.
    """
    block = """<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody><body><joint name="x" type="slide"/>
      <geom size="0.1" mass="1"/></body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
    friction = saltus.LuGre(1e5, 316.0, 1.0, 1.5, 0.001, viscous=0.4)
    sim = saltus.Simulation(saltus.drive(block, "x", friction=friction), "rk4")
    sim.ctrl[0], sim.act[0] = 1.6, 9e-6
    with pytest.raises(saltus.DivergenceError, match="bristles of 'x_friction' bent further") as error:
        sim.run(0.3)
    assert error.value.dof == "x"
