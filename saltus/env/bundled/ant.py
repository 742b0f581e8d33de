"""Ant-v5: a body on four legs walks forward."""

from functools import partial

from saltus.env.bundled.common import (
    control_cost,
    distance_from_origin,
    reset_normal,
    squared_clipped_wrenches,
    x_position,
    y_position,
)
from saltus.env.bundled.gymnasium_files import gymnasium_model
from saltus.env.environment import Environment
from saltus.env.observation import observed
from saltus.env.terms import term
from saltus.number.functions import where


@term
def remember_body(m, d, e):
    """Store the position of the main body, from which velocities are computed."""
    e.x_before = d.xpos[e.main_body, 0]
    e.y_before = d.xpos[e.main_body, 1]


@term
def x_velocity(m, d, e):
    """Mean velocity of the main body along x over the step (m/s)."""
    return (d.xpos[e.main_body, 0] - e.x_before) / e.dt


@term
def y_velocity(m, d, e):
    """Mean velocity of the main body along y over the step (m/s)."""
    return (d.xpos[e.main_body, 1] - e.y_before) / e.dt


@term
def forward(m, d, e):
    """Reward for velocity along x."""
    return e.forward_reward_weight * x_velocity(m, d, e)


@term
def contact_cost(m, d, e):
    """Cost of contact forces, not positive."""
    return -e.contact_cost_weight * squared_clipped_wrenches(m, d, e)


@term
def healthy(m, d, e):
    """1 if the height of the torso is in its range, else 0."""
    z = d.qpos[2]
    return where((e.healthy_z_range[0] <= z) & (z <= e.healthy_z_range[1]), 1.0 + 0.0 * z, 0.0)


@term
def survives(m, d, e):
    """Reward for being healthy."""
    return e.healthy_reward * healthy(m, d, e)


@term
def unhealthy(m, d, e):
    """Whether the episode ends because the robot is unhealthy."""
    return (e.terminate_when_unhealthy > 0.5) & (healthy(m, d, e) < 0.5)


class Ant(Environment):
    """Gymnasium's Ant-v5: a body on four legs walks forward.

    The observation clips contact forces to the `contact_force_range` with which the environment is made.
    """

    model = partial(gymnasium_model, "ant.xml")
    frame_skip = 5
    max_episode_steps = 1000
    rewards = {
        "reward_forward": forward,
        "reward_ctrl": control_cost,
        "reward_contact": contact_cost,
        "reward_survive": survives,
    }
    infos = {
        "x_position": x_position,
        "y_position": y_position,
        "distance_from_origin": distance_from_origin,
        "x_velocity": x_velocity,
        "y_velocity": y_velocity,
    }
    reset_infos = ("x_position", "y_position", "distance_from_origin")
    terminated = unhealthy
    remember = remember_body
    reset = reset_normal
    parameters = {
        "forward_reward_weight": 1.0,
        "ctrl_cost_weight": 0.5,
        "contact_cost_weight": 5e-4,
        "healthy_reward": 1.0,
        "terminate_when_unhealthy": 1.0,
        "healthy_z_range": (0.2, 1.0),
        "contact_force_range": (-1.0, 1.0),
        "reset_noise_scale": 0.1,
    }
    memory = {"x_before": 0.0, "y_before": 0.0}
    options = {
        "main_body": 1,
        "exclude_current_positions_from_observation": True,
        "include_cfrc_ext_in_observation": True,
    }
    quantities = "step"

    def declare(self) -> None:
        """Declare the rewarded body and the observation: positions without the first two, velocities, wrenches."""
        self.ids = {"main_body": ("body", self.option.main_body)}
        seen = ["qpos[2:]" if self.option.exclude_current_positions_from_observation else "qpos", "qvel"]
        low, high = map(float, self.values["contact_force_range"])
        wrenches = [observed("cfrc_ext[1:]", clip=(low, high))]
        self.observation = [*seen, *(wrenches if self.option.include_cfrc_ext_in_observation else [])]
