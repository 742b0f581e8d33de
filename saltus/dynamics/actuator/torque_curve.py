"""Greatest torques of motors by their speed, from the points of a data sheet."""

from saltus.number.functions import clip
from saltus.number.kernels import kernel, only_with


@kernel
def greatest_torque(m, k, speed):
    """Greatest torque (N m, N) of actuator k at a speed in the torque's direction (rad/s, m/s).

    Linear between the points of its curve, constant beyond their ends.
    """
    first = m.curve_adr[k]
    torque = 0.0 * speed + m.curve_torque[first]
    for p in range(first + 1, first + m.curve_num[k]):
        # the ramp up to this point, as far as the speed has come on it
        share = (speed - m.curve_speed[p - 1]) / (m.curve_speed[p] - m.curve_speed[p - 1])
        torque = torque + (m.curve_torque[p] - m.curve_torque[p - 1]) * clip(share, 0.0, 1.0)
    return torque


@only_with("torque_curve")
@kernel
def limit_torque_by_speed(m, d, k):
    """Clip the force of actuator k to its torques at this speed, forwards and backwards."""
    if m.curve_num[k] > 0:
        o = m.actuator_outadr[k]
        speed = d.actuator_velocity[o]
        low, high = -greatest_torque(m, k, -speed), greatest_torque(m, k, speed)
        d.actuator_force[o] = clip(d.actuator_force[o], low, high)


@only_with("torque_curve", otherwise="0.0 * d.time > 1.0")
@kernel
def at_torque_of_speed(m, d, k):
    """Whether the force of actuator k is at its limit by speed."""
    at_limit = 0.0 * d.time > 1.0
    if m.curve_num[k] > 0:
        o = m.actuator_outadr[k]
        force, speed = d.actuator_force[o], d.actuator_velocity[o]
        at_limit = (force <= -greatest_torque(m, k, -speed)) | (force >= greatest_torque(m, k, speed))
    return at_limit
