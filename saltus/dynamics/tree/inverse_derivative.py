"""Derivatives of inverse dynamics by positions and velocities in closed form.

Let s be the motion axis of a degree of freedom j, and v, a the velocity and acceleration of the body before its joint.
If j turns by δ, all that follows turns with it, except motions that come from before. With

    ψ = v × s,   χ = a × s + v × ψ,   φ = ψ + v' × s   (v' behind the joint),
    D x = v ×* (I x) - I (v × x) + x ×* (I v)

the force of a body beyond j changes by s ×* f + D ψ + I χ per unit of its position, and by D s + I φ per unit of its
velocity. Sums over subtrees, of f, D and I, give all derivatives of the generalised forces s · f in O(n depth)
operations (Carpentier & Mansard, Analytical derivatives of rigid body dynamics algorithms (2018); Singh, Russell &
Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra (2022), eqs. 16 to 19). An
axis s_i that turns with j cancels s ×* f.

Arrays: motions [4, nbody, 6], of bodies; axes [6, nv, 6], of degrees of freedom; wrenches [2, nbody, 6] and matrices
[nbody, 6, 6], sums over subtrees.
"""

from saltus.dynamics.tree.bias_derivative import unit, velocity_force
from saltus.number.kernels import kernel
from saltus.spatial.motions import (
    add6,
    add_scaled6,
    cross_force,
    cross_motion,
    dot6,
    inertia_times_motion,
)

VELOCITY, ACCELERATION, SLIDING, CHANGE = 0, 1, 2, 3  # motions: velocities; accelerations with and without bias
PSI, CHI, PHI, CHI_SLIDING, CHI_CHANGE = 0, 1, 2, 3, 4  # axes: the last two of the last two motions
MOVED = 5  # axes: scratch
FORCE, CHANGED = 0, 1  # wrenches: inertial forces; those of the motion CHANGE


@kernel(inline=True)
def six(array, k, i):
    """Six numbers of an array [..., 6] as a tuple."""
    return array[k, i, 0], array[k, i, 1], array[k, i, 2], array[k, i, 3], array[k, i, 4], array[k, i, 5]


@kernel(inline=True)
def put_six(array, k, i, x):
    """Six numbers of an array [..., 6] from a tuple."""
    array[k, i, 0] = x[0]
    array[k, i, 1] = x[1]
    array[k, i, 2] = x[2]
    array[k, i, 3] = x[3]
    array[k, i, 4] = x[4]
    array[k, i, 5] = x[5]


@kernel
def differentiate_motions(m, p, qvel, qacc, change, motions, axes):
    """Motions of all bodies, and ψ, χ, φ of all degrees of freedom.

    p: Data at the positions. qvel, qacc, change [nv]: velocities, accelerations, and a third motion, from rest and
    without bias. SLIDING is the motion qacc without bias, too.
    """
    zero = 0.0
    rest = (zero, zero, zero, zero, zero, zero)
    g = m.opt_gravity[0]
    put_six(motions, VELOCITY, 0, rest)
    put_six(motions, ACCELERATION, 0, (zero, zero, zero, -g[0], -g[1], -g[2]))
    put_six(motions, SLIDING, 0, rest)
    put_six(motions, CHANGE, 0, rest)
    for b in range(1, m.nbody):
        parent = m.body_parentid[b]
        v, a = six(motions, VELOCITY, parent), six(motions, ACCELERATION, parent)
        u, w = six(motions, SLIDING, parent), six(motions, CHANGE, parent)
        i = m.body_dofadr[b]
        last = i + m.body_dofnum[b]
        while i < last:
            end = end_of_turn(m, i, last)
            v0, a0, u0, w0 = v, a, u, w
            for j in range(i, end):
                s = p.cdof[j]
                rate = cross_motion(v0, s)
                v = add_scaled6(v, qvel[j], s)
                a = add_scaled6(add_scaled6(a, qvel[j], rate), qacc[j], s)
                u = add_scaled6(u, qacc[j], s)
                w = add_scaled6(w, change[j], s)
            for j in range(i, end):
                s = p.cdof[j]
                rate = cross_motion(v0, s)
                put_six(axes, PSI, j, rate)
                put_six(axes, CHI, j, add6(cross_motion(a0, s), cross_motion(v0, rate)))
                put_six(axes, PHI, j, add6(rate, cross_motion(v, s)))
                put_six(axes, CHI_SLIDING, j, cross_motion(u0, s))
                put_six(axes, CHI_CHANGE, j, cross_motion(w0, s))
            i = end
        put_six(motions, VELOCITY, b, v)
        put_six(motions, ACCELERATION, b, a)
        put_six(motions, SLIDING, b, u)
        put_six(motions, CHANGE, b, w)


@kernel
def sum_over_subtrees(m, p, motions, wrenches, matrices):
    """Forces, those of the motion CHANGE, and the matrices D, summed over subtrees."""
    for b in range(1, m.nbody):
        inertia = p.cinert[b]
        v = six(motions, VELOCITY, b)
        force = inertia_times_motion(inertia, six(motions, ACCELERATION, b))
        put_six(wrenches, FORCE, b, add6(force, cross_force(v, inertia_times_motion(inertia, v))))
        put_six(wrenches, CHANGED, b, inertia_times_motion(inertia, six(motions, CHANGE, b)))
        for k in range(6):
            column = velocity_force(inertia, v, unit(k, 0.0))
            for r in range(6):
                matrices[b, r, k] = column[r]
    for b in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[b]
        if parent > 0:
            for k in range(6):
                wrenches[FORCE, parent, k] += wrenches[FORCE, b, k]
                wrenches[CHANGED, parent, k] += wrenches[CHANGED, b, k]
                for r in range(6):
                    matrices[parent, k, r] += matrices[b, k, r]


@kernel(inline=True)
def times(matrix, b, x):
    """Matrix b times x."""
    return (
        dot6(six(matrix, b, 0), x),
        dot6(six(matrix, b, 1), x),
        dot6(six(matrix, b, 2), x),
        dot6(six(matrix, b, 3), x),
        dot6(six(matrix, b, 4), x),
        dot6(six(matrix, b, 5), x),
    )


@kernel(inline=True)
def transposed_times(matrix, b, x):
    """Transposed matrix b times x."""
    zero = 0.0
    out = (zero, zero, zero, zero, zero, zero)
    for r in range(6):
        out = add_scaled6(out, x[r], six(matrix, b, r))
    return out


@kernel(inline=True)
def first_of_joint(m, j):
    """The first of the degrees of freedom whose axes turn together with that of j."""
    while not m.dof_leads[j]:
        j -= 1
    return j


@kernel(inline=True)
def end_of_turn(m, i, last):
    """End of the degrees of freedom from i on, before `last`, whose axes turn together: those of a ball joint."""
    end = i + 1
    while end < last and not m.dof_leads[end]:
        end += 1
    return end


@kernel
def subtract_inverse(m, p, axes, wrenches, matrices, columns):
    """columns [nv, >= 2 nv] -= derivatives of inverse dynamics by positions, then by velocities.

    Reads cdof and crb, composite inertias, from p, and sums over subtrees.
    """
    nv = m.nv
    for i in range(nv):
        b = m.dof_bodyid[i]
        s, inertia = p.cdof[i], p.crb[b]
        momentum, turned = inertia_times_motion(inertia, s), transposed_times(matrices, b, s)
        # the force of i by itself and the degrees of freedom before
        j = i
        while j >= 0:
            psi, axis = six(axes, PSI, j), p.cdof[j]
            columns[i, j] -= dot6(turned, psi) + dot6(momentum, six(axes, CHI, j))
            columns[i, nv + j] -= dot6(turned, axis) + dot6(momentum, six(axes, PHI, j))
            j = m.dof_parentid[j]
        # forces of those before by i
        by_position = add6(times(matrices, b, six(axes, PSI, i)), inertia_times_motion(inertia, six(axes, CHI, i)))
        by_velocity = add6(times(matrices, b, s), inertia_times_motion(inertia, six(axes, PHI, i)))
        fixed = add6(by_position, cross_force(s, six(wrenches, FORCE, b)))
        first = first_of_joint(m, i)
        j = m.dof_parentid[i]
        while j >= 0:
            axis = p.cdof[j]
            columns[j, i] -= dot6(axis, by_position if j >= first else fixed)
            columns[j, nv + i] -= dot6(axis, by_velocity)
            j = m.dof_parentid[j]


@kernel
def add_inertia(m, p, axes, wrenches, columns):
    """columns [nv, >= nv] += derivatives by positions of M times the motion CHANGE; reads as `subtract_inverse`."""
    for i in range(m.nv):
        b = m.dof_bodyid[i]
        s, inertia = p.cdof[i], p.crb[b]
        momentum = inertia_times_motion(inertia, s)
        j = i
        while j >= 0:
            columns[i, j] += dot6(momentum, six(axes, CHI_CHANGE, j))
            j = m.dof_parentid[j]
        by_position = inertia_times_motion(inertia, six(axes, CHI_CHANGE, i))
        fixed = add6(by_position, cross_force(s, six(wrenches, CHANGED, b)))
        first = first_of_joint(m, i)
        j = m.dof_parentid[i]
        while j >= 0:
            columns[j, i] += dot6(p.cdof[j], by_position if j >= first else fixed)
            j = m.dof_parentid[j]
