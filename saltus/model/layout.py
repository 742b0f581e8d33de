"""The fields of Model and Data as kernels see them: names, extents, units.

Names are MuJoCo's where the thing is MuJoCo's. What the options of a file switch off (gravity, springs, dampers,
actuation) is already zero in the kernels' Model, so that kernels need no switches.
"""

from saltus.number.structs import Field, Layout


def _ints(*names, shape=()):
    return {name: Field("int", shape) for name in names}


def _reals(*names, shape=()):
    return {name: Field("real", shape) for name in names}


NPOLY = 2  # coefficients of polynomial springs and dampers beyond the linear one

MODEL = Layout(
    "Model",
    {
        # sizes
        **_ints("nq", "nv", "nu", "na", "nactuator", "nbody", "njnt", "ngeom", "nsite", "nC"),
        # whether `euler` integrates dampers implicitly, any body's weight is compensated, actuators act
        **_ints("implicit_damping", "has_gravcomp", "has_freebody", "has_actuation"),
        # bodies
        **_ints(
            *["body_parentid", "body_rootid", "body_jntadr", "body_jntnum", "body_dofadr", "body_dofnum"],
            shape=("nbody",),
        ),
        **_ints("body_lastdof", shape=("nbody",)),  # the nearest dof on the way to the root, -1 for none
        **_ints("body_treeend", shape=("nbody",)),  # for a tree's root: one past its last body
        **_ints("body_chained", shape=("nbody",)),  # the parent is the body before: what was computed last goes on
        **_ints("body_branches", shape=("nbody",)),  # some child is not the body after
        **_ints("body_diagonal", shape=("nbody",)),  # the inertia is diagonal in body axes
        **_ints("body_turned", shape=("nbody",)),  # body_quat is not the identity
        **_reals("body_pos", "body_ipos", shape=("nbody", 3)),
        **_reals("body_quat", "body_iquat", shape=("nbody", 4)),
        **_reals("body_inertia6", shape=("nbody", 6)),  # inertia about the centre of mass, body axes: xx yy zz xy xz yz
        **_reals("body_mass", "body_inv_subtreemass", "body_gravcomp", shape=("nbody",)),
        # joints
        **_ints(*["jnt_type", "jnt_qposadr", "jnt_dofadr", "jnt_bodyid", "jnt_spring", "jnt_offset"], shape=("njnt",)),
        **_reals("jnt_pos", "jnt_axis", shape=("njnt", 3)),
        **_reals("jnt_stiffness", shape=("njnt",)),
        **_reals("jnt_stiffnesspoly", shape=("njnt", NPOLY)),
        **_ints("jnt_actgravcomp", "jnt_actfrclimited", shape=("njnt",)),
        **_reals("jnt_actfrcrange", shape=("njnt", 2)),
        **_reals("qpos0", "qpos_spring", shape=("nq",)),
        # degrees of freedom; dof_leads marks the first of each set that turns together;
        # M's rows hold a dof's ancestors in ascending order, itself last
        **_ints("dof_bodyid", "dof_jntid", "dof_parentid", "dof_freebody", "dof_leads", shape=("nv",)),
        **_ints("M_rownnz", "M_rowadr", shape=("nv",)),
        **_ints("M_colind", shape=("nC",)),
        **_reals("dof_armature", "dof_damping", shape=("nv",)),
        **_reals("dof_dampingpoly", shape=("nv", NPOLY)),
        # actuators on hinges and slides
        **_ints(
            *["actuator_jntid", "actuator_ctrladr", "actuator_enabled", "actuator_forcelimited"], shape=("nactuator",)
        ),
        **_reals("actuator_gear", shape=("nactuator",)),
        **_reals("actuator_gainprm", "actuator_biasprm", shape=("nactuator", 3)),
        **_reals("actuator_forcerange", shape=("nactuator", 2)),
        **_ints("actuator_ctrllimited", shape=("nu",)),
        **_reals("actuator_ctrlrange", shape=("nu", 2)),
        # attached frames
        **_ints("geom_bodyid", shape=("ngeom",)),
        **_reals("geom_pos", shape=("ngeom", 3)),
        **_reals("geom_quat", shape=("ngeom", 4)),
        **_ints("site_bodyid", shape=("nsite",)),
        **_reals("site_pos", shape=("nsite", 3)),
        **_reals("site_quat", shape=("nsite", 4)),
        # options
        **_reals("opt_gravity", shape=(1, 3)),
    },
    frozen=True,
)

DATA = Layout(
    "Data",
    {
        **_ints("has_xfrc"),  # whether xfrc_applied is read at all; set before each call
        # state and inputs: one contiguous piece
        **_reals("time"),
        **_reals("qpos", shape=("nq",)),
        **_reals("qvel", shape=("nv",)),
        **_reals("act", shape=("na",)),
        **_reals("memory", shape=("nmemory",)),  # what a multi-step integrator remembers
        **_reals("ctrl", shape=("nu",)),
        **_reals("qfrc_applied", shape=("nv",)),
        **_reals("xfrc_applied", shape=("nbody", 6)),  # force, torque about the body's centre of mass; world axes
        # position
        **_reals("xpos", "xipos", "subtree_com", shape=("nbody", 3)),
        **_reals("xquat", shape=("nbody", 4)),
        **_reals("xmat", "ximat", shape=("nbody", 9)),
        **_reals("xanchor", "xaxis", shape=("njnt", 3)),
        **_reals("geom_xpos", shape=("ngeom", 3)),
        **_reals("geom_xmat", shape=("ngeom", 9)),
        **_reals("site_xpos", shape=("nsite", 3)),
        **_reals("site_xmat", shape=("nsite", 9)),
        **_reals("cinert", "crb", shape=("nbody", 10)),
        **_reals("cdof", "cdof_dot", shape=("nv", 6)),
        **_reals("M", "qLD", shape=("nC",)),
        **_reals("qLDiagInv", shape=("nv",)),
        # velocity
        **_reals("cvel", "cacc", "cfrc_body", shape=("nbody", 6)),
        **_reals(
            *["qfrc_bias", "qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_passive", "qfrc_actuator"],
            shape=("nv",),
        ),
        **_reals("actuator_length", "actuator_velocity", "actuator_force", shape=("nactuator",)),
        # acceleration
        **_reals("qfrc_damper_slope", shape=("nv",)),  # -d(qfrc_damper)/d(qvel), N m s
        **_reals("qfrc_smooth", "qacc_smooth", "qacc", "qfrc_inverse", shape=("nv",)),
        **_reals("energy", shape=(2,)),
        # articulated bodies
        **_reals("artic_inertia", shape=("nbody", 21)),
        **_reals("artic_force", shape=("nbody", 6)),
        **_reals("artic_column", shape=("nv", 6)),
        **_reals("artic_invdiag", "artic_residual", shape=("nv",)),
        # integrators
        **_reals("qpos_saved", shape=("nq",)),
        **_reals("qvel_saved", "qacc_saved", "qstep", shape=("nv",)),
        **_reals("stage_qvel", "stage_qacc", shape=("nstage_nv",)),
        **_reals("qfrc_actuator_slope", "slope", shape=("nv",)),  # N m s
        **_reals("velocity_force", shape=("nbody_implicit", 36)),
        **_reals("axis_rate", shape=("nv_implicit", 6)),
        **_reals("lower", "upper", shape=("nC_implicit",)),
        **_reals("momentum", "momentum_rate", "momentum_saved", shape=("nv_newton",)),  # N m s, N s; N m, N
        **_reals("stage_unknown", "stage_residual", "stage_trial", shape=("nnewton",)),
        **_reals("jacobian", shape=("nnewton_square",)),
    },
)


def data_sizes(model_sizes, *, nmemory=0, nstage=0, implicit=False, newton=False):
    """Sizes of a Data for the model's sizes and what an integrator needs beside.

    `nmemory`: numbers that it remembers; `nstage`: stages whose slopes it keeps; `implicit`: it uses derivatives in the
    velocities; `newton`: it solves for all stages by Newton's method.
    """
    nv = model_sizes["nv"]
    unknowns = nstage * nv if newton else 0
    return dict(
        model_sizes,
        nmemory=nmemory,
        nstage_nv=nstage * nv,
        nbody_implicit=model_sizes["nbody"] if implicit else 0,
        nv_implicit=nv if implicit else 0,
        nC_implicit=model_sizes["nC"] if implicit else 0,
        nv_newton=nv if newton else 0,
        nnewton=unknowns,
        nnewton_square=unknowns * unknowns,
    )
