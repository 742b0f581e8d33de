"""Directions of derivatives: names and their places among all, in the order of the state, the controls, parameters."""

import numpy as np

import saltus
from saltus.simulate.derivatives.run_directions import Directions, direction_counts
from saltus.simulate.derivatives.run_tangents import RunTangents

MOTOR = """<mujoco><worldbody><body><joint type="ball"/><geom size=".1"/>
  <body name="arm" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom size=".1"/></body></body></worldbody>
  <actuator><general joint="a" dyntype="filter" dynprm=".1"/></actuator></mujoco>"""


def test_places_of_names():
    """nv = 4 directions of positions for nq = 5 numbers; parameters begin at a group of eight of their own."""
    engine = saltus.Simulation(MOTOR, "rk4").engine
    assert direction_counts(engine) == {"qpos": 4, "qvel": 4, "act": 1, "ctrl": 1}
    mass = ["body_mass[arm]"]
    found = Directions(engine, RunTangents(engine, mass), ["ctrl", *mass, "qvel"], mass)
    np.testing.assert_array_equal(found.wanted, [9, 16, 4, 5, 6, 7])
    np.testing.assert_array_equal(found.of_wrt["qvel"], [2, 3, 4, 5])
    np.testing.assert_array_equal(found.of_parameters, [1])
