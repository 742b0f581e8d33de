"""Passive generalised forces: springs, dampers, gravity compensation, adhesion and fluid forces."""

from saltus.dynamics.applied import add_body_force
from saltus.dynamics.awake.walks import all_awake_bodies, awake_dofs, awake_joints
from saltus.dynamics.flex.forces import add_flex_forces
from saltus.dynamics.fluid.force import fluid_forces
from saltus.dynamics.tendon.force import add_tendon_forces
from saltus.dynamics.tendon.gear_loss import shift_gear_torques
from saltus.model.enums import BALL, FREE
from saltus.number.conditions import has
from saltus.number.functions import absolute
from saltus.number.kernels import kernel
from saltus.spatial.fields import load3, load4, store3
from saltus.spatial.quaternions import quat_conjugate, quat_log, quat_multiply, quat_normalize
from saltus.spatial.vectors import length3, scale3, sub3


@kernel(inline=True)
def spring_rotation(m, d, a):
    """Rotation vector from the spring's reference, qpos_spring[a:a+4], to the joint's orientation, qpos[a:a+4]."""
    quat = quat_normalize(load4(d.qpos, a))
    return quat_log(quat_multiply(quat_conjugate(load4(m.qpos_spring, a)), quat))


@kernel(inline=True)
def spring_translation(m, d, a):
    """Displacement of the position at qpos[a] from the spring's reference."""
    return sub3(load3(d.qpos, a), load3(m.qpos_spring, a))


@kernel
def springs(m, d):
    """Joint springs: -x (k + p1 x + p2 x²), with x the displacement from qpos_spring.

    On free and ball joints x is a vector, whose length enters the polynomial. Writes qfrc_spring [nv] (N, N m).
    """
    for i in awake_dofs(m, d):
        d.qfrc_spring[i] = 0.0 * d.time
    for j in awake_joints(m, d):
        if m.jnt_spring[j]:
            a = m.jnt_qposadr[j]
            i = m.jnt_dofadr[j]
            kind = m.jnt_type[j]
            k = m.jnt_stiffness[j]
            poly = m.jnt_stiffnesspoly[j]
            if kind == FREE:
                _spring3(d, i, spring_translation(m, d, a), k, poly)
                a += 3
                i += 3
            if kind == FREE or kind == BALL:
                _spring3(d, i, spring_rotation(m, d, a), k, poly)
            else:
                x = d.qpos[a] - m.qpos_spring[a]
                d.qfrc_spring[i] = -x * (k + x * (poly[0] + x * poly[1]))


@kernel(inline=True)
def _spring3(d, i, x, k, poly):
    r = length3(x)
    store3(d.qfrc_spring, i, scale3(-(k + r * (poly[0] + r * poly[1])), x))


@kernel
def dampers(m, d):
    """Joint dampers: f = -v (b + p1 |v| + p2 v²).

    Writes qfrc_damper [nv] (N, N m) and qfrc_damper_slope [nv] = -df/dv.
    """
    for i in awake_dofs(m, d):
        b = m.dof_damping[i]
        poly = m.dof_dampingpoly[i]
        v = d.qvel[i]
        speed = absolute(v)
        d.qfrc_damper[i] = -v * (b + speed * (poly[0] + speed * poly[1]))
        d.qfrc_damper_slope[i] = b + speed * (2.0 * poly[0] + speed * (3.0 * poly[1]))


@kernel
def gravity_compensation(m, d):
    """Gravity compensation: a fraction of each body's weight, cancelled at its centre of mass.

    Writes qfrc_gravcomp [nv] (N, N m).
    """
    if m.has_gravcomp:
        for i in awake_dofs(m, d):
            d.qfrc_gravcomp[i] = 0.0 * d.time
        for b in all_awake_bodies(m, d):
            if m.body_gravcomp[b] != 0.0:
                force = scale3(-m.body_mass[b] * m.body_gravcomp[b], m.opt_gravity[0])
                zero = 0.0 * force[0]
                add_body_force(m, d, d.qfrc_gravcomp, b, force, (zero, zero, zero))


@kernel
def passive(m, d):
    """All passive generalised forces.

    Writes qfrc_passive [nv] (N, N m) and its parts.
    """
    joint_and_tendon_forces(m, d)
    add_flex_forces(m, d)
    sum_passive(m, d)


@kernel
def joint_and_tendon_forces(m, d):
    """Springs and dampers of joints and tendons: qfrc_spring, qfrc_damper (N, N m), qfrc_damper_slope [nv]."""
    springs(m, d)
    dampers(m, d)
    add_tendon_forces(m, d)
    shift_gear_torques(m, d)


@kernel
def sum_passive(m, d):
    """qfrc_passive [nv] = springs + dampers + gravity compensation not provided by actuators + adhesion + fluid forces.

    The attraction of adhesive contacts, qfrc_adhesion, depends only on positions and is computed before.
    """
    gravity_compensation(m, d)
    for i in awake_dofs(m, d):
        d.qfrc_passive[i] = d.qfrc_spring[i] + d.qfrc_damper[i]
        if m.has_gravcomp and not m.jnt_actgravcomp[m.dof_jntid[i]]:
            d.qfrc_passive[i] = d.qfrc_passive[i] + d.qfrc_gravcomp[i]
        if has(m, "adhesive"):
            d.qfrc_passive[i] = d.qfrc_passive[i] + d.qfrc_adhesion[i]
    fluid_forces(m, d)
