"""Environments for teaching, on bundled models: pendulums with one or two links, and a pole on a cart."""

import math

from saltus.env.environment import Environment
from saltus.env.random import uniform
from saltus.env.terms import term
from saltus.number.functions import absolute, sincos


@term
def cart_push(m, d, e):
    """Set the force on the cart: the action times largest_force (N)."""
    d.ctrl[0] = e.largest_force * e.action[0]


@term
def cart_angle(m, d, e):
    """Sine and cosine of the pole's angle from upright."""
    return sincos(d.qpos[1])


@term
def pole_height(m, d, e):
    """Reward for the height of the pole: 0 hanging, 1 standing."""
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
    """Set the cart near the middle of the rail and the pole near hanging, both nearly at rest."""
    d.qpos[0] = uniform(e, -0.1, 0.1)
    d.qpos[1] = math.pi + uniform(e, -0.1, 0.1)
    for k in range(m.nv):
        d.qvel[k] = uniform(e, -0.05, 0.05)


class CartPoleSwingUp(Environment):
    """Swing the pole of a cart up and keep it there, by a force of at most `largest_force` (N) on the cart.

    Observation: the cart's position (m), sine and cosine of the pole's angle from upright, the cart's velocity (m/s)
    and the pole's angular velocity (rad/s). Reward per step: 1 while the pole stands, 0 while it hangs, less the cost
    of the force. The episode ends when the cart leaves the rail.
    """

    model = "cart_pole"
    integrator = "euler"
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
    """Set cart and pole near rest, with the pole near upright."""
    for k in range(m.nq):
        d.qpos[k] = uniform(e, -0.05, 0.05)
    for k in range(m.nv):
        d.qvel[k] = uniform(e, -0.05, 0.05)


class CartPoleBalance(CartPoleSwingUp):
    """Keep the pole of a cart upright, starting near it; the episode ends when it leans by more than 0.2 rad."""

    terminated = leaning
    reset = near_upright


@term
def torque(m, d, e):
    """Set the torque: the action times largest_torque (N m)."""
    d.ctrl[0] = e.largest_torque * e.action[0]


@term
def angle(m, d, e):
    """Sine and cosine of the angle from hanging."""
    return sincos(d.qpos[0])


@term
def height(m, d, e):
    """Reward for the height of the pendulum: 0 hanging, 1 standing."""
    _, c = sincos(d.qpos[0])
    return 0.5 * (1.0 - c)


@term
def torque_cost(m, d, e):
    """Cost of the torque, not positive."""
    return -e.torque_cost_weight * e.action[0] * e.action[0]


@term
def anywhere(m, d, e):
    """Set a random angle, nearly at rest."""
    d.qpos[0] = uniform(e, -math.pi, math.pi)
    d.qvel[0] = uniform(e, -0.05, 0.05)


class PendulumSwingUp(Environment):
    """Swing a pendulum up and keep it there, by a torque that cannot hold it at the side.

    `largest_torque` (N m) is a quarter of m g l. Observation: sine and cosine of the angle from hanging, the angular
    velocity (rad/s). Reward per step: 1 while it stands, 0 while it hangs, less the cost of the torque.
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


@term
def torques(m, d, e):
    """Set the torques: the actions times largest_torque (N m)."""
    for k in range(m.nu):
        d.ctrl[k] = e.largest_torque[k] * e.action[k]


@term
def joint_angles(m, d, e):
    """Sines and cosines of both joints' angles."""
    s1, c1 = sincos(d.qpos[0])
    s2, c2 = sincos(d.qpos[1])
    return s1, c1, s2, c2


@term
def tip_height(m, d, e):
    """Reward for the height of the tip: 0 if both links hang, 1 if both stand; the links are equally long."""
    _, c1 = sincos(d.qpos[0])
    _, c2 = sincos(d.qpos[0] + d.qpos[1])
    return 0.5 - 0.25 * (c1 + c2)


@term
def torques_cost(m, d, e):
    """Cost of both torques, not positive."""
    return -e.torque_cost_weight * (e.action[0] * e.action[0] + e.action[1] * e.action[1])


@term
def spin_cost(m, d, e):
    """Cost of both links' angular velocities, not positive, so that whirling is worse than standing."""
    first, second = d.qvel[0], d.qvel[0] + d.qvel[1]
    return -e.spin_cost_weight * (first * first + second * second)


@term
def both_hanging(m, d, e):
    """Set both links nearly hanging, nearly at rest."""
    for k in range(m.nq):
        d.qpos[k] = uniform(e, -0.1, 0.1)
    for k in range(m.nv):
        d.qvel[k] = uniform(e, -0.05, 0.05)


class PendularmSwingUp(Environment):
    """Swing both links of the double pendulum up and keep them there, by motors that cannot hold them at the side.

    `largest_torque` (N m) of each joint is half the torque that holds both links out level. Observation: sine and
    cosine of each joint's angle (the second is measured from the first link), the angular velocities (rad/s). Reward
    per step: 1 while both stand, 0 while both hang, less the costs of the torques and of the links' angular
    velocities. Episodes start hanging.
    """

    model = "double_pendulum"
    integrator = "rk4"
    max_episode_steps = 400
    observation = (joint_angles, "qvel")
    rewards = {"height": tip_height, "torque": torques_cost, "spin": spin_cost}
    before_step = torques
    action_range = ((-1.0, -1.0), (1.0, 1.0))
    reset = both_hanging
    parameters = {"largest_torque": (60.0, 20.0), "torque_cost_weight": 0.01, "spin_cost_weight": 0.005}
