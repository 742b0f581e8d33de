"""Delays of actuators in identification. References: MuJoCo's own delayed actuators, and differences of predictions.

MuJoCo's steps differ from Saltus's by rounding, so that a delay is found to 1e-6 of a step. Slopes are exact, and
central differences over 1e-6 s, within one step of the delay, err by 1e-6 of the largest.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.inverse.identification.prediction import Predictor
from saltus.inverse.identification.recorded_motion import motions_of, windows_of

ROD = """<mujoco><option timestep=".002" integrator="implicitfast"/><worldbody><body><joint name="q" axis="0 1 0"
  damping=".2"/><geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" mass="1" contype="0" conaffinity="0"/></body>
  </worldbody><actuator><motor name="motor" joint="q" gear="3" delay="{delay}" nsample="{n}" interp="{way}"/></actuator>
  </mujoco>"""
DELAY, DAMPING = "actuator_delay[motor]", "dof_damping[q]"


def rod(delay, way="linear", n=15):
    return ROD.format(delay=delay, way=way, n=n)


def by_mujoco(xml, duration=2.0, noise=0.0, seed=0):
    """Samples of MuJoCo's motion each 10 ms, under controls that are held between them."""
    m = mujoco.MjModel.from_xml_string(xml)
    d, random, rows = mujoco.MjData(m), np.random.default_rng(seed), []
    for k in range(round(100 * duration) + 1):
        d.ctrl[0] = np.sin(0.05 * k) + np.sin(0.13 * k)
        rows.append((d.time, d.qpos[0], d.qvel[0], d.ctrl[0]))
        mujoco.mj_step(m, d, 5)
    time, qpos, qvel, ctrl = np.array(rows).T
    qpos, qvel = qpos + noise * random.normal(size=len(time)), qvel + 10 * noise * random.normal(size=len(time))
    return {"time": time, "qpos": qpos, "qvel": qvel, "ctrl": ctrl}


def test_a_delay_of_parts_of_a_step_is_found_beside_a_damper():
    fit = saltus.identify(rod(0.006), by_mujoco(rod(0.0131)), {DELAY: (0.002, 0.03), DAMPING: (0.0, 1.0)})
    assert fit.values == pytest.approx({DELAY: 0.0131, DAMPING: 0.2}, rel=1e-6)
    assert fit.model.value(DELAY) == fit.values[DELAY] and fit.unidentified == ()


def test_a_delay_has_its_interval():
    """Noise of 1e-3 rad and 1e-2 rad/s; data by held controls, 13.1 ms late, which act as seven whole steps."""
    data = by_mujoco(rod(0.0131, "zoh"), noise=1e-3)
    fit = saltus.identify(rod(0.006), data, {DELAY: (0.002, 0.03), DAMPING: (0.0, 1.0)})
    assert abs(fit.values[DELAY] - 0.014) < 4 * fit.std[DELAY] < 0.004
    assert abs(fit.values[DAMPING] - 0.2) < 4 * fit.std[DAMPING]


@pytest.mark.parametrize("way", ["zoh", "linear"])
def test_windows_begin_with_the_controls_before_them(way):
    """Known delays: residuals of all windows are rounding, as of a damper that is found."""
    fit = saltus.identify(rod(0.0131, way), by_mujoco(rod(0.0131, way)), {DAMPING: (0.01, 1.0)}, window=0.5)
    assert fit.values[DAMPING] == pytest.approx(0.2, rel=1e-6)
    assert max(*fit.noise.values(), *fit.holdout.values()) < 1e-8


@pytest.mark.parametrize("delay", [0.0031, 0.0131, 0.0279])
def test_slopes_by_the_delay_are_differences_of_predictions(delay):
    model = saltus.load(rod(0.01))
    predictor = Predictor(model, (DAMPING, DELAY), np.array([0, 1]), {"contact": "soft"})
    window = windows_of(motions_of(model, by_mujoco(rod(0.01))), 0.5, after=0.03)[1]
    start, values, h = predictor.start_of(window), np.array([0.3, delay]), 1e-6
    slopes = predictor.predicted(window, start, values).by_parameters
    ends = [predictor.residual(window, start, values + [0.0, sign * h]) for sign in (1, -1)]
    differences = (ends[1] - ends[0]) / (2 * h)
    assert abs(differences).max() > 1.0
    np.testing.assert_allclose(slopes[..., 1], differences, rtol=0, atol=1e-6 * abs(differences).max())


def test_what_cannot_be_found_is_named():
    data = by_mujoco(rod(0.0131))
    still = data | {"ctrl": np.ones_like(data["ctrl"])}
    for model, log, bounds, words in (
        (rod(0.0131, "zoh"), data, (0.002, 0.03), "by whole steps, without a derivative"),
        (rod(0.0131, "cubic"), data, (0.002, 0.03), "interpolated by cubics; choose interp='linear'"),
        (rod(0.0131, n=10), data, (0.002, 0.03), r"up to 0.03 s needs nsample=15 in the model, not 10"),
        (rod(0.0131), data, (0.0, 0.03), "begin at 0.002 s, one step, the least delay"),
        (rod(0.0131), still, (0.002, 0.03), r"does not depend on actuator_delay\[motor\] at all"),
        (
            ROD.replace(' delay="{delay}" nsample="{n}" interp="{way}"', ""),
            data,
            (0.002, 0.03),
            "keeps no past controls; give it nsample and interp",
        ),
    ):
        with pytest.raises(OptionError, match=words):
            saltus.identify(model, log, {DELAY: bounds})
    with pytest.raises(OptionError, match="are one number; give one"):
        saltus.identify(rod(0.01), data, {DELAY: (0.002, 0.03), "actuator_delay[#0]": (0.002, 0.03)})
    with pytest.raises(OptionError, match="is shorter than the longest delay"):
        saltus.identify(rod(0.01), {name: x[:4] for name, x in data.items()}, {DELAY: (0.002, 0.03)})
    sensed = rod(0.01).replace("</mujoco>", '<sensor><jointvel name="speed" joint="q"/></sensor></mujoco>')
    with pytest.raises(OptionError, match="not from sensors"):
        log = data | {"sensordata": data["qvel"]}
        saltus.identify(sensed, log, {DELAY: (0.002, 0.03)}, measured="speed")


def test_models_take_other_delays_only_with_a_history():
    model = saltus.load(rod(0.01))
    assert model.changed({DELAY: 0.02}).mujoco.actuator_delay[0] == 0.02
    with pytest.raises(OptionError, match="must not be negative"):
        model.changed({DELAY: -0.01})
    with pytest.raises(OptionError, match="give it nsample and interp in the file"):
        saltus.load(ROD.replace(' delay="{delay}" nsample="{n}" interp="{way}"', "")).changed({DELAY: 0.01})
