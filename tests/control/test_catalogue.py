"""A catalogue of control tasks, planned by iterative LQR: swings up, a hop, a throw; by sampling: a push to a pose.

References: the task itself, reached by a simulation under the plan; upright positions, which the geometry gives; the
parabola of a ball in free flight, with the error of Euler's method, h v in a step of h.
"""

import warnings

import numpy as np
import pytest

import saltus

pytestmark = pytest.mark.slow  # some hundred steps, differentiated some fifty times

ACROBOT = """
<mujoco><option timestep=".02"/><default>
  <geom type="capsule" size=".03" mass="1" contype="0" conaffinity="0"/></default>
  <worldbody><body><joint name="shoulder" axis="0 1 0"/><geom fromto="0 0 0 0 0 -.6"/>
  <body pos="0 0 -.6"><joint name="elbow" axis="0 1 0"/><geom fromto="0 0 0 0 0 -.6"/><site name="tip" pos="0 0 -.6"/>
  </body></body></worldbody>
  <actuator><motor joint="elbow" ctrlrange="-8 8" ctrllimited="true"/></actuator></mujoco>"""
HOPPER = """
<mujoco><option timestep=".005"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
  <geom type="plane" size="5 5 .1" contype="1" conaffinity="1"/>
  <body pos="0 0 .8"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <geom size=".1" mass="3"/>
    <body><joint name="swing" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02" mass=".2"/>
      <body pos="0 0 -.4"><joint name="leg" type="slide" axis="0 0 1" stiffness="2000" damping="5" armature=".05"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".2"/>
        <geom name="foot" pos="0 0 -.3" size=".03" mass=".1" friction="1" contype="1" conaffinity="1"/></body></body>
  </body></worldbody><actuator><motor joint="swing" ctrlrange="-20 20" ctrllimited="true"/>
  <motor joint="leg" ctrlrange="-150 150" ctrllimited="true"/></actuator></mujoco>"""
THROWER = """
<mujoco><option timestep=".01"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
  <body pos="0 0 1"><joint name="s" axis="0 1 0" damping=".05"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/>
    <body pos=".4 0 0"><joint name="e" axis="0 1 0" damping=".05"/>
      <geom type="capsule" fromto="0 0 0 .35 0 0" size=".025" mass=".6"/>
      <geom type="box" pos=".37 0 0" size=".06 .06 .01" mass=".05" contype="1"/>
      <geom type="box" pos=".31 0 .03" size=".01 .06 .03" mass=".02" contype="1"/>
      <geom type="box" pos=".43 0 .03" size=".01 .06 .03" mass=".02" contype="1"/></body></body>
  <body name="ball" pos=".77 0 1.0499"><joint name="bx" type="slide" axis="1 0 0"/>
    <joint name="bz" type="slide" axis="0 0 1"/><geom size=".04" mass=".1" conaffinity="1" condim="1"/></body>
  </worldbody><actuator><motor joint="s" ctrlrange="-40 40" ctrllimited="true"/>
  <motor joint="e" ctrlrange="-20 20" ctrllimited="true"/></actuator></mujoco>"""

PUSHER = """
<mujoco><option timestep=".01" integrator="implicitfast"/><default><geom friction=".3"/></default><worldbody>
  <body name="box"><joint name="x" type="slide" axis="1 0 0" frictionloss="2" damping="2"/>
    <joint name="y" type="slide" axis="0 1 0" frictionloss="2" damping="2"/>
    <joint name="turn" axis="0 0 1" frictionloss=".1" damping=".1"/>
    <geom type="box" size=".1 .1 .05" mass="1" conaffinity="0"/></body>
  <body name="puck" pos="-.2 0 0"><joint name="px" type="slide" axis="1 0 0"/>
    <joint name="py" type="slide" axis="0 1 0"/><geom size=".03" mass=".2" contype="0"/></body></worldbody>
  <actuator><velocity joint="px" kv="20" ctrlrange="-.6 .6"/><velocity joint="py" kv="20" ctrlrange="-.6 .6"/>
  </actuator></mujoco>"""


def under(plan, sim):
    """Positions [T, nq] of a simulation under a plan."""
    found = [sim.qpos.copy()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as of bodies that pass through each other within a step
        for controls in plan.controls:
            sim.ctrl[:] = controls
            sim.step()
            found.append(sim.qpos.copy())
    return np.array(found)


def test_a_pole_on_a_cart_swings_up():
    sim = saltus.Simulation("cart_pole", timestep=0.02)
    sim.qpos[1] = np.pi

    def upright(s):
        if s.final:
            at_rest = 2 * s.qvel[0] ** 2 + 2 * s.qvel[1] ** 2
            return 100 * (1 - np.cos(s.qpos[1])) + 5 * s.qpos[0] ** 2 + at_rest
        return 1e-3 * s.ctrl[0] ** 2 + 0.01 * s.qpos[0] ** 2

    guess = 3 * np.sin(4 * 0.02 * np.arange(150))[:, None]
    plan = saltus.ilqr(sim, upright, 150, controls=guess, iterations=150)
    end = under(plan, sim)[-1]
    assert np.cos(end[1]) > 0.999 and abs(end[0]) < 0.1 and abs(sim.qvel).max() < 0.2


def test_an_acrobot_swings_up_by_its_elbow_alone():
    sim = saltus.Simulation(ACROBOT)

    def upright(s):
        if s.final:
            pose = 2 + np.cos(s.qpos[0]) - np.cos(s.qpos[1])
            return 100 * pose + 4 * s.qvel[0] ** 2 + 4 * s.qvel[1] ** 2
        return 1e-3 * s.ctrl[0] ** 2

    guess = 5 * np.sin(4 * 0.02 * np.arange(150))[:, None]
    plan = saltus.ilqr(sim, upright, 150, controls=guess, iterations=60)
    under(plan, sim)
    assert sim.site("tip").xpos[2] > 1.19 and abs(sim.qvel).max() < 0.5 and abs(plan.controls).max() <= 8.0


def test_a_hopper_leaves_the_floor_and_lands_further_on():
    sim = saltus.Simulation(HOPPER)

    def further(s):
        if s.final:
            place = (s.qpos[0] - 0.4) ** 2 + (s.qpos[1] - 0.15) ** 2
            return 200 * place + s.qvel[0] ** 2 + 10 * s.qpos[2] ** 2
        return 1e-5 * (s.ctrl[0] ** 2 + s.ctrl[1] ** 2)

    guess = np.zeros((160, 2))
    guess[40:70, 1], guess[20:45, 0] = -120.0, -1.0
    plan = saltus.ilqr(sim, further, 160, controls=guess, iterations=40)
    way = under(plan, sim)
    assert np.allclose(way[-1, :2], [0.4, 0.15], atol=0.02)
    # height of the foot: body, and leg turned by the swing
    foot = 0.8 + way[:, 1] - (0.7 - way[:, 3]) * np.cos(way[:, 2]) - 0.03
    down = np.flatnonzero(foot < 0.0)
    assert len(down) and foot[down[-1] :].max() > 0.1  # it stands, and is in the air afterwards


@pytest.mark.filterwarnings("ignore:.*passed through each other")  # in trials of the planner
def test_an_arm_throws_a_ball_into_a_basket():
    sim = saltus.Simulation(THROWER)
    basket = np.array([1.6, 0.6])

    def thrown(s):
        if s.final:
            place = s.body("ball")
            return 200 * ((place[0] - basket[0]) ** 2 + (place[2] - basket[1]) ** 2)
        return 1e-4 * (s.ctrl[0] ** 2 + s.ctrl[1] ** 2)

    guess = np.tile([-5.0, -2.0], (80, 1))
    guess[:10], guess[10:25], guess[25:40] = [-13.0, -3.5], [-32.0, -9.0], [0.0, 3.0]
    plan = saltus.ilqr(sim, thrown, 80, controls=guess, iterations=60)
    ball = under(plan, sim)[:, 2:] + [0.77, 1.0499]
    assert np.linalg.norm(ball[-1] - basket) < 0.15  # half the basket's width; the guess misses it
    # the last 0.2 s are free flight: no force but weight
    flight = np.diff(ball[-21:], 2, axis=0) / 0.01**2
    assert np.allclose(flight, [0.0, -9.81], rtol=0, atol=1e-8)


@pytest.mark.parametrize("pose", [(0.3, 0.2, 0.8), (-0.3, 0.1, -0.5), (0.1, -0.3, 1.2)])  # m, m, rad
def test_a_puck_pushes_a_box_to_a_pose(pose):
    """It can only push, with friction, so that it must go round the box, and push beside its centre to turn it."""
    sim = saltus.Simulation(PUSHER)

    def away(rollout):
        x, y, turn, px, py = np.moveaxis(rollout.qpos, -1, 0)
        box = 20 * ((x - pose[0]) ** 2 + (y - pose[1]) ** 2) + 1 - np.cos(turn - pose[2])
        return box + 0.1 * ((px - 0.2 - x) ** 2 + (py - y) ** 2)

    planner = saltus.mppi(
        sim, away, 80, noise=0.4, temperature=0.1, samples=128, hold=20, every=5, record="qpos", threads=1
    )
    sim.run(5.0, control=planner)
    assert np.linalg.norm(sim.qpos[:2] - pose[:2]) < 0.02 and abs(sim.qpos[2] - pose[2]) < 0.1
    assert abs(sim.qvel[:3]).max() < 1e-3  # dry friction holds it there
