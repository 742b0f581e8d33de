"""Constrained trajectories are MuJoCo's, step by step: with each of its integrators, through impacts, stops and slip.

Law: MuJoCo 4.0's Euler, implicit, implicitfast and RK4 (documentation, Computation: Numerical integration) with soft
constraints.

Tolerance: 1e-6 after a second, relative to the largest coordinate. Both solve for accelerations to some 1e-10 of the
largest, and none of these motions is chaotic: errors grow by less than a thousand.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import complete
from helpers.files import packaged

import saltus

TOLERANCE = 1e-6
INTEGRATORS = {"Euler": 0, "RK4": 1, "implicit": 2, "implicitfast": 3}
OFF = 'contype="0" conaffinity="0"'
FLOOR = '<geom type="plane" size="9 9 .1" friction=".6"/>'
LINK = f'<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.5" {OFF}/>'
CASES = {
    "cart-pole against its stops": f"""<worldbody>
      <body><joint name="cart" type="slide" axis="1 0 0" range="-.3 .3" damping=".1" frictionloss=".05"/>
        <geom type="box" size=".1 .05 .05" {OFF}/>
        <body><joint axis="0 1 0" damping=".01"/>{LINK}</body></body></worldbody>
      <keyframe><key qpos="0 1 0" qvel="1.5 0 0"/></keyframe>""",
    "pendulum against a limit": f"""<worldbody>
      <body pos="0 0 1"><joint axis="0 1 0" range="-20 60" damping=".02"/>{LINK}</body></worldbody>
      <keyframe><key qpos="1 0"/></keyframe>""",
    "pendulum with dry friction": f"""<worldbody>
      <body pos="0 0 1"><joint axis="0 1 0" frictionloss=".3"/>{LINK}</body></worldbody>
      <keyframe><key qpos="1.5 0"/></keyframe>""",
    "ball joint against its cone": f"""<worldbody>
      <body pos="0 0 1"><joint type="ball" range="0 40" damping=".01"/>{LINK}</body></worldbody>
      <keyframe><key qpos="1 0 0 0 0" qvel="5 3 1 0"/></keyframe>""",
    "sliding box": f"""<worldbody>{FLOOR}
      <body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .15 .1" friction=".3"/></body></worldbody>
      <keyframe><key qpos="0 0 .0995 1 0 0 0 0" qvel="2 .5 0 0 0 1 0"/></keyframe>""",
    "ball that slides, then rolls": f"""<worldbody>{FLOOR}
      <body pos="0 0 .1"><freejoint/><geom size=".1" condim="6" friction=".3 .01 .002"/></body></worldbody>
      <keyframe><key qpos="0 0 .0998 1 0 0 0 0" qvel="2 .5 0 3 -10 5 0"/></keyframe>""",
    "ball that bounces": f"""<worldbody>{FLOOR}
      <body pos="0 0 .5"><freejoint/><geom size=".1" solref="-2000 -8"/></body></worldbody>
      <keyframe><key qpos="0 0 .4 1 0 0 0 0" qvel="1 0 0 0 5 0 0"/></keyframe>""",
    "four-bar loop": f"""<worldbody>
      <body><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .5" {OFF}/>
        <body pos="0 0 .5"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 1 0 0" {OFF}/>
          <body name="end" pos="1 0 0"><joint axis="0 1 0"/>
            <geom type="capsule" size=".02" fromto="0 0 0 0 0 -.5" {OFF}/>
          </body></body></body></worldbody>
      <equality><connect body1="end" anchor="0 0 -.5"/></equality>
      <keyframe><key qvel="1 -1 1 0"/></keyframe>""",
    "welded and coupled": f"""<worldbody>
      <body name="a" pos="0 0 1"><joint name="a" axis="0 1 0"/>{LINK}
        <body name="b" pos="0 0 -.5"><joint name="b" axis="0 1 0"/>{LINK}</body></body>
      <body name="c" pos="1 0 1"><freejoint/><geom type="box" size=".1 .1 .1" {OFF}/></body></worldbody>
      <equality><joint joint1="b" joint2="a" polycoef="0 -.5 .2 0 0"/><weld body1="c" body2="b"/></equality>
      <keyframe><key qpos="1 0 1 0 1 1 0 0 0 0"/></keyframe>""",
}


def with_options(xml, integrator, cone):
    m = complete(f"<mujoco>{xml}</mujoco>" if isinstance(xml, str) and xml.startswith("<") else xml)
    m.opt.integrator, m.opt.cone = INTEGRATORS[integrator], ["pyramidal", "elliptic"].index(cone)
    return m


def assert_same_motion(m, ctrl=None):
    """A second of both programs; returns how many of MuJoCo's steps had a constraint force, of all."""
    sim, d = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
    steps, acting = round(1 / m.opt.timestep), 0
    if m.nkey:
        sim.reset(key=0)
        mujoco.mj_resetDataKeyframe(m, d, 0)
    if ctrl is not None:
        sim.ctrl[:], d.ctrl[:] = ctrl, ctrl
    for _ in range(10):
        for _ in range(steps // 10):
            mujoco.mj_step(m, d)
            acting += bool(np.abs(d.qfrc_constraint).max() > 0)
        sim.step(steps // 10)
        for found, wanted in ((sim.qpos, d.qpos), (sim.qvel, d.qvel)):
            assert np.max(np.abs(found - wanted)) <= TOLERANCE * max(1.0, np.max(np.abs(wanted)))
    assert sim.unconverged == 0
    return acting / steps


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", CASES)
def test_one_second(name, integrator):
    """With both cones where anything touches."""
    for cone in ("pyramidal", "elliptic") if 'geom type="plane"' in CASES[name] else ("pyramidal",):
        acting = assert_same_motion(with_options(CASES[name], integrator, cone))
        assert acting > 0.02


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_hopper_from_its_start(integrator):
    """A second of the fall, the impact of the foot and the collapse against limits."""
    path = packaged("gymnasium").get("envs/mujoco/assets/hopper.xml") or pytest.skip("gymnasium is not installed")
    m = with_options(path, integrator, "pyramidal")
    assert assert_same_motion(m, ctrl=[0.1, -0.1, 0.05]) > 0.3
