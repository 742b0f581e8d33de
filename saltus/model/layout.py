"""The fields of Model and Data as kernels see them: names, extents, units.

Names are MuJoCo's where the thing is MuJoCo's. What the options of a file switch off (gravity, springs, dampers,
actuation) is already zero in the kernels' Model, so that kernels need no switches.
"""

import functools

from saltus.model import cones, cones_impact
from saltus.model.flex_fields import FLEX_DATA, FLEX_MODEL
from saltus.number.structs import Layout, ints, reals

BITS = 62  # of an integer that hold flags
NPRM = 10  # parameters of an actuator's dynamics, gain or bias
EVENT_WIDTH = 10  # numbers of an event in the log (see `saltus.contact.event.modes`)
NPOLY = 2  # coefficients of polynomial springs and dampers beyond the linear one

MODEL = Layout(
    "Model",
    {
        # sizes
        **ints("nq", "nv", "nu", "na", "nactuator", "nbody", "njnt", "ngeom", "nsite", "nC"),
        # sizes of what constrains: geoms that collide, pairs of them, laws, chains, limits, dry friction, equalities
        **ints("ncollider", "ncollision", "nlaw", "nchain", "nchaindof", "nlimit", "nfriction", "neq"),
        # capacities of a Data for contacts, blocks of rows, rows, entries of the Jacobian
        **ints("nconmax", "nblockmax", "nrowmax", "nJmax"),
        # whether `euler` integrates dampers implicitly, any body's weight is compensated, actuators act
        **ints("implicit_damping", "has_gravcomp", "has_freebody", "has_actuation"),
        # whether forces read orientations and velocities of all bodies
        **ints("keep_bodies"),
        **ints("ntouch", "nv_touch"),  # room for the forces of contacts that follow a law of the user's
        # bodies
        **ints(
            *["body_parentid", "body_rootid", "body_jntadr", "body_jntnum", "body_dofadr", "body_dofnum"],
            shape=("nbody",),
        ),
        # those that loops over the tree visit, the world first, and the others (see `saltus.model.tree.particles`)
        **ints("ntree_body", "nparticle"),
        **ints("tree_body", shape=("ntree_body",)),
        **ints("particle_body", shape=("nparticle",)),
        **ints("body_lastdof", shape=("nbody",)),  # the nearest dof on the way to the root, -1 for none
        **ints("body_treeend", shape=("nbody",)),  # for a tree's root: one past its last body
        **ints("body_chained", shape=("nbody",)),  # the parent is the body before: what was computed last goes on
        **ints("body_branches", shape=("nbody",)),  # some child is not the body after
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
        # degrees of freedom; dof_leads marks the first of each set that turns together;
        # M's rows hold a dof's ancestors in ascending order, itself last
        **ints("dof_bodyid", "dof_jntid", "dof_parentid", "dof_freebody", "dof_leads", shape=("nv",)),
        **ints("dof_simple", shape=("nv",)),  # MuJoCo knows its row of M to be a diagonal
        **ints("M_rownnz", "M_rowadr", shape=("nv",)),
        **ints("M_colind", shape=("nC",)),
        **ints("ncoupled"),
        **ints("M_coupled", shape=("ncoupled",)),  # those rows that hold more than the diagonal
        **reals("dof_armature", "dof_damping", shape=("nv",)),
        **reals("dof_dampingpoly", shape=("nv", NPOLY)),
        # actuators: their laws, and where their controls, activation states and outputs lie; actuator_slot: places of
        # the states of motors and servos among the actuator's own, -1 for none (see `saltus.model.compile.actuators`);
        # actuator_period: of setpoints that are angles, 0 for none
        **ints(
            *["actuator_dyntype", "actuator_gaintype", "actuator_biastype", "actuator_ctrladr", "actuator_ctrlnum"],
            *["actuator_ctrlspec", "actuator_actadr", "actuator_actnum", "actuator_outadr", "actuator_outnum"],
            *["actuator_enabled", "actuator_actearly", "actuator_actlimited", "actuator_forcelimited"],
            shape=("nactuator",),
        ),
        **ints("actuator_slot", shape=("nactuator", 5)),
        **reals("actuator_dynprm", "actuator_gainprm", "actuator_biasprm", shape=("nactuator", NPRM)),
        **reals("actuator_forcerange", "actuator_actrange", shape=("nactuator", 2)),
        **reals("actuator_period", shape=("nactuator",)),
        # delayed controls: samples in the history (0: no delay), way to interpolate, place in it, delay (s)
        **ints("actuator_nsample", "actuator_interp", "actuator_historyadr", shape=("nactuator",)),
        **reals("actuator_delay", shape=("nactuator",)),
        # outputs of actuators: kind of transmission, what it is attached to, the degrees of freedom that it feels
        **ints("nout", "nmoment"),
        # out_axis: which of the actuator's outputs it is
        **ints("out_kind", "out_obj1", "out_obj2", "out_axis", "moment_adr", "moment_num", shape=("nout",)),
        **ints("moment_dof", shape=("nmoment",)),
        **reals("actuator_gear", shape=("nout", 6)),
        **reals("actuator_cranklength", "actuator_acc0", shape=("nout",)),
        **reals("actuator_lengthrange", shape=("nout", 2)),
        # activation states: MuJoCo's, then those of our own laws; history of delayed controls and sensors
        **ints("nact", "nhistory"),
        # states of a controller in the time loop, the last of act
        **ints("ncontrol_state"),
        **ints("actuator_ctrllimited", shape=("nu",)),
        **reals("actuator_ctrlrange", shape=("nu", 2)),
        # attached frames; geom_mat turns into the body's axes, geom_turned says that it is not the identity
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
        **FLEX_MODEL,
        # soft laws: stiffness K (1/s²) and damping B (1/s) of the reference acceleration, damping across the normal,
        # the impedance's curve (at no violation, at full width, width in m or rad, midpoint, power)
        **reals("law_stiffness", "law_damping", "law_damping_tangent", shape=("nlaw",)),
        **reals("law_impedance", shape=("nlaw", 5)),
        # laws of contact: dimensions, margin to include (m), margin to detect (m), friction, and the friction
        # of the regularised cone
        **ints("law_dim", shape=("nlaw",)),
        **ints("law_direct", shape=("nlaw",)),  # given by stiffness and damping, not by time constant and ratio
        **reals("law_margin", "law_reach", "law_mu", shape=("nlaw",)),
        **reals("law_friction", shape=("nlaw", 5)),
        **reals("law_restitution", shape=("nlaw",)),  # of the hard law
        # pairs of geoms that may touch, lower type first; where a deformable body takes part the geom is -1, and the
        # flexes of pairs of geoms are
        **ints("collider", shape=("ncollider",)),  # geoms in any pair
        **ints(
            *["collision_geom1", "collision_geom2", "collision_kind", "collision_law", "collision_chain"],
            shape=("ncollision",),
        ),
        **ints("collision_moves", shape=("ncollision",)),  # a surface moves by itself
        **ints("collision_foreign", shape=("ncollision",)),  # by MuJoCo's functions
        # where events are located in time: the numbered points of each pair, and what has a mode: these points, both
        # ends of each limit, each dry friction
        **ints("nslot", "nmode", "nevent", "nevent_log", "nrow_event"),
        # slot_varies: number and order of a pair's points change as it moves
        **ints("slot_adr", "slot_num", "slot_varies", shape=("nslotpair",)),
        # events that users define: the side that they are watched towards (1, -1, 0 for both), whether the run ends,
        # the kind that the log says; discrete states of actuation
        **ints("nuserevent", "nactuation_state", "nclosedmax", "ntree_event"),
        **ints("event_direction", "event_terminal", "event_kind", shape=("nuserevent",)),
        # what moves two bodies against each other: degrees of freedom, 1 where they move the second, -1 the first;
        # chain_fill: they are not all on one way to the root, so that they couple what inertia does not
        **ints("chain_adr", "chain_num", "chain_body1", "chain_body2", "chain_fill", shape=("nchain",)),
        **ints("chain_dof", shape=("nchaindof",)),
        **reals("chain_sign", shape=("nchaindof",)),
        **reals("chain_translation", "chain_rotation", shape=("nchain",)),  # inverse inertias: 1/kg, 1/(kg m²)
        # for the dual problem: a chain's degrees of freedom and all their ancestors, and kinematic trees (all one where
        # islands are not to be told apart)
        **ints("ntree"),
        **ints("support_adr", "support_num", shape=("nsupport",)),
        **ints("support_dof", shape=("nsupportdof",)),
        **ints("dof_treeid", shape=("nv",)),
        # limits: first those of joints, then of tendons
        **ints("njntlimit"),
        **ints("limit_obj", "limit_law", "limit_chain", shape=("nlimit",)),
        **reals("limit_range", shape=("nlimit", 2)),
        **reals("limit_margin", "limit_invweight", shape=("nlimit",)),
        # dry friction: first of degrees of freedom, then of tendons
        **ints("ndoffriction"),
        **ints("friction_obj", "friction_law", "friction_chain", shape=("nfriction",)),
        **reals("friction_loss", "friction_invweight", shape=("nfriction",)),
        # equality constraints that are active; eq_obj: bodies, joints or sites; eq_site: they are sites
        **ints("eq_id", "eq_type", "eq_obj1", "eq_obj2", "eq_site", "eq_law", "eq_chain", shape=("neq",)),
        **reals("eq_data", shape=("neq", 11)),
        **reals("eq_invweight", shape=("neq", 2)),  # of translation and rotation
        # tendons: their elements, and where their degrees of freedom lie in tendon_dof, MuJoCo's order of ten_J;
        # tendon_common: the last degree of freedom that moves all of the tendon alike, -1 for none
        **ints("ntendon", "npath", "ntenJ"),
        **ints("tendon_adr", "tendon_num", "tendon_Jadr", "tendon_Jnum", "tendon_common", shape=("ntendon",)),
        **ints("tendon_dof", shape=("ntenJ",)),
        **reals("tendon_length0", shape=("ntendon",)),
        # their springs (N/m and more; no force within lengthspring), dampers, inertia (kg, kg m²), limits of the
        # actuators' force
        **reals("tendon_stiffness", "tendon_damping", "tendon_armature", shape=("ntendon",)),
        **reals("tendon_stiffnesspoly", "tendon_dampingpoly", shape=("ntendon", NPOLY)),
        **reals("tendon_lengthspring", "tendon_actfrcrange", shape=("ntendon", 2)),
        **ints("tendon_actfrclimited", shape=("ntendon",)),
        # their elements: a joint, or two sites with a geom between or -1, and a side site or -1 (see
        # `saltus.model.compile.tendons`); path_factor: coefficient, or inverse of the pulley's divisor
        **ints("path_type", "path_obj1", "path_obj2", "path_geom", "path_side", shape=("npath",)),
        **reals("path_factor", shape=("npath",)),
        # bodies that are moved from outside, -1 for none
        **ints("nmocap"),
        **ints("body_mocapid", shape=("nbody",)),
        # the medium: shapes that it acts on, in ascending order of bodies: kind (see `saltus.model.compile.fluid`),
        # frame in the body; resistance to slow motion (N s/m, N m s); drag (kg/m) and angular drag (kg m²) of fast
        # motion; lifts of Kutta (kg/m) and Magnus (kg); added mass and inertia (kg, kg m²); shape of the sections
        **ints("nfluid"),
        **ints("fluid_body", "fluid_kind", shape=("nfluid",)),
        **reals("fluid_mat", shape=("nfluid", 9)),
        **reals(
            "fluid_pos",
            "fluid_drag",
            "fluid_swirl",
            "fluid_mass",
            "fluid_inertia",
            "fluid_section",
            shape=("nfluid", 3),
        ),
        **reals("fluid_stokes", "fluid_lift", shape=("nfluid", 2)),
        **reals("opt_density"),
        **reals("opt_wind", shape=(1, 3)),
        # sensors
        **ints("nsensor", "nsensordata"),
        **ints(
            *["sensor_type", "sensor_datatype", "sensor_objtype", "sensor_objid", "sensor_reftype", "sensor_refid"],
            *["sensor_dim", "sensor_adr", "sensor_nsample", "sensor_interp", "sensor_historyadr", "sensor_family"],
            shape=("nsensor",),
        ),
        **ints("sensor_intprm", shape=("nsensor", 3)),
        **reals("sensor_cutoff", "sensor_delay", "sensor_interval", shape=("nsensor",)),
        # what they look at: geoms that rays meet, geoms of bodies, sites with a volume
        **ints("geom_visible", shape=("ngeom",)),
        **ints("body_geomadr", "body_geomnum", shape=("nbody",)),
        **ints("site_type", shape=("nsite",)),
        **reals("site_size", shape=("nsite", 3)),
        # cameras: cam_focal (pixels) of projections; cam_lens: of rays (pixels, or pixels per m), and their centre
        **ints("ncam"),
        **ints("cam_mode", "cam_bodyid", "cam_targetbodyid", "cam_projection", shape=("ncam",)),
        **ints("cam_resolution", shape=("ncam", 2)),
        **reals("cam_pos", "cam_pos0", "cam_poscom0", shape=("ncam", 3)),
        **reals("cam_quat", shape=("ncam", 4)),
        **reals("cam_mat", "cam_mat0", shape=("ncam", 9)),
        **reals("cam_focal", shape=("ncam", 2)),
        **reals("cam_lens", shape=("ncam", 4)),
        # options
        **reals("opt_gravity", "opt_magnetic", shape=(1, 3)),
        **ints("opt_cone", "opt_iterations", "opt_ls_iterations", "opt_warmstart"),
        **ints("opt_noslip_iterations", "opt_islands", "opt_refsafe"),
        **reals("opt_tolerance", "opt_ls_tolerance", "opt_impratio", "opt_scale"),  # scale: 1/(mean inertia nv)
        **reals("opt_noslip_tolerance"),
        # of the hard law: what counts as touching (m), as not moving (m/s); height of bounces that close (m); law of
        # impact and how impacts at once are resolved (see `saltus.solve.impact.law`)
        **reals("opt_gap_tolerance", "opt_speed_tolerance", "opt_bounce_height"),
        **reals("opt_dense_events", "opt_dense_time", "opt_dense_step"),
        **ints("opt_impact_law", "opt_impact_treatment", "opt_dense"),
    },
    frozen=True,
)


@functools.cache
def model_layout(features: frozenset[str]) -> Layout:
    """The layout of a Model with features, words by which kernels leave out what a model does not have.

    "constraint": anything beside free motion; "contact": geoms that may touch; "cylinder", "box", "boxes", "convex",
    "foreign": kinds of pairs among them (see `saltus.contact.collide`); "flexcontact": deformable bodies, "flexrope",
    "flexsheet", "flexsolid": of one, two, three dimensions, "flexforeign": by MuJoCo's functions, "flexflex": two of
    them, "flexself": one and itself, "flexfew": one between nodes and a geom; "flexcell": deformable bodies between
    nodes, "flexrod": rods that bend; "tendon": any; "wrap": with geoms in their way;
    "cg", "pgs", "noslip": how constraints are solved (see `saltus.solve.constrain`); "tendon_force", "tendon_armature":
    tendons that pull, that have inertia; "actuation": actuators beyond motors and affine servos on
    hinges and slides, or a controller; "transmission": actuators on more than hinges and slides; "act": actuators
    with states; "muscle", "servo", "dcmotor", "so3", "hill": laws among them; "delay": delayed controls; "adhere":
    actuators that pull on contacts; "fluid": a medium; "mocap": bodies moved from outside; words that begin with
    "control_" or "hold_": a controller in the time loop (see `saltus.dynamics.control`); with "equations_": equations
    of motion that a user gave (see `saltus.dynamics.equations`); with "sense_": kinds of sensors; among those of
    geometry "rangefinder", "foreign_ray" (on what MuJoCo casts rays on), "camera", "distance"; "sensor_delay": sensors
    that are late; "hard": the hard law of contact, with "event": events are located, or "stepping": steps go over them.
    """
    if not features:
        return MODEL
    of_fields = features & {"hill"}  # those that decide on fields
    fields = MODEL.fields | (_HILL if of_fields else {})
    narrowed = functools.partial(_with_features, of_fields)
    name = "_".join(["Model", *sorted(features)])
    return Layout(name, fields, frozen=True, features=features, narrowed=narrowed)


_HILL = {  # where there are muscles with an elastic tendon
    **reals("hill_prm", shape=("nhill", 8)),
    # a piece of a curve as polynomials of a parameter from 0 to 1: x and y, six coefficients each
    **reals("hill_segment", shape=("nhillsegment", 12)),
}


def _with_features(of_fields: frozenset[str], others: frozenset[str]) -> Layout:
    return model_layout(of_fields | others)


DATA = Layout(
    "Data",
    {
        **ints("has_xfrc"),  # whether xfrc_applied is read at all; set before each call
        # state and inputs: one contiguous piece
        **reals("time"),
        **reals("qpos", shape=("nq",)),
        **reals("qvel", shape=("nv",)),
        **reals("act", shape=("nact_room",)),
        **reals("history", shape=("nhistory",)),  # of delayed controls and sensors
        **reals("memory", shape=("nmemory",)),  # what a multi-step integrator remembers
        # slopes at the state, with which an adaptive method goes on (first same as last)
        **reals("fsal_qacc", shape=("nv_fsal",)),
        **reals("fsal_act", shape=("nact_fsal",)),
        **reals("qacc_warmstart", shape=("nv_constraint",)),  # where the constraint solver begins
        # where events are located in time: modes (see `saltus.contact.event.modes`), directions of slip (world axes; a
        # sign for dry friction), times of the last impacts (s), and whether all this belongs to the state
        **reals("mode", shape=("nmode",)),
        **reals("slip", shape=("nmode", 3)),
        **reals("slot_place", shape=("nslot", 3)),  # of closed points, in the axes of the second geom (m)
        **reals("impact_time", shape=("nmode", 4)),
        **reals("modes_known", shape=("nevent_state",)),
        **reals("impact_limit", shape=("nmode", 2)),  # of many impacts: time (s), 0 for none; speed of the last (m/s)
        **reals("event_before", shape=("nevent",)),  # event functions at the state
        # events of late: a count that decays, and the time of the last (s); and see
        # `saltus.integrate.event.dense_events`
        **reals("event_rate", shape=("nmode", 2)),
        **reals("dense", shape=("ndense",)),
        # where steps of time go over events: forces of the blocks of the step before (see
        # `saltus.solve.stepping.warm_start`), their modes, numbers among the points of a pair, forces on the second
        # geom (N, world axes); whether modes are those of a step that has led here (see `saltus.solve.stepping.modes`)
        **reals("past_count", "past_known"),
        **reals("past_number", "past_mode", "past_slot", shape=("npast",)),
        **reals("past_place", "past_push", shape=("npast", 3)),
        **reals("past_force", shape=("npast", 6)),
        **reals("event_side", shape=("nuserevent",)),  # where functions of the user's are: 1 above zero, -1 below
        **reals("actuation_state", shape=("nactuation_state",)),  # discrete, changed by events alone
        **reals("mocap_pos", shape=("nmocap", 3)),
        **reals("mocap_quat", shape=("nmocap", 4)),
        **reals("userdata", shape=("nuserdata",)),
        **reals("control_prm", shape=("ncontrol_prm",)),  # of a controller in the time loop
        **reals("ctrl", shape=("nu",)),
        **reals("qfrc_applied", shape=("nv",)),
        **reals("xfrc_applied", shape=("nbody", 6)),  # force, torque about the body's centre of mass; world axes
        **reals("timestep"),  # s, of the steps that are taken
        # position
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
        # tendons: length and velocity (m, m/s; rad, rad/s), and dL/dq along tendon_dof
        **reals("ten_length", "ten_velocity", shape=("ntendon",)),
        **reals("ten_J", shape=("ntenJ",)),
        # velocity
        **reals("cvel", "cacc", "cfrc_body", shape=("nbody", 6)),
        **reals(
            *["qfrc_bias", "qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_passive", "qfrc_actuator"],
            shape=("nv",),
        ),
        **reals("actuator_length", "actuator_velocity", "actuator_force", shape=("nout",)),
        **reals("moment", shape=("nmoment",)),  # dL/dq of the actuators' lengths, along moment_dof
        **reals("act_dot", shape=("nact_room",)),
        **reals("input", shape=("nu",)),  # controls after delay, limits and slew
        **reals("qfrc_fluid", shape=("nv",)),
        # acceleration; qfrc_tau: forces on the joints beside those of motion
        **reals("qfrc_damper_slope", shape=("nv",)),  # -d(qfrc_damper)/d(qvel), N m s
        **reals("qfrc_tau", "qfrc_smooth", "qacc_smooth", "qacc", "qfrc_inverse", shape=("nv",)),
        **reals("energy", shape=(2,)),
        # sensors, and what they read of the bodies: forces (N m, N) from outside and through the joint, momenta
        **reals("sensordata", shape=("nsensordata",)),
        **reals("cfrc_ext", "cfrc_int", shape=("nbody_sense", 6)),
        **reals("subtree_linvel", "subtree_angmom", shape=("nbody_sense", 3)),
        # articulated bodies
        **reals("artic_inertia", shape=("nbody", 21)),
        **reals("artic_force", shape=("nbody", 6)),
        **reals("artic_column", shape=("nv", 6)),
        **reals("artic_invdiag", "artic_residual", shape=("nv",)),
        # integrators
        **reals("qpos_saved", shape=("nq",)),
        **reals("qvel_saved", "qacc_saved", "qstep", shape=("nv",)),
        **reals("stage_qvel", "stage_qacc", shape=("nstage_nv",)),
        **reals("act_saved", "act_dot_saved", shape=("nact_room",)),
        **reals("stage_act", shape=("nstage_nact",)),
        **reals("qfrc_actuator_slope", "slope", shape=("nv",)),  # N m s
        **reals("velocity_force", shape=("nbody_implicit", 36)),
        **reals("axis_rate", shape=("nv_implicit", 6)),
        **reals("lower", "upper", shape=("nC_implicit",)),
        **reals("qpos_here", shape=("nq_newton",)),
        **reals("momentum", "momentum_rate", "momentum_saved", shape=("nv_newton",)),  # N m s, N s; N m, N
        **reals("stage_unknown", "stage_residual", "stage_trial", shape=("nnewton",)),
        **reals("jacobian", shape=("nnewton_square",)),
        # a method implicit in forces, by conjugate gradients: weights of stiffness (s²) and damping (s) beside the
        # inertia; forces that are out of balance (N, N m), what is solved for (m/s², rad/s²) and its product with the
        # matrix, gradient and search direction with its product; of the conjugate gradients: residual, the
        # preconditioner's solution for it, direction, product; blocks of the preconditioner, lower triangles by rows
        **reals("metric_stiffness", "metric_damping"),
        **reals(
            *["metric_force", "metric_change", "metric_product", "metric_gradient", "metric_search", "metric_image"],
            *["pcg_residual", "pcg_Mresidual", "pcg_search", "pcg_product"],
            shape=("nv_pcg",),
        ),
        **reals("metric_block", shape=("nv_pcg", 3)),
        **reals("qfrc_spring_slope", shape=("nv_pcg",)),  # -d(forces of springs and servos)/dq, N/m, N m
        **FLEX_DATA,
        # contacts: distance (m), position (m) and frame (normal from the first geom to the second, two tangents) in
        # world axes; contact_active: 1 where it acts, 0 where it does not
        **ints("count", shape=(13,)),  # see `saltus.contact.counts`
        **ints("contact_collision", "contact_block", shape=("nconmax",)),
        **reals("contact_dist", shape=("nconmax",)),
        **reals("contact_pos", shape=("nconmax", 3)),
        **reals("contact_frame", shape=("nconmax", 9)),
        # where contacts follow a law of the user's: force on the second geom along the contact's axes, N; on the joints
        **reals("contact_touch", shape=("ntouch", 3)),
        **reals("qfrc_compliant", shape=("nv_touch",)),
        # collision by MuJoCo: addresses and each lane's number of contacts (see `saltus.contact.mujoco.collision`)
        **ints("foreign_functions", "foreign_model", "foreign_data"),
        **ints("foreign_geom_xpos", "foreign_geom_xmat", "foreign_geom_xquat", "foreign_contacts"),
        **ints("foreign_count", shape=(16,)),
        **ints("foreign_sense", shape=(8,)),  # addresses for rays and distances (see `saltus.contact.mujoco.rays`)
        # blocks of rows: kind, rows, first row, place in J, chain's place and length, what it belongs to
        **ints(
            *["block_kind", "block_dim", "block_row", "block_J", "block_chain", "block_num", "block_id", "block_law"],
            *["block_dofs", "block_fill"],  # where the list of its degrees of freedom begins; see chain_fill
            shape=("nblockmax",),
        ),
        # rows: Jacobian (chain by chain dof, all rows of a block side by side), violation, 1/R, reference acceleration,
        # J a - aref, its change along the search, force
        **reals("row_J", shape=("nJmax",)),
        **reals(
            *["row_pos", "row_D", "row_aref", "row_residual", "row_search", "row_force", "row_loss"], shape=("nrowmax",)
        ),
        # weights in the Hessian: of a single row, of the edges u₀ + μ u and u₀ - μ u of a pyramid
        **reals("row_upper", "row_lower", shape=("nrowmax",)),
        **reals("block_weight", shape=("nblock_weight",)),  # [6, 6] of the block at work
        **reals("constrained"),  # 1 where any row acts, else 0
        # the solver
        **reals("qfrc_constraint", shape=("nv_constraint",)),
        **reals("solve_Ma", "solve_gradient", "solve_search", "solve_Msearch", "solve_edge", shape=("nv_constraint",)),
        **ints("edge_mark", shape=("nv_constraint",)),
        **reals("hessian", shape=("nhessian",)),  # lower triangle, row by row
        # which entries of each row, but for the diagonal, are not zero: as bits, as lists; the chains they come from
        **ints("hessian_bits", shape=("nhessian_bits",)),
        **ints("hessian_num", shape=("nv_hessian",)),
        **ints("hessian_col", shape=("nhessian",)),
        **ints("hessian_chain", shape=("nblockmax",)),
        # conjugate gradients: M⁻¹ gradient, and the gradients of the iteration before
        **reals("solve_Mgradient", "cg_gradient", "cg_Mgradient", shape=("nv_cg",)),
        # the dual problem: G = J L⁻¹ D^-½ (support by support dof, all rows of a block side by side) and its place, the
        # blocks G Gᵀ, y = Gᵀ force; forces of the unknowns, before and after extrapolation (see
        # `saltus.solve.soft.dual`)
        **reals("dual_G", shape=("nG",)),
        **ints("dual_place", shape=("nblock_dual",)),
        **reals("dual_A", shape=("nrow_dual", 6)),
        **reals("dual_y", shape=("nv_dual",)),
        **reals("dual_force", "dual_before", "dual_start", shape=("ndual",)),
        # unknowns in the order of their turns, as block and place in it; the island of each tree
        **ints("dual_item", shape=("ndual", 2)),
        **ints("tree_island", shape=("ntree",)),
        # where events are located in time: each point's contact, -1 for none; what a block is the mode of, -1 for none;
        # distance of what has a mode (m, rad); rows: velocity J v, d(J v)/dt at constant v, and J M⁻¹ Jᵀ of them all
        **ints("slot_contact", shape=("nslot",)),
        **ints("block_item", shape=("nblock_event",)),
        **ints("mode_before", shape=("nmode",)),
        **ints("hard_block", "hard_place", shape=("nhardrow",)),  # of the rows of a problem: block, row among all
        **reals("gap", shape=("nmode",)),
        **reals("row_velocity", "row_drift", shape=("nrow_event",)),
        **reals("row_A", shape=("nhardsquare",)),
        # L⁻ᵀ Jᵀ of all rows, with M = Lᵀ D L, and after them L⁻ᵀ of the forces without those of rows
        **reals("row_half", shape=("nrow_half",)),
        **reals("row_inverse", shape=("nv_event",)),  # of the row or the forces at work, multiplied by D⁻¹ or M⁻¹
        **reals("qpos_kept", shape=("nq_event",)),
        # where a step of a method of fixed steps begins
        **ints("nmemory"),
        **reals("qpos_start", shape=("nq_event",)),
        **reals("qvel_start", shape=("nv_event",)),
        **reals("act_start", shape=("nact_event",)),
        # event functions now, and where the part of a step that is searched begins and ends; the log of what happened
        **reals("event_value", "event_after", shape=("nevent",)),
        **reals("event_look", shape=("nevent_look",)),  # at the ends of all parts of a step
        **reals("event_seen", shape=("nuserevent", 2)),  # the user's, at places before
        **ints("event_hit", shape=("nevent",)),
        **ints("event_count", shape=("nevent_count",)),
        # where steps of time go over events: for each block the one of the step before, -1 for none, its number among
        # the points of a pair, its mode; whether a block of the step before has been found again
        **ints("block_past", "block_slot", "past_found", shape=("npast",)),
        **reals("block_mode", shape=("npast",)),
        **reals("event_error", shape=("nevent_state",)),  # of the step that is looked at, in parts of the tolerance
        **reals("event_end", shape=("nevent_state",)),  # time (s) to which a step that has been begun goes
        **reals("event_log", shape=("nevent_log", EVENT_WIDTH)),
        **cones.FIELDS,
        **cones_impact.IMPACT_FIELDS,
        # of the cone at work: old forces, residuals; friction's matrix, its factor, right-hand side, solution
        **reals("cone_old", "cone_gap", "cone_b", "cone_v", "cone_w", shape=("ncone_work",)),
        **reals("cone_A", "cone_L", shape=("ncone_work", 6)),
    },
)


EVENT_SIZES = (
    "nslot nslotpair nmode nevent nevent_state nevent_count nevent_log nblock_event nrow_event nrow_half nv_event "
    "nq_event nevent_look nuserevent ndense"
)
NO_ROOM = [*EVENT_SIZES.split(), "nactuation_state", "npast", "ntouch", "nv_touch"]
NO_EVENTS = dict.fromkeys(NO_ROOM, 0) | cones.cone_sizes(0, 0)


def data_sizes(
    model_sizes,
    *,
    nmemory=0,
    nstage=0,
    implicit=False,
    newton=False,
    pcg=False,
    fsal=False,
    tangents=False,
    control_states=0,
    control_prm=0,
):
    """Sizes of a Data for the model's sizes and what an integrator needs beside.

    Without constraints (nblockmax 0) there is no memory for them.

    `nmemory`: numbers that it remembers; `nstage`: stages whose slopes it keeps; `implicit`: it uses derivatives in the
    velocities; `newton`: it solves for all stages by Newton's method; `pcg`: it uses conjugate gradients with the
    derivatives of forces, for "flex" only those of deformable bodies; `fsal`: its steps begin with the slopes that the
    last one ended with; `tangents`: it holds duals. `control_states`,
    `control_prm`: room for states and parameters of a controller in the time loop.
    """
    nv = model_sizes["nv"]
    nact = model_sizes["nact"] + control_states
    unknowns = nstage * (nv + nact) if newton else 0
    nv_constraint = nv if model_sizes["nblockmax"] or model_sizes["nevent_state"] else 0
    nv_hessian = nv_constraint if tangents else model_sizes["nv_hessian"]
    return dict(
        model_sizes,
        nv_constraint=nv_constraint,
        nv_hessian=nv_hessian,
        nhessian=nv_hessian * (nv_hessian + 1) // 2,
        nhessian_bits=(nv_hessian + 1) * (nv_hessian // BITS + 1) if nv_hessian else 0,
        nblock_weight=36 if nv_constraint else 0,
        nmemory=nmemory,
        nstage_nv=nstage * nv,
        nstage_nact=nstage * nact,
        nact_room=nact,
        nv_fsal=nv if fsal else 0,
        nact_fsal=nact if fsal else 0,
        nact_event=nact if model_sizes["nevent_state"] else 0,
        ncontrol_prm=control_prm,
        nbody_implicit=model_sizes["nbody"] if implicit else 0,
        nv_implicit=nv if implicit else 0,
        nC_implicit=model_sizes["nC"] if implicit else 0,
        nq_newton=model_sizes["nq"] if newton else 0,
        nv_newton=nv if newton else 0,
        nnewton=unknowns,
        nnewton_square=unknowns * unknowns,
        nv_pcg=nv if pcg is True or (pcg and model_sizes["nflexvert"]) else 0,
        nflexedge_pcg=model_sizes["nflexedge"] if pcg else 0,
        nflexvert_pcg=model_sizes["nflexvert"] if pcg else 0,
    )
