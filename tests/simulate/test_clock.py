"""Clocks: late in a run a step is as long as at its start, whatever the numbers of the state are.

Law: n steps of h from t end at t + n h, to the rounding of n additions in double precision, 40,000 * 2^-53 each; and
what does not depend on time moves as it does from t = 0. In single precision 40,000 s and a millisecond more are the
same number.
"""

import numpy as np
import pytest

import saltus

LATE, STEPS, H = 40_000.0, 1000, 1e-3
ROUNDING = STEPS * LATE * 2.0**-53
DELAYED = """<mujoco><worldbody><body><joint name="j"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
<actuator><motor joint="j" delay=".01" nsample="12"/></actuator></mujoco>"""


def batch_from(time, precision, integrator):
    batch = saltus.Batch("pendulum", 19, threads=1, precision=precision, integrator=integrator, timestep=H)
    batch.qpos = np.linspace(-2.0, 2.0, 19)[:, None]
    batch.time = time
    return batch


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "verlet", "dopri5"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_batch_late_in_its_run(precision, integrator):
    late, early = (batch_from(time, precision, integrator) for time in (LATE, 0.0))
    for batch in (late, early):
        batch.step(STEPS // 2)
        batch.step(STEPS // 2)
    assert late.time.dtype == np.float64
    np.testing.assert_allclose(late.time, LATE + STEPS * H, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(early.time, STEPS * H, rtol=0, atol=ROUNDING / LATE)
    assert abs(early.qpos - batch_from(0.0, precision, integrator).qpos).max() > 0.1
    # an adaptive method's last bits may depend on how it reaches the end of a step
    apart = 0.0 if integrator != "dopri5" else 1e-4 if precision == "float32" else 1e-10
    np.testing.assert_allclose(late.qpos, early.qpos, rtol=0, atol=apart)


@pytest.mark.parametrize("integrator", ["euler", "dopri5"])
def test_a_simulation_late_in_its_run(integrator):
    sim = saltus.Simulation("pendulum", integrator, timestep=H)
    sim.time = LATE
    sim.step(STEPS)
    assert sim.time == pytest.approx(LATE + STEPS * H, rel=0, abs=ROUNDING)


@pytest.mark.slow
def test_each_simulation_of_a_batch_has_its_own_clock():
    """Set and reset one by one, to digits that single precision does not have; sensors read them rounded."""
    batch = batch_from(0.0, "float32", "euler")
    times = LATE + 1e-3 * np.arange(19)
    batch.time = times
    np.testing.assert_array_equal(batch.time, times)
    batch.step(3)
    batch.reset([2, 5])
    wanted = times + 3 * H
    wanted[[2, 5]] = 0.0
    np.testing.assert_allclose(batch.time, wanted, rtol=0, atol=ROUNDING)


@pytest.mark.slow
def test_delays_that_single_precision_cannot_tell_are_refused():
    early, late, double = (saltus.Batch(DELAYED, 3, 1, precision) for precision in ("float32", "float32", "float64"))
    late.time = double.time = LATE
    early.step(5), double.step(5)
    with pytest.raises(saltus.OptionError, match="float32 cannot distinguish the times of delayed controls"):
        late.step(5)
    late.reset()
    late.step(5)
