"""Environments for teaching, on bundled models: a pendulum and a pole on a cart."""

import math

from saltus.env.environment import Environment
from saltus.env.random import uniform
from saltus.env.terms import term
from saltus.number.functions import absolute, sincos


@term
def cart_push(m, d, e):
    """The action, times the largest force."""
    d.ctrl[0] = e.largest_force * e.action[0]


@term
def cart_angle(m, d, e):
    """Sine and cosine of the pole's angle from upright."""
    return sincos(d.qpos[1])


@term
def pole_height(m, d, e):
    """From 0 where the pole hangs to 1 where it stands."""
    _, c = sincos(d.qpos[1])
    return 0.5 * (1.0 + c)


@term
def force_cost(m, d, e):
    """Cost of the force, not positive."""
    return -e.force_cost_weight * e.action[0] * e.action[0]


@term
def off_the_rail(m, d, e):
    """Whether the cart has left the rail."""
    return absolute(d.qpos[0]) > e.rail_half_length


@term
def hanging(m, d, e):
    """The cart near the middle of the rail, the pole near hanging, both nearly at rest."""
    d.qpos[0] = uniform(e, -0.1, 0.1)
    d.qpos[1] = math.pi + uniform(e, -0.1, 0.1)
    for k in range(m.nv):
        d.qvel[k] = uniform(e, -0.05, 0.05)


class CartPoleSwingUp(Environment):
    """Swing the pole of a cart up and keep it there, by a force of at most `largest_force` (N) on the cart.

    Observation: the cart's place (m), sine and cosine of the pole's angle from upright, the cart's velocity (m/s) and
    the pole's angular velocity (rad/s). Reward: 1 a step while the pole stands, 0 while it hangs, less the cost of the
    force. It ends where the cart leaves the rail.
    """

    model = "cart_pole"
    max_episode_steps = 500
    observation = ("qpos[x]", cart_angle, "qvel")
    rewards = {"height": pole_height, "force": force_cost}
    before_step = cart_push
    action_range = (-1.0, 1.0)
    terminated = off_the_rail
    reset = hanging
    parameters = {"largest_force": 15.0, "force_cost_weight": 0.01, "rail_half_length": 2.4}


@term
def leaning(m, d, e):
    """Whether the pole leans by more than 0.2 rad, or the cart has left the rail."""
    return (absolute(d.qpos[1]) > 0.2) | off_the_rail(m, d, e)


@term
def near_upright(m, d, e):
    """Everything near rest upright."""
    for k in range(m.nq):
        d.qpos[k] = uniform(e, -0.05, 0.05)
    for k in range(m.nv):
        d.qvel[k] = uniform(e, -0.05, 0.05)


class CartPoleBalance(CartPoleSwingUp):
    """Keep the pole of a cart upright, from near upright; the episode ends where it leans by more than 0.2 rad."""

    terminated = leaning
    reset = near_upright


@term
def torque(m, d, e):
    """The action, times the largest torque."""
    d.ctrl[0] = e.largest_torque * e.action[0]


@term
def angle(m, d, e):
    """Sine and cosine of the angle from hanging."""
    return sincos(d.qpos[0])


@term
def height(m, d, e):
    """From 0 where the pendulum hangs to 1 where it stands."""
    _, c = sincos(d.qpos[0])
    return 0.5 * (1.0 - c)


@term
def torque_cost(m, d, e):
    """Cost of the torque, not positive."""
    return -e.torque_cost_weight * e.action[0] * e.action[0]


@term
def anywhere(m, d, e):
    """At any angle, nearly at rest."""
    d.qpos[0] = uniform(e, -math.pi, math.pi)
    d.qvel[0] = uniform(e, -0.05, 0.05)


class PendulumSwingUp(Environment):
    """Swing a pendulum up and keep it there, by a torque that cannot hold it at the side.

    `largest_torque` (N m) is a quarter of m g l. Observation: sine and cosine of the angle from hanging, the angular
    velocity (rad/s). Reward: 1 a step while it stands, 0 while it hangs, less the cost of the torque.
    """

    model = "pendulum"
    integrator = "rk4"
    max_episode_steps = 200
    observation = (angle, "qvel")
    rewards = {"height": height, "torque": torque_cost}
    before_step = torque
    action_range = (-1.0, 1.0)
    reset = anywhere
    parameters = {"largest_torque": 10.0, "torque_cost_weight": 0.01}
