"""Actuator forces: from controls and activations to generalised forces.

As in MuJoCo 4.0 (documentation, Computation, "Actuation model"), each output has a force gain · (control or activation)
+ bias, clipped to its range, which its moment arms map to the joints.
"""

from saltus.dynamics.actuator.activation import activation_rates, next_activation
from saltus.dynamics.actuator.dc_motor import motor_friction, motor_torque
from saltus.dynamics.actuator.hill_muscle import hill_force
from saltus.dynamics.actuator.muscle import muscle_bias, muscle_gain
from saltus.dynamics.actuator.servo import limit_orientation_torque, nearest, orientation_forces, servo_force
from saltus.dynamics.actuator.torque_curve import limit_torque_by_speed
from saltus.dynamics.actuator.transmission import add_joint_forces, output
from saltus.dynamics.awake.walks import (
    awake_actuators,
    awake_controls,
    awake_dofs,
    awake_joints,
    awake_outputs,
    awake_tendons,
)
from saltus.dynamics.control import control
from saltus.dynamics.history import delayed_controls
from saltus.model.actuator_enums import (
    BIAS_DCMOTOR,
    BIAS_MUSCLE,
    DYN_NONE,
    GAIN_DCMOTOR,
    GAIN_HILL,
    GAIN_MUSCLE,
    GAIN_PID,
    GAIN_SO3,
    TENDON,
)
from saltus.number.conditions import has
from saltus.number.functions import clip, where
from saltus.number.kernels import kernel, only_with


@kernel
def motors(m, d):
    """`actuation` for models with only motors and affine servos on hinges and slides, in one pass.

    force = (g₀ + g₁ l + g₂ v) u + b₀ + b₁ l + b₂ v, clipped; the generalised force is gear times it.
    """
    for i in awake_dofs(m, d):
        d.qfrc_actuator[i] = 0.0 * d.time
    for k in awake_actuators(m, d):
        # length and velocity: gear times those of the joint
        j = m.out_obj1[k]
        i = m.jnt_dofadr[j]
        gear = m.actuator_gear[k, 0]
        length, speed = gear * d.qpos[m.jnt_qposadr[j]], gear * d.qvel[i]
        d.actuator_length[k] = length
        d.actuator_velocity[k] = speed
        force = 0.0 * length
        if m.actuator_enabled[k]:
            # control within its range
            c = m.actuator_ctrladr[k]
            u = d.ctrl[c]
            if m.actuator_ctrllimited[c]:
                u = clip(u, m.actuator_ctrlrange[c, 0], m.actuator_ctrlrange[c, 1])
            d.input[c] = u
            # gain times control plus bias, within the force range
            g = m.actuator_gainprm[k]
            b = m.actuator_biasprm[k]
            force = (g[0] + g[1] * length + g[2] * speed) * u + b[0] + b[1] * length + b[2] * speed
            if m.actuator_forcelimited[k]:
                force = clip(force, m.actuator_forcerange[k, 0], m.actuator_forcerange[k, 1])
        # the moment arm is the gear
        d.actuator_force[k] = force
        d.qfrc_actuator[i] = d.qfrc_actuator[i] + gear * force
    if m.has_actuation:
        joint_actuation(m, d)


@kernel
def actuation(m, d):
    """Generalised forces of all actuators, qfrc_actuator [nv] (N, N m); needs `transmissions`.

    Reads ctrl [nu], act [nact]. Writes input [nu], act_dot [nact], actuator_length, actuator_velocity, actuator_force
    [nout].
    """
    if not has(m, "actuation"):
        motors(m, d)
        return
    for i in awake_dofs(m, d):
        d.qfrc_actuator[i] = 0.0 * d.time
    # lengths and velocities, controls
    for o in awake_outputs(m, d):
        output(m, d, o)
    control(m, d)
    if m.has_actuation:
        # inputs, rates of states, and forces before limits
        inputs(m, d)
        activation_rates(m, d)
        for k in awake_actuators(m, d):
            if m.actuator_enabled[k]:
                actuator_force(m, d, k)
            else:
                for o in range(m.actuator_outadr[k], m.actuator_outadr[k] + m.actuator_outnum[k]):
                    d.actuator_force[o] = 0.0 * d.time
        # force limits, and moment arms times force
        limit_tendon_forces(m, d)
        for k in awake_actuators(m, d):
            limit_force(m, d, k)
            for o in range(m.actuator_outadr[k], m.actuator_outadr[k] + m.actuator_outnum[k]):
                add_joint_forces(m, d, o, d.actuator_force[o], d.qfrc_actuator)
        joint_actuation(m, d)


@kernel
def inputs(m, d):
    """input [nu]: controls, with the delays of actuators, clipped to their ranges."""
    for c in awake_controls(m, d):
        d.input[c] = d.ctrl[c]
    delayed_controls(m, d)
    for c in awake_controls(m, d):
        if m.actuator_ctrllimited[c]:
            d.input[c] = clip(d.input[c], m.actuator_ctrlrange[c, 0], m.actuator_ctrlrange[c, 1])


@kernel
def actuator_force(m, d, k):
    """Force of actuator k before limits: gain · u + bias with u its control or last state, or the law of its type."""
    o = m.actuator_outadr[k]
    kind = m.actuator_gaintype[k]
    if kind == GAIN_SO3:
        orientation_forces(m, d, k, setpoint_turn(m, d, k))
    else:
        length, speed = d.actuator_length[o], d.actuator_velocity[o]
        state = last_state(m, d, k)
        # servos, dc motors and hill-type muscles have their own laws
        if kind == GAIN_PID:
            force = servo_force(m, d, k, length, state)
        elif kind == GAIN_DCMOTOR:
            force = motor_torque(m, d, k, length, speed, state)
        elif kind == GAIN_HILL:
            force = hill_force(m, d, k, state)
        else:
            # gain times control or state
            u = state
            if m.actuator_dyntype[k] == DYN_NONE:
                u = u + d.input[m.actuator_ctrladr[k]]
            if m.actuator_period[k] > 0.0:
                u = nearest(u, length, m.actuator_period[k])
            if kind == GAIN_MUSCLE:
                force = muscle_gain(m, k, o, length, speed) * u
            else:
                g = m.actuator_gainprm[k]
                force = (g[0] + g[1] * length + g[2] * speed) * u
        # bias
        kind = m.actuator_biastype[k]
        if kind == BIAS_MUSCLE:
            force = force + muscle_bias(m, k, o, length)
        elif kind != BIAS_DCMOTOR:
            b = m.actuator_biasprm[k]
            force = force + b[0] + b[1] * length + b[2] * speed
        d.actuator_force[o] = force


@only_with("act", otherwise="0.0 * d.time")
@kernel
def last_state(m, d, k):
    """Last state of actuator k, or its value after the step if the actuator is early (actearly); 0 without states."""
    state = 0.0 * d.time
    if m.actuator_actadr[k] >= 0:
        a = m.actuator_actadr[k] + m.actuator_actnum[k] - 1
        if m.actuator_actearly[k]:
            state = next_activation(m, d, k, a, d.timestep)
        else:
            state = d.act[a]
    return state


@only_with("so3", otherwise="(0.0 * d.time, 0.0 * d.time, 0.0 * d.time)")
@kernel
def setpoint_turn(m, d, k):
    """Setpoint of an orientation servo as a rotation vector, from its controls or its states."""
    zero = 0.0 * d.time
    c = m.actuator_ctrladr[k]
    turn = zero + d.input[c], zero + d.input[c + 1], zero + d.input[c + 2]
    a = m.actuator_actadr[k]
    if a >= 0:
        turn = d.act[a], d.act[a + 1], d.act[a + 2]
        if m.actuator_actearly[k]:
            h = d.timestep
            turn = (
                next_activation(m, d, k, a, h),
                next_activation(m, d, k, a + 1, h),
                next_activation(m, d, k, a + 2, h),
            )
    return turn


@only_with("tendon")
@kernel
def limit_tendon_forces(m, d):
    """Scale the forces of all actuators on a tendon so that their sum stays in the tendon's range."""
    for t in awake_tendons(m, d):
        if m.tendon_actfrclimited[t]:
            total = 0.0 * d.time
            for o in awake_outputs(m, d):
                if m.out_kind[o] == TENDON and m.out_obj1[o] == t:
                    total = total + d.actuator_force[o]
            limited = clip(total, m.tendon_actfrcrange[t, 0], m.tendon_actfrcrange[t, 1])
            none = total == 0.0
            share = where(none, 0.0 * total + 1.0, limited / where(none, total + 1.0, total))
            for o in awake_outputs(m, d):
                if m.out_kind[o] == TENDON and m.out_obj1[o] == t:
                    d.actuator_force[o] = share * d.actuator_force[o]


@kernel
def limit_force(m, d, k):
    """Clip the force of actuator k to its range and curve by speed; then add friction of motors, which has no limit."""
    if m.actuator_forcelimited[k]:
        if m.actuator_gaintype[k] == GAIN_SO3:
            limit_orientation_torque(m, d, k)
        else:
            o = m.actuator_outadr[k]
            d.actuator_force[o] = clip(d.actuator_force[o], m.actuator_forcerange[k, 0], m.actuator_forcerange[k, 1])
    limit_torque_by_speed(m, d, k)
    if m.actuator_biastype[k] == BIAS_DCMOTOR and m.actuator_enabled[k]:
        o = m.actuator_outadr[k]
        d.actuator_force[o] = d.actuator_force[o] + motor_friction(m, d, k)


@kernel
def joint_actuation(m, d):
    """Add gravity compensation by actuators to qfrc_actuator [nv] (N, N m), and clip it to the joints' ranges."""
    if m.has_gravcomp:
        for i in awake_dofs(m, d):
            if m.jnt_actgravcomp[m.dof_jntid[i]]:
                d.qfrc_actuator[i] = d.qfrc_actuator[i] + d.qfrc_gravcomp[i]
    for j in awake_joints(m, d):
        if m.jnt_actfrclimited[j]:
            i = m.jnt_dofadr[j]
            d.qfrc_actuator[i] = clip(d.qfrc_actuator[i], m.jnt_actfrcrange[j, 0], m.jnt_actfrcrange[j, 1])
