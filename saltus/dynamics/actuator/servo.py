"""MuJoCo's servos with controller states: integral of the error, slew-rate limit of the setpoint, periodic angles.

force = kp (q_ref - l) + kv (v_ref - dl/dt) + feedforward + ki z,   dz/dt = q_ref - l
"""

from saltus.model.actuator_enums import CHART_QUAT, INPUT_FF, INPUT_POS, INPUT_VEL, INPUT_VOLTAGE, INTEGRAL, SLEW
from saltus.number.functions import MINVAL, clip, floor, maximum, minimum, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.quaternions import quat_conjugate, quat_exp, quat_log, quat_multiply, quat_normalize
from saltus.spatial.vectors import dot3

PI = 3.141592653589793


@kernel(inline=True)
def nearest(u, length, period):
    """The representative of the periodic angle u that is nearest to the length.

    Of two equally near representatives it is the one on the far side of the length from u, as in MuJoCo, which rounds
    halves away from zero.
    """
    turns = (u - length) / period
    zero = 0.0 * turns
    return u - period * where(turns < zero, -floor(0.5 - turns), floor(turns + 0.5))


@kernel(inline=True)
def servo_inputs(m, d, k):
    """Setpoints of position and velocity, feedforward and voltage of actuator k; zero for inputs that it lacks."""
    zero = 0.0 * d.time
    position = speed = feedforward = raw = zero
    spec = m.actuator_ctrlspec[k]
    c = m.actuator_ctrladr[k]
    if spec & INPUT_POS:
        position = zero + d.input[c]
        c += 1
    if spec & INPUT_VEL:
        speed = zero + d.input[c]
        c += 1
    if spec & INPUT_FF:
        feedforward = zero + d.input[c]
        c += 1
    if spec & INPUT_VOLTAGE:
        raw = zero + d.input[c]
    return position, speed, feedforward, raw


@kernel
def slew(m, d, c, a, rate, period):
    """Limit the change of input c from the effective setpoint, state a, to the slew rate `rate` (1/s)."""
    before = d.act[a]
    wanted = 0.0 * before + d.input[c]
    if period > 0.0:
        wanted = nearest(wanted, before, period)
    reach = rate * d.timestep
    d.input[c] = clip(wanted, before - reach, before + reach)
    d.act_dot[a] = (d.input[c] - before) / d.timestep


@kernel(inline=True)
def limited_integrand(error, integral, limit):
    """The error, without the part that drives the integral beyond its limit (0: none)."""
    zero = 0.0 * error
    down, up = minimum(error, zero), maximum(error, zero)
    most = limit + zero
    error = where((most > 0.0) & (integral <= -most), up, error)
    return where((most > 0.0) & (integral >= most), down, error)


@only_with("servo")
@kernel
def servo_rates(m, d, k):
    """act_dot of servo k's states; limits the slew rate of its setpoint."""
    c = m.actuator_ctrladr[k]
    period = m.actuator_period[k]
    a = m.actuator_slot[k, SLEW]
    if a >= 0:
        slew(m, d, c, a, m.actuator_dynprm[k, 1], period)
    a = m.actuator_slot[k, INTEGRAL]
    if a >= 0:
        length = d.actuator_length[m.actuator_outadr[k]]
        error = d.input[c] - length
        if period > 0.0:
            error = nearest(error, 0.0 * length, period)
        d.act_dot[a] = limited_integrand(error, d.act[a], m.actuator_dynprm[k, 0])


@only_with("servo", otherwise="0.0 * length")
@kernel
def servo_force(m, d, k, length, integral):
    """Force of servo k, without the part that is affine in length and velocity."""
    prm = m.actuator_biasprm[k]
    position, speed, feedforward, _ = servo_inputs(m, d, k)
    if m.actuator_period[k] > 0.0:
        position = nearest(position, length, m.actuator_period[k])
    force = feedforward - prm[1] * position - prm[2] * speed
    if m.actuator_slot[k, INTEGRAL] >= 0:
        force = force + m.actuator_gainprm[k, 0] * integral
    return force


@only_with("so3")
@kernel
def orientation_forces(m, d, k, turn):
    """Torques of an orientation servo, kp log(q⁻¹ q_ref) + constant - kv velocity, about the three axes of its joint.

    `turn`: the setpoint as a rotation vector, used if the controls are not a quaternion.
    """
    o = m.actuator_outadr[k]
    zero = 0.0 * d.time
    one = zero + 1.0
    target = quat_exp(turn)
    if m.actuator_ctrlspec[k] == CHART_QUAT:
        c = m.actuator_ctrladr[k]
        w, x, y, z = d.input[c], d.input[c + 1], d.input[c + 2], d.input[c + 3]
        # a zero quaternion counts as the identity
        there = w * w + x * x + y * y + z * z > MINVAL * MINVAL
        quat = (where(there, w, one), where(there, x, zero), where(there, y, zero), where(there, z, zero))
        target = quat_normalize(quat)
    # orientation error in the joint's own axes
    present = quat_exp((d.actuator_length[o], d.actuator_length[o + 1], d.actuator_length[o + 2]))
    error = quat_log(quat_multiply(quat_conjugate(present), target))
    prm = m.actuator_biasprm[k]
    # bias, and gain times error
    for axis in range(3):
        d.actuator_force[o + axis] = zero + prm[0] + prm[2] * d.actuator_velocity[o + axis]
    kp = m.actuator_gainprm[k, 0]
    d.actuator_force[o] = d.actuator_force[o] + kp * error[0]
    d.actuator_force[o + 1] = d.actuator_force[o + 1] + kp * error[1]
    d.actuator_force[o + 2] = d.actuator_force[o + 2] + kp * error[2]


@only_with("so3")
@kernel
def limit_orientation_torque(m, d, k):
    """Scale an orientation servo's torque so that its magnitude stays within the limit."""
    o = m.actuator_outadr[k]
    torque = (d.actuator_force[o], d.actuator_force[o + 1], d.actuator_force[o + 2])
    most = m.actuator_forcerange[k, 1]
    size = sqrt(maximum(dot3(torque, torque), 0.0 * torque[0] + MINVAL * MINVAL))
    share = where(size > most, most / size, 0.0 * size + 1.0)
    for axis in range(3):
        d.actuator_force[o + axis] = share * d.actuator_force[o + axis]


@only_with("so3")
@kernel
def anchor_orientation(m, d, k):
    """Replace an orientation servo's setpoint by the shortest rotation vector of the same rotation."""
    a = m.actuator_actadr[k]
    turn = (d.act[a], d.act[a + 1], d.act[a + 2])
    angle = sqrt(maximum(dot3(turn, turn), 0.0 * turn[0] + MINVAL * MINVAL))
    share = where(angle > PI, (angle - 2.0 * PI * floor(angle / (2.0 * PI) + 0.5)) / angle, 0.0 * angle + 1.0)
    for axis in range(3):
        d.act[a + axis] = share * d.act[a + axis]
