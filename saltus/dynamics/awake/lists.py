"""Lists of awake objects, rebuilt whenever a tree falls asleep or wakes: steps process only their entries.

Fixed bodies are in none of the lists, except those that carry trees; when a state is only evaluated, the lists contain
everything. Work here grows with the size of the model.
"""

from saltus.dynamics.awake.counts import (
    LISTED,
    NACTUATOR,
    NBODY,
    NCOLLIDER,
    NCONTROL,
    NCOORDINATE,
    NCOUPLED,
    NDOF,
    NDOFFRICTION,
    NENTRY,
    NEQUALITY,
    NFRICTION,
    NGRID,
    NJOINT,
    NJOINTLIMIT,
    NLIMIT,
    NOUTPUT,
    NROOT,
    NSHAPE,
    NTENDON,
    NTREE,
    WHOLE,
)
from saltus.model.enums import CARRIER, MOVED
from saltus.number.kernels import kernel


@kernel
def list_awake(m, d):
    """Build all lists with awake objects, by tree_asleep."""
    list_things(m, d, 0)


@kernel
def list_everything(m, d):
    """Build all lists with everything, as if all trees were awake."""
    list_things(m, d, 1)


@kernel
def list_things(m, d, everything):
    """Build all lists, with awake objects or `everything`; LISTED counts the calls."""
    d.awake_count[LISTED] = d.awake_count[LISTED] + 1
    d.awake_count[WHOLE] = everything
    list_trees(m, d, everything)
    list_bodies(m, d, everything)
    list_joints(m, d, everything)
    list_inertia(m, d)
    list_constraints(m, d, everything)
    list_forces(m, d, everything)


@kernel(inline=True)
def append(d, items, kind, x):
    """Append x to a list; `kind`: index of its length."""
    n = d.awake_count[kind]
    items[n] = x
    d.awake_count[kind] = n + 1


@kernel(inline=True)
def is_awake(d, tree):
    """Whether a tree, or the body outside trees that a code stands for, is awake."""
    return tree == MOVED or (tree >= 0 and d.tree_awake[max(tree, 0)] != 0)


@kernel
def list_trees(m, d, everything):
    """List trees; sets tree_awake [ntree]."""
    d.awake_count[NTREE] = 0
    for t in range(m.ntree_sleep):
        d.tree_awake[t] = 0
        if everything or d.tree_asleep[t] < 0.0:
            d.tree_awake[t] = 1
            append(d, d.awake_tree, NTREE, t)


@kernel
def list_bodies(m, d, everything):
    """List bodies, bodies on the world whose subtrees have listed ones, and geoms that collide."""
    d.awake_count[NBODY] = d.awake_count[NROOT] = d.awake_count[NCOLLIDER] = 0
    last = 0
    for b in range(1, m.nbody_sleep):
        tree = m.body_treeid[b]
        if everything or tree == CARRIER or is_awake(d, tree):
            append(d, d.awake_body, NBODY, b)
            root = m.body_rootid[b]
            if root != last:
                append(d, d.awake_root, NROOT, root)
                last = root
    for k in range(m.ncollider_sleep):
        if everything or is_awake(d, m.body_treeid[m.geom_bodyid[m.collider[k]]]):
            append(d, d.awake_collider, NCOLLIDER, k)
    d.awake_count[NGRID] = 0
    for k in range(m.ngrid_sleep):
        if everything or is_awake(d, m.body_treeid[m.geom_bodyid[m.grid_geom[k]]]):
            append(d, d.awake_grid, NGRID, k)


@kernel
def list_joints(m, d, everything):
    """List joints, degrees of freedom and coordinates."""
    d.awake_count[NJOINT] = d.awake_count[NDOF] = d.awake_count[NCOORDINATE] = 0
    for j in range(m.njnt_sleep):
        if everything or is_awake(d, m.body_treeid[m.jnt_bodyid[j]]):
            append(d, d.awake_joint, NJOINT, j)
    for i in range(m.nv_sleep):
        if everything or is_awake(d, m.body_treeid[m.dof_bodyid[i]]):
            append(d, d.awake_dof, NDOF, i)
    for t in range(m.ntree_sleep):
        if d.tree_awake[t]:
            for k in range(m.tree_firstcoordinate[t], m.tree_firstcoordinate[t] + m.tree_ncoordinate[t]):
                append(d, d.awake_coordinate, NCOORDINATE, k)


@kernel
def list_inertia(m, d):
    """List entries of M, and places in M_coupled, of the listed degrees of freedom."""
    d.awake_count[NENTRY] = d.awake_count[NCOUPLED] = 0
    for n in range(d.awake_count[NDOF]):
        i = d.awake_dof[n]
        for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i]):
            append(d, d.awake_entry, NENTRY, k)
    for r in range(m.ncoupled_sleep):
        if d.tree_awake[m.body_treeid[m.dof_bodyid[m.M_coupled[r]]]]:
            append(d, d.awake_coupled, NCOUPLED, r)


@kernel
def list_constraints(m, d, everything):
    """List limits, dry friction and equality constraints."""
    d.awake_count[NLIMIT] = d.awake_count[NJOINTLIMIT] = 0
    for k in range(m.nlimit_sleep):
        if everything or is_awake(d, m.limit_trees[k, 0]) or is_awake(d, m.limit_trees[k, 1]):
            append(d, d.awake_limit, NLIMIT, k)
            if k < m.njntlimit:
                d.awake_count[NJOINTLIMIT] = d.awake_count[NLIMIT]
    d.awake_count[NFRICTION] = d.awake_count[NDOFFRICTION] = 0
    for k in range(m.nfriction_sleep):
        if everything or is_awake(d, m.friction_trees[k, 0]) or is_awake(d, m.friction_trees[k, 1]):
            append(d, d.awake_friction, NFRICTION, k)
            if k < m.ndoffriction:
                d.awake_count[NDOFFRICTION] = d.awake_count[NFRICTION]
    d.awake_count[NEQUALITY] = 0
    for k in range(m.neq_sleep):
        if everything or is_awake(d, m.eq_trees[k, 0]) or is_awake(d, m.eq_trees[k, 1]):
            append(d, d.awake_equality, NEQUALITY, k)


@kernel
def list_forces(m, d, everything):
    """List tendons, actuators with their controls and outputs, and shapes for fluid forces."""
    d.awake_count[NSHAPE] = d.awake_count[NCONTROL] = 0
    for f in range(m.nfluid_sleep):
        if everything or is_awake(d, m.body_treeid[m.fluid_body[f]]):
            append(d, d.awake_shape, NSHAPE, f)
    d.awake_count[NTENDON] = d.awake_count[NACTUATOR] = d.awake_count[NOUTPUT] = 0
    for t in range(m.ntendon_sleep):
        if everything or is_awake(d, m.tendon_trees[t, 0]) or is_awake(d, m.tendon_trees[t, 1]):
            append(d, d.awake_tendon, NTENDON, t)
    for k in range(m.nactuator_sleep):
        if everything or is_awake(d, m.actuator_trees[k, 0]) or is_awake(d, m.actuator_trees[k, 1]):
            append(d, d.awake_actuator, NACTUATOR, k)
            for c in range(m.actuator_ctrladr[k], m.actuator_ctrladr[k] + m.actuator_ctrlnum[k]):
                append(d, d.awake_control, NCONTROL, c)
            for o in range(m.actuator_outadr[k], m.actuator_outadr[k] + m.actuator_outnum[k]):
                append(d, d.awake_output, NOUTPUT, o)
