"""Hopper-v5 and Walker2d-v5: planar legs hop and walk forward."""

from functools import partial

from saltus.env.bundled.common import control_cost, forward, remember_position, reset_uniform, x_position, x_velocity
from saltus.env.bundled.gymnasium_files import gymnasium_model
from saltus.env.environment import Environment
from saltus.env.observation import observed
from saltus.env.terms import term
from saltus.number.functions import where


@term
def upright(m, d, e):
    """1 if height and pitch of the torso are in their ranges, else 0."""
    z, angle = d.qpos[1], d.qpos[2]
    low, high = e.healthy_z_range[0], e.healthy_z_range[1]
    least, largest = e.healthy_angle_range[0], e.healthy_angle_range[1]
    return where((low < z) & (z < high) & (least < angle) & (angle < largest), 1.0 + 0.0 * z, 0.0)


@term
def hopper_healthy(m, d, e):
    """1 if the hopper is upright and its state except x and height is in its range, else 0."""
    healthy = upright(m, d, e)
    low, high = e.healthy_state_range[0], e.healthy_state_range[1]
    for k in range(2, m.nq):
        healthy = where((low < d.qpos[k]) & (d.qpos[k] < high), healthy, 0.0)
    for k in range(m.nv):
        healthy = where((low < d.qvel[k]) & (d.qvel[k] < high), healthy, 0.0)
    return healthy


@term
def hopper_survives(m, d, e):
    """Reward for being healthy."""
    return e.healthy_reward * hopper_healthy(m, d, e)


@term
def hopper_terminated(m, d, e):
    """Whether the episode ends because the hopper is unhealthy."""
    return (e.terminate_when_unhealthy > 0.5) & (hopper_healthy(m, d, e) < 0.5)


@term
def walker_survives(m, d, e):
    """Reward for being healthy."""
    return e.healthy_reward * upright(m, d, e)


@term
def walker_terminated(m, d, e):
    """Whether the episode ends because the walker is unhealthy."""
    return (e.terminate_when_unhealthy > 0.5) & (upright(m, d, e) < 0.5)


@term
def height_gained(m, d, e):
    """Height of the torso above its initial height (m)."""
    return d.qpos[1] - m.qpos0[1]


class Hopper(Environment):
    """Gymnasium's Hopper-v5: a planar leg hops forward."""

    model = partial(gymnasium_model, "hopper.xml")
    frame_skip = 4
    max_episode_steps = 1000
    rewards = {"reward_forward": forward, "reward_ctrl": control_cost, "reward_survive": hopper_survives}
    infos = {"x_position": x_position, "z_distance_from_origin": height_gained, "x_velocity": x_velocity}
    reset_infos = ("x_position", "z_distance_from_origin")
    terminated = hopper_terminated
    remember = remember_position
    reset = reset_uniform
    parameters = {
        "forward_reward_weight": 1.0,
        "ctrl_cost_weight": 1e-3,
        "healthy_reward": 1.0,
        "terminate_when_unhealthy": 1.0,
        "healthy_state_range": (-100.0, 100.0),
        "healthy_z_range": (0.7, float("inf")),
        "healthy_angle_range": (-0.2, 0.2),
        "reset_noise_scale": 5e-3,
    }
    memory = {"x_before": 0.0, "y_before": 0.0}
    options = {"exclude_current_positions_from_observation": True}
    quantities = "step"

    def declare(self) -> None:
        """Declare the observation: positions except the first, and clipped velocities."""
        first = "qpos[1:]" if self.option.exclude_current_positions_from_observation else "qpos"
        self.observation = (first, observed("qvel", clip=(-10.0, 10.0)))


class Walker2d(Hopper):
    """Gymnasium's Walker2d-v5: a planar pair of legs walks forward."""

    model = partial(gymnasium_model, "walker2d_v5.xml")
    rewards = {"reward_forward": forward, "reward_ctrl": control_cost, "reward_survive": walker_survives}
    terminated = walker_terminated
    parameters = {
        "forward_reward_weight": 1.0,
        "ctrl_cost_weight": 1e-3,
        "healthy_reward": 1.0,
        "terminate_when_unhealthy": 1.0,
        "healthy_z_range": (0.8, 2.0),
        "healthy_angle_range": (-1.0, 1.0),
        "reset_noise_scale": 5e-3,
    }
