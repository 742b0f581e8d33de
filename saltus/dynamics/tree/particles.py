"""Particles: bodies on three slides, of which deformable bodies have many.

`saltus.model.tree.particles` selects them. They do not rotate and M is diagonal on them, so that each is computed
separately, outside the loops over the tree.
"""

from saltus.number.conditions import has
from saltus.number.kernels import kernel
from saltus.spatial.quaternions import quat_multiply, quat_to_matrix
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, matrix_times_vector, scale3


@kernel
def place_particles(m, d):
    """Poses of particles and their joints, from qpos and the poses of their parents.

    Writes xpos, xquat, xmat, xipos, xanchor, xaxis.
    """
    for k in range(m.nparticle):
        b = m.particle_body[k]
        parent = m.body_parentid[b]
        # pose without joint motion
        quat, mat = d.xquat[parent], d.xmat[parent]
        pos = add3(d.xpos[parent], matrix_times_vector(mat, m.body_pos[b]))
        if m.body_turned[b]:
            quat = quat_multiply(quat, m.body_quat[b])
            mat = quat_to_matrix(quat)
        # move along the three slides
        first = m.body_jntadr[b]
        for j in range(first, first + 3):
            a = m.jnt_qposadr[j]
            axis = matrix_times_vector(mat, m.jnt_axis[j])
            d.xanchor[j] = pos
            d.xaxis[j] = axis
            pos = add_scaled3(pos, d.qpos[a] - m.qpos0[a], axis)
        d.xpos[b] = pos
        d.xquat[b] = quat
        d.xmat[b] = mat
        d.xipos[b] = add3(pos, matrix_times_vector(mat, m.body_ipos[b]))


@kernel(inline=True)
def axis_of(p, i):
    """Direction of a slide in world axes."""
    s = p.cdof[i]
    return s[3], s[4], s[5]


@kernel
def particle_motion(m, p, d, acceleration, compute_all):
    """Velocities, accelerations and forces of particles; arguments and results as in `newton_euler_forward`."""
    zero = 0.0 * d.time
    g = m.opt_gravity[0]
    for k in range(m.nparticle):
        b = m.particle_body[k]
        # velocity and acceleration along the slides; gravity counts as an upward acceleration
        v = (zero, zero, zero)
        a = (zero - g[0], zero - g[1], zero - g[2])
        first = m.body_dofadr[b]
        for i in range(first, first + 3):
            axis = axis_of(p, i)
            v = add_scaled3(v, d.qvel[i], axis)
            if acceleration:
                a = add_scaled3(a, d.qacc[i], axis)
            if compute_all:
                d.cdof_dot[i] = (zero, zero, zero, zero, zero, zero)
        d.cvel[b] = (zero, zero, zero, v[0], v[1], v[2])
        if compute_all:
            d.cacc[b] = (zero, zero, zero, a[0], a[1], a[2])
        # force m a, and its moment about the tree's centre of mass
        inertia = p.cinert[b]
        torque = cross((inertia[6], inertia[7], inertia[8]), a)
        force = scale3(inertia[9], a)
        d.cfrc_body[b] = (torque[0], torque[1], torque[2], force[0], force[1], force[2])


@kernel
def particle_forces(m, p, d, qfrc):
    """Generalised forces on the slides of particles, into the field qfrc [nv] (N); see `newton_euler_backward`."""
    for k in range(m.nparticle):
        b = m.particle_body[k]
        f = d.cfrc_body[b]
        first = m.body_dofadr[b]
        for i in range(first, first + 3):
            qfrc[i] = dot3(axis_of(p, i), (f[3], f[4], f[5]))


@kernel
def particle_factor(m, d, h, slope):
    """artic_invdiag for the slides of particles; see `articulated_factor`."""
    for k in range(m.nparticle):
        b = m.particle_body[k]
        first = m.body_dofadr[b]
        for i in range(first, first + 3):
            diagonal = m.body_mass[b] + m.dof_armature[i] + 0.0 * d.time
            if h != 0.0:
                diagonal = diagonal + h * slope[i]
            d.artic_invdiag[i] = 1.0 / diagonal
            if has(m, "prescribed") and m.dof_prescribed[i]:
                d.artic_invdiag[i] = 0.0 * d.time


@kernel
def particle_solve(m, p, d, force, moving, x):
    """x for the slides of particles; see `articulated_solve`."""
    for k in range(m.nparticle):
        b = m.particle_body[k]
        f = d.cfrc_body[b]
        first = m.body_dofadr[b]
        for i in range(first, first + 3):
            rest = force[i]
            if moving:
                rest = rest - dot3(axis_of(p, i), (f[3], f[4], f[5]))
            x[i] = rest * p.artic_invdiag[i]
            if has(m, "prescribed") and m.dof_prescribed[i] and moving:
                x[i] = d.qacc_prescribed[i]


@kernel
def particle_inertia(m, d):
    """M for the slides of particles: mass plus armature."""
    for k in range(m.nparticle):
        b = m.particle_body[k]
        first = m.body_dofadr[b]
        for i in range(first, first + 3):
            d.M[m.M_rowadr[i]] = m.body_mass[b] + m.dof_armature[i] + 0.0 * d.time
