"""Trees that may fall asleep: their state, and lists of awake objects.

All sizes are 0 if nothing may sleep.
"""

from saltus.number.structs import ints, reals

#: Lists of awake objects: the size of each, 0 if nothing may sleep.
LISTS = (
    ("tree", "ntree_sleep"),
    ("body", "nbody_sleep"),
    ("root", "nbody_sleep"),
    ("joint", "njnt_sleep"),
    ("dof", "nv_sleep"),
    ("coordinate", "nq_sleep"),
    ("coupled", "ncoupled_sleep"),
    ("collider", "ncollider_sleep"),
    ("grid", "ngrid_sleep"),
    ("limit", "nlimit_sleep"),
    ("friction", "nfriction_sleep"),
    ("equality", "neq_sleep"),
    ("tendon", "ntendon_sleep"),
    ("actuator", "nactuator_sleep"),
    ("output", "nout_sleep"),
    ("entry", "nC_sleep"),
    ("control", "nu_sleep"),
    ("shape", "nfluid_sleep"),
)
#: Sizes of the grid of geoms that are not awake: entries, buckets.
GRID = ("nstill", "nstillbucket")
SIZES = tuple(dict.fromkeys(size for _, size in LISTS))

MODEL = {  # fixed
    **ints(*SIZES, *GRID),
    # trees: whether they may sleep at all; bodies, degrees of freedom and coordinates of each
    **ints("tree_sleeps", "tree_firstbody", "tree_nbody", "tree_firstdof", "tree_ndof", shape=("ntree_sleep",)),
    **ints("tree_firstcoordinate", "tree_ncoordinate", shape=("ntree_sleep",)),
    # trees on mocap bodies: number of the mocap body, and of the tree among them; -1 for others
    **ints("tree_mocap", "tree_carried", shape=("ntree_sleep",)),
    **ints("ncarried_sleep"),
    # the tree of each body, and the two trees of objects that join them; codes for none: see `saltus.model.enums`
    **ints("body_treeid", shape=("nbody_sleep",)),
    **ints("limit_trees", shape=("nlimit_sleep", 2)),
    **ints("friction_trees", shape=("nfriction_sleep", 2)),
    **ints("eq_trees", shape=("neq_sleep", 2)),
    **ints("tendon_trees", shape=("ntendon_sleep", 2)),
    **ints("actuator_trees", shape=("nactuator_sleep", 2)),
    # length of degrees of freedom, by which speeds are compared (m/rad, 1 for translations); tolerance (m/s)
    **reals("dof_length", shape=("nv_sleep",)),
    **reals("opt_sleep_tolerance", shape=("nsleep",)),
    **ints("nsleep"),
}

STATE = {  # state: kept from step to step
    # below 0: awake, minus the number of slow steps before a tree may fall asleep (-1: ready); otherwise asleep, and
    # the next of the trees that sleep and wake together
    **reals("tree_asleep", shape=("ntree_sleep",)),
    **reals("qpos_asleep", shape=("nq_sleep",)),  # positions at which sleeping trees fell asleep (m, rad)
    # trees on mocap bodies: the poses of these bodies at that time (m, quaternion)
    **reals("carried_pos", shape=("ncarried_sleep", 3)),
    **reals("carried_quat", shape=("ncarried_sleep", 4)),
}

POSITION = {  # depends on positions
    # numbers of awake objects, ascending (see `saltus.dynamics.awake`), and their counts
    **{name: field for kind, size in LISTS for name, field in ints(f"awake_{kind}", shape=(size,)).items()},
    **ints("awake_count", shape=(25,)),
    # geoms that are not awake, in cells of their own level of the grid and of coarser ones: cell, level, place in
    # grid_geom, next in the bucket; first in each bucket
    **ints("still_cell", shape=("nstill", 3)),
    **ints("still_level", "still_geom", "still_next", shape=("nstill",)),
    **ints("still_first", shape=("nstillbucket",)),
    **ints("tree_awake", shape=("ntree_sleep",)),
    **reals("qpos_placed", shape=("nq_sleep",)),  # positions at which sleeping trees were placed (m, rad)
    # islands, while trees fall asleep: a lower tree that rows couple a tree with, or the tree itself; by the lowest
    # tree of an island: whether some tree of it is not ready, and the last tree found
    **ints("tree_joined", "tree_blocked", "tree_last", shape=("ntree_sleep",)),
}

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "dynamics", "solve"),
    "STATE": ("dynamics", "solve"),
    "POSITION": ("contact", "dynamics", "integrate", "solve"),
}
WRITTEN_BY = {
    "STATE": ("dynamics", "solve"),
    "POSITION": ("contact", "dynamics", "integrate", "solve"),
}
