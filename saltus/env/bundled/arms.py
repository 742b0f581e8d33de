"""Reacher-v5 and Pusher-v5: arms that reach for a point and push an object to one."""

import math
from functools import partial

from saltus.env.bundled.common import squared_action
from saltus.env.bundled.gymnasium_files import gymnasium_model
from saltus.env.environment import Environment
from saltus.env.random import uniform
from saltus.env.terms import term
from saltus.number.functions import sincos, sqrt, where
from saltus.number.kernels import kernel


@kernel
def distance(d, a, b):
    """Distance between the frames of two bodies (m)."""
    x, y, z = d.xpos[a, 0] - d.xpos[b, 0], d.xpos[a, 1] - d.xpos[b, 1], d.xpos[a, 2] - d.xpos[b, 2]
    return sqrt(x * x + y * y + z * z)


@term
def action_cost(m, d, e):
    """Cost of the action, not positive."""
    return -e.reward_control_weight * squared_action(m, d, e)


# ---------------------------------------------------------------- Reacher


@term
def angles(m, d, e):
    """Cosines and sines of both joints."""
    s0, c0 = sincos(d.qpos[0])
    s1, c1 = sincos(d.qpos[1])
    return c0, c1, s0, s1


@term
def offset(m, d, e):
    """Vector from the target to the fingertip in the plane (m)."""
    return d.xpos[e.fingertip, 0] - d.xpos[e.target, 0], d.xpos[e.fingertip, 1] - d.xpos[e.target, 1]


@term
def reach(m, d, e):
    """Reward for being near the target."""
    return -e.reward_dist_weight * distance(d, e.fingertip, e.target)


@term
def reset_reacher(m, d, e):
    """Set the arm near its initial pose, and the target uniformly in a disc of radius 0.2 m about the base."""
    for k in range(2):
        d.qpos[k] = d.qpos[k] + uniform(e, -0.1, 0.1)
        d.qvel[k] = d.qvel[k] + uniform(e, -0.005, 0.005)
    radius = 0.2 * sqrt(uniform(e, 0.0, 1.0))
    s, c = sincos(uniform(e, 0.0, 2.0 * math.pi))
    d.qpos[2] = radius * c
    d.qpos[3] = radius * s


class Reacher(Environment):
    """Gymnasium's Reacher-v5: an arm of two links reaches for a target."""

    frame_skip = 2
    max_episode_steps = 50
    observation = (angles, "qpos[2:]", "qvel[:2]", offset)
    rewards = {"reward_dist": reach, "reward_ctrl": action_cost}
    reset = reset_reacher
    parameters = {"reward_dist_weight": 1.0, "reward_control_weight": 1.0}
    ids = {"fingertip": ("body", "fingertip"), "target": ("body", "target")}
    quantities = "step"

    model = partial(gymnasium_model, "reacher.xml")


# ---------------------------------------------------------------- Pusher


@term
def near(m, d, e):
    """Reward for fingertips near the object."""
    return -e.reward_near_weight * distance(d, e.object, e.tips)


@term
def arrived(m, d, e):
    """Reward for an object near the goal."""
    return -e.reward_dist_weight * distance(d, e.object, e.goal)


ATTEMPTS = 40  # all of them fail with probability 1e-17


@term
def reset_pusher(m, d, e):
    """Set the arm at its initial pose, and the object uniformly where it is more than 0.17 m from the goal."""
    x, y = -0.3 + 0.0 * e.steps, 0.0 * e.steps
    found = 0.0 * e.steps
    for _ in range(ATTEMPTS):
        u, v = uniform(e, -0.3, 0.0), uniform(e, -0.2, 0.2)
        takes = (found < 0.5) & (u * u + v * v > 0.17 * 0.17)
        x, y = where(takes, u, x), where(takes, v, y)
        found = where(takes, 1.0, found)
    d.qpos[m.nq - 4], d.qpos[m.nq - 3] = x, y
    d.qpos[m.nq - 2], d.qpos[m.nq - 1] = 0.0 * x, 0.0 * x
    for k in range(m.nv - 4):
        d.qvel[k] = d.qvel[k] + uniform(e, -0.005, 0.005)


class Pusher(Environment):
    """Gymnasium's Pusher-v5: an arm pushes a cylinder to a target."""

    model = partial(gymnasium_model, "pusher_v5.xml")
    frame_skip = 5
    max_episode_steps = 100
    observation = ("qpos[:7]", "qvel[:7]", "xpos[tips_arm]", "xpos[object]", "xpos[goal]")
    rewards = {"reward_dist": arrived, "reward_ctrl": action_cost, "reward_near": near}
    reset = reset_pusher
    parameters = {"reward_near_weight": 0.5, "reward_dist_weight": 1.0, "reward_control_weight": 0.1}
    ids = {"tips": ("body", "tips_arm"), "object": ("body", "object"), "goal": ("body", "goal")}
    quantities = "step"
