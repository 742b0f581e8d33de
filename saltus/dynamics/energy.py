"""Potential and kinetic energy."""

from saltus.dynamics.flex.energy import elastic_energies
from saltus.dynamics.passive import spring_rotation, spring_translation
from saltus.dynamics.tendon.force import tendon_spring_energy
from saltus.dynamics.tree.tendon_inertia import tendon_kinetic_energy
from saltus.model.enums import BALL, FREE
from saltus.number.kernels import kernel
from saltus.spatial.motions import dot6, inertia_times_motion
from saltus.spatial.vectors import dot3, length3


@kernel
def energy(m, d):
    """Potential energy of gravity, springs and deformable bodies, and kinetic energy.

    Reads xipos [nbody, 3], cinert [nbody, 10], cvel [nbody, 6], qpos, qvel, ten_length and ten_velocity
    [ntendon]. Writes energy = (potential, kinetic) (J). Elastic energy counts as potential; MuJoCo's potential energy
    omits that of elements and bending.
    """
    stretch, bending = elastic_energies(m, d)
    d.energy[0] = gravity_energy(m, d) + spring_energy(m, d) + (stretch + bending)
    d.energy[1] = kinetic_energy(m, d)


@kernel
def energy_parts(m, d, out):
    """Energy by kind, into out [5] (J): kinetic, gravity, springs, stretch and bending of deformable bodies."""
    out[0] = kinetic_energy(m, d)
    out[1] = gravity_energy(m, d)
    out[2] = spring_energy(m, d)
    out[3], out[4] = elastic_energies(m, d)


@kernel
def kinetic_energy(m, d):
    """Kinetic energy (J) of bodies, armatures and tendons: Σ ½ v · I v + Σ ½ armature v² + Σ ½ a (dL/dt)²."""
    kinetic = 0.0 * d.time
    for b in range(1, m.nbody):
        v = d.cvel[b]
        kinetic = kinetic + 0.5 * dot6(v, inertia_times_motion(d.cinert[b], v))
    for i in range(m.nv):
        v = d.qvel[i]
        kinetic = kinetic + 0.5 * m.dof_armature[i] * v * v
    return kinetic + tendon_kinetic_energy(m, d)


@kernel
def gravity_energy(m, d):
    """Potential energy (J) of gravity, zero at the world's origin: -Σ m g · c."""
    potential = 0.0 * d.time
    for b in range(1, m.nbody):
        potential = potential - m.body_mass[b] * dot3(m.opt_gravity[0], d.xipos[b])
    return potential


@kernel
def spring_energy(m, d):
    """Potential energy (J) of joint and tendon springs."""
    potential = 0.0 * d.time
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
    return potential + tendon_spring_energy(m, d)


@kernel(inline=True)
def _spring_energy(k, poly, x):
    """Integral of x (k + p1 x + p2 x²) from 0."""
    return x * x * (0.5 * k + x * (poly[0] / 3.0 + x * poly[1] / 4.0))
