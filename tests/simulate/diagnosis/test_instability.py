"""What makes an unstable controlled mechanism stable: a shorter step, or smaller gains.

Charter: semi-implicit Euler keeps x'' = -k x bounded up to h = 2/√k (Hairer, Lubich & Wanner, Geometric Numerical
Integration (2006), I.1), so that gains at a longer step are stable times 4/(k h²). Searches end within 0.5 %; growth of
less than 1e-3 a step counts as none, which moves the limit by 1e-6 relative.
"""

import numpy as np
import pytest

import saltus
from saltus.simulate.diagnosis.instability import feeds_back, judged, stable_gains

KP, STEP = 1000.0, 0.1
MODEL = f"""
<mujoco><option gravity="0 0 0" timestep="{STEP}"/><worldbody><body><joint name="hinge" axis="0 1 0"/>
  <inertial pos="1 0 0" mass="1" diaginertia="1e-9 1e-9 1e-9"/></body></worldbody>
  <actuator><motor joint="hinge"/></actuator></mujoco>"""
LIMIT = 2 / np.sqrt(KP)


def test_the_step_and_the_gains_that_would_be_stable():
    sim = saltus.Simulation(MODEL, control=saltus.PID(kp=KP))
    sim.qpos[0], sim.qvel[0] = 0.3, 2.0
    before, gains = sim.snapshot(), sim.control_prm.copy()
    found = judged(sim.engine)
    assert found.stable == pytest.approx(LIMIT, rel=0.006) and found.growth > 1
    share = stable_gains(sim.engine)
    assert share == pytest.approx((LIMIT / STEP) ** 2, rel=0.006)
    np.testing.assert_array_equal(sim.snapshot(), before)
    np.testing.assert_array_equal(sim.control_prm, gains)
    sim.control_prm[0] *= 0.99 * share
    assert judged(sim.engine) is None and stable_gains(sim.engine) == 1.0


def test_gains_without_a_stable_share():
    """A destabilising kd stays so however small; without a PID there are no gains."""
    sim = saltus.Simulation(MODEL, control=saltus.PID(kp=KP, kd=-500.0))
    assert judged(sim.engine).stable is None and stable_gains(sim.engine) is None
    assert stable_gains(saltus.Simulation(MODEL).engine) is None


def test_which_models_feed_back():
    servo = MODEL.replace('<motor joint="hinge"/>', '<position joint="hinge" kp="10"/>')
    assert feeds_back(saltus.load(servo)) and not feeds_back(saltus.load(MODEL))
