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


@pytest.mark.parametrize(("damping", "limit"), [(200.0, 200.0 / 1e5), (0.0, None)])
def test_bristles_that_a_step_does_not_resolve(damping, limit):
    """At rest bristles are a spring z' = z + h v beside v' = v - h (σ₀ z + σ₁ v)/m: |λ| = 1 at h = σ₁/σ₀.

    Without damping, deviations grow by √(1 + σ₀ h²/m) at any step.
    """
    text = MODEL.replace('timestep="0.1"', 'timestep="0.0025"')
    model = saltus.drive(text, "hinge", friction=saltus.LuGre(1e5, damping, 1.0, 1.0, 1.0))
    sim = saltus.Simulation(model)
    with pytest.warns(saltus.SaltusWarning, match=r"euler is unstable with friction by bristles"):
        sim.run(0.0025)
    found = judged(sim.engine)
    if limit is None:
        assert found.growth == pytest.approx(np.sqrt(1 + 1e5 * 0.0025**2), rel=1e-4)
    else:
        assert found.stable == pytest.approx(limit, rel=0.006)
        assert judged(saltus.Simulation(model, timestep=0.99 * limit).engine) is None
