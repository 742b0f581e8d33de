"""A small environment with everything in it: a cart and pole that is pushed, measured, disturbed and ends."""

import numpy as np

from saltus.env import Environment, normal, observed, term, uniform
from saltus.number.functions import absolute, sincos, where


@term
def push(m, d, e):
    """The action, delayed by a step and noisy, and a random force on the pole's degree of freedom."""
    d.ctrl[0] = 10.0 * e.previous_action[0] + 0.1 * normal(e)
    d.qfrc_applied[1] = 0.01 * uniform(e, -1.0, 1.0)
    e.effort = e.effort + absolute(d.ctrl[0])


@term
def height(m, d, e):
    """Height of the tip (m)."""
    return d.site_xpos[e.tip, 2]


@term
def upright(m, d, e):
    return e.upright_weight * height(m, d, e)


@term
def effort_cost(m, d, e):
    return -0.01 * e.effort


@term
def angle(m, d, e):
    return sincos(d.qpos[1])


@term
def far(m, d, e):
    return absolute(d.qpos[0]) > e.half_width


@term
def anywhere(m, d, e):
    d.qpos[1] = uniform(e, -np.pi, np.pi)
    d.qvel[1] = where(d.qpos[1] > 0.0, normal(e), 0.0)


class Swinging(Environment):
    model = "cart_pole"
    frame_skip = 2
    max_episode_steps = 12
    observation = ("qpos[x]", angle, observed("qvel", clip=(-5.0, 5.0), scale=0.2, noise=0.01), "site_xpos[tip, 2]")
    rewards = {"upright": upright, "effort": effort_cost}
    infos = {"height": height, "angle": angle}
    reset_infos = ("height",)
    before_step = push
    action_range = (-1.0, 1.0)
    terminated = far
    reset = anywhere
    parameters = {"upright_weight": 1.0, "half_width": 0.15}
    memory = {"effort": 0.0}
    ids = {"tip": ("site", "tip")}
