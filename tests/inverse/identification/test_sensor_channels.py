"""Sensors as data. References: the values by which readings were made; differences of predicted readings.

Predictions are exact to rounding, so that central differences over steps of 1e-4 agree to 1e-7 of the largest slope.
"""

import numpy as np
import pytest

import saltus
from saltus.control.tangent_states import displaced
from saltus.errors import OptionError
from saltus.inverse.identification.prediction import Predictor
from saltus.inverse.identification.recorded_motion import motions_of, windows_of
from saltus.inverse.identification.sensor_channels import sensor_channels

ROD = """<mujoco><option timestep=".01" integrator="RK4"/><worldbody><body name="rod">
  <joint name="q" axis="0 1 0" damping="{b}"/><inertial pos="0 0 -.5" mass="{m}" diaginertia=".1 .1 .1"/>
  <site name="tip" pos="0 0 -1"/></body></worldbody><actuator><motor name="motor" joint="q"/></actuator>
  <sensor><accelerometer name="acc" site="tip"/><gyro name="gyro" site="tip"/>
  <framequat name="turned" objtype="site" objname="tip"/><clock name="clock"/></sensor></mujoco>"""
PARAMETERS = {"body_mass[rod]": (0.5, 4.0), "dof_damping[q]": (0.0, 1.0)}


def swing(noise=0.0, positions=0.0):
    sim = saltus.Simulation(ROD.format(b=0.1, m=2.0))
    sim.qpos[0] = 0.6
    run = sim.run(
        1.5, sample=0.02, control=lambda s: [3 * np.sin(4 * 0.02 * np.floor(s.time / 0.02 + 1e-6))], progress=False
    )
    random = np.random.default_rng(0)
    return {
        "time": run.time,
        "qpos": run.qpos + positions * random.normal(size=run.qpos.shape),
        "ctrl": run.ctrl,
        "sensordata": run.sensordata + noise * random.normal(size=run.sensordata.shape),
    }


def test_slopes_of_readings_are_differences_of_predictions():
    """By the start, which the accelerometer feels along the motion, and by parameters, which it feels at once, too."""
    model = saltus.load(ROD.format(b=0.1, m=2.0))
    window = windows_of(motions_of(model, swing(), sensors=True), 0.4)[0]
    sensors = sensor_channels(model, ["acc", "gyro"])
    assert sensors.labels[:2] == ("sensor acc[0]", "sensor acc[1]") and list(sensors.columns) == list(range(6))
    predictor = Predictor(model, tuple(PARAMETERS), np.array([0]), {"contact": "soft"}, sensors)
    values, start = np.array([1.5, 0.2]), (np.array([0.5]), np.array([0.3]), np.zeros(0))
    residual, by_start, by_parameters = predictor.predicted(window, start, values)
    np.testing.assert_allclose(residual, predictor.residual(window, start, values), rtol=0, atol=1e-10)
    h = 1e-4
    for j in range(2):
        e = h * np.eye(2)[j]
        ends = [predictor.residual(window, displaced(model, start, s * e), values) for s in (1, -1)]
        np.testing.assert_allclose((ends[1] - ends[0]) / (2 * h), by_start[..., j], rtol=0, atol=1e-6)
        ends = [predictor.residual(window, start, values + s * e) for s in (1, -1)]
        np.testing.assert_allclose((ends[1] - ends[0]) / (2 * h), by_parameters[..., j], rtol=0, atol=1e-6)
    assert abs(by_parameters[0, 1:]).max() > 0.1  # at the start, before anything has moved


@pytest.mark.slow
def test_an_inertial_sensor_tells_mass_and_damping():
    """Noise of 0.05 m/s² and rad/s; positions, off by 0.02 rad, are only where windows start."""
    fit = saltus.identify(
        ROD.format(b=0.3, m=1.5), swing(0.05, 0.02), PARAMETERS, measured=["acc", "gyro"], window=0.5, holdout=0
    )
    for name, value in {"body_mass[rod]": 2.0, "dof_damping[q]": 0.1}.items():
        assert abs(fit.values[name] - value) < 4 * fit.std[name] < 0.4
    assert next(iter(fit.noise)) == "sensor acc[0]" and len(fit.noise) == 6
    assert fit.noise["sensor acc[0]"] == pytest.approx(0.05, rel=0.3)


def test_sensors_that_do_not_fit_are_refused():
    data, model = swing(), ROD.format(b=0.1, m=2.0)
    for measured, words in (
        ("turned", "sensor turned reads a quaternion"),
        ("clock", "sensor clock does not change smoothly"),
        ("no", "unknown degree of freedom 'no'"),
    ):
        with pytest.raises(OptionError, match=words):
            saltus.identify(model, data, PARAMETERS, measured=measured)
    with pytest.raises(OptionError, match="has no sensordata"):
        saltus.identify(model, data | {"sensordata": None}, PARAMETERS, measured="acc")
    late = model.replace('name="gyro"', 'name="gyro" delay=".02" nsample="4"')
    with pytest.raises(OptionError, match="sensor gyro has a delay"):
        saltus.identify(late, data, PARAMETERS, measured="gyro")
