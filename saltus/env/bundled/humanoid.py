"""Humanoid-v5 and HumanoidStandup-v5: a humanoid walks forward, or gets up."""

from functools import partial

from saltus.env.bundled.common import (
    distance_from_origin,
    reset_uniform,
    squared_wrenches,
    x_position,
    y_position,
)
from saltus.env.bundled.gymnasium_files import gymnasium_model
from saltus.env.environment import Environment
from saltus.env.terms import term
from saltus.number.functions import clip, where
from saltus.number.kernels import kernel


@kernel
def mass_centre(m, d, axis):
    """Coordinate of the centre of mass of all bodies (m)."""
    total, weighted = 0.0, 0.0 * d.time
    for b in range(m.nbody):
        total += m.body_mass[b]
        weighted = weighted + m.body_mass[b] * d.xipos[b, axis]
    return weighted / total


@term
def remember_mass_centre(m, d, e):
    """Store the centre of mass, from which velocities are computed."""
    e.x_before = mass_centre(m, d, 0)
    e.y_before = mass_centre(m, d, 1)


@term
def x_velocity(m, d, e):
    """Mean velocity of the centre of mass along x over the step (m/s)."""
    return (mass_centre(m, d, 0) - e.x_before) / e.dt


@term
def y_velocity(m, d, e):
    """Mean velocity of the centre of mass along y over the step (m/s)."""
    return (mass_centre(m, d, 1) - e.y_before) / e.dt


@term
def tendon_length(m, d, e):
    """Lengths of both tendons (m)."""
    return d.ten_length[0], d.ten_length[1]


@term
def tendon_velocity(m, d, e):
    """Velocities of both tendons (m/s)."""
    return d.ten_velocity[0], d.ten_velocity[1]


@term
def height_gained(m, d, e):
    """Height of the torso above its initial height (m)."""
    return d.qpos[2] - m.qpos0[2]


@term
def squared_controls(m, d, e):
    """Sum of the squares of the controls."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        total = total + d.ctrl[k] * d.ctrl[k]
    return total


@term
def control_cost(m, d, e):
    """Cost of the controls, not positive."""
    return -e.ctrl_cost_weight * squared_controls(m, d, e)


OPTIONS = {
    "exclude_current_positions_from_observation": True,
    "include_cinert_in_observation": True,
    "include_cvel_in_observation": True,
    "include_qfrc_actuator_in_observation": True,
    "include_cfrc_ext_in_observation": True,
}
BODIES = {
    "include_cinert_in_observation": "cinert[1:]",
    "include_cvel_in_observation": "cvel[1:]",
    "include_qfrc_actuator_in_observation": "qfrc_actuator[6:]",
    "include_cfrc_ext_in_observation": "cfrc_ext[1:]",
}


def observation_of(option):
    """The observation: positions except the first two, velocities, and the chosen fields of bodies."""
    first = "qpos[2:]" if option.exclude_current_positions_from_observation else "qpos"
    return [first, "qvel", *(field for name, field in BODIES.items() if getattr(option, name))]


# ---------------------------------------------------------------- Humanoid


@term
def forward(m, d, e):
    """Reward for velocity along x."""
    return e.forward_reward_weight * x_velocity(m, d, e)


@term
def contact_cost(m, d, e):
    """Cost of contact forces, not positive."""
    cost = e.contact_cost_weight * squared_wrenches(m, d, e)
    return -clip(cost, e.contact_cost_range[0], e.contact_cost_range[1])


@term
def healthy(m, d, e):
    """1 if the height of the torso is in its range, else 0."""
    z = d.qpos[2]
    return where((e.healthy_z_range[0] < z) & (z < e.healthy_z_range[1]), 1.0 + 0.0 * z, 0.0)


@term
def survives(m, d, e):
    """Reward for being healthy."""
    return e.healthy_reward * healthy(m, d, e)


@term
def unhealthy(m, d, e):
    """Whether the episode ends because the humanoid is unhealthy."""
    return (e.terminate_when_unhealthy > 0.5) & (healthy(m, d, e) < 0.5)


class Humanoid(Environment):
    """Gymnasium's Humanoid-v5: a humanoid walks forward."""

    model = partial(gymnasium_model, "humanoid.xml", newton=True)
    frame_skip = 5
    max_episode_steps = 1000
    rewards = {
        "reward_survive": survives,
        "reward_forward": forward,
        "reward_ctrl": control_cost,
        "reward_contact": contact_cost,
    }
    infos = {
        "x_position": x_position,
        "y_position": y_position,
        "tendon_length": tendon_length,
        "tendon_velocity": tendon_velocity,
        "distance_from_origin": distance_from_origin,
        "x_velocity": x_velocity,
        "y_velocity": y_velocity,
    }
    reset_infos = ("x_position", "y_position", "tendon_length", "tendon_velocity", "distance_from_origin")
    terminated = unhealthy
    remember = remember_mass_centre
    reset = reset_uniform
    parameters = {
        "forward_reward_weight": 1.25,
        "ctrl_cost_weight": 0.1,
        "contact_cost_weight": 5e-7,
        "contact_cost_range": (-float("inf"), 10.0),
        "healthy_reward": 5.0,
        "terminate_when_unhealthy": 1.0,
        "healthy_z_range": (1.0, 2.0),
        "reset_noise_scale": 1e-2,
    }
    memory = {"x_before": 0.0, "y_before": 0.0}
    options = OPTIONS
    quantities = "step"

    def declare(self) -> None:
        """Declare the observation; see `observation_of`."""
        self.observation = observation_of(self.option)


# ---------------------------------------------------------------- HumanoidStandup


@term
def gets_up(m, d, e):
    """Reward for the torso's height, divided by the timestep of the simulation (m/s)."""
    return e.uph_cost_weight * d.qpos[2] / d.timestep


@term
def impact_cost(m, d, e):
    """Cost of contact forces, not positive."""
    cost = e.impact_cost_weight * squared_wrenches(m, d, e)
    return -clip(cost, e.impact_cost_range[0], e.impact_cost_range[1])


@term
def one(m, d, e):
    """Reward of 1 for each step."""
    return 1.0 + 0.0 * e.steps


class HumanoidStandup(Environment):
    """Gymnasium's HumanoidStandup-v5: a lying humanoid gets up."""

    model = partial(gymnasium_model, "humanoidstandup.xml", newton=True)
    frame_skip = 5
    max_episode_steps = 1000
    rewards = {"reward_linup": gets_up, "reward_quadctrl": control_cost, "reward_impact": impact_cost, "_alive": one}
    infos = {
        "x_position": x_position,
        "y_position": y_position,
        "z_distance_from_origin": height_gained,
        "tendon_length": tendon_length,
        "tendon_velocity": tendon_velocity,
    }
    reset_infos = tuple(infos)
    reset = reset_uniform
    parameters = {
        "uph_cost_weight": 1.0,
        "ctrl_cost_weight": 0.1,
        "impact_cost_weight": 0.5e-6,
        "impact_cost_range": (-float("inf"), 10.0),
        "reset_noise_scale": 1e-2,
    }
    options = OPTIONS
    quantities = "step"

    def declare(self) -> None:
        """Declare the observation; see `observation_of`."""
        self.observation = observation_of(self.option)
