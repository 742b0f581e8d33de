"""Actuator activations: their rates, and their values after a step.

Rules are those of MuJoCo 4.0 (documentation, Computation, "Stateful actuators").
"""

from saltus.dynamics.actuator.dc_motor import motor_rates, next_motor_state, reject_overbent_bristles
from saltus.dynamics.actuator.hill_muscle import advance_fibre, hill_rates, limit_fibre
from saltus.dynamics.actuator.muscle import activation_rate
from saltus.dynamics.actuator.servo import anchor_orientation, nearest, servo_rates
from saltus.dynamics.awake.walks import awake_actuators
from saltus.model.actuator_enums import (
    DYN_DCMOTOR,
    DYN_FILTER,
    DYN_FILTEREXACT,
    DYN_HILL,
    DYN_INTEGRATOR,
    DYN_MUSCLE,
    DYN_PID,
    GAIN_SO3,
)
from saltus.number.functions import MINVAL, clip, exp, maximum
from saltus.number.kernels import kernel, only_with


@only_with("act")
@kernel
def activation_rates(m, d):
    """act_dot [nact] of all actuators at the present state; servos may modify their input.

    Reads act [nact], input [nu], actuator_length and actuator_velocity [nout].
    """
    for k in awake_actuators(m, d):
        a = m.actuator_actadr[k]
        if a >= 0:
            kind = m.actuator_dyntype[k]
            c = m.actuator_ctrladr[k]
            if kind == DYN_INTEGRATOR:
                # integrator: the rate is the control
                for i in range(m.actuator_ctrlnum[k]):
                    d.act_dot[a + i] = 0.0 * d.time + d.input[c + i]
            elif kind == DYN_FILTER or kind == DYN_FILTEREXACT:
                # first-order filter (u - act) / τ, for periodic angles along the shorter way
                error = d.input[c] - d.act[a]
                if m.actuator_period[k] > 0.0:
                    error = nearest(error, 0.0 * error, m.actuator_period[k])
                d.act_dot[a] = error / maximum(m.actuator_dynprm[k, 0], MINVAL)
            elif kind == DYN_MUSCLE:
                # muscles, servos and motors have their own state equations
                d.act_dot[a] = activation_rate(m, k, d.input[c], d.act[a])
            elif kind == DYN_PID:
                servo_rates(m, d, k)
            elif kind == DYN_DCMOTOR:
                motor_rates(m, d, k)
            elif kind == DYN_HILL:
                hill_rates(m, d, k)
            # disabled actuators keep their states
            if not m.actuator_enabled[k]:
                for i in range(m.actuator_actnum[k]):
                    d.act_dot[a + i] = 0.0 * d.time


@kernel
def next_activation(m, d, k, a, h):
    """State a of actuator k after h seconds, for one-stage methods: by Euler's method, exactly for filterexact."""
    kind = m.actuator_dyntype[k]
    rate = d.act_dot[a]
    if kind == DYN_DCMOTOR:
        return next_motor_state(m, d, k, a, rate, h)
    if kind == DYN_FILTEREXACT:
        tau = maximum(m.actuator_dynprm[k, 0], MINVAL)
        act = d.act[a] + rate * tau * (1.0 - exp(-h / tau + 0.0 * rate))
    else:
        act = d.act[a] + h * rate
    return in_range(m, k, act)


@kernel(inline=True)
def in_range(m, k, act):
    """A state clipped to the activation range of actuator k."""
    if m.actuator_actlimited[k]:
        act = clip(act, m.actuator_actrange[k, 0], m.actuator_actrange[k, 1])
    return act


@only_with("act")
@kernel
def advance_activations(m, d, h):
    """act ← act after h seconds, from the rates act_dot at the step's start; controller states by Euler's method."""
    for k in range(m.nact - m.ncontrol_state, m.nact):
        d.act[k] = d.act[k] + h * d.act_dot[k]
    for k in awake_actuators(m, d):
        a = m.actuator_actadr[k]
        if a >= 0 and m.has_actuation:
            advance_fibre(m, d, k, h)
            for i in range(a, a + m.actuator_actnum[k]):
                d.act[i] = next_activation(m, d, k, i, h)
            anchor_setpoint(m, d, k)


@only_with("act")
@kernel
def settle_activations(m, d):
    """Clip the states to their limits at the end of a step of a multi-stage method, which began with act_saved."""
    for k in awake_actuators(m, d):
        a = m.actuator_actadr[k]
        if a >= 0 and m.has_actuation:
            if m.actuator_dyntype[k] == DYN_DCMOTOR:
                reject_overbent_bristles(m, d, k)
            else:
                for i in range(a, a + m.actuator_actnum[k]):
                    d.act[i] = in_range(m, k, d.act[i])
            limit_fibre(m, d, k)
            anchor_setpoint(m, d, k)


@kernel
def anchor_setpoint(m, d, k):
    """Keep a servo's periodic setpoint that is a state at the representative nearest to the present angle."""
    kind = m.actuator_dyntype[k]
    if m.actuator_period[k] > 0.0 and kind != DYN_PID:
        a = m.actuator_actadr[k] + m.actuator_actnum[k] - 1
        d.act[a] = nearest(d.act[a], d.actuator_length[m.actuator_outadr[k]], m.actuator_period[k])
    elif kind == DYN_INTEGRATOR and m.actuator_gaintype[k] == GAIN_SO3:
        anchor_orientation(m, d, k)
