"""Diagonal joint stiffness and damping: slopes of springs, dampers and servos in the joint's own position and velocity.

Implicit methods need these slopes to converge; they need not be exact.
"""

from saltus.dynamics.force_derivative import actuator_slope, saturated
from saltus.model.actuator_enums import BIAS_AFFINE, SCALAR
from saltus.model.enums import BALL, FREE
from saltus.number.functions import maximum, where
from saltus.number.kernels import kernel


@kernel
def joint_stiffness(m, d):
    """Joint stiffness and damping of springs, dampers and servos, none of them negative; needs the forces.

    Writes qfrc_spring_slope [nv] (N/m, N m), of springs and servos, and slope [nv] (N s/m, N m s), of dampers and
    servos.
    """
    spring_slopes(m, d)
    for i in range(m.nv):
        d.slope[i] = d.qfrc_damper_slope[i]
    if m.has_actuation:
        for k in range(m.nactuator):
            if m.actuator_enabled[k] and m.out_kind[m.actuator_outadr[k]] == SCALAR:
                add_servo(m, d, k)
    for i in range(m.nv):
        zero = 0.0 * d.time
        d.slope[i] = maximum(d.slope[i], zero)
        d.qfrc_spring_slope[i] = maximum(d.qfrc_spring_slope[i], zero)


@kernel
def spring_slopes(m, d):
    """Stiffness of joint springs, qfrc_spring_slope [nv] (N/m, N m), never negative."""
    for i in range(m.nv):
        d.qfrc_spring_slope[i] = 0.0 * d.time
    for j in range(m.njnt):
        if m.jnt_spring[j]:
            k, poly = m.jnt_stiffness[j], m.jnt_stiffnesspoly[j]
            i = m.jnt_dofadr[j]
            kind = m.jnt_type[j]
            if kind == FREE or kind == BALL:
                for r in range(6 if kind == FREE else 3):
                    d.qfrc_spring_slope[i + r] = maximum(k + 0.0 * d.time, 0.0 * d.time)
            else:
                a = m.jnt_qposadr[j]
                x = d.qpos[a] - m.qpos_spring[a]
                slope = k + x * (2.0 * poly[0] + 3.0 * x * poly[1])
                d.qfrc_spring_slope[i] = maximum(slope, 0.0 * x)


@kernel
def add_servo(m, d, k):
    """Add the stiffness and damping of an actuator on a hinge or slide, unless its force is at a limit."""
    o = m.actuator_outadr[k]
    i = m.moment_dof[m.moment_adr[o]]
    zero = 0.0 * d.time
    gear2 = m.actuator_gear[o, 0] * m.actuator_gear[o, 0]
    limited = saturated(m, d, k)
    d.slope[i] = d.slope[i] - where(limited, zero, gear2 * actuator_slope(m, d, k))
    if m.actuator_biastype[k] == BIAS_AFFINE:
        d.qfrc_spring_slope[i] = d.qfrc_spring_slope[i] - where(limited, zero, zero + gear2 * m.actuator_biasprm[k, 1])
