"""Joint-space inertia matrix."""

from saltus.dynamics.awake.walks import all_awake_bodies, all_awake_bodies_back, awake_bodies
from saltus.dynamics.tree.particles import particle_inertia
from saltus.dynamics.tree.tendon_inertia import add_tendon_inertia
from saltus.number.kernels import kernel
from saltus.spatial.motions import add10, dot6, inertia_times_motion


@kernel
def composite_inertia(m, d):
    """Joint-space inertia M by the composite-rigid-body algorithm (Featherstone 2008, table 6.2).

    Reads cinert [nbody, 10] (kg m², kg m, kg, about the tree's centre of mass), cdof [nv, 6]; ten_J [ntenJ] of tendons
    with inertia. Writes crb [nbody, 10] and M [nC]: for each dof the entries of its ancestors, itself last.
    """
    zero = 0.0 * d.time
    d.crb[0] = (zero, zero, zero, zero, zero, zero, zero, zero, zero, zero)
    # composite inertias: sums over subtrees
    for b in all_awake_bodies(m, d):
        d.crb[b] = d.cinert[b]
    for b in all_awake_bodies_back(m, d):
        parent = m.body_parentid[b]
        if parent > 0:
            d.crb[parent] = add10(d.crb[parent], d.crb[b])
    # rows of M, body by body
    for t in awake_bodies(m, d):
        b = m.tree_body[t]
        for i in range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b]):
            inertia_row(m, d, i)
    particle_inertia(m, d)
    add_tendon_inertia(m, d)


@kernel(inline=True)
def inertia_row(m, d, i):
    """Row i of M: degree of freedom i with its ancestors."""
    momentum = inertia_times_motion(d.crb[m.dof_bodyid[i]], d.cdof[i])
    first = m.M_rowadr[i]
    last = first + m.M_rownnz[i] - 1
    for k in range(first, last):
        d.M[k] = dot6(d.cdof[m.M_colind[k]], momentum)
    d.M[last] = m.dof_armature[i] + dot6(d.cdof[i], momentum)
