"""Terms of legged robots that follow velocity commands: observations, rewards, termination.

The robot's free joint comes first, and after it a hinge for each actuator in the actuators' order, so that joint k of a
robot has the coordinate qpos[7 + k], the velocity qvel[6 + k] and the control ctrl[k]; its base is the body with the
free joint. The floor is the plane z = 0.

Rewards are rates, multiplied by the step's duration, except those of single events, a landing and a fall.

References: Rudin, Hoeller, Reist & Hutter, Learning to walk in minutes using massively parallel deep reinforcement
learning, CoRL 2021; Zakka et al., MuJoCo Playground, 2025.
"""

import functools
import math

from saltus.env.random import uniform
from saltus.env.terms import term
from saltus.number.functions import absolute, exp, floor, maximum, sincos, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.quaternions import quat_conjugate, quat_rotate

SIGNIFICANT = 0.1  # a smaller command (m/s, rad/s) means to stand

# ---------------------------------------------------------------- tuples of numbers


@functools.cache
def each(item, count, first=0):
    """Make a term that returns a tuple of `count` numbers item(m, d, e, k), k = first, first + 1, ..."""
    if count == 1:
        return _one(item, first)
    if count == 4:
        return _four(item, first)
    size = 4 * max(1, count // 8) if count > 4 else 1  # near half
    return _after(each(item, size, first), each(item, count - size, first + size))


def _one(item, k):
    @term
    def found(m, d, e):
        return (item(m, d, e, k),)

    return found


def _four(item, k):
    @term
    def found(m, d, e):
        return item(m, d, e, k), item(m, d, e, k + 1), item(m, d, e, k + 2), item(m, d, e, k + 3)

    return found


def _after(begin, rest):
    @term
    def found(m, d, e):
        return begin(m, d, e) + rest(m, d, e)

    return found


@kernel(inline=True)
def joint_offset(m, d, e, k):
    """Coordinate of a joint relative to the standing pose (rad)."""
    return d.qpos[7 + k] - e.stand[k]


@kernel(inline=True)
def last_action(m, d, e, k):
    """Component k of the last action."""
    return e.action[k]


# ---------------------------------------------------------------- the base


@kernel(inline=True)
def to_base(d, a):
    """Rotate a vector from world axes to the axes of the base."""
    return quat_rotate(quat_conjugate((d.qpos[3], d.qpos[4], d.qpos[5], d.qpos[6])), a)


@term
def base_velocity(m, d, e):
    """Velocity of the base in its own axes (m/s)."""
    return to_base(d, (d.qvel[0], d.qvel[1], d.qvel[2]))


@term
def base_turning(m, d, e):
    """Angular velocity of the base in its own axes (rad/s)."""
    return d.qvel[3], d.qvel[4], d.qvel[5]


@term
def down(m, d, e):
    """Unit vector of gravity in the axes of the base."""
    zero = 0.0 * d.qpos[2]
    return to_base(d, (zero, zero, zero - 1.0))


@term
def fallen(m, d, e):
    """Whether the base leans by more than tilt_limit, or is lower than height_limit."""
    _, c = sincos(e.tilt_limit)
    return (-down(m, d, e)[2] < c) | (d.qpos[2] < e.height_limit)


# ---------------------------------------------------------------- commands


@kernel(inline=True)
def command_size(e):
    """Euclidean norm of the three numbers of the command."""
    return sqrt(e.command[0] * e.command[0] + e.command[1] * e.command[1] + e.command[2] * e.command[2])


@kernel(inline=True)
def moving(e, moves, stands):
    """`moves` if the command is to move, `stands` if it is to stand."""
    return where(command_size(e) > SIGNIFICANT, moves, stands)


@term
def command(m, d, e):
    """Command for the next step: velocities forward and to the left (m/s) and yaw rate (rad/s).

    A command is drawn when an episode begins, and every command_seconds.
    """
    every = floor(e.command_seconds / e.dt + 0.5)
    due = floor((e.steps + 0.5) / every) > floor((e.steps - 0.5) / every)
    moves = where(uniform(e, 0.0, 1.0) < e.standing_share, 0.0 * e.steps, 1.0 + 0.0 * e.steps)
    drawn = (
        moves * uniform(e, e.forward_range[0], e.forward_range[1]),
        moves * uniform(e, e.lateral_range[0], e.lateral_range[1]),
        moves * uniform(e, e.yaw_range[0], e.yaw_range[1]),
    )
    for k in range(3):
        e.command[k] = where(due, drawn[k], e.command[k])
    return e.command[0], e.command[1], e.command[2]


# ---------------------------------------------------------------- actions and starts


@term
def near_standing(m, d, e):
    """Set a random heading, and the standing pose with random deviations of joints and base velocity."""
    s, c = sincos(0.5 * uniform(e, -math.pi, math.pi))
    d.qpos[3], d.qpos[4], d.qpos[5], d.qpos[6] = c, 0.0 * s, 0.0 * s, s
    for k in range(m.nu):
        d.qpos[7 + k] = e.stand[k] + uniform(e, -e.reset_joint_range, e.reset_joint_range)
    for k in range(6):
        d.qvel[k] = uniform(e, -e.reset_velocity_range, e.reset_velocity_range)


@term
def near_standing_in_phase(m, d, e):
    """Set a random heading, a disturbed standing pose (see `near_standing`) and a random phase of the gait."""
    near_standing(m, d, e)
    e.phase = uniform(e, 0.0, 1.0)


# ---------------------------------------------------------------- rewards of all legged robots


@term
def track_velocity(m, d, e):
    """Reward for following the commanded velocity in the plane."""
    v = base_velocity(m, d, e)
    x, y = v[0] - e.command[0], v[1] - e.command[1]
    return e.dt * e.track_velocity_weight * exp(-(x * x + y * y) / e.tracking_sigma)


@term
def track_yaw(m, d, e):
    """Reward for following the commanded yaw rate."""
    z = d.qvel[5] - e.command[2]
    return e.dt * e.track_yaw_weight * exp(-z * z / e.tracking_sigma)


@term
def alive(m, d, e):
    """Reward for every step that does not end the episode."""
    return e.dt * e.alive_weight * (1.0 - e.terminated)


@term
def fall(m, d, e):
    """Cost of an end by a fall."""
    return -e.fall_weight * e.terminated


@term
def vertical_velocity(m, d, e):
    """Cost of the base's velocity along its own z axis."""
    z = base_velocity(m, d, e)[2]
    return -e.dt * e.vertical_velocity_weight * z * z


@term
def roll_pitch_rate(m, d, e):
    """Cost of rolling and pitching."""
    return -e.dt * e.roll_pitch_rate_weight * (d.qvel[3] * d.qvel[3] + d.qvel[4] * d.qvel[4])


@term
def tilt(m, d, e):
    """Cost of a base that is not level."""
    x, y, _ = down(m, d, e)
    return -e.dt * e.tilt_weight * (x * x + y * y)


@term
def torques(m, d, e):
    """Cost of the servos' torques."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        total = total + d.actuator_force[k] * d.actuator_force[k]
    return -e.dt * e.torques_weight * total


@term
def energy(m, d, e):
    """Cost of the absolute power of the servos."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        total = total + absolute(d.actuator_force[k] * d.qvel[6 + k])
    return -e.dt * e.energy_weight * total


@term
def action_rate(m, d, e):
    """Cost of changes of the action."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        change = e.action[k] - e.previous_action[k]
        total = total + change * change
    return -e.dt * e.action_rate_weight * total


@term
def joint_limits(m, d, e):
    """Cost of joints beyond the fraction limit_share of their ranges (rad)."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        middle, half = 0.5 * (e.joint_low[k] + e.joint_high[k]), 0.5 * (e.joint_high[k] - e.joint_low[k])
        total = total + maximum(absolute(d.qpos[7 + k] - middle) - e.limit_share * half, 0.0 * half)
    return -e.dt * e.joint_limits_weight * total


@term
def pose(m, d, e):
    """Cost of joints away from the standing pose, with a weight for each joint."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        x = joint_offset(m, d, e, k)
        total = total + e.pose_weights[k] * x * x
    return -e.dt * e.pose_weight * total


@term
def stand_still(m, d, e):
    """Cost of joints away from the standing pose if the command is to stand."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        total = total + absolute(joint_offset(m, d, e, k))
    return -e.dt * e.stand_still_weight * moving(e, 0.0 * total, total)
