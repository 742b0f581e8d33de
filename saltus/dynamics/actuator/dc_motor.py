"""MuJoCo's DC motor: controller, winding, temperature, cogging, and bristle friction (LuGre).

    V = R/K τ + K ω (controller with torque τ) + raw voltage,   di/dt = (V - R i - K ω) / (R te),   torque = K i,
    dT/dt = (R i² - T/Rth) / C,   dz/dt = ω - σ₀ |ω| / g(ω) z,   g(ω) = Fc + (Fs - Fc) exp(-(ω/vs)²)

A limit of the current, which MuJoCo lacks, clips V between K ω ± R I(T): the current to which the winding tends,
(V - K ω)/R, stays within I(T), constant or linear between two temperatures (see
`saltus.model.compile.drives.current_limits`).

T is the temperature above ambient (MuJoCo documentation, XML reference, "dcmotor"; friction after Canudas de Wit,
Olsson, Åström & Lischinsky, A new model for control of systems with friction (1995)). Parameters: gain R, K,
temperature coefficient, reference temperature, kp, ki, kd, voltage limit; dynamics te, current rate limit, Rth, C,
ambient temperature, σ₀, σ₁, slew rate, integral limit; bias cogging amplitude, periods, phase, Fc, Fs, vs.
"""

from saltus.dynamics.actuator.servo import limited_integrand, servo_inputs, slew
from saltus.model.actuator_enums import (
    BIAS_DCMOTOR,
    BRISTLE,
    CURRENT,
    INPUT_FF,
    INPUT_POS,
    INPUT_VEL,
    INPUT_VOLTAGE,
    INTEGRAL,
    SLEW,
    TEMPERATURE,
)
from saltus.number.conditions import has_tangents
from saltus.number.functions import MINVAL, absolute, any_lane, clip, exp, maximum, sincos, where
from saltus.number.kernels import kernel, only_with

NAN = float("nan")
OVERBENT = 1.1  # deflection relative to that of static friction: more is no error of a step that resolves it


@kernel(inline=True)
def resistance(m, d, k):
    """Resistance (Ω) at the winding's temperature."""
    prm = m.actuator_gainprm[k]
    ohm = prm[0] + 0.0 * d.time
    if m.actuator_slot[k, TEMPERATURE] >= 0:
        warmth = d.act[m.actuator_slot[k, TEMPERATURE]]
        ohm = ohm * (1.0 + prm[2] * (warmth + m.actuator_dynprm[k, 4] - prm[3]))
    return ohm


@kernel
def voltage(m, d, k, length, velocity):
    """Voltage (V) at the winding: that asked for, as far as the current's limit allows."""
    return within_current(m, d, k, asked_voltage(m, d, k, length, velocity), velocity)


@kernel
def asked_voltage(m, d, k, length, velocity):
    """Voltage (V) of the controller within its limit, plus the raw voltage input."""
    most = m.actuator_gainprm[k, 7] + 0.0 * length
    volts = controller_voltage(m, d, k, length, velocity)
    volts = where(most > 0.0, clip(volts, -most, most), volts)
    if m.actuator_ctrlspec[k] & INPUT_VOLTAGE:
        _, _, _, raw = servo_inputs(m, d, k)
        volts = volts + raw
    return volts


@only_with("current_limit", otherwise="volts")
@kernel
def within_current(m, d, k, volts, velocity):
    """The voltage (V) nearest to `volts` whose stationary current is within the limit."""
    most = greatest_current(m, d, k)
    back, drop = m.actuator_gainprm[k, 1] * velocity, resistance(m, d, k) * most
    return where(m.actuator_currentlimit[k, 0] > 0.0 * volts, clip(volts, back - drop, back + drop), volts)


@kernel
def greatest_current(m, d, k):
    """Greatest current (A) of motor k at its winding's temperature; 0 where there is no limit."""
    most, end, fall = m.actuator_currentlimit[k]
    warmth = m.actuator_dynprm[k, 4] + 0.0 * d.time
    if m.actuator_slot[k, TEMPERATURE] >= 0:
        warmth = warmth + d.act[m.actuator_slot[k, TEMPERATURE]]
    return most * clip((end - warmth) * fall, 0.0, 1.0)


@only_with("current_limit", otherwise="0.0 * d.time > 1.0")
@kernel
def at_current_limit(m, d, k, length, velocity):
    """Whether the voltage that is asked for would drive more than the greatest current of motor k."""
    drop = resistance(m, d, k) * greatest_current(m, d, k)
    over = asked_voltage(m, d, k, length, velocity) - m.actuator_gainprm[k, 1] * velocity
    return (m.actuator_currentlimit[k, 0] > 0.0 * drop) & (absolute(over) >= drop)


@kernel
def controller_voltage(m, d, k, length, velocity):
    """Voltage (V) that the motor's controller requests, before its limit."""
    prm = m.actuator_gainprm[k]
    position, speed, feedforward, _ = servo_inputs(m, d, k)
    volts = 0.0 * length
    if m.actuator_ctrlspec[k] & (INPUT_POS | INPUT_VEL | INPUT_FF):
        integral = 0.0 * length
        if m.actuator_slot[k, INTEGRAL] >= 0:
            integral = integral + d.act[m.actuator_slot[k, INTEGRAL]]
        # pid torque, and the voltage that produces it at this speed
        torque = prm[4] * (position - length) + prm[6] * (speed - velocity) + prm[5] * integral + feedforward
        volts = prm[0] / prm[1] * torque + prm[1] * velocity
    return volts


@kernel(inline=True)
def bristle_decay(m, k, velocity):
    """Rate (1/s, negative) at which the bristles' deflection decays."""
    prm = m.actuator_biasprm[k]
    ratio = velocity / maximum(prm[5], MINVAL)
    friction = prm[3] + (prm[4] - prm[3]) * exp(-ratio * ratio)
    return -m.actuator_dynprm[k, 5] * absolute(velocity) / maximum(friction, 0.0 * friction + MINVAL)


@only_with("dcmotor")
@kernel
def motor_rates(m, d, k):
    """act_dot of motor k's states; limits the slew rate of its setpoint."""
    o = m.actuator_outadr[k]
    c = m.actuator_ctrladr[k]
    length, velocity = d.actuator_length[o], d.actuator_velocity[o]
    prm, gain = m.actuator_dynprm[k], m.actuator_gainprm[k]
    # setpoint within its slew rate, and integral of the error
    place = m.actuator_slot[k, SLEW]
    if place >= 0:
        slew(m, d, c, place, prm[7], 0.0)
    place = m.actuator_slot[k, INTEGRAL]
    if place >= 0:
        d.act_dot[place] = limited_integrand(d.input[c] - length, d.act[place], prm[8])
    # winding temperature: joule heat less conduction to the ambient
    volts = voltage(m, d, k, length, velocity)
    winding = m.actuator_slot[k, CURRENT]
    place = m.actuator_slot[k, TEMPERATURE]
    if place >= 0:
        ohm = resistance(m, d, k)
        ampere = (volts - gain[1] * velocity) / ohm
        if winding >= 0:
            ampere = d.act[winding]
        d.act_dot[place] = (ohm * ampere * ampere - d.act[place] / prm[2]) / prm[3]
    # bristle deflection
    place = m.actuator_slot[k, BRISTLE]
    if place >= 0:
        d.act_dot[place] = velocity + bristle_decay(m, k, velocity) * d.act[place]
    # current: ((V - K ω)/R - i) / te within the rate limit
    if winding >= 0:
        rate = ((volts - gain[1] * velocity) / resistance(m, d, k) - d.act[winding]) / prm[0]
        most = prm[1] + 0.0 * rate
        d.act_dot[winding] = where(most > 0.0, clip(rate, -most, most), rate)


@only_with("dcmotor", otherwise="0.0 * length")
@kernel
def motor_torque(m, d, k, length, velocity, current):
    """Torque (N m) of the winding: K i, with i a state or, without inductance, the current at the present voltage."""
    prm = m.actuator_gainprm[k]
    if m.actuator_slot[k, CURRENT] >= 0:
        return prm[1] * current
    ohm = resistance(m, d, k)
    gain = prm[1] / maximum(ohm, 0.0 * ohm + MINVAL)
    return gain * (voltage(m, d, k, length, velocity) - prm[1] * velocity)


@only_with("dcmotor", otherwise="0.0 * d.time")
@kernel
def motor_friction(m, d, k):
    """Torque (N m) of cogging and friction, which the force range does not limit."""
    prm = m.actuator_biasprm[k]
    torque = 0.0 * d.time
    # cogging
    if has_tangents(m) or any_lane(prm[0] != 0.0):  # an amplitude of zero may have tangents
        sine, _ = sincos(prm[1] * d.actuator_length[m.actuator_outadr[k]] + prm[2])
        torque = torque + prm[0] * sine
    # bristle friction: -σ₀ z - σ₁ dz/dt
    place = m.actuator_slot[k, BRISTLE]
    if place >= 0:
        torque = torque - m.actuator_dynprm[k, 5] * d.act[place] - m.actuator_dynprm[k, 6] * d.act_dot[place]
    return torque


@only_with("dcmotor", otherwise="d.act[a] + h * rate")
@kernel
def next_motor_state(m, d, k, a, rate, h):
    """State a of motor k after h seconds; current and bristles exactly, for constant voltage and velocity."""
    act = d.act[a]
    prm = m.actuator_dynprm[k]
    if a == m.actuator_slot[k, CURRENT]:
        return act + rate * prm[0] * (1.0 - exp(-h / prm[0] + 0.0 * act))
    if a == m.actuator_slot[k, BRISTLE]:
        velocity = d.actuator_velocity[m.actuator_outadr[k]]
        decay = bristle_decay(m, k, velocity)
        growth = exp(h * decay)
        moving = absolute(decay) > MINVAL
        reach = where(moving, (growth - 1.0) / where(moving, decay, decay + 1.0), 0.0 * decay + h)
        return growth * act + reach * velocity
    act = act + h * rate
    if a == m.actuator_slot[k, INTEGRAL]:
        most = prm[8] + 0.0 * act
        act = where(most > 0.0, clip(act, -most, most), act)
    return act


@only_with("dcmotor")
@kernel
def reject_overbent_bristles(m, d, k):
    """act ← NaN where a step has bent the bristles of motor k further than static friction does.

    By dz/dt = ω - σ₀ |ω| / g z, |z| falls wherever it exceeds Fs/σ₀ ≥ g/σ₀: a method that lets it grow there is
    unstable with this step, although friction may stay bounded. Compares with act_saved, at the step's start.
    """
    place = m.actuator_slot[k, BRISTLE]
    if place >= 0:
        prm = m.actuator_biasprm[k]
        most = OVERBENT * maximum(prm[3], prm[4]) / m.actuator_dynprm[k, 5]
        bent = absolute(d.act[place])
        grown = (bent > most) & (bent > absolute(d.act_saved[place]))
        d.act[place] = where(grown, 0.0 * d.act[place] + NAN, d.act[place])


@only_with("dcmotor", otherwise="0.0 * d.time")
@kernel
def motor_slope(m, d, k):
    """Derivative of motor k's torque in its velocity (N m s), as in MuJoCo's implicit integrators.

    Includes the winding with all its limits; of friction only the bristle damping.
    """
    o = m.actuator_outadr[k]
    length, velocity = d.actuator_length[o], d.actuator_velocity[o]
    prm, dyn = m.actuator_gainprm[k], m.actuator_dynprm[k]
    zero = 0.0 * velocity
    # slope of the controller's voltage, zero at its limit
    by_controller = zero
    if m.actuator_ctrlspec[k] & (INPUT_POS | INPUT_VEL | INPUT_FF):
        by_controller = by_controller + (prm[1] - prm[6] * prm[0] / prm[1])
        asked = absolute(controller_voltage(m, d, k, length, velocity))
        most = prm[7] + zero
        by_controller = where((most > 0.0) & (asked >= most), zero, by_controller)
    # and that of what drives the current, zero at the limit
    driving = where(at_current_limit(m, d, k, length, velocity), zero, by_controller - prm[1])
    # slope of K i at the stationary current i = (V - K ω)/R
    ohm = resistance(m, d, k)
    ohm = maximum(ohm, 0.0 * ohm + MINVAL)
    slope = prm[1] * driving / ohm
    # with inductance: the share of the current that is reached within the step
    current = zero
    place = m.actuator_slot[k, CURRENT]
    if place >= 0:
        slope = slope * (1.0 - exp(zero - d.timestep / dyn[0]))
        current = next_motor_state(m, d, k, place, d.act_dot[place], d.timestep)
        most = dyn[1] + zero
        slope = where((most > 0.0) & (absolute(d.act_dot[place]) >= most), zero, slope)
    # zero at the force limit
    if m.actuator_forcelimited[k]:
        torque = motor_torque(m, d, k, length, velocity, current)
        low, high = m.actuator_forcerange[k, 0], m.actuator_forcerange[k, 1]
        slope = where((torque <= low) | (torque >= high), zero, slope)
    return slope + friction_slope(m, d, k)


@only_with("dcmotor", otherwise="0.0 * d.time")
@kernel
def friction_slope(m, d, k):
    """Derivative of a motor's friction in its velocity (N m s), from bristle damping only; 0 for other actuators."""
    slope = 0.0 * d.time
    if m.actuator_biastype[k] == BIAS_DCMOTOR:
        slope = slope - m.actuator_dynprm[k, 6]
    return slope
