"""Bodies, joints, degrees of freedom and frames on them, and the smooth forces on them."""

from saltus.number.structs import ints, reals

NPOLY = 2  # coefficients of polynomial springs and dampers beyond the linear one

MODEL = {  # fixed
    # sizes
    **ints("nq", "nv", "nu", "na", "nactuator", "nbody", "njnt", "ngeom", "nsite", "nC"),
    # whether `euler` integrates dampers implicitly, gravity is compensated, there are free bodies, actuators act
    **ints("implicit_damping", "has_gravcomp", "has_freebody", "has_actuation"),
    # whether forces read orientations and velocities of all bodies
    **ints("keep_bodies"),
    # bodies
    **ints(
        *["body_parentid", "body_rootid", "body_weldid", "body_jntadr", "body_jntnum", "body_dofadr", "body_dofnum"],
        shape=("nbody",),
    ),
    # bodies visited by loops over the tree, the world first, and particles (see `saltus.model.tree.particles`)
    **ints("ntree_body", "nparticle"),
    **ints("tree_body", shape=("ntree_body",)),
    **ints("particle_body", shape=("nparticle",)),
    **ints("body_lastdof", shape=("nbody",)),  # the nearest dof on the path to the root, -1 for none
    **ints("body_treeend", shape=("nbody",)),  # for a tree's root: one past its last body
    **ints("body_chained", shape=("nbody",)),  # the parent is the previous body: its values are still in registers
    **ints("body_branches", shape=("nbody",)),  # some child is not the next body
    **ints("body_diagonal", shape=("nbody",)),  # the inertia is diagonal in body axes
    **ints("body_turned", shape=("nbody",)),  # body_quat is not the identity
    **reals("body_invweight0", shape=("nbody", 2)),  # inverse inertias: 1/kg, 1/(kg m²)
    **reals("body_pos", "body_ipos", shape=("nbody", 3)),
    **reals("body_quat", "body_iquat", shape=("nbody", 4)),
    **reals("body_inertia6", shape=("nbody", 6)),  # inertia about the centre of mass, body axes: xx yy zz xy xz yz
    **reals("body_mass", "body_inv_subtreemass", "body_gravcomp", shape=("nbody",)),
    # joints
    **ints(*["jnt_type", "jnt_qposadr", "jnt_dofadr", "jnt_bodyid", "jnt_spring", "jnt_offset"], shape=("njnt",)),
    **reals("jnt_pos", "jnt_axis", shape=("njnt", 3)),
    **reals("jnt_stiffness", shape=("njnt",)),
    **reals("jnt_stiffnesspoly", shape=("njnt", NPOLY)),
    **ints("jnt_actgravcomp", "jnt_actfrclimited", shape=("njnt",)),
    **reals("jnt_actfrcrange", shape=("njnt", 2)),
    **reals("qpos0", "qpos_spring", shape=("nq",)),
    # degrees of freedom; dof_leads marks the first of each set whose axes rotate together;
    # rows of M hold a dof's ancestors in ascending order, itself last
    **ints("dof_bodyid", "dof_jntid", "dof_parentid", "dof_freebody", "dof_leads", shape=("nv",)),
    **ints("dof_simple", shape=("nv",)),  # MuJoCo knows its row of M to be diagonal
    **ints("M_rownnz", "M_rowadr", shape=("nv",)),
    **ints("M_colind", shape=("nC",)),
    **ints("ncoupled"),
    **ints("M_coupled", shape=("ncoupled",)),  # rows with more than the diagonal
    **reals("dof_armature", "dof_damping", shape=("nv",)),
    **reals("dof_dampingpoly", shape=("nv", NPOLY)),
    # attached frames; geom_mat: rotation to the body's axes; geom_turned: it is not the identity
    **ints("geom_bodyid", "geom_type", "geom_turned", shape=("ngeom",)),
    **reals("geom_pos", "geom_size", shape=("ngeom", 3)),
    **reals("geom_quat", shape=("ngeom", 4)),
    **reals("geom_mat", shape=("ngeom", 9)),
    **reals("geom_rbound", shape=("ngeom",)),  # m, 0 for planes
    **reals("geom_surfacevel", shape=("ngeom", 6)),  # m/s, rad/s, in the geom's axes
    **ints("site_bodyid", shape=("nsite",)),
    **reals("site_pos", shape=("nsite", 3)),
    **reals("site_quat", shape=("nsite", 4)),
    **reals("site_mat", shape=("nsite", 9)),
    # mocap bodies, -1 for none
    **ints("nmocap", "nmover"),
    **ints("body_mocapid", shape=("nbody",)),
    # prescribed motions: joints and mocap bodies in the order of their functions; whether a dof is prescribed
    **ints("nmotion", "nv_motion", "ncarrier", "nmover_motion"),
    **ints("motion_qposadr", "motion_dofadr", shape=("nmotion",)),
    **ints("dof_prescribed", shape=("nv_motion",)),
    **ints("carrier_mocapid", shape=("ncarrier",)),
    # options
    **reals("opt_gravity", "opt_magnetic", shape=(1, 3)),
}

STATE = {  # state: kept from step to step
    **reals("time"),
    **reals("qpos", shape=("nq",)),
    **reals("qvel", shape=("nv",)),
}

POSES = {  # inputs
    **reals("mocap_pos", shape=("nmocap", 3)),
    **reals("mocap_quat", shape=("nmocap", 4)),
    # moving mocap bodies under hard contact: velocities as users see them (m/s, rad/s; world axes), and their motion,
    # see `saltus.dynamics.tree.guided.movers`; mover_given: 1 if the velocity was given
    **reals("mocap_vel", "mover_vel", shape=("nmover", 6)),
    **reals("mover_pos", shape=("nmover", 3)),
    **reals("mover_quat", shape=("nmover", 4)),
    **reals("mover_time", "mover_given", shape=("nmover",)),
}

FORCES = {  # inputs
    **reals("qfrc_applied", shape=("nv",)),
    **reals("xfrc_applied", shape=("nbody", 6)),  # force, torque about the body's centre of mass; world axes
}

STEP = {  # of the current step
    **ints("has_xfrc"),  # whether xfrc_applied is read at all; set before each call
    **reals("timestep"),  # s, of the simulation
}

POSITION = {  # depends on positions
    **reals("xpos", "xipos", "subtree_com", shape=("nbody", 3)),
    **reals("xquat", shape=("nbody", 4)),
    **reals("xmat", "ximat", shape=("nbody", 9)),
    **reals("xanchor", "xaxis", shape=("njnt", 3)),
    **reals("geom_xpos", shape=("ngeom", 3)),
    **reals("geom_xmat", shape=("ngeom", 9)),
    **reals("site_xpos", shape=("nsite", 3)),
    **reals("site_xmat", shape=("nsite", 9)),
    **reals("cinert", "crb", shape=("nbody", 10)),
    **reals("cdof", "cdof_dot", shape=("nv", 6)),
    **reals("M", "qLD", shape=("nC",)),
    **reals("qLDiagInv", shape=("nv",)),
}

VELOCITY = {  # depends on velocities and inputs
    **reals("cvel", "cacc", "cfrc_body", shape=("nbody", 6)),
    **reals(
        *["qfrc_bias", "qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_passive", "qfrc_actuator"],
        shape=("nv",),
    ),
    # acceleration; qfrc_tau: all generalised forces but the bias
    **reals("qfrc_damper_slope", shape=("nv",)),  # -d(qfrc_damper)/d(qvel), N m s
    **reals("qfrc_tau", "qfrc_smooth", "qacc_smooth", "qacc", "qfrc_inverse", shape=("nv",)),
    # prescribed motions: accelerations of dofs (0 where they are free), and the forces that they need (N, N m);
    # accelerations of mocap bodies (m/s², rad/s²; world axes)
    **reals("qacc_prescribed", "qfrc_prescribed", shape=("nv_motion",)),
    **reals("mover_acc", shape=("nmover_motion", 6)),
    # bounds in a step: speed (m/s), acceleration (m/s²), angular speed (rad/s), its rate (rad/s²)
    **reals("mover_bound", shape=("nmover_motion", 4)),
    # addresses of the functions of prescribed motions in this process
    **ints("motion_address", shape=("nmotion",)),
    **ints("carrier_address", shape=("ncarrier",)),
    **reals("energy", shape=(2,)),
}

SCRATCH = {  # scratch
    # articulated bodies
    **reals("artic_inertia", shape=("nbody", 21)),
    # scratch of walks over the tree: quantities passed from bodies to parents (wrenches, momenta, accelerations)
    **reals("body_scratch", shape=("nbody", 6)),
    **reals("artic_column", shape=("nv", 6)),
    **reals("artic_invdiag", "artic_residual", shape=("nv",)),
}

#: Fields of MODEL that may differ from simulation to simulation of a batch.
VARIES = (
    *(
        "body_invweight0",
        "body_pos",
        "body_ipos",
        "body_quat",
        "body_iquat",
        "body_inertia6",
        "body_mass",
    ),
    *(
        "body_inv_subtreemass",
        "jnt_pos",
        "jnt_axis",
        "jnt_stiffness",
        "jnt_stiffnesspoly",
        "jnt_actfrcrange",
    ),
    *(
        "qpos_spring",
        "dof_armature",
        "dof_damping",
        "dof_dampingpoly",
        "geom_pos",
        "geom_quat",
        "geom_mat",
    ),
    *(
        "geom_size",
        "geom_rbound",
        "site_pos",
        "site_quat",
        "site_mat",
        "opt_gravity",
        "opt_magnetic",
    ),
)

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "dynamics", "integrate", "sense", "solve"),
    "STATE": ("contact", "dynamics", "integrate", "sense", "solve"),
    "POSES": ("contact", "dynamics", "integrate", "solve"),
    "FORCES": ("dynamics", "integrate", "sense"),
    "STEP": ("dynamics", "integrate", "sense", "solve"),
    "POSITION": ("contact", "dynamics", "integrate", "sense", "solve"),
    "VELOCITY": ("contact", "dynamics", "integrate", "sense", "solve"),
    "SCRATCH": ("dynamics", "integrate"),
}
WRITTEN_BY = {
    "STATE": ("dynamics", "integrate", "solve"),
    "POSES": ("dynamics",),
    "POSITION": ("contact", "dynamics", "integrate", "solve"),
    "VELOCITY": ("dynamics", "integrate", "solve"),
    "SCRATCH": ("dynamics", "integrate"),
}
