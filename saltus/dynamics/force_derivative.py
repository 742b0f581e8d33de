"""How the forces of actuators and tendons change with joint velocities: what implicit methods take of them.

Matrices D = d(force)/d(qvel) are kept like the inertia (see `saltus.dynamics.tree.bias_derivative`): what they hold
between degrees of freedom that the inertia does not couple is left out, and taken explicitly, as in MuJoCo 4.0
(documentation, Computation, "Numerical integration").
"""

from saltus.dynamics.actuator.actuation import last_state
from saltus.dynamics.actuator.dc_motor import friction_slope, motor_friction, motor_slope
from saltus.dynamics.actuator.hill_muscle import hill_force_slope
from saltus.dynamics.actuator.muscle import muscle_gain_slope
from saltus.dynamics.tendon.force import damping_slope
from saltus.dynamics.tree.tree_rows import add_outer
from saltus.model.compile.actuators import (
    BIAS_AFFINE,
    BIAS_DCMOTOR,
    BIAS_SO3,
    DYN_NONE,
    GAIN_AFFINE,
    GAIN_DCMOTOR,
    GAIN_MUSCLE,
    GAIN_SO3,
    SCALAR,
    TENDON,
)
from saltus.model.compile.hill import GAIN_HILL
from saltus.number.functions import absolute, epsilon_of, where
from saltus.number.kernels import kernel, only_with

ROUNDINGS = 64.0  # how many a force that was scaled to its limit may be off it


@kernel
def actuation_derivative(m, d):
    """d(qfrc_actuator)/d(qvel); nothing of forces that are at a limit.

    Reads what `actuation` writes. Writes the part of actuators on hinges and slides, a diagonal, into
    qfrc_actuator_slope [nv] (N m s); subtracts the others' from lower and upper [nC].
    """
    for i in range(m.nv):
        d.qfrc_actuator_slope[i] = 0.0 * d.time
    if m.has_actuation:
        for k in range(m.nactuator):
            if m.actuator_enabled[k]:
                slope = actuator_slope(m, d, k)
                # a tendon's limit does not concern the friction of motors
                slope = where(tendon_saturated(m, d, m.actuator_outadr[k]), friction_slope(m, d, k), slope)
                slope = where(saturated(m, d, k), 0.0 * d.time, slope)
                for o in range(m.actuator_outadr[k], m.actuator_outadr[k] + m.actuator_outnum[k]):
                    if m.out_kind[o] == SCALAR:
                        i = m.moment_dof[m.moment_adr[o]]
                        gear = m.actuator_gear[o, 0]
                        d.qfrc_actuator_slope[i] = d.qfrc_actuator_slope[i] + gear * gear * slope
                    else:
                        add_actuator_derivative(m, d, o, slope)


@only_with("transmission")
@kernel
def add_actuator_derivative(m, d, o, slope):
    """lower, upper [nC] -= slope J Jᵀ for output o of an actuator with moment arms J."""
    first, count = m.moment_adr[o], m.moment_num[o]
    add_outer(m, d.lower, d.moment, m.moment_dof, first, count, -slope)
    add_outer(m, d.upper, d.moment, m.moment_dof, first, count, -slope)


@only_with("tendon_force")
@kernel
def add_tendon_damping(m, d):
    """lower, upper [nC] -= d(qfrc_damper)/d(qvel) of tendons. Reads ten_velocity [ntendon], ten_J [ntenJ]."""
    for t in range(m.ntendon):
        poly = m.tendon_dampingpoly[t]
        if m.tendon_damping[t] != 0.0 or poly[0] != 0.0 or poly[1] != 0.0:
            slope = damping_slope(m, d, t)
            add_outer(m, d.lower, d.ten_J, m.tendon_dof, m.tendon_Jadr[t], m.tendon_Jnum[t], slope)
            add_outer(m, d.upper, d.ten_J, m.tendon_dof, m.tendon_Jadr[t], m.tendon_Jnum[t], slope)


@kernel
def actuator_slope(m, d, k):
    """Derivative of actuator k's force in its velocity (N s/m, N m s), but for limits."""
    slope = 0.0 * d.time
    kind = m.actuator_biastype[k]
    if kind == BIAS_AFFINE or kind == BIAS_SO3:
        slope = slope + m.actuator_biasprm[k, 2]
    kind = m.actuator_gaintype[k]
    if kind == GAIN_DCMOTOR:
        slope = slope + motor_slope(m, d, k)
    elif kind == GAIN_HILL:
        slope = slope + hill_force_slope(m, d, k, last_state(m, d, k))
    elif kind == GAIN_AFFINE or kind == GAIN_MUSCLE:
        o = m.actuator_outadr[k]
        gain = slope * 0.0 + m.actuator_gainprm[k, 2]
        if kind == GAIN_MUSCLE:
            gain = muscle_gain_slope(m, k, o, d.actuator_length[o], d.actuator_velocity[o])
        u = last_state(m, d, k)
        if m.actuator_dyntype[k] == DYN_NONE:
            u = u + d.input[m.actuator_ctrladr[k]]
        slope = slope + gain * u
    return slope


@kernel
def saturated(m, d, k):
    """Whether the force of actuator k is at its limit, or that of its joint is."""
    o = m.actuator_outadr[k]
    zero = 0.0 * d.time
    at_limit = zero > 1.0
    # motors mind the limit of their winding themselves
    if m.actuator_forcelimited[k] and m.actuator_gaintype[k] != GAIN_DCMOTOR:
        if m.actuator_gaintype[k] == GAIN_SO3:
            x, y, z = d.actuator_force[o], d.actuator_force[o + 1], d.actuator_force[o + 2]
            most = m.actuator_forcerange[k, 1]
            at_limit = x * x + y * y + z * z >= most * most * (1.0 - ROUNDINGS * epsilon_of(x))
        else:
            force = d.actuator_force[o]
            at_limit = (force <= m.actuator_forcerange[k, 0]) | (force >= m.actuator_forcerange[k, 1])
    if m.out_kind[o] == SCALAR:
        j = m.out_obj1[o]
        if m.jnt_actfrclimited[j]:
            force = d.qfrc_actuator[m.jnt_dofadr[j]]
            at_limit = at_limit | (force <= m.jnt_actfrcrange[j, 0]) | (force >= m.jnt_actfrcrange[j, 1])
    return at_limit


@only_with("tendon", otherwise="0.0 * d.time > 1.0")
@kernel
def tendon_saturated(m, d, o):
    """Whether actuator output o pulls on a tendon whose actuators make all that it takes, without motors' friction."""
    at_limit = 0.0 * d.time > 1.0
    t = m.out_obj1[o]
    if m.out_kind[o] == TENDON and m.tendon_actfrclimited[t]:
        total = size = 0.0 * d.time
        for k in range(m.nactuator):
            other = m.actuator_outadr[k]
            if m.out_kind[other] == TENDON and m.out_obj1[other] == t and m.actuator_enabled[k]:
                friction = motor_friction(m, d, k) if m.actuator_biastype[k] == BIAS_DCMOTOR else 0.0 * total
                total = total + (d.actuator_force[other] - friction)
                size = size + absolute(d.actuator_force[other]) + absolute(friction)
        size = ROUNDINGS * epsilon_of(size) * size
        at_limit = (total - size <= m.tendon_actfrcrange[t, 0]) | (total + size >= m.tendon_actfrcrange[t, 1])
    return at_limit


@kernel
def couples(m):
    """Whether forces of joints change with the velocities of others, so that D is not a diagonal."""
    return has_transmission(m) + has_tendon_force(m) + has_fluid(m) > 0


@only_with("transmission", otherwise="0")
@kernel
def has_transmission(m):
    """1 for actuators on more than hinges and slides."""
    return 1


@only_with("tendon_force", otherwise="0")
@kernel
def has_tendon_force(m):
    """1 for tendons with springs or dampers."""
    return 1


@only_with("fluid", otherwise="0")
@kernel
def has_fluid(m):
    """1 for a medium."""
    return 1
