"""Recursive Newton-Euler algorithm: motion of the bodies, forces it requires, and their projection on the joints."""

from saltus.dynamics.awake.walks import awake_bodies, awake_bodies_and_world, awake_bodies_back, awake_dofs
from saltus.dynamics.tree.particles import particle_forces, particle_motion
from saltus.dynamics.tree.tendon_inertia import add_fixed_tendon_forces, add_path_forces
from saltus.number.kernels import kernel
from saltus.spatial.motions import add6, add_scaled6, cross_force, cross_motion, dot6, inertia_times_motion


@kernel
def newton_euler_forward(m, p, d, acceleration, compute_all):
    """Spatial velocities, accelerations and forces of all bodies (Featherstone 2008, table 5.1, first loop).

    Reads from p, which is d or a Data of plain numbers at the same positions, cdof [nv, 6] and cinert [nbody, 10];
    from d qvel [nv] and, if `acceleration` is 1, qacc [nv], else taken as zero.
    Writes, about each tree's centre of mass in world axes, cvel [nbody, 6] (rad/s, m/s), the joint axes' rates
    cdof_dot [nv, 6] (eq. 3.36), cacc [nbody, 6] (gravity counts as an upward acceleration of the world) and the
    force that each body requires for its motion, cfrc_body [nbody, 6] (N m, N). All but the last are written only where
    later bodies need them, and everywhere if `compute_all`.

    The axis rates of the three translations of a free joint, and of the three rotations of a ball or free joint, use
    the velocity before the three, as in MuJoCo; the terms this omits cancel in the sum over the three.
    """
    zero = 0.0 * d.time
    g = m.opt_gravity[0]
    v = (zero, zero, zero, zero, zero, zero)
    a = (zero, zero, zero, zero - g[0], zero - g[1], zero - g[2])
    # world: at rest, gravity as an upward acceleration
    d.cvel[0] = v
    d.cacc[0] = a
    d.cfrc_body[0] = v
    for k in awake_bodies(m, d):
        b = m.tree_body[k]
        if not m.body_chained[b]:
            parent = m.body_parentid[b]
            v, a = d.cvel[parent], d.cacc[parent]
        # velocity and bias acceleration of the joints, and their acceleration: a += rate qvel + s qacc
        first = m.body_dofadr[b]
        before = v
        for i in range(first, first + m.body_dofnum[b]):
            if m.dof_leads[i]:
                before = v
            s = p.cdof[i]
            rate = cross_motion(before, s)
            if compute_all:
                d.cdof_dot[i] = rate
            v = add_scaled6(v, d.qvel[i], s)
            a = add_scaled6(a, d.qvel[i], rate)
            if acceleration:
                a = add_scaled6(a, d.qacc[i], s)
        if compute_all or m.body_branches[b]:
            d.cvel[b] = v
            d.cacc[b] = a
        # newton-euler force of the body: I a + v ×* I v
        inertia = p.cinert[b]
        force = inertia_times_motion(inertia, a)
        d.cfrc_body[b] = add6(force, cross_force(v, inertia_times_motion(inertia, v)))
    particle_motion(m, p, d, acceleration, compute_all)


@kernel
def newton_euler_backward(m, p, d, qfrc):
    """Sum the bodies' forces towards the root and project them on the joints (Featherstone 2008, table 5.1, loop 2).

    Adds the forces that spatial tendons with armature require for the same motion. Reads cdof [nv, 6] from p, as in
    the first loop, and cfrc_body [nbody, 6]. Writes the field qfrc [nv] (N, N m). Overwrites body_scratch.
    """
    zero = 0.0 * d.time
    nothing = (zero, zero, zero, zero, zero, zero)
    for k in awake_bodies_and_world(m, d):
        b = m.tree_body[k]
        if m.body_branches[b]:
            d.body_scratch[b] = nothing
    force = nothing
    chained = 0
    for k in awake_bodies_back(m, d):
        b = m.tree_body[k]
        # tips to base: force that the joint transmits to the body and its children
        if not chained:
            force = nothing
        force = add6(force, d.cfrc_body[b])
        if m.body_branches[b]:
            force = add6(force, d.body_scratch[b])
        # project the force on the joint axes
        first = m.body_dofadr[b]
        for i in range(first, first + m.body_dofnum[b]):
            qfrc[i] = dot6(p.cdof[i], force)
        # pass the force on to the parent
        chained = m.body_chained[b]
        parent = m.body_parentid[b]
        if parent > 0 and not chained:
            d.body_scratch[parent] = add6(d.body_scratch[parent], force)
    particle_forces(m, p, d, qfrc)
    add_path_forces(m, p, d, qfrc)


@kernel
def bias(m, d):
    """Coriolis, centrifugal and gravitational generalised forces: inverse dynamics at zero acceleration.

    Writes qfrc_bias [nv] (N, N m).
    """
    newton_euler_forward(m, d, d, 0, m.keep_bodies)
    newton_euler_backward(m, d, d, d.qfrc_bias)


@kernel
def inverse(m, d):
    """Inverse dynamics: total generalised forces M qacc + bias, passive and applied ones not subtracted.

    Reads qacc [nv]. Writes qfrc_inverse [nv] (N, N m).
    """
    newton_euler_forward(m, d, d, 1, m.keep_bodies)
    newton_euler_backward(m, d, d, d.qfrc_inverse)
    # inertia of armatures, then of fixed tendons
    for i in awake_dofs(m, d):
        d.qfrc_inverse[i] = d.qfrc_inverse[i] + m.dof_armature[i] * d.qacc[i]
    add_fixed_tendon_forces(m, d, d, d.qfrc_inverse)
