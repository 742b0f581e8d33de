"""Terms shared by several of Gymnasium's MuJoCo environments."""

from saltus.env.random import normal, uniform
from saltus.env.terms import term
from saltus.number.functions import clip, sqrt


@term
def x_position(m, d, e):
    """First coordinate (m)."""
    return d.qpos[0]


@term
def y_position(m, d, e):
    """Second coordinate (m)."""
    return d.qpos[1]


@term
def distance_from_origin(m, d, e):
    """Distance from the origin by the first two coordinates (m)."""
    return sqrt(d.qpos[0] * d.qpos[0] + d.qpos[1] * d.qpos[1])


@term
def remember_position(m, d, e):
    """Store the first two coordinates, from which velocities are computed."""
    e.x_before = d.qpos[0]
    e.y_before = d.qpos[1]


@term
def x_velocity(m, d, e):
    """Mean velocity of the first coordinate over the step (m/s)."""
    return (d.qpos[0] - e.x_before) / e.dt


@term
def y_velocity(m, d, e):
    """Mean velocity of the second coordinate over the step (m/s)."""
    return (d.qpos[1] - e.y_before) / e.dt


@term
def forward(m, d, e):
    """Reward for velocity along x."""
    return e.forward_reward_weight * x_velocity(m, d, e)


@term
def squared_action(m, d, e):
    """Sum of the squares of the action."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        total = total + e.action[k] * e.action[k]
    return total


@term
def control_cost(m, d, e):
    """Cost of the action, not positive."""
    return -e.ctrl_cost_weight * squared_action(m, d, e)


@term
def squared_wrenches(m, d, e):
    """Sum of the squares of all external torques (N m) and forces (N) on bodies."""
    total = 0.0 * e.steps
    for b in range(m.nbody):
        for k in range(6):
            total = total + d.cfrc_ext[b, k] * d.cfrc_ext[b, k]
    return total


@term
def squared_clipped_wrenches(m, d, e):
    """Sum of the squares of external torques (N m) and forces (N) on bodies, clipped to contact_force_range."""
    total = 0.0 * e.steps
    for b in range(m.nbody):
        for k in range(6):
            x = clip(d.cfrc_ext[b, k], e.contact_force_range[0], e.contact_force_range[1])
            total = total + x * x
    return total


@term
def reset_uniform(m, d, e):
    """Draw positions and velocities uniformly within reset_noise_scale of the model's initial state."""
    s = e.reset_noise_scale
    for k in range(m.nq):
        d.qpos[k] = d.qpos[k] + uniform(e, -s, s)
    for k in range(m.nv):
        d.qvel[k] = d.qvel[k] + uniform(e, -s, s)


@term
def reset_normal(m, d, e):
    """Draw positions uniformly within reset_noise_scale of the initial state, velocities with it as deviation."""
    s = e.reset_noise_scale
    for k in range(m.nq):
        d.qpos[k] = d.qpos[k] + uniform(e, -s, s)
    for k in range(m.nv):
        d.qvel[k] = d.qvel[k] + s * normal(e)
