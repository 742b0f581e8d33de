"""Targets from polynomials among a controller's parameters (`reference`). Reference: SciPy's piecewise polynomials.

Tolerance: rounding of polynomials of fifth order.
"""

import numpy as np

import saltus
from saltus.dynamics.controllers.reference import put_targets
from saltus.model.actuator_enums import MBC_ACCELERATION, MBC_PARAMETERS, MBC_RATE, MBC_TARGET

MODEL = """<mujoco><worldbody><body><joint name="q"/><geom size=".1"/></body></worldbody>
  <actuator><motor joint="q"/></actuator></mujoco>"""


def test_targets_are_those_of_the_polynomials():
    motion = saltus.spline(MODEL, [[0.0], [1.0], [-0.5], [0.3]], [0.5, 1.0, 1.7, 2.0])
    sim = saltus.Simulation(MODEL, "euler", control=saltus.follow(saltus.computed_torque(1.0, 1.0), motion))
    assert put_targets.py_func.__name__ in sim.control.law.py_func.__code__.co_names
    for t in (0.0, 0.5, 0.7, 1.0, 1.69, 1.99, 2.0, 3.0):
        sim.time = t
        sim.step()  # which evaluates the controller at its start
        own = sim.control_prm[:MBC_PARAMETERS]
        curve = motion.polynomials
        inside, s = 0.5 <= t < 2.0, min(max(t, 0.5), 2.0)
        assert np.isclose(own[MBC_TARGET], curve(s)[0], rtol=0, atol=1e-13)
        assert np.isclose(own[MBC_RATE], curve(s, 1)[0] * inside, rtol=0, atol=1e-12)
        assert np.isclose(own[MBC_ACCELERATION], curve(s, 2)[0] * inside, rtol=0, atol=1e-11)
