"""The greatest dry friction in a joint: a number, or a function of velocity and load."""

from saltus.number.conditions import has
from saltus.number.functions import absolute, exp, maximum
from saltus.number.kernels import kernel


@kernel
def friction_bound(m, d, k):
    """The greatest dry friction of row k of a joint (N, N m): F_C + (F_S - F_C) exp(-|v / v_S|^δ) + (1 - η) |τ|.

    δ is 1 or 2, F_C the kinetic friction `friction_loss`, F_S the static one, v_S the Stribeck velocity (Olsson,
    Åström, Canudas de Wit, Gäfvert & Lischinsky, Friction models and friction compensation, Eur. J. Control 4 (1998)
    176); η is the efficiency of a gear that carries the torque τ of the joint's actuators.
    """
    kinetic = 0.0 * d.time + m.friction_loss[k]
    if not has(m, "drive"):
        return kinetic
    i = m.friction_obj[k]
    # friction at rest, and its fall with velocity
    ratio = absolute(d.qvel[i]) / m.friction_stribeck_velocity[k]
    excess = maximum(m.friction_static[k] - kinetic, 0.0 * kinetic)
    decay = ratio * ratio if m.friction_stribeck_exponent[k] == 2 else ratio
    bound = kinetic + excess * exp(-decay)
    # friction of the load
    return bound + m.friction_of_load[k] * absolute(d.qfrc_actuator[i])
