"""Parameters from recorded motion.

References: the values by which the motion was made; without noise they are found to the accuracy of the data, with
noise within intervals that hold them as often as they say; combinations that the equations of motion show to be all
that matters are named.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError

ARM = {"body_mass[forearm]": (0.2, 2.0), "dof_damping[elbow]": (0.0, 0.5), "dof_damping[shoulder]": (0.0, 0.5)}
TRUE = {"body_mass[forearm]": 0.9, "dof_damping[elbow]": 0.08, "dof_damping[shoulder]": 0.03}
OSCILLATOR = """<mujoco><option timestep=".01" integrator="RK4" gravity="0 0 0"/><worldbody>
  <body name="block"><joint name="x" type="slide" axis="1 0 0" stiffness="{k}" damping="{b}"/>
  <geom size=".1" mass="1" contype="0" conaffinity="0"/></body></worldbody>{actuator}</mujoco>"""
MOTOR = '<actuator><motor joint="x"/></actuator>'
SLIDER = """<mujoco><option timestep=".002"/><worldbody><geom name="floor" type="plane" size="5 5 .1" friction=".2"/>
  <body pos="0 0 .0999"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
  <geom name="block" type="box" size=".1 .1 .1" friction="{mu}"/></body></worldbody></mujoco>"""


def recorded(model, duration, noise=0.0, seed=0, start=None, amplitude=1.0, velocities=True):
    """Samples of a motion under sums of sines, held from sample to sample, with normal noise."""
    sim, rng = saltus.Simulation(model), np.random.default_rng(seed)
    if start is not None:
        sim.qpos[:], sim.qvel[:] = start
    nu = sim.model.nu
    w, a = rng.uniform(1, 6, (nu, 3)), amplitude * rng.uniform(0.5, 2, (nu, 3))
    every = 0.01

    def drive(sim):
        return (a * np.sin(w * every * np.floor(sim.time / every + 1e-6))).sum(axis=1)

    t = sim.run(duration, sample=every, control=drive) if nu else sim.run(duration, sample=every)
    qpos = np.array(t.qpos) + noise * rng.normal(size=t.qpos.shape)
    qvel = np.array(t.qvel) + 10 * noise * rng.normal(size=t.qvel.shape)
    found = {"time": np.array(t.time), "qpos": qpos, "ctrl": np.array(t.ctrl)}
    return found | ({"qvel": qvel} if velocities else {})


def arm(**options):
    return recorded(saltus.load("arm").changed(TRUE), 4, start=([1.0, -1.5], [0, 0]), **options)


def test_a_trajectory_without_noise_gives_the_values():
    """One of saltus's own recordings; residuals of rounding, so that values are right to 1e-6 of themselves."""
    true = saltus.load("arm").changed(TRUE)
    sim = saltus.Simulation(true)
    sim.reset("release")
    trajectory = sim.run(2, sample=0.005, control=lambda s: [2 * np.sin(3 * s.time), np.cos(2 * s.time)])
    fit = saltus.identify("arm", trajectory, ARM)
    assert fit.values == pytest.approx(TRUE, rel=1e-6)
    assert fit.unidentified == () and fit.at_bound == ()
    np.testing.assert_allclose(fit.model.mujoco.body_mass[-1], 0.9, rtol=1e-6)


def test_noisy_data_give_values_and_their_uncertainty():
    """Within four standard deviations; noise as it was made, 1e-3 rad and 1e-2 rad/s, to 4/√(2 N) of itself."""
    fit = saltus.identify("arm", [arm(noise=1e-3, seed=1), arm(noise=1e-3, seed=2)], ARM)
    assert fit.converged
    for name, value in TRUE.items():
        assert abs(fit.values[name] - value) < 4 * fit.std[name] < 0.05 * value
    for name, noise in fit.noise.items():
        assert noise == pytest.approx(1e-3 if name.startswith("position") else 1e-2, rel=0.12)
    assert fit.holdout == pytest.approx(fit.noise, rel=0.3)


@pytest.mark.slow  # two fits
def test_positions_alone():
    fit = saltus.identify("arm", arm(noise=1e-4, velocities=False), ARM)
    assert list(fit.noise) == ["position of shoulder", "position of elbow"]
    for name, value in TRUE.items():
        assert abs(fit.values[name] - value) < 4 * fit.std[name]
    one = saltus.identify("arm", arm(noise=1e-4, velocities=False), ARM, measured="elbow")
    assert list(one.noise) == ["position of elbow"]


@pytest.mark.slow  # many fits
def test_intervals_hold_the_value_as_often_as_they_say():
    """95 % intervals of 40 repeats: at least 34 hold the value, but for 1 in 400 such tests (binomial)."""
    model = saltus.load(OSCILLATOR.format(k=30, b=0.4, actuator=MOTOR))
    held = 0
    for seed in range(40):
        data = recorded(model, 1, noise=2e-3, seed=seed, start=([0.3], [0.0]))
        fit = saltus.identify(model, data, {"jnt_stiffness[x]": (10, 60)}, holdout=0)
        held += abs(fit.values["jnt_stiffness[x]"] - 30) < 1.96 * fit.std["jnt_stiffness[x]"]
    assert held >= 34


def test_stiffness_and_mass_are_known_by_their_ratio_only():
    """x'' = -(k/m) x: with one scale for k and m nothing changes; an external force tells them apart."""
    free = recorded(OSCILLATOR.format(k=30, b=0, actuator=""), 2, noise=1e-4, start=([0.3], [0.0]))
    bounds = {"jnt_stiffness[x]": (10, 60), "body_mass[block]": (0.3, 3)}
    fit = saltus.identify(OSCILLATOR.format(k=25, b=0, actuator=""), free, bounds)
    assert len(fit.unidentified) == 1
    direction = fit.unidentified[0]
    assert set(direction) == set(bounds)
    ratio = direction["jnt_stiffness[x]"] / direction["body_mass[block]"]
    assert ratio == pytest.approx(fit.values["jnt_stiffness[x]"] / fit.values["body_mass[block]"], rel=1e-3)
    assert fit.values["jnt_stiffness[x]"] / fit.values["body_mass[block]"] == pytest.approx(30, rel=1e-3)
    assert np.isinf(fit.std["body_mass[block]"]) and "not told apart" in repr(fit)
    driven = recorded(OSCILLATOR.format(k=30, b=0, actuator=MOTOR), 2, noise=1e-4, start=([0.3], [0.0]), amplitude=5)
    told = saltus.identify(OSCILLATOR.format(k=25, b=0, actuator=MOTOR), driven, bounds)
    assert told.unidentified == ()
    assert abs(told.values["jnt_stiffness[x]"] - 30) < 4 * told.std["jnt_stiffness[x]"]


def test_later_windows_begin_with_the_actuators_own_states():
    """A motor behind a filter, recorded over three windows; without its states the recording is refused."""
    model = """<mujoco><option timestep=".01" integrator="RK4"/><worldbody><body><joint name="q" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" mass="{m}" contype="0" conaffinity="0"/></body></worldbody>
      <actuator><general joint="q" dyntype="filter" dynprm=".3" gainprm="3"/></actuator></mujoco>"""
    sim = saltus.Simulation(model.format(m=2))
    run = sim.run(1.5, sample=0.01, control=lambda s: np.sin(5 * s.time))
    log = {"time": run.time, "qpos": run.qpos, "qvel": run.qvel, "ctrl": run.ctrl, "act": run.act}
    start = saltus.load(model.format(m=2)).changed({"actuator_dynprm[#0][0]": 0.5})
    fit = saltus.identify(start, log, {"actuator_dynprm[#0][0]": (0.1, 1.0)}, window=0.5, holdout=0)
    assert fit.values["actuator_dynprm[#0][0]"] == pytest.approx(0.3, rel=1e-6)
    del log["act"]
    with pytest.raises(OptionError, match="has no act"):
        saltus.identify(start, log, {"actuator_dynprm[#0][0]": (0.1, 1.0)})


def test_a_recording_without_the_bend_of_bristles_is_refused_by_the_name_of_the_actuator():
    joint = '<body><joint name="q" axis="0 1 0"/><geom size=".1" pos="0 0 .1"/></body>'
    model = saltus.drive(f"<mujoco><worldbody>{joint}</worldbody></mujoco>", "q", friction=saltus.Dahl(100.0, 0.3))
    log = {"time": [0.0, 0.1, 0.2], "qpos": np.zeros((3, 1))}
    with pytest.raises(OptionError, match=r"'q_friction' \(bend of bristles\).*zeros where windows begin at rest"):
        saltus.identify(model, log, {"body_mass[#1]": (0.1, 2.0)})


@pytest.mark.slow  # many steps in contact
def test_friction_of_a_block_that_slides_to_rest():
    data = recorded(SLIDER.format(mu=0.35), 0.6, noise=1e-5, start=([0, 0], [1.5, 0]))
    fit = saltus.identify(SLIDER.format(mu=0.6), data, {"geom_friction[block][0]": (0.25, 1.0)}, window=0.3)
    assert abs(fit.values["geom_friction[block][0]"] - 0.35) < 4 * fit.std["geom_friction[block][0]"]


def test_what_the_motion_does_not_feel_is_refused():
    falling = recorded(SLIDER.format(mu=0.35), 0.2, start=([0, 2.0], [0, 0]))
    with pytest.raises(OptionError, match=r"does not depend on geom_friction\[block\]\[0\] at all"):
        saltus.identify(SLIDER.format(mu=0.3), falling, {"geom_friction[block][0]": (0.25, 1.0)})


def test_values_stay_within_their_bounds():
    data = arm(noise=1e-3)
    fit = saltus.identify("arm", data, ARM | {"body_mass[forearm]": (0.2, 0.85)})
    assert fit.at_bound == ("body_mass[forearm]",) and fit.values["body_mass[forearm]"] == 0.85
    assert "at a bound" in repr(fit)


def test_the_report_is_one_page(tmp_path):
    fit = saltus.identify("arm", arm(noise=1e-3), ARM)
    fit.report(tmp_path / "fit.html")
    text = (tmp_path / "fit.html").read_text()
    assert "body_mass[forearm]" in text and "position of elbow" in text and text.count("<svg") == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(parameters={}), "must name at least one"),
        (dict(parameters={"body_mass[forearm]": (2.0, 1.0)}), "the lower first"),
        (dict(parameters={"body_inertia[forearm]": (0.1, 1.0)}), "names 3 numbers"),
        (dict(parameters={"body_weight[forearm]": (0.1, 1.0)}), "body_weight"),
        (dict(recordings=[]), "one or several recordings"),
        (
            dict(recordings={"time": [0, 0.1, 0.3], "qpos": np.zeros((3, 2)), "ctrl": np.zeros((3, 2))}),
            "equal intervals",
        ),
        (dict(recordings={"time": [0, 0.1, 0.2], "qpos": np.zeros((3, 2))}), "has no ctrl"),
        (
            dict(recordings={"time": [0, 0.1, 0.2], "qpos": np.zeros((3, 3)), "ctrl": np.zeros((3, 2))}),
            "must have shape",
        ),
        (dict(recordings={"time": [0, 0.1, 0.2], "qpos": np.full((3, 2), np.nan), "ctrl": np.zeros((3, 2))}), "finite"),
        (dict(measured="wrist"), "wrist"),
        (dict(holdout=1.0), r"holdout must be in \[0, 1\)"),
        (dict(integrator="dopri5"), "fixed-step integrator"),
        (dict(contact="hard"), "soft contact"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    arguments = dict(recordings=arm(), parameters=ARM) | change
    with pytest.raises(OptionError, match=message):
        saltus.identify("arm", **arguments)


def test_a_model_without_joints_is_refused():
    post = '<mujoco><worldbody><body name="b"><geom size=".1"/></body></worldbody></mujoco>'
    with pytest.raises(OptionError, match="has no joints"):
        saltus.identify(post, {"time": [0, 0.1, 0.2], "qpos": np.zeros((3, 0))}, {"body_mass[b]": (1.0, 2.0)})


def test_a_centre_that_the_model_cannot_move_is_refused():
    """MuJoCo keeps the diagonal alone of the inertia matrix of a lone body that turns about its centre of mass."""
    ball = '<mujoco><worldbody><body name="b"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    times = np.linspace(0.0, 0.5, 51)
    qpos = np.tile([0.0, 0, 0, 1, 0, 0, 0], (51, 1))
    qpos[:, 2] = -0.5 * 9.81 * times**2
    with pytest.raises(OptionError, match='simple="false"'):
        saltus.identify(ball, {"time": times, "qpos": qpos}, {"body_ipos[b][0]": (-0.2, 0.2)})


@pytest.mark.slow
def test_stiffness_and_friction_of_bristles():
    """From a run in which a block sticks, slips and turns back: the numbers that made it, to 1e-8."""
    text = """<mujoco><option gravity="0 0 0" timestep="0.002" integrator="implicitfast"/><worldbody><body>
      <joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody>
      <actuator><motor joint="x"/></actuator></mujoco>"""
    model = saltus.drive(text, "x", friction=saltus.LuGre(800.0, 20.0, 0.5, 0.7, 0.05))
    stiffness, coulomb = "actuator_dynprm[x_friction][5]", "actuator_biasprm[x_friction][3]"

    def pushed(sim):
        t = 0.01 * np.floor(sim.time / 0.01 + 1e-6)
        return [np.sin(5.0 * t) + 0.5 * np.sin(2.0 * t)]

    run = saltus.Simulation(model.changed({stiffness: 1000.0, coulomb: 0.6})).run(4.0, sample=0.01, control=pushed)
    fit = saltus.identify(model, run, {stiffness: (200.0, 3000.0), coulomb: (0.1, 1.0)})
    assert fit.values[stiffness] == pytest.approx(1000.0, rel=1e-8)
    assert fit.values[coulomb] == pytest.approx(0.6, rel=1e-8)
