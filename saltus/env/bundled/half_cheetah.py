"""HalfCheetah-v5: a planar cheetah runs forward."""

from functools import partial

from saltus.env.bundled.common import control_cost, forward, remember_position, reset_normal, x_position, x_velocity
from saltus.env.bundled.gymnasium_files import gymnasium_model
from saltus.env.environment import Environment


class HalfCheetah(Environment):
    """Gymnasium's HalfCheetah-v5: a planar cheetah runs forward."""

    model = partial(gymnasium_model, "half_cheetah.xml")
    frame_skip = 5
    max_episode_steps = 1000
    rewards = {"reward_forward": forward, "reward_ctrl": control_cost}
    infos = {"x_position": x_position, "x_velocity": x_velocity}
    reset_infos = ("x_position",)
    remember = remember_position
    reset = reset_normal
    parameters = {"forward_reward_weight": 1.0, "ctrl_cost_weight": 0.1, "reset_noise_scale": 0.1}
    memory = {"x_before": 0.0, "y_before": 0.0}
    options = {"exclude_current_positions_from_observation": True}
    quantities = "step"

    def declare(self) -> None:
        """Declare the observation: positions except the first, and velocities."""
        self.observation = ("qpos[1:]" if self.option.exclude_current_positions_from_observation else "qpos", "qvel")
