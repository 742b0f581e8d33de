"""Potential and kinetic energy."""

from saltus.dynamics.kinematics import BALL, FREE
from saltus.dynamics.passive import spring_rotation, spring_translation
from saltus.dynamics.tendon_force import tendon_spring_energy
from saltus.dynamics.tendon_inertia import tendon_kinetic_energy
from saltus.number.kernels import kernel
from saltus.spatial.motions import dot6, inertia_times_motion
from saltus.spatial.vectors import dot3, length3


@kernel
def energy(m, d):
    """Energy of gravity and springs, and of motion.

    Reads xipos [nbody, 3], cinert [nbody, 10], cvel [nbody, 6], qpos, qvel, ten_length and ten_velocity [ntendon].
    Writes energy = (potential, kinetic) (J).
    """
    potential = 0.0 * d.time
    kinetic = 0.0 * d.time
    for b in range(1, m.nbody):
        potential = potential - m.body_mass[b] * dot3(m.opt_gravity[0], d.xipos[b])
        v = d.cvel[b]
        kinetic = kinetic + 0.5 * dot6(v, inertia_times_motion(d.cinert[b], v))
    for i in range(m.nv):
        v = d.qvel[i]
        kinetic = kinetic + 0.5 * m.dof_armature[i] * v * v
    for j in range(m.njnt):
        if m.jnt_spring[j]:
            a = m.jnt_qposadr[j]
            kind = m.jnt_type[j]
            k = m.jnt_stiffness[j]
            poly = m.jnt_stiffnesspoly[j]
            if kind == FREE:
                potential = potential + _spring_energy(k, poly, length3(spring_translation(m, d, a)))
                a += 3
            if kind == FREE or kind == BALL:
                potential = potential + _spring_energy(k, poly, length3(spring_rotation(m, d, a)))
            else:
                potential = potential + _spring_energy(k, poly, d.qpos[a] - m.qpos_spring[a])
    d.energy[0] = potential + tendon_spring_energy(m, d)
    d.energy[1] = kinetic + tendon_kinetic_energy(m, d)


@kernel(inline=True)
def _spring_energy(k, poly, x):
    """Integral of x (k + p1 x + p2 x²)."""
    return x * x * (0.5 * k + x * (poly[0] / 3.0 + x * poly[1] / 4.0))
