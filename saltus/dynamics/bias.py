"""Joint forces of motion: the second loop of the recursive Newton-Euler algorithm."""

from saltus.dynamics.motion import motion
from saltus.dynamics.particles import particle_forces
from saltus.dynamics.tendon_inertia import add_fixed_tendon_forces, add_path_forces
from saltus.number.kernels import kernel
from saltus.spatial.motions import add6, dot6


@kernel
def joint_forces(m, p, d, qfrc):
    """Sum the bodies' forces towards the root and project them on the joints (Featherstone 2008, table 5.1, loop 2).

    Adds the forces that spatial tendons with inertia take for the same motion. Reads cdof [nv, 6] from p (see `motion`)
    and cfrc_body [nbody, 6]. Writes the field qfrc [nv] (N, N m).
    """
    zero = 0.0 * d.time
    nothing = (zero, zero, zero, zero, zero, zero)
    for k in range(m.ntree_body):
        b = m.tree_body[k]
        if m.body_branches[b]:
            d.artic_force[b] = nothing
    force = nothing
    chained = 0
    for k in range(m.ntree_body - 1, 0, -1):
        b = m.tree_body[k]
        if not chained:
            force = nothing
        force = add6(force, d.cfrc_body[b])
        if m.body_branches[b]:
            force = add6(force, d.artic_force[b])
        first = m.body_dofadr[b]
        for i in range(first, first + m.body_dofnum[b]):
            qfrc[i] = dot6(p.cdof[i], force)
        chained = m.body_chained[b]
        parent = m.body_parentid[b]
        if parent > 0 and not chained:
            d.artic_force[parent] = add6(d.artic_force[parent], force)
    particle_forces(m, p, d, qfrc)
    add_path_forces(m, p, d, qfrc)


@kernel
def bias(m, d):
    """Coriolis, centrifugal and gravitational forces on the joints: inverse dynamics at zero acceleration.

    Writes qfrc_bias [nv] (N, N m).
    """
    motion(m, d, d, 0, m.keep_bodies)
    joint_forces(m, d, d, d.qfrc_bias)


@kernel
def inverse(m, d):
    """Inverse dynamics: the joint forces that give the accelerations qacc [nv], without passive and applied ones.

    Writes qfrc_inverse [nv] (N, N m) = M qacc + qfrc_bias.
    """
    motion(m, d, d, 1, m.keep_bodies)
    joint_forces(m, d, d, d.qfrc_inverse)
    for i in range(m.nv):
        d.qfrc_inverse[i] = d.qfrc_inverse[i] + m.dof_armature[i] * d.qacc[i]
    add_fixed_tendon_forces(m, d, d, d.qfrc_inverse)
