"""Linear-quadratic regulators.

References: the recursion of Riccati's equation over a long horizon, which tends to the stationary gains by the square
of the closed loop's largest eigenvalue at each step; the scalar problem's closed form; balance of nonlinear models.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError, SaltusWarning

DOUBLE = """<mujoco><option timestep=".01"/><default><geom contype="0" conaffinity="0"/></default><worldbody><body>
  <joint name="cart" type="slide" axis="1 0 0"/><geom type="box" size=".1 .1 .1" mass="1"/>
  <body><joint name="lower" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .5" size=".02" mass=".2"/>
  <body pos="0 0 .5"><joint name="upper" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .5" size=".02" mass=".2"/>
  </body></body></body></worldbody><actuator><motor joint="cart"/></actuator></mujoco>"""
MASS = """<mujoco><option timestep=".01" gravity="0 0 0"/><worldbody><body>
  <joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body></worldbody>
  <actuator><motor joint="x"/></actuator></mujoco>"""
BALL_BOT = """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="9 9 .1" friction="2"/>
  <body name="ball" pos="0 0 .0999"><freejoint/><geom size=".1" mass="1" friction="2"/>
    <body name="rod"><joint name="pitch" axis="0 1 0"/><geom type="capsule" fromto="0 0 .15 0 0 .6" size=".02" mass=".5"
      contype="0" conaffinity="0"/></body></body></worldbody>
  <actuator><motor joint="pitch"/></actuator></mujoco>"""


def upright(model="cart_pole", **options):
    sim = saltus.Simulation(model, **options)
    sim.qpos[:], sim.qvel[:] = 0.0, 0.0
    return sim


def test_gains_are_those_of_a_long_horizon():
    """The recursion, 4000 steps long: |λ|^8000 is below 1e-12."""
    sim = upright(timestep=0.01)
    Q, R = np.diag([1.0, 10.0, 0.1, 0.1]), 0.5
    regulator = saltus.lqr(sim, Q, R)
    assert abs(regulator.eigenvalues[0]) < 0.9965 and regulator.K.shape == (1, 4)
    finite = saltus.lqr(sim, Q, R, horizon=4000)
    np.testing.assert_allclose(regulator.K, finite.K[0], rtol=1e-9)
    np.testing.assert_allclose(regulator.P, finite.P[0], rtol=1e-9)
    A, B = sim.linearize()
    np.testing.assert_array_equal(regulator.A, A)
    np.testing.assert_array_equal(regulator.B, B)


def test_a_velocity_that_is_held_still():
    """Scalar: v' = v + (h/m) u, cost v² + r u²: P from P² b²/(r + b² P) = 1, K = b P/(r + b² P)."""
    sim, r, b = saltus.Simulation(MASS), 0.01, 0.005
    regulator = saltus.lqr(sim, [0.0, 1.0], r, horizon=20000)
    P = (1 + np.sqrt(1 + 4 * r / b**2)) / 2
    np.testing.assert_allclose(regulator.K[0, 0, 1], b * P / (r + b**2 * P), rtol=1e-9)


@pytest.mark.parametrize(("model", "tilt"), [("cart_pole", 0.3), (DOUBLE, 0.05)])
def test_it_balances_the_nonlinear_model(model, tilt):
    sim = upright(model)
    regulator = saltus.lqr(sim, 1.0, 0.1)
    sim.qpos[1] = tilt
    sim.run(15, control=regulator)
    assert abs(sim.qpos[1:]).max() < 1e-3
    assert abs(sim.qvel).max() < 1e-2


def test_a_state_in_contact_that_no_control_reaches_is_named():
    """The ball may roll across: no control acts there."""
    sim = saltus.Simulation(BALL_BOT)
    with pytest.raises(OptionError, match=r"no control reaches a mode that does not decay .*velocity of #0\.vy"):
        saltus.lqr(sim, 1.0, 1.0)


def test_gains_along_a_horizon_count_from_its_start():
    sim = upright(timestep=0.01)
    regulator = saltus.lqr(sim, 1.0, 1.0, horizon=0.5)
    assert regulator.K.shape == (50, 1, 4)
    sim.qpos[1] = 0.1
    np.testing.assert_allclose(regulator(sim), -regulator.K[0] @ [0, 0.1, 0, 0], rtol=1e-12)
    sim.time = 0.3
    np.testing.assert_allclose(regulator(sim), -regulator.K[30] @ [0, 0.1, 0, 0], rtol=1e-12)
    sim.time = 0.5
    with pytest.raises(OptionError, match=r"horizon of 50 steps does not reach to t = 0\.5 s"):
        regulator(sim)


def test_what_is_refused():
    sim = upright(timestep=0.01)
    for arguments, message in (
        (dict(Q=1.0, R=0.0), "R must be positive definite"),
        (dict(Q=-1.0, R=1.0), "Q must be positive semidefinite"),
        (dict(Q=[1.0, 1.0], R=1.0), "Q must be a number, 4 numbers or a matrix"),
        (dict(Q=np.triu(np.ones((4, 4))), R=1.0), "Q must be symmetric"),
        (dict(Q=1.0, R=1.0, N=[[1.0]]), r"N must have shape \(4, 1\)"),
        (dict(Q=np.nan, R=1.0), "Q must be finite"),
        (dict(Q=1.0, R=np.inf), "R must be finite"),
        (dict(Q=1.0, R=1.0, N=np.full((4, 1), np.nan)), "N must be finite"),
        (dict(Q=1.0, R=1.0, N=[[2.0], [0.0], [0.0], [0.0]], horizon=5), "Nᵀ must be positive semidefinite"),
        (dict(Q=1.0, R=1.0, final=-1.0, horizon=5), "final must be positive semidefinite"),
        (dict(Q=1.0, R=1.0, horizon=0.505 / 100), "horizon must be a positive number of steps"),
        (dict(Q=1.0, R=1.0, horizon=True), "horizon must be a number of steps"),
    ):
        with pytest.raises(OptionError, match=message):
            saltus.lqr(sim, **arguments)
    with pytest.raises(OptionError, match="the model has no controls"):
        saltus.lqr(saltus.Simulation("free_body"), 1.0, 1.0)


def test_a_state_that_does_not_stay_is_told():
    sim = upright(timestep=0.01)
    sim.qpos[1] = 0.2
    with pytest.warns(SaltusWarning, match="the present state is no equilibrium"):
        saltus.lqr(sim, 1.0, 1.0)
