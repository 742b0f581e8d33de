"""Ranges of loops in a step: all objects or, if trees may sleep, the awake ones.

    for i in awake_dofs(m, d): ...

Without the feature "sleep" these are ranges. With it they are the lists of `saltus.dynamics.awake.lists`, which contain
everything when a state is only evaluated.
"""

from saltus.dynamics.awake.counts import (
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
)
from saltus.number.kernels import kernel, only_with
from saltus.number.walks import walk, walk_back


@only_with("sleep", otherwise="range(1, m.ntree_body)")
@kernel(inline=True)
def awake_bodies(m, d):
    """Places in tree_body, without the world's, parents first."""
    return walk(d.awake_body, 0, d.awake_count[NBODY])


@only_with("sleep", otherwise="range(m.ntree_body - 1, 0, -1)")
@kernel(inline=True)
def awake_bodies_back(m, d):
    """Places in tree_body, without the world's, children first."""
    return walk_back(d.awake_body, 0, d.awake_count[NBODY])


@only_with("sleep", otherwise="range(m.ntree_body)")
@kernel(inline=True)
def awake_bodies_and_world(m, d):
    """Places in tree_body, including the world's unless no awake object needs it."""
    return walk(d.awake_body, 0, d.awake_count[NBODY])


@only_with("sleep", otherwise="range(1, m.nbody)")
@kernel(inline=True)
def all_awake_bodies(m, d):
    """Numbers of all bodies except the world, particles included."""
    return walk(d.awake_body, 0, d.awake_count[NBODY])


@only_with("sleep", otherwise="range(m.nbody - 1, 0, -1)")
@kernel(inline=True)
def all_awake_bodies_back(m, d):
    """Numbers of all bodies except the world, particles included, children first."""
    return walk_back(d.awake_body, 0, d.awake_count[NBODY])


@only_with("sleep")
@kernel(inline=True)
def awake_roots(m, d):
    """Bodies whose parent is the world."""
    return walk(d.awake_root, 0, d.awake_count[NROOT])


@only_with("sleep", otherwise="range(m.njnt)")
@kernel(inline=True)
def awake_joints(m, d):
    """Joints."""
    return walk(d.awake_joint, 0, d.awake_count[NJOINT])


@only_with("sleep", otherwise="range(m.nv)")
@kernel(inline=True)
def awake_dofs(m, d):
    """Degrees of freedom."""
    return walk(d.awake_dof, 0, d.awake_count[NDOF])


@only_with("sleep", otherwise="range(m.nv - 1, -1, -1)")
@kernel(inline=True)
def awake_dofs_back(m, d):
    """Degrees of freedom, the last one first."""
    return walk_back(d.awake_dof, 0, d.awake_count[NDOF])


@only_with("sleep", otherwise="range(m.nq)")
@kernel(inline=True)
def awake_coordinates(m, d):
    """Entries of qpos."""
    return walk(d.awake_coordinate, 0, d.awake_count[NCOORDINATE])


@only_with("sleep", otherwise="range(m.ncoupled)")
@kernel(inline=True)
def awake_coupled(m, d):
    """Places in M_coupled."""
    return walk(d.awake_coupled, 0, d.awake_count[NCOUPLED])


@only_with("sleep", otherwise="range(m.ncoupled - 1, -1, -1)")
@kernel(inline=True)
def awake_coupled_back(m, d):
    """Places in M_coupled, the last one first."""
    return walk_back(d.awake_coupled, 0, d.awake_count[NCOUPLED])


@only_with("sleep", otherwise="range(m.nC)")
@kernel(inline=True)
def awake_entries(m, d):
    """Entries of M."""
    return walk(d.awake_entry, 0, d.awake_count[NENTRY])


@only_with("sleep", otherwise="range(m.ncollider)")
@kernel(inline=True)
def awake_colliders(m, d):
    """Places in collider."""
    return walk(d.awake_collider, 0, d.awake_count[NCOLLIDER])


@only_with("sleep", otherwise="range(m.ngrid)")
@kernel(inline=True)
def awake_grid(m, d):
    """Places in grid_geom."""
    return walk(d.awake_grid, 0, d.awake_count[NGRID])


@only_with("sleep", otherwise="m.ngrid")
@kernel(inline=True)
def awake_grid_count(m, d):
    """Number of places in grid_geom."""
    return d.awake_count[NGRID]


@only_with("sleep", otherwise="range(first, last)")
@kernel(inline=True)
def awake_grid_part(m, d, first, last):
    """Places in grid_geom from number `first` up to `last` (exclusive)."""
    return walk(d.awake_grid, first, last)


@only_with("sleep", otherwise="range(m.njntlimit)")
@kernel(inline=True)
def awake_joint_limits(m, d):
    """Limits of joints."""
    return walk(d.awake_limit, 0, d.awake_count[NJOINTLIMIT])


@only_with("sleep", otherwise="range(m.njntlimit, m.nlimit)")
@kernel(inline=True)
def awake_tendon_limits(m, d):
    """Limits of tendons."""
    return walk(d.awake_limit, d.awake_count[NJOINTLIMIT], d.awake_count[NLIMIT])


@only_with("sleep", otherwise="range(m.ndoffriction)")
@kernel(inline=True)
def awake_dof_frictions(m, d):
    """Dry friction of degrees of freedom."""
    return walk(d.awake_friction, 0, d.awake_count[NDOFFRICTION])


@only_with("sleep", otherwise="range(m.ndoffriction, m.nfriction)")
@kernel(inline=True)
def awake_tendon_frictions(m, d):
    """Dry friction of tendons."""
    return walk(d.awake_friction, d.awake_count[NDOFFRICTION], d.awake_count[NFRICTION])


@only_with("sleep", otherwise="range(m.neq)")
@kernel(inline=True)
def awake_equalities(m, d):
    """Equality constraints."""
    return walk(d.awake_equality, 0, d.awake_count[NEQUALITY])


@only_with("sleep", otherwise="range(m.ntendon)")
@kernel(inline=True)
def awake_tendons(m, d):
    """Tendons."""
    return walk(d.awake_tendon, 0, d.awake_count[NTENDON])


@only_with("sleep", otherwise="range(m.nactuator)")
@kernel(inline=True)
def awake_actuators(m, d):
    """Actuators."""
    return walk(d.awake_actuator, 0, d.awake_count[NACTUATOR])


@only_with("sleep", otherwise="range(m.nout)")
@kernel(inline=True)
def awake_outputs(m, d):
    """Outputs of actuators."""
    return walk(d.awake_output, 0, d.awake_count[NOUTPUT])


@only_with("sleep", otherwise="range(m.nu)")
@kernel(inline=True)
def awake_controls(m, d):
    """Controls of actuators."""
    return walk(d.awake_control, 0, d.awake_count[NCONTROL])


@only_with("sleep", otherwise="range(m.nfluid)")
@kernel(inline=True)
def awake_fluid_shapes(m, d):
    """Shapes for fluid forces."""
    return walk(d.awake_shape, 0, d.awake_count[NSHAPE])


@only_with("sleep", otherwise="range(m.nsolvertree)")
@kernel(inline=True)
def awake_trees(m, d):
    """Kinematic trees, if the solver takes them one by one."""
    return walk(d.awake_tree, 0, d.awake_count[NTREE])


@only_with("sleep", otherwise="range(m.nsolvertree - 1, -1, -1)")
@kernel(inline=True)
def awake_trees_back(m, d):
    """Kinematic trees, the last one first, if the solver takes them one by one."""
    return walk_back(d.awake_tree, 0, d.awake_count[NTREE])


@only_with("sleep", otherwise="m.nsolvertree")
@kernel(inline=True)
def awake_tree_count(m, d):
    """Number of kinematic trees, if the solver takes them one by one."""
    return d.awake_count[NTREE]


@only_with("sleep", otherwise="range(0)")
@kernel(inline=True)
def every_awake_tree(m, d):
    """Kinematic trees, with any solver."""
    return walk(d.awake_tree, 0, d.awake_count[NTREE])
