"""Rows of joint limits are MuJoCo's: hinges, slides, ball joints, both ends of a range, margins.

Law: the distance to the end of the range, less the margin, is not to become negative (MuJoCo documentation,
Computation: Constraint model: Limit). Reference: MuJoCo 4.0; tolerances in `helpers.constraints`.
"""

import numpy as np
import pytest
from helpers.constraints import assert_same_rows

OFF = 'contype="0" conaffinity="0"'
GEOM = f'<geom type="box" size=".1 .2 .15" pos=".1 0 .05" {OFF}/>'
JOINTS = {
    "hinge": '<joint axis="1 2 0" range="-20 10"/>',
    "slide": '<joint type="slide" axis="0 1 2" range="-.1 .05"/>',
    "a margin": '<joint range="-20 10" margin=".3"/>',
    "direct parameters": '<joint range="-5 5" solreflimit="-800 -15" solimplimit=".5 .99 .2 .4 3"/>',
    "both ends at once": '<joint type="slide" range="-.1 .1" margin=".15"/>',
    "a reference away from zero": '<joint ref="30" range="20 35"/>',
    "ball": '<joint type="ball" range="0 10"/>',
    "ball with a margin": '<joint type="ball" range="0 90" margin="1.2"/>',
    "ball among others": '<joint axis="0 0 1" range="-3 3"/><joint type="ball" range="0 15" pos=".1 0 0"/>',
}


def body(joint, inside=GEOM, pos="0 0 1"):
    return f'<body pos="{pos}">{joint}{inside}</body>'


def mechanism(joint):
    """The joint at the root, and again further out on a moving, turned body."""
    inner = body(joint.replace("name", "id"), GEOM, ".3 .1 0")
    return f"<mujoco><worldbody>{body(joint)}{body('<freejoint/>', GEOM + inner, '2 0 0')}</worldbody></mujoco>"


@pytest.mark.parametrize("name", JOINTS)
def test_rows(name):
    """Ranges so narrow that random states are often beyond their ends."""
    rows, _, _ = assert_same_rows(mechanism(JOINTS[name]), 30, spread=0.3)
    assert rows > (2 if name == "both ends at once" else 1)


def test_a_ball_joint_beyond_half_a_turn():
    """The rotation is then the shorter one, the other way round."""

    def turn(rng, q):
        angle, axis = rng.uniform(0.8, 1.2) * np.pi, rng.normal(size=3)
        q[:4] = np.cos(angle / 2), *(np.sin(angle / 2) * axis / np.linalg.norm(axis))

    ball = '<joint type="ball" range="0 90"/>'
    rows, _, _ = assert_same_rows(f"<mujoco><worldbody>{body(ball)}</worldbody></mujoco>", 30, qpos=turn)
    assert rows == 1


def test_a_ball_joint_with_a_quaternion_that_is_not_of_length_one():
    def stretch(rng, q):
        q[:4] *= rng.uniform(0.5, 2)

    ball = '<joint type="ball" range="0 10"/>'
    rows, _, _ = assert_same_rows(f"<mujoco><worldbody>{body(ball)}</worldbody></mujoco>", 20, spread=0.3, qpos=stretch)
    assert rows == 1


def test_without_the_flag_there_are_none():
    xml = mechanism(JOINTS["hinge"]).replace("<mujoco>", '<mujoco><option><flag limit="disable"/></option>')
    rows, _, _ = assert_same_rows(xml, 5, spread=0.3)
    assert rows == 0
