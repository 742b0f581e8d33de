"""Splines through knots of noise.

References: the definition of holding, NumPy's linear interpolation, SciPy's natural cubic spline of given values, and
polynomials that each kind reproduces exactly.
"""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import saltus
from saltus.control.noise_spline import INTERPOLATIONS, NoiseSpline

SLIDE = """
<mujoco><option timestep="0.1" gravity="0 0 0"/><worldbody><body><joint name="a" type="slide"/>
  <geom size=".1" mass="1" contype="0" conaffinity="0"/></body></worldbody>
  <actuator><motor joint="a"/></actuator></mujoco>"""


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize(("steps", "hold"), [(1, 1), (1, 4), (7, 1), (12, 3), (13, 3), (11, 20)])
def test_constants_stay_and_knots_are_met(interpolation, steps, hold):
    spline = NoiseSpline(steps, hold, interpolation)
    assert (spline.knots - 2) * hold < steps  # no knot but the last is beyond the last step
    np.testing.assert_allclose(spline(np.ones((4, spline.knots, 2))), np.ones((4, steps, 2)), rtol=0, atol=1e-14)
    y = np.random.default_rng(0).standard_normal((3, spline.knots, 2))
    met = np.arange(0, steps, hold)
    np.testing.assert_allclose(spline(y)[:, met], y[:, : len(met)], rtol=0, atol=1e-14)


def test_between_knots():
    y = np.random.default_rng(1).standard_normal((5, 2))
    at, places = np.arange(13), 3 * np.arange(5)
    np.testing.assert_array_equal(NoiseSpline(13, 3, "zero")(y), y[at // 3])
    lines = np.stack([np.interp(at, places, column) for column in y.T], axis=1)
    np.testing.assert_allclose(NoiseSpline(13, 3, "linear")(y), lines, rtol=0, atol=1e-15)
    cubic = CubicSpline(places, y, bc_type="natural")(at)
    np.testing.assert_allclose(NoiseSpline(13, 3, "cubic")(y), cubic, rtol=0, atol=1e-14)
    for interpolation in INTERPOLATIONS:
        np.testing.assert_array_equal(NoiseSpline(5, 1, interpolation)(y), y)  # a knot at each step


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_samples_are_splines(interpolation):
    """What samples add to a plan of zeros: its values at knots are those at all steps, by the interpolation."""
    tried = []

    def cost(rollout):
        tried.append(np.array(rollout.ctrl[..., 0]))
        return rollout.qpos[..., 0] ** 2

    sim = saltus.Simulation(SLIDE, "euler")
    how = dict(noise=2.0, samples=2000, threads=1, record="qpos", hold=4, interpolation=interpolation)
    saltus.mppi(sim, cost, 9, **how)(sim)
    (found,) = tried
    again = NoiseSpline(9, 4, interpolation)(found[:, ::4, None])[..., 0]
    np.testing.assert_allclose(found, again, rtol=0, atol=1e-12)
    deviation = found[1:, ::4].std(axis=0)  # its standard error is σ / √(2 n)
    np.testing.assert_allclose(deviation, 2.0, rtol=5 / np.sqrt(2 * 1999))


def test_unknown_interpolations_are_refused():
    sim = saltus.Simulation(SLIDE, "euler")
    with pytest.raises(saltus.OptionError, match="interpolation must be one of zero, linear, cubic, not 'spline'"):
        saltus.mppi(sim, lambda batch: batch.time, 4, noise=1.0, interpolation="spline")
