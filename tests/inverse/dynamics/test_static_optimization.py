"""Static optimisation. References: the least squares of two actuators in closed form, Lagrange's condition of several
muscles, and MuJoCo's joint forces under the activations that were found.

Joint forces are met to the weight that they have over efforts, 1e-10 of the largest.
"""

import mujoco
import numpy as np
import pytest
from helpers import hill

import saltus
from saltus.errors import OptionError
from saltus.inverse.dynamics.inverse_dynamics import inverse_dynamics
from saltus.inverse.dynamics.static_optimization import static_optimization

PAIR = """<mujoco><worldbody><body><joint name="q" axis="0 1 0" damping=".1"{joint}/>
  <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" mass="2" contype="0" conaffinity="0"/></body></worldbody>
  <actuator><motor name="a" joint="q" gear="2"{a}/><motor name="b" joint="q" gear="-5"{b}/></actuator></mujoco>"""
LEG = """<mujoco><worldbody><site name="hip_front" pos=".06 0 .1"/><site name="hip_back" pos="-.07 0 .1"/>
  <body name="thigh"><joint name="hip" axis="0 1 0" damping=".2"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".04" mass="4"/><site name="front" pos=".05 0 -.2"/>
    <site name="back" pos="-.05 0 -.2"/>
    <body name="shank" pos="0 0 -.4"><joint name="knee" axis="0 1 0" ref="20"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="2"/><site name="shin" pos=".05 0 -.06"/>
      <site name="calf" pos="-.05 0 -.06"/></body></body></worldbody>
  <tendon>{tendons}</tendon><actuator>{muscles}</actuator></mujoco>"""
PATHS = {
    "flexor": ("hip_front", "front"),
    "extensor": ("hip_back", "back"),
    "vastus": ("front", "shin"),
    "hamstring": ("hip_back", "calf"),
    "rectus": ("hip_front", "shin"),
    "biceps": ("back", "calf"),
}


def leg():
    tendons = "".join(
        f'<spatial name="{n}"><site site="{a}"/><site site="{b}"/></spatial>' for n, (a, b) in PATHS.items()
    )
    muscles = "".join(f'<muscle name="{n}" tendon="{n}" force="3000" lengthrange=".1 .8"/>' for n in PATHS)
    return saltus.load(LEG.format(tendons=tendons, muscles=muscles))


def pendulum(joint="", a="", b="", amplitude=0.8):
    t = np.linspace(0, 1, 41)
    found = inverse_dynamics(PAIR.format(joint=joint, a=a, b=b), {"time": t, "qpos": amplitude * np.sin(4 * t)})
    return found, static_optimization(found)


def test_two_motors_share_by_their_gears():
    """Least u1² + u2² with 2 u1 - 5 u2 = τ: u = (2, -5) τ / 29."""
    found, share = pendulum()
    np.testing.assert_allclose(share.efforts, found.forces * [2 / 29, -5 / 29], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(share.forces, share.efforts)
    assert share.failed == "" and share.names == ("a", "b") and "a: " in repr(share)


def test_a_motor_at_its_limit_leaves_the_rest_to_the_other():
    """b is within ±0.1 of efforts that count as parts of 0.1: u = (2, -0.5) τ / 4.25. Ranges of forces, too."""
    found, share = pendulum(b=' ctrllimited="true" ctrlrange="-.1 .1"')
    torque = found.forces[:, 0]
    b = np.clip(-0.1 * 0.5 * torque / 4.25, -0.1, 0.1)
    np.testing.assert_allclose(share.efforts[:, 1], b, rtol=0, atol=1e-9)
    np.testing.assert_allclose(share.efforts[:, 0], (torque + 5 * b) / 2, rtol=0, atol=1e-9)
    _, forced = pendulum(b=' forcelimited="true" forcerange="-.05 .05"')
    free = -5 / 29 * torque
    assert abs(free).max() > 0.05
    np.testing.assert_allclose(forced.forces[:, 1], np.clip(free, -0.05, 0.05), rtol=0, atol=1e-9)
    assert forced.failed == ""


def test_what_cannot_be_met_is_said():
    """Motors of 0.1 N m in all, or a joint of 0.3 N m, for up to 1.4 N m."""
    limits = ' ctrllimited="true" ctrlrange="-.01 .01"'
    found, share = pendulum(a=limits, b=limits)
    torque = found.forces[:, 0]
    left = torque - np.clip(torque, -0.07, 0.07)
    np.testing.assert_allclose(share.unmet[:, 0], left, rtol=0, atol=1e-9)
    assert share.failed.startswith("q: ") and "not met at" in share.failed and share.failed in repr(share)
    found, share = pendulum(joint=' actuatorfrclimited="true" actuatorfrcrange="-.3 .3"')
    np.testing.assert_allclose(share.unmet[:, 0], torque - np.clip(torque, -0.3, 0.3), rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def walking():
    model = leg()
    t = np.linspace(0, 1, 31)
    q = np.stack([0.4 * np.sin(5 * t), np.deg2rad(20) + 0.5 + 0.4 * np.sin(5 * t + 1)], axis=1)
    found = inverse_dynamics(model, {"time": t, "qpos": q})
    return model, found, static_optimization(found)


def test_muscles_exert_the_joint_forces_in_mujoco(walking):
    model, found, share = walking
    m = model.mujoco
    d = mujoco.MjData(m)
    assert share.failed == "" and share.efforts.min() >= 0 and share.efforts.max() <= 1
    for k in range(len(found.time)):
        d.qpos[:], d.qvel[:], d.act[:] = found.qpos[k], found.qvel[k], share.efforts[k]
        mujoco.mj_forward(m, d)
        np.testing.assert_allclose(d.actuator_force, share.forces[k], rtol=0, atol=1e-9 * 3000)
        np.testing.assert_allclose(d.qfrc_actuator, found.forces[k], rtol=0, atol=1e-8 * abs(found.forces).max())


def test_activations_obey_lagranges_condition(walking):
    """u = Bᵀ λ for muscles within their ranges, and Bᵀ λ <= 0 for those at rest, B the joint forces by activations."""
    model, found, share = walking
    m = model.mujoco
    d = mujoco.MjData(m)
    partly = 0
    for k in range(len(found.time)):
        exerted = []
        for u in (0.0, 1.0):
            d.qpos[:], d.qvel[:], d.act[:] = found.qpos[k], found.qvel[k], u
            mujoco.mj_forward(m, d)
            exerted.append(np.array(d.actuator_force))
        moments = np.zeros((m.nu, m.nv))
        mujoco.mju_sparse2dense(moments, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind)
        B = moments.T * (exerted[1] - exerted[0])
        u = share.efforts[k]
        inside = u > 1e-7
        multiplier = np.linalg.lstsq(B[:, inside].T, u[inside], rcond=None)[0]
        np.testing.assert_allclose(B[:, inside].T @ multiplier, u[inside], rtol=0, atol=1e-7)
        assert (B[:, ~inside].T @ multiplier < 1e-7).all()
        partly += 2 < inside.sum() < len(u)
    assert partly > 10


def test_a_muscle_with_a_rigid_tendon_has_its_own_law():
    """The hold of a weight: activation times the force at this length makes up for what the passive fibres lack."""
    rigid = saltus.HillMuscle(hill.FORCE, hill.OPTIMAL, hill.SLACK, hill.PENNATION, rigid_tendon=True)
    model = hill.load(rigid, stiffness=2000.0)
    t = np.linspace(0, 1, 11)
    found = inverse_dynamics(model, {"time": t, "qpos": np.full((11, 1), hill.PATH - 0.03)})
    share = static_optimization(found)
    assert share.failed == "" and 0.01 < share.efforts.min() <= share.efforts.max() < 1
    sim = saltus.Simulation(model)
    sim.qpos[:], sim.act[:] = found.qpos[0], share.efforts[0]
    sim.forward()
    np.testing.assert_allclose(sim.data.qfrc_actuator, found.forces[0], rtol=1e-9)


def test_free_joints_are_not_asked_for():
    """A crawler in the air: its weight is the residual, and the motor holds the leg alone."""
    xml = """<mujoco><worldbody><body pos="0 0 1"><freejoint name="root"/><geom size=".1"/><body pos=".1 0 0">
      <joint name="leg" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/></body></body>
      </worldbody><actuator><motor joint="leg"/></actuator></mujoco>"""
    model = saltus.load(xml)
    found = inverse_dynamics(model, {"time": np.linspace(0, 1, 7), "qpos": np.tile(model.qpos0, (7, 1))})
    share = static_optimization(found)
    np.testing.assert_allclose(share.efforts[:, 0], -9.81 * 0.15, rtol=1e-9)
    assert share.failed == "" and (share.unmet[:, :6] == 0).all()


@pytest.mark.parametrize(
    ("actuator", "words"),
    [
        ("", "no actuators"),
        ('<motor name="a" joint="q" delay=".1" nsample="5"/>', "actuator a has a delay"),
        ('<adhesion name="a" body="b" ctrlrange="0 1"/>', "actuator a acts by contacts"),
        ('<general name="a" joint="q" dyntype="integrator" actearly="true"/>', r"actuator a exerts .*actearly"),
        (
            '<dcmotor name="a" joint="q" resistance="1" motorconst="0" input="none" lugre="9 0 1 1 1"/>',
            "actuator a is friction by bristles",
        ),
    ],
)
def test_actuators_that_are_not_linear_in_one_effort_are_refused(actuator, words):
    xml = f"""<mujoco><worldbody><body name="b"><joint name="q"/><geom size=".1"/></body></worldbody>
      <actuator>{actuator}</actuator></mujoco>"""
    found = inverse_dynamics(xml, {"time": np.linspace(0, 1, 7), "qpos": np.zeros(7)})
    with pytest.raises(OptionError, match=words):
        static_optimization(found)


def test_elastic_tendons_and_other_arguments_are_refused():
    found = inverse_dynamics(hill.load(), {"time": np.linspace(0, 1, 7), "qpos": np.full((7, 1), hill.PATH)})
    with pytest.raises(OptionError, match="tendon of muscle muscle is elastic"):
        static_optimization(found)
    with pytest.raises(OptionError, match=r"what saltus\.inverse_dynamics gives"):
        static_optimization("pendulum")


@pytest.mark.parametrize("flag", ["enable", "disable"])
def test_ranges_of_controls_count_unless_the_model_lifts_them(flag):
    """Without clampctrl controls act beyond their range, and the motors share as without one."""
    free, shared = pendulum()
    text = PAIR.format(joint="", a=' ctrlrange="-.01 .01" ctrllimited="true"', b="")
    text = text.replace("<worldbody>", f'<option><flag clampctrl="{flag}"/></option><worldbody>')
    share = static_optimization(inverse_dynamics(text, {"time": free.time, "qpos": free.qpos}))
    assert share.failed == ""
    if flag == "enable":
        assert abs(share.efforts[:, 0]).max() <= 0.01
    else:
        np.testing.assert_allclose(share.efforts, shared.efforts, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_a_disabled_motor_without_a_range_exerts_nothing():
    """The other one has all: u = -τ/5."""
    found, _ = pendulum()
    text = PAIR.format(joint="", a=' group="2"', b="").replace(
        "<worldbody>", '<option actuatorgroupdisable="2"/><worldbody>'
    )
    share = static_optimization(inverse_dynamics(text, {"time": found.time, "qpos": found.qpos}))
    np.testing.assert_array_equal(share.forces[:, 0], 0.0)
    np.testing.assert_allclose(share.efforts[:, 1], -found.forces[:, 0] / 5, rtol=0, atol=1e-8)
