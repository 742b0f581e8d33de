"""Centres of mass, and spatial inertias and joint axes about each tree's centre of mass."""

from saltus.dynamics.awake.walks import all_awake_bodies, awake_joints, awake_roots
from saltus.model.enums import BALL, FREE, SLIDE
from saltus.number.conditions import has
from saltus.number.functions import any_lane
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, rotate_diagonal, rotate_symmetric, scale3, sub3


@kernel
def centre_of_mass(m, d):
    """Centres of mass of all subtrees.

    Reads xipos [nbody, 3]. Writes subtree_com [nbody, 3] (m).
    """
    # first moments of mass, summed over subtrees
    for b in range(m.nbody):
        d.subtree_com[b] = scale3(m.body_mass[b], d.xipos[b])
    for b in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[b]
        d.subtree_com[parent] = add3(d.subtree_com[parent], d.subtree_com[b])
    # divide by the mass; subtrees without mass use the body's own xipos
    for b in range(m.nbody):
        if any_lane(m.body_inv_subtreemass[b] > 0.0):
            d.subtree_com[b] = scale3(m.body_inv_subtreemass[b], d.subtree_com[b])
        else:
            d.subtree_com[b] = d.xipos[b]


@kernel
def tree_centre_of_mass(m, d):
    """Centres of mass of whole trees only, which suffice for accelerations.

    Reads xipos [nbody, 3]. Writes subtree_com (m) at the roots.
    """
    if has(m, "sleep"):
        for root in awake_roots(m, d):
            centre_of_tree(m, d, root)
        return
    root = 1
    while root < m.nbody:
        centre_of_tree(m, d, root)
        root = m.body_treeend[root]


@kernel(inline=True)
def centre_of_tree(m, d, root):
    """Centre of mass of the whole tree of a root."""
    zero = 0.0 * d.time
    moment = (zero, zero, zero)
    for b in range(root, m.body_treeend[root]):
        moment = add_scaled3(moment, m.body_mass[b], d.xipos[b])
    # a tree without mass uses the root body's xipos
    if any_lane(m.body_inv_subtreemass[root] > 0.0):
        d.subtree_com[root] = scale3(m.body_inv_subtreemass[root], moment)
    else:
        d.subtree_com[root] = d.xipos[root]


@kernel
def com_inertia(m, d):
    """Spatial inertia of each body about its tree's centre of mass, world axes (Featherstone 2008, eq. 2.63).

    Writes cinert [nbody, 10] (kg m², kg m, kg).
    """
    for b in all_awake_bodies(m, d):
        mass = m.body_mass[b]
        r = sub3(d.xipos[b], d.subtree_com[m.body_rootid[b]])
        # inertia matrix about the centre of mass, in world axes: R I Rᵀ
        i = m.body_inertia6[b]
        if m.body_diagonal[b]:
            rotated = rotate_diagonal(d.xmat[b], (i[0], i[1], i[2]))
        else:
            rotated = rotate_symmetric(d.xmat[b], i)
        # first moment, and parallel-axis theorem to the tree's centre of mass
        h = scale3(mass, r)
        square = dot3(h, r)
        d.cinert[b] = (
            rotated[0] + square - h[0] * r[0],
            rotated[1] + square - h[1] * r[1],
            rotated[2] + square - h[2] * r[2],
            rotated[3] - h[0] * r[1],
            rotated[4] - h[0] * r[2],
            rotated[5] - h[1] * r[2],
            h[0],
            h[1],
            h[2],
            mass,
        )


@kernel
def com_dof(m, d):
    """Motion axis of each degree of freedom about its tree's centre of mass, in world axes.

    Writes cdof [nv, 6]: (axis, axis × offset) for rotations, (0, axis) for translations.
    """
    zero = 0.0 * d.time
    for j in awake_joints(m, d):
        kind = m.jnt_type[j]
        dof = m.jnt_dofadr[j]
        b = m.jnt_bodyid[j]
        offset = sub3(d.subtree_com[m.body_rootid[b]], d.xanchor[j])
        axis = d.xaxis[j]
        if kind == SLIDE:
            d.cdof[dof] = (zero, zero, zero, axis[0], axis[1], axis[2])
        elif kind == BALL or kind == FREE:
            if kind == FREE:
                d.cdof[dof] = (zero, zero, zero, zero + 1.0, zero, zero)
                d.cdof[dof + 1] = (zero, zero, zero, zero, zero + 1.0, zero)
                d.cdof[dof + 2] = (zero, zero, zero, zero, zero, zero + 1.0)
                dof += 3
            # rotations about the body's own axes
            mat = d.xmat[b]
            d.cdof[dof] = _rotation((mat[0], mat[3], mat[6]), offset)
            d.cdof[dof + 1] = _rotation((mat[1], mat[4], mat[7]), offset)
            d.cdof[dof + 2] = _rotation((mat[2], mat[5], mat[8]), offset)
        else:
            d.cdof[dof] = _rotation(axis, offset)


@kernel(inline=True)
def _rotation(axis, offset):
    """Motion axis of a rotation about an axis from which the reference point is `offset` away."""
    linear = cross(axis, offset)
    return axis[0], axis[1], axis[2], linear[0], linear[1], linear[2]
