"""Parameters from measured joint forces. References: the values by which the motion was made, and linear regression.

Positions are closed forms or runs without noise, so that forces err by the splines alone, to the order h⁴; with noise
of forces σ, values are within four of their stated deviations, which are those of linear regression.
"""

import re
import warnings

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.inverse.identification.force_fit import ForceProblem, refuse_drives
from saltus.inverse.identification.force_samples import blocks_of

ARM = {
    "body_mass[forearm]": (0.2, 2.0),
    "dof_damping[elbow]": (0.0, 0.5),
    "dof_frictionloss[shoulder]": (0.0, 0.5),
    "jnt_stiffness[elbow]": (0.0, 2.0),
}
TRUE = dict(zip(ARM, (0.9, 0.08, 0.2, 0.7), strict=True))


def arm(noise=0.0, positions=0.0, seed=0, interval=0.01):
    """The arm on sums of sines, with the forces of the hidden model by its equations."""
    model = saltus.load("arm").changed(TRUE)
    random = np.random.default_rng(seed)
    t = np.arange(0, 4, interval)
    w, a = np.array([2.0, 5.0, 7.0]), np.array([[0.5, 0.3, 0.2], [-0.4, 0.3, 0.3]])
    q, v, acc = (
        (a[:, :, None] * f).sum(axis=1).T
        for f in (
            np.sin(w[:, None] * t),
            w[:, None] * np.cos(w[:, None] * t),
            -(w[:, None] ** 2) * np.sin(w[:, None] * t),
        )
    )
    qfrc = saltus.algorithms.rnea(model, q, v, acc)
    qfrc += model.dof_damping * v + [0.2, 0.0] * np.sign(v) + [0.0, 0.7] * (q - model.mj_model.qpos_spring)
    qfrc += noise * random.normal(size=q.shape)
    return {"time": t, "qpos": q + positions * random.normal(size=q.shape), "qfrc": qfrc}


def test_exact_data_give_the_values():
    fit = saltus.identify("arm", arm(), ARM, data="forces")
    assert fit.values == pytest.approx(TRUE, rel=1e-5)
    assert fit.converged and fit.iterations <= 4 and fit.unidentified == () and fit.at_bound == ()
    assert list(fit.noise) == ["force on shoulder", "force on elbow"]


def test_noise_of_forces_gives_the_deviations_of_linear_regression():
    """σ² (YᵀY)⁻¹ with columns by differences of the regressor's parameters for the mass, velocities for the damper."""
    data = arm(noise=0.05, seed=3)
    wanted = {name: ARM[name] for name in ("body_mass[forearm]", "dof_damping[elbow]")}
    known = {name: TRUE[name] for name in TRUE if name not in wanted}
    fit = saltus.identify(saltus.load("arm").changed(known), data, wanted, data="forces", holdout=0)
    for name, std in fit.std.items():
        assert abs(fit.values[name] - TRUE[name]) < 4 * std
    model = saltus.load("arm")
    one, two = (saltus.inertial_parameters(model.changed({"body_mass[forearm]": m})).values for m in (1.0, 2.0))
    q = data["qpos"]
    v = np.gradient(q, data["time"], axis=0, edge_order=2)
    a = np.gradient(v, data["time"], axis=0, edge_order=2)
    mass = saltus.regressor(model, q, v, a) @ (two - one)
    damper = v * [0.0, 1.0]
    Y = np.stack([mass, damper], axis=-1)[5:-5].reshape(-1, 2)
    expected = 0.05 * np.sqrt(np.diag(np.linalg.inv(Y.T @ Y)))
    np.testing.assert_allclose(list(fit.std.values()), expected, rtol=0.1)  # σ of 800 numbers is known to 2.5 %
    assert list(fit.noise.values()) == pytest.approx([0.05, 0.05], rel=0.12)


def test_noise_of_positions_is_filtered():
    data = [arm(noise=0.02, positions=1e-4, seed=seed, interval=0.005) for seed in (1, 2)]
    masses = {name: ARM[name] for name in ("body_mass[forearm]", "jnt_stiffness[elbow]")}
    known = {name: TRUE[name] for name in TRUE if name not in masses}
    model = saltus.load("arm").changed(known)
    fit = saltus.identify(model, data, masses, data="forces", cutoff=8.0)
    for name, std in fit.std.items():
        assert abs(fit.values[name] - TRUE[name]) < 4 * std < 0.1 * TRUE[name]
    assert fit.holdout == pytest.approx(fit.noise, rel=0.5)


SLED = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="hull" pos="0 0 1"><freejoint name="root"/>
  <geom type="box" size=".2 .1 .1" mass="{hull}"/><body name="arm" pos="0 0 .1">
  <joint name="swing" axis=".2 1 .1"/><inertial pos=".05 0 .3" mass="{arm}" diaginertia=".02 .02 .01"/></body></body>
  </worldbody></mujoco>"""


def test_a_floating_base_is_weighed_by_its_wrenches():
    """Masses of a hull and an arm in flight under a measured thrust; nothing acts on the free joint itself."""
    true = saltus.load(SLED.format(hull=4.0, arm=0.7))
    sim = saltus.Simulation(true, integrator="rk4", timestep=0.001)
    sim.qvel[:] = [0.5, 0.2, 0.0, 0.3, 0.2, 0.1, 2.0]
    hull = true.id("body", "hull")
    sim.xfrc_applied[hull] = thrust = [1.0, 2.0, 40.0, 0.1, -0.2, 0.3]
    run = sim.run(1.0, sample=0.01, progress=False)
    count = len(run.time)
    log = {"time": run.time, "qpos": run.qpos, "qfrc": np.zeros((count, 7)), "wrenches": {"hull": [thrust] * count}}
    bounds = {"body_scale_mass[hull]": (1.0, 9.0), "body_mass[arm]": (0.1, 2.0)}
    fit = saltus.identify(SLED.format(hull=2.0, arm=0.2), log, bounds, data="forces")
    assert fit.values == pytest.approx({"body_scale_mass[hull]": 4.0, "body_mass[arm]": 0.7}, rel=1e-5)
    assert "force on root.wz" in fit.noise


def test_a_mass_that_springs_hide_in_motion_is_told_by_forces():
    """Without an external force, motion tells the ratio of mass and spring alone; a measured force tells both."""
    xml = """<mujoco><worldbody><body name="block"><joint name="x" type="slide" axis="1 0 0" stiffness="25"/>
      <geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    t = np.linspace(0, 2, 201)
    x, a = 0.3 * np.sin(4 * t), -16 * 0.3 * np.sin(4 * t)
    bounds = {"jnt_stiffness[x]": (10, 60), "body_mass[block]": (0.3, 3)}
    hidden = saltus.identify(xml, {"time": t, "qpos": x, "qfrc": 1.5 * a + 30 * x}, bounds, data="forces")
    assert len(hidden.unidentified) == 1  # one frequency: k - m w² alone
    slow = x + 0.2 * np.sin(1.5 * t)
    force = 1.5 * (a - 2.25 * 0.2 * np.sin(1.5 * t)) + 30 * slow
    told = saltus.identify(xml, {"time": t, "qpos": slow, "qfrc": force}, bounds, data="forces")
    assert told.values == pytest.approx({"jnt_stiffness[x]": 30, "body_mass[block]": 1.5}, rel=1e-4)


def test_runs_with_recorded_joint_forces_are_taken():
    """Saltus's own run, with the motors' forces as a signal; a controller that every stage sees."""
    sim = saltus.Simulation(saltus.load("arm").changed({"body_mass[forearm]": 0.9}), "rk4", timestep=0.001)
    sim.control = saltus.controller(wave)
    run = sim.run(2.0, sample=0.005, record=("qfrc_actuator",), progress=False)
    fit = saltus.identify("arm", run, {"body_mass[forearm]": (0.2, 2.0)}, data="forces")
    assert fit.values["body_mass[forearm]"] == pytest.approx(0.9, rel=1e-5)
    bare = sim.run(0.3, sample=0.01, progress=False)
    with pytest.raises(OptionError, match="has no joint forces; record them"):
        saltus.identify("arm", bare, {"body_mass[forearm]": (0.2, 2.0)}, data="forces")


def wave(m, d, z):
    d.ctrl[0] = 2.0 * d.time
    d.ctrl[1] = 1.0 - d.time


def test_what_is_not_supported_is_refused():
    data, mass = arm(), {"body_mass[forearm]": (0.2, 2.0)}
    for options, words in (
        ({"window": 1.0}, "window: options of data='motion'"),
        ({"integrator": "rk4", "timestep": 0.01}, "integrator, timestep: options"),
        ({"contact": "hard"}, "contact: options"),
        ({"cutoff": 0.0}, "cutoff must be a positive number of Hz"),
        ({"data": "torques"}, "unknown data 'torques'"),
        ({"data": "motion", "cutoff": 3.0}, "cutoff belongs to data='forces'"),
    ):
        with pytest.raises(OptionError, match=words):
            saltus.identify("arm", data, mass, **{"data": "forces"} | options)
    for change, words in (
        ({"qfrc": None}, r"recordings\[0\] has no qfrc"),
        ({"qfrc": data["qfrc"][:, :1]}, "a force for each degree of freedom"),
        ({"time": data["time"][:11], "qpos": data["qpos"][:11], "qfrc": data["qfrc"][:11]}, "too short"),
    ):
        with pytest.raises(OptionError, match=words):
            saltus.identify("arm", data | change, mass, data="forces")
    with pytest.raises(OptionError, match="does not depend on body_inertia"):
        saltus.identify("arm", data, {"body_inertia[forearm][0]": (0.001, 0.1)}, data="forces")
    loop = """<mujoco><worldbody><body name="a"><joint name="x"/><geom size=".1"/></body></worldbody>
      <equality><connect body1="a" body2="world" anchor="0 0 0"/></equality></mujoco>"""
    log = {"time": data["time"], "qpos": data["qpos"][:, :1], "qfrc": data["qfrc"][:, :1]}
    with pytest.raises(OptionError, match="equality constraints, whose forces are neither"):
        saltus.identify(loop, log, {"body_mass[a]": (0.1, 1.0)}, data="forces")


def test_residuals_are_what_inverse_dynamics_leaves():
    """At the true values residuals are the splines' errors, below 1e-5 of the forces; blocks leave five at each end."""
    data, model = arm(), saltus.load("arm")
    blocks = blocks_of(model, data, None)
    assert [len(b.motion.time) for b in blocks] == [100, 100, 100, 90]
    problem = ForceProblem(model, tuple(TRUE), np.array([0, 1]), np.zeros(4), np.ones(4))
    residual = problem.residual(blocks, np.array(list(TRUE.values())))
    assert abs(residual).max() < 1e-5 * abs(data["qfrc"]).max()


def test_contacts_and_limits_that_are_left_out_are_told():
    """A pendulum swings into a limit at 0.5 rad, or stays away from it."""
    pendulum = """<mujoco><worldbody><body><joint name="swing" axis="0 1 0" range="-28.6479 28.6479" limited="true"/>
    <inertial pos="0 0 -.5" mass="1" diaginertia=".01 .01 .01"/></body></worldbody></mujoco>"""
    time = np.arange(201) / 100
    for size in (0.6, 0.4):
        angle = size * np.sin(3 * time)
        data = {"time": time, "qpos": angle[:, None], "qfrc": -0.26 * 9 * angle[:, None]}
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            saltus.identify(pendulum, data, {"body_mass[#1]": (0.1, 3.0)}, data="forces")
        told = [str(w.message) for w in found if "leaves their forces out" in str(w.message)]
        assert len(told) == (size > 0.5), told
        # a limit pushes only beyond it, and not where the motion leaves it faster than its spring would
        beyond = int((abs(angle) > 0.5).sum())
        count = int(re.search(r"act in (\d+) of the 201 samples of recordings\[0\]", told[0])[1]) if told else 0
        assert 0.8 * beyond <= count <= beyond


def test_a_drive_with_losses_is_refused_by_name():
    """Its friction is not Coulomb's, which forces are taken to contain."""
    for friction in (saltus.Stribeck(0.1, 0.2, 0.05), saltus.Dahl(100.0, 0.1)):
        model = saltus.drive("arm", "shoulder", friction=friction)
        with pytest.raises(saltus.OptionError, match=r"drives of joints shoulder have losses.*data='motion'"):
            saltus.identify(model, arm(), ARM, data="forces")


def test_a_rope_that_rubs_is_refused_by_name():
    """Its friction follows from its tension."""
    text = """<mujoco><worldbody><geom name="post" type="cylinder" size=".1 .2"/><site name="b" pos="-1 0 0"/>
      <body pos="1 0 0"><joint axis="0 0 1"/><geom size=".1"/><site name="a"/></body></worldbody>
      <tendon><spatial name="rope"><site site="a"/><geom geom="post"/><site site="b"/></spatial></tendon></mujoco>"""
    with pytest.raises(saltus.OptionError, match=r"friction of tendons rope on what they wrap.*data='motion'"):
        refuse_drives(saltus.capstan(text, "rope", 0.3))
