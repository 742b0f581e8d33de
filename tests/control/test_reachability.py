"""Controllability and observability (`reachability`). References: closed forms of masses on springs, where symmetry
hides a mode, and of modes that no control or sensor touches.
"""

import numpy as np
import pytest

import saltus
from saltus.control.reachability import controllability, observability

TWO = """
<mujoco><option gravity="0 0 0" timestep=".002"/><default><geom size=".1" mass="2" contype="0" conaffinity="0"/>
  </default><worldbody>
  <body><joint name="a" type="slide" axis="1 0 0" stiffness="50" damping=".4"/><geom/></body>
  <body><joint name="b" type="slide" axis="1 0 0" stiffness="50" damping=".4"/><geom/></body></worldbody>
  <tendon><fixed name="t" stiffness="30"><joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed>
  <fixed name="sum"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon>
  <actuator>{}</actuator><sensor><tendonpos name="sum" tendon="sum"/><jointpos name="a" joint="a"/></sensor></mujoco>"""


def simulation(actuators):
    return saltus.Simulation(TWO.format(actuators), "rk4")


def test_one_motor_reaches_coupled_masses():
    found = controllability(simulation('<motor joint="a"/>'))
    assert found.complete and found.rank == 4 and found.left_out == ()


def test_equal_pushes_leave_out_the_mode_in_which_masses_go_against_each_other():
    """s² + (c/m) s + (k + 2 κ)/m = 0, with shares of one half."""
    found = controllability(simulation('<motor tendon="sum"/>'))
    (mode,) = found.left_out
    assert found.rank == 2 and found.size == 4 and found.stable
    assert mode.frequency == pytest.approx(np.sqrt(110 / 2) / (2 * np.pi), rel=1e-7)
    assert mode.damping == pytest.approx(0.2 / (2 * np.sqrt(55)), rel=1e-5)
    assert mode.participation == pytest.approx({"a": 0.5, "b": 0.5})
    assert np.isclose(mode.shape[0] / mode.shape[1], -1.0)


def test_outputs_see_the_modes_that_move_them():
    sim = simulation('<motor joint="a"/>')
    assert observability(sim, "a").complete and observability(sim, "velocity of b").complete
    assert observability(sim).complete  # both sensors
    found = observability(sim, ["sum"])
    assert found.rank == 2
    assert found.left_out[0].frequency == pytest.approx(np.sqrt(55) / (2 * np.pi), rel=1e-7)


def test_a_joint_without_a_motor_is_named_as_not_reached():
    loose = TWO.replace('stiffness="30"', 'stiffness="0"').format('<motor joint="a"/>')
    free = loose.replace('name="b" type="slide" axis="1 0 0" stiffness="50" damping=".4"', 'name="b" type="slide"')
    found = controllability(saltus.Simulation(free, "rk4"))
    assert found.rank == 2 and not found.stable
    assert {next(iter(mode.participation)) for mode in found.left_out} == {"b"}
    assert "2 of 4 states" in repr(found)


def test_robots_on_wheels_are_reached_whole():
    sim = saltus.Simulation("cart_pole", timestep=0.01)
    assert controllability(sim).complete
    assert observability(sim, sim.model.dof_names()[0]).complete
    assert not observability(sim, sim.model.dof_names()[1]).complete  # the pole does not tell where the cart is


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(saltus.OptionError, match="no controls"):
        controllability(simulation(""))
    with pytest.raises(saltus.OptionError, match="no sensors"):
        observability(saltus.Simulation(TWO.format("").split("<sensor>")[0] + "</mujoco>"))
