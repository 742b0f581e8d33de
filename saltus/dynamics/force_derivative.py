"""Velocity derivatives of actuator and tendon forces, for implicit methods.

Matrices D = d(force)/d(qvel) have the inertia matrix's pattern (see `saltus.dynamics.tree.bias_derivative`): entries
between degrees of freedom that the inertia does not couple are dropped and so treated explicitly, as in MuJoCo 4.0
(documentation, Computation, "Numerical integration").
"""

from saltus.dynamics.actuator.actuation import last_state
from saltus.dynamics.actuator.dc_motor import friction_slope, motor_friction, motor_slope
from saltus.dynamics.actuator.hill_muscle import hill_force_slope
from saltus.dynamics.actuator.muscle import muscle_gain_slope
from saltus.dynamics.actuator.torque_curve import at_torque_of_speed
from saltus.dynamics.awake.walks import awake_actuators, awake_dofs, awake_tendons
from saltus.dynamics.tendon.force import damping_slope
from saltus.dynamics.tree.tree_rows import add_outer
from saltus.model.actuator_enums import (
    BIAS_AFFINE,
    BIAS_DCMOTOR,
    BIAS_SO3,
    DYN_NONE,
    GAIN_AFFINE,
    GAIN_DCMOTOR,
    GAIN_HILL,
    GAIN_MUSCLE,
    GAIN_SO3,
    SCALAR,
    TENDON,
)
from saltus.number.components import epsilon_of
from saltus.number.conditions import has, has_tangents
from saltus.number.functions import absolute, any_lane, where
from saltus.number.kernels import kernel, only_with

ROUNDINGS = 64.0  # roundings by which a force that was scaled to its limit may miss it


@kernel
def actuation_derivative(m, d):
    """d(qfrc_actuator)/d(qvel); zero for forces at a limit.

    Reads the fields that `actuation` writes. Writes the diagonal, of actuators on hinges and slides, to
    qfrc_actuator_slope [nv] (N m s); subtracts that of the others from lower and upper [nC].
    """
    for i in awake_dofs(m, d):
        d.qfrc_actuator_slope[i] = 0.0 * d.time
    if m.has_actuation:
        for k in awake_actuators(m, d):
            if m.actuator_enabled[k]:
                slope = actuator_slope(m, d, k)
                # motor friction is not subject to a tendon's force limit
                slope = where(tendon_saturated(m, d, m.actuator_outadr[k]), friction_slope(m, d, k), slope)
                slope = where(saturated(m, d, k), 0.0 * d.time, slope)
                # map to the joints: moment arms J give slope J Jᵀ
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
    for t in awake_tendons(m, d):
        poly = m.tendon_dampingpoly[t]
        damped = any_lane(m.tendon_damping[t] != 0.0) or any_lane(poly[0] != 0.0) or any_lane(poly[1] != 0.0)
        if has_tangents(m) or damped:  # damping of zero may have tangents
            slope = damping_slope(m, d, t)
            add_outer(m, d.lower, d.ten_J, m.tendon_dof, m.tendon_Jadr[t], m.tendon_Jnum[t], slope)
            add_outer(m, d.upper, d.ten_J, m.tendon_dof, m.tendon_Jadr[t], m.tendon_Jnum[t], slope)


@kernel
def actuator_slope(m, d, k):
    """Derivative of actuator k's force in its velocity (N s/m, N m s), ignoring force limits."""
    slope = 0.0 * d.time
    # affine bias
    kind = m.actuator_biastype[k]
    if kind == BIAS_AFFINE or kind == BIAS_SO3:
        slope = slope + m.actuator_biasprm[k, 2]
    # gain, by type
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
    """Whether the force of actuator k, or of its joint, is at its limit."""
    o = m.actuator_outadr[k]
    zero = 0.0 * d.time
    at_limit = zero > 1.0
    # dc motors: their force limit is part of `motor_slope`
    if m.actuator_forcelimited[k] and m.actuator_gaintype[k] != GAIN_DCMOTOR:
        if m.actuator_gaintype[k] == GAIN_SO3:
            x, y, z = d.actuator_force[o], d.actuator_force[o + 1], d.actuator_force[o + 2]
            most = m.actuator_forcerange[k, 1]
            at_limit = x * x + y * y + z * z >= most * most * (1.0 - ROUNDINGS * epsilon_of(x))
        else:
            force = d.actuator_force[o]
            at_limit = (force <= m.actuator_forcerange[k, 0]) | (force >= m.actuator_forcerange[k, 1])
    at_limit = at_limit | at_torque_of_speed(m, d, k)
    if m.out_kind[o] == SCALAR:
        j = m.out_obj1[o]
        if m.jnt_actfrclimited[j]:
            force = d.qfrc_actuator[m.jnt_dofadr[j]]
            at_limit = at_limit | (force <= m.jnt_actfrcrange[j, 0]) | (force >= m.jnt_actfrcrange[j, 1])
    return at_limit


@only_with("tendon", otherwise="0.0 * d.time > 1.0")
@kernel
def tendon_saturated(m, d, o):
    """Whether output o acts on a tendon whose total actuator force, without motor friction, is at its limit."""
    at_limit = 0.0 * d.time > 1.0
    t = m.out_obj1[o]
    if m.out_kind[o] == TENDON and m.tendon_actfrclimited[t]:
        # total force without friction, and the scale of its rounding errors
        total = size = 0.0 * d.time
        for k in awake_actuators(m, d):
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
    """Whether generalised forces depend on the velocities of other joints, so that D is not diagonal."""
    return has(m, "transmission", "tendon_force", "fluid")
