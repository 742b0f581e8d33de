"""HalfCheetah-v5: a planar cheetah runs forward."""

from saltus.env.bundled.gymnasium_files import gymnasium_model
from saltus.env.environment import Environment
from saltus.env.random import normal, uniform
from saltus.env.terms import term


@term
def before_step(m, d, e):
    """Remember where it is, and control the motors."""
    e.x_before = d.qpos[0]
    for k in range(m.nu):
        d.ctrl[k] = e.action[k]


@term
def x_position(m, d, e):
    """Position along x (m)."""
    return d.qpos[0]


@term
def x_velocity(m, d, e):
    """Mean velocity along x over the step (m/s)."""
    return (d.qpos[0] - e.x_before) / e.dt


@term
def forward(m, d, e):
    """Reward for the velocity."""
    return e.forward_reward_weight * x_velocity(m, d, e)


@term
def control_cost(m, d, e):
    """Cost of the action, a negative reward."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        total = total + e.action[k] * e.action[k]
    return -e.ctrl_cost_weight * total


@term
def reset(m, d, e):
    """Positions and velocities near the model's start."""
    s = e.reset_noise_scale
    for k in range(m.nq):
        d.qpos[k] = d.qpos[k] + uniform(e, -s, s)
    for k in range(m.nv):
        d.qvel[k] = d.qvel[k] + s * normal(e)


class HalfCheetah(Environment):
    """Gymnasium's HalfCheetah-v5."""

    frame_skip = 5
    max_episode_steps = 1000
    rewards = {"reward_forward": forward, "reward_ctrl": control_cost}
    infos = {"x_position": x_position, "x_velocity": x_velocity}
    reset_infos = ("x_position",)
    before_step = before_step
    reset = reset
    parameters = {"forward_reward_weight": 1.0, "ctrl_cost_weight": 0.1, "reset_noise_scale": 0.1}
    memory = {"x_before": 0.0}
    options = {"exclude_current_positions_from_observation": True}

    def model():
        return gymnasium_model("half_cheetah.xml")

    @property
    def observation(self):
        """Positions without that along x, and velocities."""
        return ("qpos[1:]" if self.option.exclude_current_positions_from_observation else "qpos", "qvel")
