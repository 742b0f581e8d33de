"""Derivatives of runs in closed form: a free symmetric top, and the activation of a muscle; kernels in plain Python.

Tolerance: 1e-9 of the largest derivative, for an integrator whose steps are to 1e-12.
"""

import numpy as np
import pytest
from helpers.plain_python import plain_python

import saltus

TIGHT = (1e-12, 1e-13)
TOP = """<mujoco><option gravity="0 0 0" timestep=".02"/><worldbody><body name="top"><freejoint/>
  <inertial pos="0 0 0" mass="1" diaginertia=".03 .03 .05"/></body></worldbody></mujoco>"""
MUSCLE = """<mujoco><option gravity="0 0 0" timestep=".002"/><worldbody><site name="origin"/>
  <body pos=".5 0 0"><joint type="slide" axis="1 0 0"/><geom size=".02" mass="1e12" contype="0" conaffinity="0"/>
  <site name="end"/></body></worldbody>
  <tendon><spatial name="path"><site site="origin"/><site site="end"/></spatial></tendon>
  <actuator><muscle name="m" tendon="path" timeconst=".01 .04" force="1" lengthrange=".1 1"/></actuator></mujoco>"""


@pytest.fixture(autouse=True)
def plain():
    """Kernels run in plain Python."""
    with plain_python():
        yield


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.max(np.abs(expected)))


def test_a_free_symmetric_top_by_its_spin_and_inertias():
    """ω₁ = p cos λt, ω₂ = p sin λt with λ = (C - A) n/A, about the axis of the spin n (Euler's equations)."""
    A, C, p, n, t = 0.03, 0.05, 0.7, 4.0, 0.1
    sim = saltus.Simulation(TOP, "dopri5", tolerance=TIGHT)
    sim.qvel[3:] = p, 0.0, n
    rate, weights = (C - A) * n / A, np.array([1.0, 3.0])
    c, s = np.cos(rate * t), np.sin(rate * t)
    value, gradient = saltus.run_gradient(
        sim, t, lambda run: run.qvel[-1, 3] + 3.0 * run.qvel[-1, 4], wrt=("qvel", "body_inertia[top]"), mode="forward"
    )
    turned = weights @ [-p * s, p * c]  # by the angle λt
    assert abs(value - weights @ [p * c, p * s]) < 1e-9
    close(gradient["qvel"][[3, 5]], [weights @ [c, s], turned * t * (C - A) / A])
    # by A₁ and A₂ together, and by C
    close(
        [gradient["body_inertia[top]"][:2].sum(), gradient["body_inertia[top]"][2]],
        turned * t * n * np.array([-C / A**2, 1 / A]),
    )


def test_the_activation_of_a_muscle_by_its_time_constant_and_start():
    """t = τ (-2 ln(1 - a) - 3a/2) from a = 0 with u = 1, for da/dt = (1 - a)/(τ (1/2 + 3a/2)) (Millard et al. 2013)."""
    sim = saltus.Simulation(MUSCLE, "dopri5", tolerance=TIGHT)
    sim.ctrl[0], sim.act[0], t = 1.0, 0.1, 0.006
    rise = lambda a: -2.0 * np.log(1.0 - a) - 1.5 * a  # noqa: E731
    slope = lambda a: (1.0 - a) / (0.5 + 1.5 * a)  # noqa: E731
    value, gradient = saltus.run_gradient(
        sim, t, lambda run: run.act[-1, 0], wrt=("act", "actuator_dynprm[m][0]"), mode="forward"
    )
    assert abs(rise(value) - rise(0.1) - t / 0.01) < 1e-9
    close(gradient["act"], [slope(value) / slope(0.1)])
    close(gradient["actuator_dynprm[m][0]"], -t / 0.01**2 * slope(value))
