"""A small environment that is steered: a command in its memory, a controller in its loop, a force on a body."""

import saltus
from saltus.env import Environment, term, uniform
from saltus.model.actuator_enums import PID_TARGET


@term
def steer(m, d, e):
    """The action is the servo's target; the wind blows on the pole, stronger with every step."""
    d.control_prm[PID_TARGET] = e.action[0]
    d.xfrc_applied[2, 0] = e.wind * e.steps
    d.ctrl[0] = 0.0


@term
def new_command(m, d, e):
    """Another command after every step."""
    e.command[0] = uniform(e, -1.0, 1.0)


@term
def error(m, d, e):
    """Distance of the cart from where it is wanted."""
    return e.command[0] - d.qpos[0]


@term
def closeness(m, d, e):
    return -error(m, d, e) * error(m, d, e)


@term
def above(m, d, e):
    """Height of the pole's tip over the cart (m)."""
    return d.site_xpos[e.tip, 2] - d.xpos[1, 2]


class Steered(Environment):
    model = "cart_pole"
    frame_skip = 3
    timestep = 0.01
    max_episode_steps = 40
    control = saltus.PID(kp=20.0, kd=5.0)
    observation = (error, "qvel", above)
    rewards = {"closeness": closeness}
    before_step = steer
    action_range = (-1.0, 1.0)
    remember = new_command
    parameters = {"wind": 0.01}
    memory = {"command": [0.25, 0.0]}
    ids = {"tip": ("site", "tip")}
    inputs = {"command": [("place", -1.0, 1.0, "m"), ("nothing", -1.0, 1.0)], "wind": ("wind", 0.0, 0.1, "N")}
