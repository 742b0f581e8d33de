"""Gradients by frames of bodies and joints in one way back.

References: forward mode, whose dual numbers pass through kinematics, to 1e-9 of the largest number of a field; a
pendulum's closed form; MuJoCo's compiler and steps in central differences (1e-6 of the largest: their rounding of
1e-15 over 1e-5, and their square).
"""

import warnings

import mujoco
import numpy as np
import pytest

import saltus
from saltus.simulate.gradients.step_adjoint import StepAdjoint

TREE = """<mujoco><option timestep=".004" tolerance="0" iterations="60" ls_iterations="60" cone="{cone}"/>
  <default><geom solref=".03 1" solimp=".5 .9 .05" friction=".4"/></default><worldbody>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="trunk" pos="0 0 .06"><freejoint/><geom type="box" size=".15 .1 .06" mass="2"/>
    <body name="arm" pos=".15 .05 .05" quat=".9 .1 -.2 .1">
      <joint name="lift" type="slide" axis="0 .2 1" range="-.1 .001" damping="3" stiffness="20" pos=".01 0 .02"/>
      <joint name="turn" axis="1 .3 0" damping=".1" frictionloss=".2" stiffness=".5" pos=".02 -.01 .03"/>
      <joint name="yaw" axis="0 .1 1" pos="0 .02 -.01"/>
      <geom type="capsule" fromto="0 0 0 .3 0 -.04" size=".04" mass=".4"/>
      <body name="fixed" pos=".1 0 .05" quat=".8 0 .6 0"><geom type="box" size=".03 .02 .01" mass=".1"/></body>
      <body name="hand" pos=".3 0 -.04"><joint name="wrist" type="ball" damping=".05" pos="0 .01 .02"/>
        <geom name="palm" type="capsule" fromto="0 0 0 .1 .05 .02" size=".03" mass=".2"/></body></body></body>
  <body name="pole" pos="-.18 0 .3" quat=".95 0 .1 0"><joint name="swing" axis="0 1 0" damping=".1" pos="0 0 .05"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.22" size=".05" mass=".3"/></body>
  <body name="shelf" pos=".45 0 0"><geom type="box" size=".1 .3 .05"/></body></worldbody>
  <contact><exclude body1="trunk" body2="arm"/><exclude body1="trunk" body2="fixed"/></contact>
  <actuator><motor joint="lift" gear="2"/><position joint="turn" kp="6"/></actuator></mujoco>"""
MOVING = ("arm", "fixed", "hand", "pole")
JOINTS = ("lift", "turn", "yaw", "wrist", "swing")
NAMES = (
    *(f"{field}[{body}]" for field in ("body_pos", "body_quat") for body in MOVING),
    *(f"jnt_pos[{joint}]" for joint in JOINTS),
    *(f"jnt_axis[{joint}]" for joint in JOINTS if joint != "wrist"),
)


def tree(cone="pyramidal"):
    sim = saltus.Simulation(TREE.format(cone=cone), "euler")
    rng = np.random.default_rng(3)
    sim.qvel[:] = rng.normal(0.0, 0.4, sim.model.nv)
    sim.ctrl[:] = 0.3, -0.2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", saltus.SaltusWarning)
        sim.step(30)
    return sim


def loss_of(model, steps):
    of = np.random.default_rng(0).normal(size=(steps + 1, model.nv))
    return lambda run: np.sum(of * run.qvel)


def assert_same(found, wanted):
    rounding = 1e-14 * max(np.max(np.abs(values)) for values in wanted.values())
    for name, values in wanted.items():
        scale = np.max(np.abs(values), initial=0.0)
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-9 * scale + rounding, err_msg=name)


@pytest.mark.filterwarnings("ignore::saltus.SaltusWarning")
@pytest.mark.parametrize("pushed", [False, True])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_equal_to_forward_mode(cone, pushed):
    sim, steps = tree(cone), 4
    if pushed:
        sim.xfrc_applied[1:5] = np.random.default_rng(4).normal(0.0, 0.5, (4, 6))
    wrt = ("qpos", "qvel", "ctrl", "body_mass[hand]", "body_ipos[pole]", *NAMES)
    assert StepAdjoint(sim.engine, wrt[3:]).quick.all()
    values = [
        saltus.run_gradient(sim, steps * sim.timestep, loss_of(sim.model, steps), wrt=wrt, mode=mode)
        for mode in ("reverse", "forward")
    ]
    assert_same(values[0][1], values[1][1])
    felt = [name for name in NAMES if np.max(np.abs(values[1][1][name])) > 1e-6]
    assert {"body_pos", "body_quat", "jnt_pos", "jnt_axis"} == {name.split("[")[0] for name in felt}
    assert len(felt) > len(NAMES) - 4


def test_what_does_not_move_needs_directions():
    sim = tree()
    adjoint = StepAdjoint(sim.engine, ["body_pos[shelf]", "body_pos[arm]", "geom_size[palm][0]"])
    assert adjoint.quick.tolist() == [False] * 3 + [True] * 3 + [False]


def test_a_pendulum_that_is_shifted_in_its_frame():
    """The hinge's place p along the rod changes its length L: (m L² + I) a = -m g L sin q, L = d + p."""
    xml = """<mujoco><option timestep=".01" gravity="0 0 -9.81"/><worldbody><body name="rod"><joint name="q"
      axis="0 1 0"/><inertial pos="0 0 -.4" mass="1.3" diaginertia=".05 .05 .01"/></body></worldbody></mujoco>"""
    sim = saltus.Simulation(xml, "euler")
    sim.qpos[:] = 0.7
    _, gradient = saltus.run_gradient(
        sim, 0.01, lambda run: run.qvel[-1, 0], wrt=("jnt_pos[q][2]", "body_pos[rod]"), mode="reverse"
    )
    m, length, inertia, g, s = 1.3, 0.4, 0.05, 9.81, np.sin(0.7)
    whole = m * length**2 + inertia
    slope = -m * g * s / whole + m * g * length * s * 2 * m * length / whole**2
    assert gradient["jnt_pos[q][2]"] == pytest.approx(0.01 * slope, rel=1e-12)
    np.testing.assert_array_less(np.abs(gradient["body_pos[rod]"]), 1e-15)  # nothing else is there


@pytest.mark.filterwarnings("ignore::saltus.SaltusWarning")
def test_against_mujocos_steps():
    sim, steps = tree(), 3
    weights = np.random.default_rng(1).normal(size=sim.model.nv)

    def end(field, place, x):
        m = mujoco.MjModel.from_xml_string(TREE.format(cone="pyramidal"))
        values = getattr(m, field)
        values.reshape(-1)[place] += x
        data = mujoco.MjData(m)
        mujoco.mj_setConst(m, data)
        data.qpos[:], data.qvel[:], data.ctrl[:] = sim.qpos, sim.qvel, sim.ctrl
        mujoco.mj_step(m, data, steps)
        return weights @ data.qvel

    mj = sim.model.mujoco
    wanted = {"body_pos[hand]": 3 * mj.body("hand").id, "jnt_pos[turn]": 3 * mj.joint("turn").id}
    _, gradient = saltus.run_gradient(
        sim, steps * sim.timestep, lambda run: np.sum(weights * run.qvel[-1]), wrt=tuple(wanted), mode="reverse"
    )
    for name, first in wanted.items():
        field = name.split("[")[0]
        slopes = [(end(field, first + k, 1e-5) - end(field, first + k, -1e-5)) / 2e-5 for k in range(3)]
        np.testing.assert_allclose(gradient[name], slopes, rtol=0, atol=1e-6 * np.max(np.abs(slopes)))
