"""Mean forces of joint and tendon springs over a step: their work is exactly the loss of the springs' energy.

For a spring with energy V of one displacement x, -ΔV/Δx, by divided differences of its polynomial. On ball and free
joints V depends on the angle r of the rotation from the reference, and so on the scalar part w = cos r/2 of its
quaternion. In a step of the rotation vector h ω, Δw = -tan(|h ω|/4) n · (u + u') with n = ω/|ω| and the vector parts
u, u' at both ends, so that the torque is along u + u'. In the same way |x|² grows by (x + x') · Δx in translations.

The length of a tendon's path has no such closed form: its gradient J at the midpoint of the step is corrected along the
velocities v of the joints on the path, J + (ΔL - h J v) v / (h v · v), a correction of second order (Gonzalez, Time
integration and discrete Hamiltonian systems, J. Nonlinear Sci. 6 (1996), eq. 4.7).
"""

from saltus.dynamics.balance.joint_ends import cayley_factor
from saltus.dynamics.passive import dampers
from saltus.dynamics.tendon.force import spring_and_damper
from saltus.dynamics.tendon.gear_loss import shift_gear_torques
from saltus.model.enums import BALL, FREE
from saltus.number.functions import absolute, atan2, sincos, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.fields import load3, load4, store3
from saltus.spatial.quaternions import quat_conjugate, quat_exp, quat_multiply, quat_normalize
from saltus.spatial.vectors import add3, add_scaled3, length3, scale3, sub3

SMALL = 1e-3  # angle below which two terms of x / sin x are exact in double precision
STILL = 1e-14  # square of a motion (m, rad) in a step that is too small for a correction


@kernel
def mean_joint_and_tendon_forces(m, d, h):
    """Springs as means over h seconds, and dampers, of joints and tendons: qfrc_spring, qfrc_damper [nv] (N, N m).

    The present state is that at the step's midpoint, with the mean velocities qvel [nv]; it began at qpos_saved [nq].
    Also writes qfrc_damper_slope [nv].
    """
    mean_springs(m, d, h)
    dampers(m, d)
    add_mean_tendon_forces(m, d, h)
    shift_gear_torques(m, d)


@kernel
def mean_springs(m, d, h):
    """Joint springs: qfrc_spring [nv] (N, N m), as means over h seconds."""
    for i in range(m.nv):
        d.qfrc_spring[i] = 0.0 * d.time
    for j in range(m.njnt):
        if m.jnt_spring[j]:
            a = m.jnt_qposadr[j]
            i = m.jnt_dofadr[j]
            kind = m.jnt_type[j]
            k = m.jnt_stiffness[j]
            poly = m.jnt_stiffnesspoly[j]
            if kind == FREE:
                x = sub3(load3(d.qpos_saved, a), load3(m.qpos_spring, a))
                y = add_scaled3(x, h, load3(d.qvel, i))
                store3(d.qfrc_spring, i, scale3(-mean_slope(k, poly, length3(x), length3(y)), add3(x, y)))
                a += 3
                i += 3
            if kind == FREE or kind == BALL:
                turning = scale3(h, load3(d.qvel, i))
                start = quat_normalize(load4(d.qpos_saved, a))
                q = quat_multiply(quat_conjugate(load4(m.qpos_spring, a)), start)
                store3(d.qfrc_spring, i, mean_torque(k, poly, q, turning))
            else:
                x = d.qpos_saved[a] - m.qpos_spring[a]
                d.qfrc_spring[i] = -mean_force(k, poly, x, x + h * d.qvel[i])


@kernel
def mean_force(k, poly, x, y):
    """Mean of x (k + p1 x + p2 x²) from x to y."""
    cube = poly[0] * (x * x + x * y + y * y) / 3.0
    return 0.5 * k * (x + y) + cube + 0.25 * poly[1] * (x + y) * (x * x + y * y)


@kernel
def mean_slope(k, poly, r, s):
    """`mean_force` from r to s, none of them negative, divided by r + s."""
    both = r + s
    moved = both > 0.0
    cube = where(moved, (r * r + r * s + s * s) / where(moved, both, 1.0 + 0.0 * both), 0.0 * both)
    return 0.5 * k + poly[0] * cube / 3.0 + 0.25 * poly[1] * (r * r + s * s)


@kernel
def mean_torque(k, poly, q, turning):
    """Mean torque (N m; body axes) of a spring at the rotation q from its reference, in a step of the vector `turning`.

    Beyond half a turn, where w is negative, the energy is that of the shorter rotation and falls again.
    """
    p = quat_multiply(q, quat_exp(turning))
    u, v = (q[1], q[2], q[3]), (p[1], p[2], p[3])
    sign = where(q[0] < 0.0, -1.0 + 0.0 * q[0], 1.0 + 0.0 * q[0])
    w, z = sign * q[0], sign * p[0]
    r, s = 2.0 * atan2(length3(u), w), 2.0 * atan2(length3(v), absolute(z))
    # ΔV/Δw, with Δw = -2 sin((r + s)/4) sin((s - r)/4) of half angles if both are on this side of half a turn
    slope = mean_slope(k, poly, r, s)
    beyond_half = z < 0.0
    change = where(beyond_half, z - w, -1.0 + 0.0 * z)
    slope = slope * where(
        beyond_half, (s - r) * (s + r) / change, -8.0 * over_sine(0.25 * (s - r)) * over_sine(0.25 * (r + s))
    )
    return scale3(0.25 * sign * slope * cayley_factor(scale3(0.5, turning)), add3(u, v))


@kernel
def over_sine(x):
    """x / sin x, for |x| below pi."""
    small = x * x < SMALL * SMALL
    s, _ = sincos(where(small, 1.0 + 0.0 * x, x))
    return where(small, 1.0 + x * x * (1.0 / 6.0 + x * x * (7.0 / 360.0)), x / s)


# ---------------------------------------------------------------- tendons


@only_with("tendon_force")
@kernel
def remember_lengths(m, d, lengths):
    """`lengths` [ntendon] ← ten_length."""
    for t in range(m.ntendon):
        lengths[t] = d.ten_length[t]


@only_with("tendon_force")
@kernel
def add_mean_tendon_forces(m, d, h):
    """Add tendon springs, as means over h seconds, and dampers to qfrc_spring and qfrc_damper [nv] (N, N m).

    Reads the lengths at both ends of the step, ten_length_start and ten_length_end [ntendon] (m, rad).
    """
    for t in range(m.ntendon):
        _, drag = spring_and_damper(m, d, t)
        pull = mean_pull(m, d, t)
        first, end = m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]
        # what the midpoint's gradient misses of the change of length, and motion of the joints on the path
        missed = d.ten_length_end[t] - d.ten_length_start[t] - h * d.ten_velocity[t]
        square = 0.0 * missed
        for k in range(first, end):
            i = m.tendon_dof[k]
            if i > m.tendon_common[t]:
                square = square + h * h * d.qvel[i] * d.qvel[i]
        still = square < STILL
        rate = where(still, 0.0 * missed, h * missed / where(still, 1.0 + 0.0 * square, square))
        for k in range(first, end):
            i = m.tendon_dof[k]
            d.qfrc_spring[i] = d.qfrc_spring[i] + d.ten_J[k] * pull
            d.qfrc_damper[i] = d.qfrc_damper[i] + d.ten_J[k] * drag
            if i > m.tendon_common[t]:
                d.qfrc_spring[i] = d.qfrc_spring[i] + rate * d.qvel[i] * pull


@kernel
def mean_pull(m, d, t):
    """Mean force (N, N m) of tendon t's spring between both lengths, positive if it lengthens the tendon."""
    one, other = d.ten_length_start[t], d.ten_length_end[t]
    x, y = beyond(m, t, one), beyond(m, t, other)
    moved = other - one
    still = moved == 0.0
    # the share of the motion that is beyond the slack range
    share = where(still, 0.0 * moved, (y - x) / where(still, 1.0 + 0.0 * moved, moved))
    share = where(x * y > 0.0, 1.0 + 0.0 * share, share)
    return -share * mean_force(m.tendon_stiffness[t], m.tendon_stiffnesspoly[t], x, y)


@kernel(inline=True)
def beyond(m, t, length):
    """Stretch (m, rad) of tendon t beyond its slack range at a length; negative below it, zero within."""
    over, under = length - m.tendon_lengthspring[t, 1], length - m.tendon_lengthspring[t, 0]
    return where(over >= 0.0, over, where(under < 0.0, under, 0.0 * under))
