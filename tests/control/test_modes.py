"""Modes of small motion. References: closed forms of springs, a pendulum and two coupled masses."""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError, SaltusWarning

SPRINGS = """<mujoco><option gravity="0 0 0"/><default><geom size=".1" mass="1" contype="0" conaffinity="0"/></default>
  <worldbody>
  <body><joint name="slow" type="slide" axis="1 0 0" stiffness="100"/><geom/></body>
  <body><joint name="fast" type="slide" axis="1 0 0" stiffness="400" damping=".4"/><geom/></body></worldbody>
  </mujoco>"""
COUPLED = """<mujoco><option gravity="0 0 0"/><default><geom size=".1" mass="2" contype="0" conaffinity="0"/></default>
  <worldbody><body name="a"><joint name="a" type="slide" axis="1 0 0" stiffness="50"/><geom/></body>
  <body name="b"><joint name="b" type="slide" axis="1 0 0" stiffness="50"/><geom/></body></worldbody>
  <tendon><fixed stiffness="30"><joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed></tendon></mujoco>"""


def test_two_oscillators():
    slow, fast = saltus.modes(saltus.Simulation(SPRINGS))
    assert slow.frequency == pytest.approx(10 / (2 * np.pi), rel=1e-9)
    assert slow.damping == pytest.approx(0, abs=1e-9)
    assert fast.frequency == pytest.approx(20 / (2 * np.pi), rel=1e-9)  # |s| = √(k/m), with damping too
    assert fast.damping == pytest.approx(0.4 / (2 * 20), rel=1e-7)
    assert next(iter(slow.participation)) == "slow" and slow.participation["slow"] == pytest.approx(1)


def test_coupled_masses_swing_together_and_against_each_other():
    """ω² = k/m, and (k + 2 κ)/m; each mass has half a share."""
    first, second = saltus.modes(saltus.Simulation(COUPLED))
    assert first.frequency == pytest.approx(np.sqrt(50 / 2) / (2 * np.pi), rel=1e-9)
    assert second.frequency == pytest.approx(np.sqrt((50 + 60) / 2) / (2 * np.pi), rel=1e-9)
    assert first.participation == pytest.approx({"a": 0.5, "b": 0.5})
    np.testing.assert_allclose(first.shape[0], first.shape[1], rtol=1e-6)
    np.testing.assert_allclose(second.shape[0], -second.shape[1], rtol=1e-6)


def test_an_upright_pendulum_falls_by_its_rate():
    """s = ±√(m g l/I), with I of a thin rod's capsule by MuJoCo's model."""
    sim = saltus.Simulation("cart_pole")
    sim.qpos[:], sim.qvel[:] = 0.0, 0.0
    found = saltus.modes(sim)
    growing = [mode for mode in found if mode.eigenvalue.real > 1e-3]
    assert len(growing) == 1 and growing[0].frequency == 0
    A = sim.full_M()
    m = sim.model.mujoco
    weight = m.body_mass[-1] * 9.81 * abs(m.body_ipos[-1][2])
    rate = np.sqrt(weight * A[0, 0] / np.linalg.det(A))
    damping = m.dof_damping.any()
    assert damping or growing[0].eigenvalue.real == pytest.approx(rate, rel=1e-7)


def test_hard_contact_is_refused():
    with pytest.raises(OptionError, match="choose contact='soft'"):
        saltus.modes(saltus.Simulation("bouncing_ball", contact="hard"))


def test_equations_of_a_users_own_count():
    """2 q'' = -18 q: ω = 3 rad/s, whatever the bodies of the file are."""

    def inertia(m, d):
        d.M[0] = 2.0

    def bias(m, d):
        d.qfrc_bias[0] = 18.0 * d.qpos[0]

    model = SPRINGS[: SPRINGS.index('<body><joint name="fast"')] + "</worldbody></mujoco>"
    sim = saltus.Simulation(model.replace(' stiffness="100"', ""), dynamics=saltus.Dynamics(inertia, bias))
    sim.qpos[0] = 0.1
    (mode,) = saltus.modes(sim)
    assert mode.frequency == pytest.approx(3 / (2 * np.pi), rel=1e-9)


DELAYED = """<mujoco><worldbody><body><joint name="q"/><geom size=".1" pos=".1 0 0"/></body></worldbody><actuator>
  <motor name="m" joint="q" nsample="3" delay=".01"/></actuator></mujoco>"""


def test_steps_that_remember_more_than_the_state_are_refused():
    for find in (saltus.modes, lambda sim: saltus.lqr(sim, 1.0, 1.0), lambda sim: saltus.ilqr(sim, lambda s: 0.0, 3)):
        with pytest.raises(OptionError, match="delays of actuators and sensors carry values"):
            find(saltus.Simulation(DELAYED))
    with pytest.raises(OptionError, match="verlet carries velocities of half steps"):
        saltus.lqr(saltus.Simulation("cart_pole", "verlet"), 1.0, 1.0)


@pytest.mark.parametrize("damping", [1e7, 1e9])
def test_a_mode_far_beyond_the_steps_dies_away_by_its_rate(damping):
    """s = -d/2m - √((d/2m)² - k/m), to (|s| h)⁴ of the method, at steps that are up to 1e7 times too long for it."""
    text = SPRINGS.replace('damping=".4"', f'damping="{damping}"')
    with pytest.warns(SaltusWarning, match="fewer than four digits"):
        found = saltus.modes(saltus.Simulation(text, "implicit"))
    half = damping / 2
    assert found[-1].eigenvalue.real == pytest.approx(-half - np.sqrt(half**2 - 400), rel=1e-9)
    assert all(mode.eigenvalue.real < 1e-3 for mode in found if abs(mode.eigenvalue) > 100)
