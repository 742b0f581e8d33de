"""Velocity derivatives of the bias force, analytically.

With s the motion axis of a degree of freedom and v, I the velocity and inertia of a body, a change of the velocity of
degree of freedom j changes the force on every body k that j carries, per unit, by

    I_k ψ_j + D_k s_j,   ψ_j = ds_j/dt + v_j × s_j,   D s = v ×* (I s) - I (v × s) + s ×* (I v),

with v_j the velocity on the parent's side of j's joint. Summed over the subtree this gives d(qfrc_bias)/d(qvel) (after
Singh, Russell & Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra (2022),
eq. 19).
"""

from saltus.dynamics.awake.walks import all_awake_bodies, all_awake_bodies_back, awake_dofs, awake_entries, awake_joints
from saltus.model.enums import BALL, FREE
from saltus.number.kernels import kernel
from saltus.spatial.motions import (
    add6,
    add_scaled6,
    cross_force,
    cross_motion,
    dot6,
    inertia_times_motion,
    scale6,
    sub6,
)


@kernel
def bias_derivative(m, d, free_only):
    """d(qfrc_bias)/d(qvel) on M's sparsity pattern; if `free_only`, only for free bodies without children.

    Reads cinert [nbody, 10], crb [nbody, 10], cvel [nbody, 6], cdof, cdof_dot [nv, 6]. Writes, along M's rows,
    lower [nC] = the derivative of a dof's force in its ancestors' velocities, upper [nC] = of its ancestors' forces
    in its velocity (N m s). Overwrites velocity_force.
    """
    # matrix D of each body, by columns
    for b in all_awake_bodies(m, d):
        for k in range(6):
            store_column(d, b, k, velocity_force(d.cinert[b], d.cvel[b], unit(k, d.time)))
    # sum D over subtrees
    for b in all_awake_bodies_back(m, d):
        parent = m.body_parentid[b]
        if parent > 0:
            for k in range(36):
                d.velocity_force[parent, k] = d.velocity_force[parent, k] + d.velocity_force[b, k]
    axis_rates(m, d)
    for i in awake_dofs(m, d):
        b = m.dof_bodyid[i]
        first = m.M_rowadr[i]
        last = first + m.M_rownnz[i] - 1
        if free_only and not m.dof_freebody[i]:
            for k in range(first, last + 1):
                d.lower[k] = d.upper[k] = 0.0 * d.time
        else:
            # derivative between i and its ancestors j: s_i · (I ψ_j + D s_j), and s_j · (I ψ_i + D s_i)
            s = d.cdof[i]
            momentum = inertia_times_motion(d.crb[b], s)
            turned = transpose_times(d, b, s)
            force = add6(inertia_times_motion(d.crb[b], d.axis_rate[i]), matrix_times(d, b, s))
            for k in range(first, last + 1):
                j = m.M_colind[k]
                d.lower[k] = dot6(momentum, d.axis_rate[j]) + dot6(turned, d.cdof[j])
                d.upper[k] = dot6(d.cdof[j], force)


@kernel
def clear_derivative(m, d):
    """lower, upper [nC] ← 0."""
    for k in awake_entries(m, d):
        d.lower[k] = d.upper[k] = 0.0 * d.time


@kernel(inline=True)
def velocity_force(inertia, v, s):
    """D s of one body: the change of v ×* I v and of the rates of the axes for a change s of its velocity."""
    change = cross_force(v, inertia_times_motion(inertia, s))
    change = sub6(change, inertia_times_motion(inertia, cross_motion(v, s)))
    return add6(change, cross_force(s, inertia_times_motion(inertia, v)))


@kernel
def axis_rates(m, d):
    """ψ of every degree of freedom, axis_rate [nv, 6]."""
    zero = 0.0 * d.time
    for j in awake_joints(m, d):
        i = m.jnt_dofadr[j]
        kind = m.jnt_type[j]
        # translations have constant axes
        if kind == FREE:
            for k in range(i, i + 3):
                d.axis_rate[k] = (zero, zero, zero, zero, zero, zero)
            i += 3
        if kind == FREE or kind == BALL:
            # rotation axes turn with the body itself
            turning = scale6(d.qvel[i], d.cdof[i])
            turning = add_scaled6(turning, d.qvel[i + 1], d.cdof[i + 1])
            turning = add_scaled6(turning, d.qvel[i + 2], d.cdof[i + 2])
            for k in range(i, i + 3):
                d.axis_rate[k] = add6(scale6(2.0, d.cdof_dot[k]), cross_motion(turning, d.cdof[k]))
        else:
            d.axis_rate[i] = scale6(2.0, d.cdof_dot[i])


@kernel(inline=True)
def unit(k, like):
    """The k-th unit motion."""
    zero = 0.0 * like
    one = zero + 1.0
    return (
        one if k == 0 else zero,
        one if k == 1 else zero,
        one if k == 2 else zero,
        one if k == 3 else zero,
        one if k == 4 else zero,
        one if k == 5 else zero,
    )


@kernel(inline=True)
def store_column(d, b, k, column):
    """Write column k of body b's matrix D."""
    d.velocity_force[b, k] = column[0]
    d.velocity_force[b, 6 + k] = column[1]
    d.velocity_force[b, 12 + k] = column[2]
    d.velocity_force[b, 18 + k] = column[3]
    d.velocity_force[b, 24 + k] = column[4]
    d.velocity_force[b, 30 + k] = column[5]


@kernel(inline=True)
def _row(d, b, r):
    f = d.velocity_force
    return f[b, r], f[b, r + 1], f[b, r + 2], f[b, r + 3], f[b, r + 4], f[b, r + 5]


@kernel(inline=True)
def matrix_times(d, b, s):
    """D s with body b's subtree sum of D."""
    return (
        dot6(_row(d, b, 0), s),
        dot6(_row(d, b, 6), s),
        dot6(_row(d, b, 12), s),
        dot6(_row(d, b, 18), s),
        dot6(_row(d, b, 24), s),
        dot6(_row(d, b, 30), s),
    )


@kernel(inline=True)
def transpose_times(d, b, s):
    """Dᵀ s with body b's subtree sum of D."""
    out = scale6(s[0], _row(d, b, 0))
    out = add_scaled6(out, s[1], _row(d, b, 6))
    out = add_scaled6(out, s[2], _row(d, b, 12))
    out = add_scaled6(out, s[3], _row(d, b, 18))
    out = add_scaled6(out, s[4], _row(d, b, 24))
    return add_scaled6(out, s[5], _row(d, b, 30))
