"""Rows of equality constraints are MuJoCo's: connected and welded bodies and sites, coupled joints.

Law: points coincide, frames are parallel, joints follow a polynomial of each other, with the acceleration that
velocities alone make taken off (MuJoCo documentation, Computation: Constraint model: Equality). Reference: MuJoCo 4.0;
tolerances in `helpers.constraints`.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import assert_same_rows, complete, near

import saltus

OFF = 'contype="0" conaffinity="0"'
BODIES = f"""
<worldbody><site name="w" pos=".3 .1 1" euler="10 20 30"/>
  <body name="fixed" pos="-1 0 0" euler="0 30 10"/><body name="post" pos="-1 1 0"/>
  <body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .15" {OFF}/>
    <body name="b" pos=".3 0 .1"><joint name="h1" axis="0 1 0"/>
      <geom type="capsule" size=".05" fromto="0 0 0 .3 0 0" {OFF}/>
      <body name="c" pos=".3 0 0"><joint type="ball"/>
        <geom type="capsule" size=".05" fromto="0 0 0 .3 0 .1" {OFF}/>
        <body name="rim" pos=".1 0 0" euler="20 0 40"><site name="s" pos="0 .05 0" euler="5 40 3"/></body></body></body>
    <body name="e" pos="-.3 0 0"><joint name="h2" axis="1 0 0"/>
      <joint name="s2" type="slide" axis="0 0 1" ref=".2"/><geom size=".1" {OFF}/></body></body>
  <body name="f" pos="1 0 1"><joint type="ball"/><geom type="box" size=".1 .1 .3" pos="0 .1 0" {OFF}/>
    <site name="t" pos=".1 .1 0" euler="50 -40 3"/></body>
</worldbody>"""
CASES = {
    "connect": '<connect body1="c" body2="f" anchor=".1 .2 .05"/>',
    "connect within a tree": '<connect body1="b" body2="e" anchor=".1 .2 .05"/>',
    "connect child to parent": '<connect body1="rim" body2="a" anchor=".1 .2 .05"/>',
    "connect to the world": '<connect body1="c" anchor=".1 .2 .05"/>',
    "connect to a fixed body": '<connect body1="fixed" body2="rim" anchor=".1 .2 .05"/>',
    "connect sites": '<connect site1="s" site2="w"/>',
    "weld": '<weld body1="c" body2="f"/>',
    "weld within a tree": '<weld body1="b" body2="e" relpose="0 .1 0 1 .1 .2 .3" anchor=".1 .2 .3"/>',
    "weld child to parent": '<weld body1="a" body2="rim"/>',
    "weld to the world": '<weld body1="e" torquescale=".3"/>',
    "weld the world to": '<weld body1="fixed" body2="f" torquescale="2"/>',
    "weld sites": '<weld site1="s" site2="w"/>',
    "weld sites of two trees": '<weld site1="t" site2="s" torquescale=".7"/>',
    "joint": '<joint joint1="h1" joint2="h2" polycoef=".1 .5 .2 -.1 .3"/>',
    "joint the other way": '<joint joint1="s2" joint2="h1" polycoef=".1 -.5 2 .1 -.3"/>',
    "joint alone": '<joint joint1="s2" polycoef=".05"/>',
}
PARAMETERS = {
    "default": "",
    "direct": 'solref="-1000 -50" solimp=".3 .99 .3 .4 3"',
    "standard": 'solref=".05 .7" solimp=".5 .8 .2 .3 1"',
}
ROWS = {"connect": 3, "weld": 6, "joint": 1}


def mechanism(equality, option=""):
    return f"<mujoco>{option}{BODIES}<equality>{equality}</equality></mujoco>"


@pytest.mark.parametrize("name", CASES)
def test_rows(name):
    """Near the constraint and far from it, where a weld's error is not an angle any more."""
    for spread, parameters in ((0.1, "default"), (0.7, "direct"), (0.7, "standard")):
        equality = CASES[name].replace("/>", f" {PARAMETERS[parameters]}/>")
        rows, _, _ = assert_same_rows(mechanism(equality), 8, spread=spread)
        assert rows == ROWS[name.split()[0]]


def test_all_at_once_but_for_one_that_is_off():
    off = '<weld body1="f" active="false"/>'
    rows, _, _ = assert_same_rows(mechanism(off.join(CASES.values())), 10)
    assert rows == sum(ROWS[name.split()[0]] for name in CASES)


def test_without_the_flag_there_are_none():
    off = '<option><flag equality="disable"/></option>'
    assert assert_same_rows(mechanism(CASES["weld"], off), 3)[0] == 0


def test_what_cannot_move_has_no_row():
    still = '<weld body1="fixed" body2="post"/>'
    assert assert_same_rows(mechanism(still), 3)[0] == 0
    assert assert_same_rows(mechanism(still + CASES["connect"] + still), 3)[0] == 3


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("joint")])
def test_the_acceleration_that_velocities_make(name):
    """Without stiffness and damping the reference acceleration is that of the violation at zero accelerations, less.

    By differences of fourth order of MuJoCo's violations along constant velocities, with steps of 1e-3: truncation
    1e-12 times sixth derivatives of up to 1e4, rounding 1e-15 / 1e-6.
    """
    m = complete(mechanism(CASES[name].replace("/>", ' solref="0 0"/>')))
    sim, d, rng = saltus.Simulation(saltus.load(m)), mujoco.MjData(m), np.random.default_rng(0)
    h, weights = 1e-3, {-2: -1, -1: 16, 0: -30, 1: 16, 2: -1}
    for _ in range(5):
        state = near(m, rng, 0.5)
        second = 0.0
        for k, weight in weights.items():
            d.qpos[:] = state["qpos"]
            mujoco.mj_integratePos(m, d.qpos, state["qvel"], k * h)
            mujoco.mj_forward(m, d)
            second += weight * d.efc_pos / (12 * h * h)
        for field, value in state.items():
            getattr(sim, field)[:] = value
        np.testing.assert_allclose(sim.data.efc_aref, -second, rtol=0, atol=1e-7)
