"""Articulated-body algorithm: forward dynamics in linear time (Featherstone 2008, table 7.1).

Factorisation and solution are separate, so that one factorisation serves several right-hand sides. The body forces of
`newton_euler_forward`, which include the velocity-dependent accelerations, replace the algorithm's bias forces. Degrees
of freedom are eliminated one at a time, tips to base, so that joints of several degrees of freedom need no matrices of
their own.
"""

from saltus.dynamics.awake.walks import awake_bodies, awake_bodies_and_world, awake_bodies_back
from saltus.dynamics.tree.particles import particle_factor, particle_solve
from saltus.number.conditions import has
from saltus.number.kernels import kernel
from saltus.spatial.articulated import (
    symmetric_add,
    symmetric_add_rigid,
    symmetric_minus_outer,
    symmetric_times,
    symmetric_zero,
)
from saltus.spatial.motions import add6, add_scaled6, dot6


@kernel
def articulated_factor(m, d, h, slope):
    """Articulated-body inertias for M + h diag(slope), with a field slope [nv] (N m s), read if h is not zero.

    Reads cinert [nbody, 10], cdof [nv, 6]. Writes artic_inertia, and artic_column [nv, 6] = U = I s and artic_invdiag
    [nv] = 1/D = 1/(sᵀ I s + armature + h slope), with I the articulated-body inertia at the joint; 1/D is 0 for a
    prescribed dof.
    """
    nothing = symmetric_zero(d.time)
    for k in awake_bodies(m, d):
        b = m.tree_body[k]
        if m.body_branches[b]:
            d.artic_inertia[b] = nothing
    inertia = nothing
    chained = 0
    for k in awake_bodies_back(m, d):
        b = m.tree_body[k]
        # articulated-body inertia: the body's own and those of its children
        if not chained:
            inertia = nothing
        if m.body_branches[b]:
            inertia = symmetric_add(inertia, d.artic_inertia[b])
        inertia = symmetric_add_rigid(inertia, d.cinert[b])
        # eliminate each degree of freedom: I ← I - U Uᵀ / D
        first = m.body_dofadr[b]
        for i in range(first + m.body_dofnum[b] - 1, first - 1, -1):
            s = d.cdof[i]
            column = symmetric_times(inertia, s)
            diagonal = dot6(s, column) + m.dof_armature[i]
            if h != 0.0:
                diagonal = diagonal + h * slope[i]
            inverse = 1.0 / diagonal
            if has(m, "prescribed") and m.dof_prescribed[i]:
                inverse = 0.0 * inverse
            inertia = symmetric_minus_outer(inertia, column, inverse)
            d.artic_column[i] = column
            d.artic_invdiag[i] = inverse
        # pass the inertia on to the parent
        chained = m.body_chained[b]
        parent = m.body_parentid[b]
        if parent > 0 and not chained:
            d.artic_inertia[parent] = symmetric_add(d.artic_inertia[parent], inertia)
    particle_factor(m, d, h, slope)


@kernel
def articulated_solve(m, p, d, force, moving, x):
    """x ← (M + h diag(slope))⁻¹ (force - bias) for fields force, x [nv], after `articulated_factor` on p.

    p is d, or a Data of plain numbers at the same positions. The bias is that of cfrc_body [nbody, 6] (N m, N) if
    `moving` is 1, else zero; prescribed dofs have their accelerations then, and else none (hybrid dynamics,
    Featherstone 2008, section 9.2).
    """
    zero = 0.0 * d.time
    nothing = (zero, zero, zero, zero, zero, zero)
    for k in awake_bodies_and_world(m, d):
        b = m.tree_body[k]
        if m.body_branches[b]:
            d.body_scratch[b] = nothing
    # tips to base: articulated bias force f, and residual (force - sᵀ f) / D of each joint
    f = nothing
    chained = 0
    for k in awake_bodies_back(m, d):
        b = m.tree_body[k]
        if not chained:
            f = nothing
        if moving:
            f = add6(f, d.cfrc_body[b])
        if m.body_branches[b]:
            f = add6(f, d.body_scratch[b])
        first = m.body_dofadr[b]
        for i in range(first + m.body_dofnum[b] - 1, first - 1, -1):
            rest = (force[i] - dot6(p.cdof[i], f)) * p.artic_invdiag[i]
            if has(m, "prescribed") and m.dof_prescribed[i] and moving:
                rest = d.qacc_prescribed[i]
            d.artic_residual[i] = rest
            f = add_scaled6(f, rest, p.artic_column[i])
        chained = m.body_chained[b]
        parent = m.body_parentid[b]
        if parent > 0 and not chained:
            d.body_scratch[parent] = add6(d.body_scratch[parent], f)
    # base to tips: x = residual - Uᵀ a / D; body_scratch now holds accelerations of bodies with several children
    d.body_scratch[0] = nothing
    a = nothing
    for k in awake_bodies(m, d):
        b = m.tree_body[k]
        if not m.body_chained[b]:
            a = d.body_scratch[m.body_parentid[b]]
        first = m.body_dofadr[b]
        for i in range(first, first + m.body_dofnum[b]):
            xi = d.artic_residual[i] - dot6(p.artic_column[i], a) * p.artic_invdiag[i]
            x[i] = xi
            a = add_scaled6(a, xi, p.cdof[i])
        if m.body_branches[b]:
            d.body_scratch[b] = a
    particle_solve(m, p, d, force, moving, x)
