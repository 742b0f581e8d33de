"""Swimmer-v5: three links in a viscous medium swim along x."""

from functools import partial

from saltus.env.bundled.common import (
    control_cost,
    distance_from_origin,
    forward,
    remember_position,
    reset_uniform,
    x_position,
    x_velocity,
    y_position,
    y_velocity,
)
from saltus.env.bundled.gymnasium_files import gymnasium_model
from saltus.env.environment import Environment


class Swimmer(Environment):
    """Gymnasium's Swimmer-v5: three links in a viscous medium swim forward."""

    model = partial(gymnasium_model, "swimmer.xml")
    frame_skip = 4
    max_episode_steps = 1000
    rewards = {"reward_forward": forward, "reward_ctrl": control_cost}
    infos = {
        "x_position": x_position,
        "y_position": y_position,
        "distance_from_origin": distance_from_origin,
        "x_velocity": x_velocity,
        "y_velocity": y_velocity,
    }
    reset_infos = ("x_position", "y_position", "distance_from_origin")
    remember = remember_position
    reset = reset_uniform
    parameters = {"forward_reward_weight": 1.0, "ctrl_cost_weight": 1e-4, "reset_noise_scale": 0.1}
    memory = {"x_before": 0.0, "y_before": 0.0}
    options = {"exclude_current_positions_from_observation": True}
    quantities = "step"

    def declare(self) -> None:
        """Declare the observation: positions except the first two, and velocities."""
        self.observation = ("qpos[2:]" if self.option.exclude_current_positions_from_observation else "qpos", "qvel")
