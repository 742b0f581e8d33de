"""InvertedPendulum-v5 and InvertedDoublePendulum-v5: a cart keeps one or two poles upright."""

from functools import partial

from saltus.env.bundled.common import reset_normal, reset_uniform
from saltus.env.bundled.gymnasium_files import gymnasium_model
from saltus.env.environment import Environment
from saltus.env.observation import observed
from saltus.env.terms import term
from saltus.number.functions import absolute, sincos


@term
def fallen(m, d, e):
    """Whether the pole leans by more than 0.2 rad."""
    return absolute(d.qpos[1]) > 0.2


@term
def stands(m, d, e):
    """Reward of 1 for each step that does not end the episode."""
    return 1.0 - e.terminated


class InvertedPendulum(Environment):
    """Gymnasium's InvertedPendulum-v5: a cart keeps a pole upright."""

    frame_skip = 2
    max_episode_steps = 1000
    rewards = {"reward_survive": stands}
    terminated = fallen
    reset = reset_uniform
    parameters = {"reset_noise_scale": 0.01}

    model = partial(gymnasium_model, "inverted_pendulum.xml")


@term
def sines(m, d, e):
    """Sines of both angles."""
    return sincos(d.qpos[1])[0], sincos(d.qpos[2])[0]


@term
def cosines(m, d, e):
    """Cosines of both angles."""
    return sincos(d.qpos[1])[1], sincos(d.qpos[2])[1]


@term
def tip_low(m, d, e):
    """Whether the tip is not above 1 m."""
    return d.site_xpos[0, 2] <= 1.0


@term
def survives(m, d, e):
    """Reward for each step that does not end the episode."""
    return e.healthy_reward * (1.0 - e.terminated)


@term
def distance_penalty(m, d, e):
    """Penalty for the tip's distance from its upright position."""
    x, y = d.site_xpos[0, 0], d.site_xpos[0, 2] - 2.0
    return -(0.01 * x * x + y * y)


@term
def velocity_penalty(m, d, e):
    """Penalty for angular velocities."""
    return -(1e-3 * d.qvel[1] * d.qvel[1] + 5e-3 * d.qvel[2] * d.qvel[2])


class InvertedDoublePendulum(Environment):
    """Gymnasium's InvertedDoublePendulum-v5: a cart keeps two poles upright."""

    model = partial(gymnasium_model, "inverted_double_pendulum.xml")
    frame_skip = 5
    max_episode_steps = 1000
    observation = (
        "qpos[0]",
        sines,
        cosines,
        observed("qvel", clip=(-10.0, 10.0)),
        observed("qfrc_constraint[0]", clip=(-10.0, 10.0)),
    )
    rewards = {"reward_survive": survives, "distance_penalty": distance_penalty, "velocity_penalty": velocity_penalty}
    terminated = tip_low
    reset = reset_normal
    parameters = {"healthy_reward": 10.0, "reset_noise_scale": 0.1}
    quantities = "step"
