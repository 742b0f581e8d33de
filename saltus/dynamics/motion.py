"""How bodies move and what force that takes, base to tips: the first loop of the recursive Newton-Euler algorithm."""

from saltus.dynamics.particles import particle_motion
from saltus.number.kernels import kernel
from saltus.spatial.motions import add6, add_scaled6, cross_force, cross_motion, inertia_times_motion


@kernel
def motion(m, p, d, acceleration, keep):
    """Spatial velocities, accelerations and forces of all bodies (Featherstone 2008, table 5.1, first loop).

    Reads from p, which is d or a Data of plain numbers with the same positions, cdof [nv, 6] and cinert [nbody, 10];
    from d qvel [nv] and, if `acceleration` is 1, qacc [nv], else taken as zero.
    Writes, about each tree's centre of mass in world axes, cvel [nbody, 6] (rad/s, m/s), the joint axes' rates
    cdof_dot [nv, 6] (eq. 3.36), cacc [nbody, 6] (gravity counts as an acceleration of the world upwards) and the
    force that each body needs for its motion, cfrc_body [nbody, 6] (N m, N). All but the last only where later
    bodies need it, and everywhere if `keep`.

    The three translations of a free joint and the three rotations of a ball or free joint each turn with the velocity
    before them, as in MuJoCo; what this leaves out cancels in the sum over the three.
    """
    zero = 0.0 * d.time
    g = m.opt_gravity[0]
    v = (zero, zero, zero, zero, zero, zero)
    a = (zero, zero, zero, zero - g[0], zero - g[1], zero - g[2])
    d.cvel[0] = v
    d.cacc[0] = a
    d.cfrc_body[0] = v
    for k in range(1, m.ntree_body):
        b = m.tree_body[k]
        if not m.body_chained[b]:
            parent = m.body_parentid[b]
            v, a = d.cvel[parent], d.cacc[parent]
        first = m.body_dofadr[b]
        before = v
        for i in range(first, first + m.body_dofnum[b]):
            if m.dof_leads[i]:
                before = v
            s = p.cdof[i]
            rate = cross_motion(before, s)
            if keep:
                d.cdof_dot[i] = rate
            v = add_scaled6(v, d.qvel[i], s)
            a = add_scaled6(a, d.qvel[i], rate)
            if acceleration:
                a = add_scaled6(a, d.qacc[i], s)
        if keep or m.body_branches[b]:
            d.cvel[b] = v
            d.cacc[b] = a
        inertia = p.cinert[b]
        force = inertia_times_motion(inertia, a)
        d.cfrc_body[b] = add6(force, cross_force(v, inertia_times_motion(inertia, v)))
    particle_motion(m, p, d, acceleration, keep)
