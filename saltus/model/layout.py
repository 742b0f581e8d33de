"""The fields of Model and Data as kernels see them: names, extents, units.

Names are MuJoCo's where the thing is MuJoCo's. What the options of a file switch off (gravity, springs, dampers,
actuation) is already zero in the kernels' Model, so that kernels need no switches.
"""

import functools

from saltus.model import cones, cones_impact, hill
from saltus.number.structs import Field, Layout


def _ints(*names, shape=()):
    return {name: Field("int", shape) for name in names}


def _reals(*names, shape=()):
    return {name: Field("real", shape) for name in names}


BITS = 62  # of an integer that hold flags
NPRM = 10  # parameters of an actuator's dynamics, gain or bias
EVENT_WIDTH = 10  # numbers of an event in the log (see `saltus.contact.modes`)
NPOLY = 2  # coefficients of polynomial springs and dampers beyond the linear one

MODEL = Layout(
    "Model",
    {
        # sizes
        **_ints("nq", "nv", "nu", "na", "nactuator", "nbody", "njnt", "ngeom", "nsite", "nC"),
        # sizes of what constrains: geoms that collide, pairs of them, laws, chains, limits, dry friction, equalities
        **_ints("ncollider", "ncollision", "nlaw", "nchain", "nchaindof", "nlimit", "nfriction", "neq"),
        # capacities of a Data for contacts, blocks of rows, rows, entries of the Jacobian
        **_ints("nconmax", "nblockmax", "nrowmax", "nJmax"),
        # whether `euler` integrates dampers implicitly, any body's weight is compensated, actuators act
        **_ints("implicit_damping", "has_gravcomp", "has_freebody", "has_actuation"),
        # whether forces read orientations and velocities of all bodies
        **_ints("keep_bodies"),
        **_ints("ntouch", "nv_touch"),  # room for the forces of contacts that follow a law of the user's
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
        **_ints("dof_simple", shape=("nv",)),  # MuJoCo knows its row of M to be a diagonal
        **_ints("M_rownnz", "M_rowadr", shape=("nv",)),
        **_ints("M_colind", shape=("nC",)),
        **_reals("dof_armature", "dof_damping", shape=("nv",)),
        **_reals("dof_dampingpoly", shape=("nv", NPOLY)),
        # actuators: their laws, and where their controls, activation states and outputs lie; actuator_slot: places of
        # the states of motors and servos among the actuator's own, -1 for none (see `saltus.model.actuators`);
        # actuator_period: of setpoints that are angles, 0 for none
        **_ints(
            *["actuator_dyntype", "actuator_gaintype", "actuator_biastype", "actuator_ctrladr", "actuator_ctrlnum"],
            *["actuator_ctrlspec", "actuator_actadr", "actuator_actnum", "actuator_outadr", "actuator_outnum"],
            *["actuator_enabled", "actuator_actearly", "actuator_actlimited", "actuator_forcelimited"],
            shape=("nactuator",),
        ),
        **_ints("actuator_slot", shape=("nactuator", 5)),
        **_reals("actuator_dynprm", "actuator_gainprm", "actuator_biasprm", shape=("nactuator", NPRM)),
        **_reals("actuator_forcerange", "actuator_actrange", shape=("nactuator", 2)),
        **_reals("actuator_period", shape=("nactuator",)),
        # delayed controls: samples in the history (0: no delay), way to interpolate, place in it, delay (s)
        **_ints("actuator_nsample", "actuator_interp", "actuator_historyadr", shape=("nactuator",)),
        **_reals("actuator_delay", shape=("nactuator",)),
        # outputs of actuators: kind of transmission, what it is attached to, the degrees of freedom that it feels
        **_ints("nout", "nmoment"),
        # out_axis: which of the actuator's outputs it is
        **_ints("out_kind", "out_obj1", "out_obj2", "out_axis", "moment_adr", "moment_num", shape=("nout",)),
        **_ints("moment_dof", shape=("nmoment",)),
        **_reals("actuator_gear", shape=("nout", 6)),
        **_reals("actuator_cranklength", "actuator_acc0", shape=("nout",)),
        **_reals("actuator_lengthrange", shape=("nout", 2)),
        # activation states: MuJoCo's, then those of our own laws; history of delayed controls and sensors
        **_ints("nact", "nhistory"),
        # states of a controller in the time loop, the last of act
        **_ints("ncontrol_state"),
        **_ints("actuator_ctrllimited", shape=("nu",)),
        **_reals("actuator_ctrlrange", shape=("nu", 2)),
        # attached frames; geom_mat turns into the body's axes, geom_turned says that it is not the identity
        **_ints("geom_bodyid", "geom_type", "geom_turned", shape=("ngeom",)),
        **_reals("geom_pos", "geom_size", shape=("ngeom", 3)),
        **_reals("geom_quat", shape=("ngeom", 4)),
        **_reals("geom_mat", shape=("ngeom", 9)),
        **_reals("geom_rbound", shape=("ngeom",)),  # m, 0 for planes
        **_reals("geom_surfacevel", shape=("ngeom", 6)),  # m/s, rad/s, in the geom's axes
        **_ints("site_bodyid", shape=("nsite",)),
        **_reals("site_pos", shape=("nsite", 3)),
        **_reals("site_quat", shape=("nsite", 4)),
        **_reals("site_mat", shape=("nsite", 9)),
        # soft laws: stiffness K (1/s²) and damping B (1/s) of the reference acceleration, damping across the normal,
        # the impedance's curve (at no violation, at full width, width in m or rad, midpoint, power)
        **_reals("law_stiffness", "law_damping", "law_damping_tangent", shape=("nlaw",)),
        **_reals("law_impedance", shape=("nlaw", 5)),
        # laws of contact: dimensions, margin to include (m), margin to detect (m), friction, and the friction
        # of the regularised cone
        **_ints("law_dim", shape=("nlaw",)),
        **_reals("law_margin", "law_reach", "law_mu", shape=("nlaw",)),
        **_reals("law_friction", shape=("nlaw", 5)),
        **_reals("law_restitution", shape=("nlaw",)),  # of the hard law
        # pairs of geoms that may touch, lower type first
        **_ints("collider", shape=("ncollider",)),  # geoms in any pair
        **_ints(
            *["collision_geom1", "collision_geom2", "collision_kind", "collision_law", "collision_chain"],
            shape=("ncollision",),
        ),
        **_ints("collision_moves", shape=("ncollision",)),  # a surface moves by itself
        **_ints("collision_foreign", shape=("ncollision",)),  # by MuJoCo's functions
        # where events are located in time: the numbered points of each pair, and what has a mode: these points, both
        # ends of each limit, each dry friction
        **_ints("nslot", "nmode", "nevent", "nevent_log", "nrow_event"),
        # slot_varies: number and order of a pair's points change as it moves
        **_ints("slot_adr", "slot_num", "slot_varies", shape=("nslotpair",)),
        # events that users define: the side that they are watched towards (1, -1, 0 for both), whether the run ends,
        # the kind that the log says; discrete states of actuation
        **_ints("nuserevent", "nactuation_state"),
        **_ints("event_direction", "event_terminal", "event_kind", shape=("nuserevent",)),
        # what moves two bodies against each other: degrees of freedom, 1 where they move the second, -1 the first;
        # chain_fill: they are not all on one way to the root, so that they couple what inertia does not
        **_ints("chain_adr", "chain_num", "chain_body1", "chain_body2", "chain_fill", shape=("nchain",)),
        **_ints("chain_dof", shape=("nchaindof",)),
        **_reals("chain_sign", shape=("nchaindof",)),
        **_reals("chain_translation", "chain_rotation", shape=("nchain",)),  # inverse inertias: 1/kg, 1/(kg m²)
        # for the dual problem: a chain's degrees of freedom and all their ancestors, and kinematic trees (all one where
        # islands are not to be told apart)
        **_ints("ntree"),
        **_ints("support_adr", "support_num", shape=("nsupport",)),
        **_ints("support_dof", shape=("nsupportdof",)),
        **_ints("dof_treeid", shape=("nv",)),
        # limits: first those of joints, then of tendons
        **_ints("njntlimit"),
        **_ints("limit_obj", "limit_law", "limit_chain", shape=("nlimit",)),
        **_reals("limit_range", shape=("nlimit", 2)),
        **_reals("limit_margin", "limit_invweight", shape=("nlimit",)),
        # dry friction: first of degrees of freedom, then of tendons
        **_ints("ndoffriction"),
        **_ints("friction_obj", "friction_law", "friction_chain", shape=("nfriction",)),
        **_reals("friction_loss", "friction_invweight", shape=("nfriction",)),
        # equality constraints that are active; eq_obj: bodies, joints or sites; eq_site: they are sites
        **_ints("eq_id", "eq_type", "eq_obj1", "eq_obj2", "eq_site", "eq_law", "eq_chain", shape=("neq",)),
        **_reals("eq_data", shape=("neq", 11)),
        **_reals("eq_invweight", shape=("neq", 2)),  # of translation and rotation
        # tendons: their elements, and where their degrees of freedom lie in tendon_dof, MuJoCo's order of ten_J;
        # tendon_common: the last degree of freedom that moves all of the tendon alike, -1 for none
        **_ints("ntendon", "npath", "ntenJ"),
        **_ints("tendon_adr", "tendon_num", "tendon_Jadr", "tendon_Jnum", "tendon_common", shape=("ntendon",)),
        **_ints("tendon_dof", shape=("ntenJ",)),
        **_reals("tendon_length0", shape=("ntendon",)),
        # their springs (N/m and more; no force within lengthspring), dampers, inertia (kg, kg m²), limits of the
        # actuators' force
        **_reals("tendon_stiffness", "tendon_damping", "tendon_armature", shape=("ntendon",)),
        **_reals("tendon_stiffnesspoly", "tendon_dampingpoly", shape=("ntendon", NPOLY)),
        **_reals("tendon_lengthspring", "tendon_actfrcrange", shape=("ntendon", 2)),
        **_ints("tendon_actfrclimited", shape=("ntendon",)),
        # their elements: a joint, or two sites with a geom between or -1, and a side site or -1 (see
        # `saltus.model.tendons`); path_factor: coefficient, or inverse of the pulley's divisor
        **_ints("path_type", "path_obj1", "path_obj2", "path_geom", "path_side", shape=("npath",)),
        **_reals("path_factor", shape=("npath",)),
        # bodies that are moved from outside, -1 for none
        **_ints("nmocap"),
        **_ints("body_mocapid", shape=("nbody",)),
        # the medium: shapes that it acts on, in ascending order of bodies: kind (see `saltus.model.medium`), frame in
        # the body; resistance to slow motion (N s/m, N m s); drag (kg/m) and angular drag (kg m²) of fast motion;
        # lifts of Kutta (kg/m) and Magnus (kg); added mass and inertia (kg, kg m²); shape of the sections
        **_ints("nfluid"),
        **_ints("fluid_body", "fluid_kind", shape=("nfluid",)),
        **_reals("fluid_mat", shape=("nfluid", 9)),
        **_reals(
            "fluid_pos",
            "fluid_drag",
            "fluid_swirl",
            "fluid_mass",
            "fluid_inertia",
            "fluid_section",
            shape=("nfluid", 3),
        ),
        **_reals("fluid_stokes", "fluid_lift", shape=("nfluid", 2)),
        **_reals("opt_density"),
        **_reals("opt_wind", shape=(1, 3)),
        # sensors
        **_ints("nsensor", "nsensordata"),
        **_ints(
            *["sensor_type", "sensor_datatype", "sensor_objtype", "sensor_objid", "sensor_reftype", "sensor_refid"],
            *["sensor_dim", "sensor_adr", "sensor_nsample", "sensor_interp", "sensor_historyadr", "sensor_family"],
            shape=("nsensor",),
        ),
        **_ints("sensor_intprm", shape=("nsensor", 3)),
        **_reals("sensor_cutoff", "sensor_delay", "sensor_interval", shape=("nsensor",)),
        # what they look at: geoms that rays meet, geoms of bodies, sites with a volume
        **_ints("geom_visible", shape=("ngeom",)),
        **_ints("body_geomadr", "body_geomnum", shape=("nbody",)),
        **_ints("site_type", shape=("nsite",)),
        **_reals("site_size", shape=("nsite", 3)),
        # cameras: cam_focal (pixels) of projections; cam_lens: of rays (pixels, or pixels per m), and their centre
        **_ints("ncam"),
        **_ints("cam_mode", "cam_bodyid", "cam_targetbodyid", "cam_projection", shape=("ncam",)),
        **_ints("cam_resolution", shape=("ncam", 2)),
        **_reals("cam_pos", "cam_pos0", "cam_poscom0", shape=("ncam", 3)),
        **_reals("cam_quat", shape=("ncam", 4)),
        **_reals("cam_mat", "cam_mat0", shape=("ncam", 9)),
        **_reals("cam_focal", shape=("ncam", 2)),
        **_reals("cam_lens", shape=("ncam", 4)),
        # options
        **_reals("opt_gravity", "opt_magnetic", shape=(1, 3)),
        **_ints("opt_cone", "opt_iterations", "opt_ls_iterations", "opt_warmstart"),
        **_ints("opt_noslip_iterations", "opt_islands"),
        **_reals("opt_tolerance", "opt_ls_tolerance", "opt_impratio", "opt_scale"),  # scale: 1/(mean inertia nv)
        **_reals("opt_noslip_tolerance"),
        # of the hard law: what counts as touching (m), as not moving (m/s); height of bounces that close (m); law of
        # impact and how impacts at once are resolved (see `saltus.solve.impact_law`)
        **_reals("opt_gap_tolerance", "opt_speed_tolerance", "opt_bounce_height"),
        **_ints("opt_impact_law", "opt_impact_treatment"),
    },
    frozen=True,
)


@functools.cache
def model_layout(features: frozenset[str]) -> Layout:
    """The layout of a Model with features, words by which kernels leave out what a model does not have.

    "constraint": anything beside free motion; "contact": geoms that may touch; "cylinder", "box", "boxes", "convex",
    "foreign": kinds of pairs among them (see `saltus.contact.collide`); "tendon": any; "wrap": with geoms in their way;
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
    fields, plain = MODEL.fields, MODEL
    if "hill" in features:
        fields = MODEL.fields | hill.FIELDS
        # what does not look at features shares a layout with these fields
        plain = None if features == {"hill"} else model_layout(frozenset({"hill"}))
    name = "_".join(["Model", *sorted(features)])
    return Layout(name, fields, frozen=True, features=features, plain=plain.name if plain else None)


DATA = Layout(
    "Data",
    {
        **_ints("has_xfrc"),  # whether xfrc_applied is read at all; set before each call
        # state and inputs: one contiguous piece
        **_reals("time"),
        **_reals("qpos", shape=("nq",)),
        **_reals("qvel", shape=("nv",)),
        **_reals("act", shape=("nact_room",)),
        **_reals("history", shape=("nhistory",)),  # of delayed controls and sensors
        **_reals("memory", shape=("nmemory",)),  # what a multi-step integrator remembers
        **_reals("qacc_warmstart", shape=("nv_constraint",)),  # where the constraint solver begins
        # where events are located in time: modes (see `saltus.contact.modes`), directions of slip (world axes; a sign
        # for dry friction), times of the last impacts (s), and whether all this belongs to the state
        **_reals("mode", shape=("nmode",)),
        **_reals("slip", shape=("nmode", 3)),
        **_reals("slot_place", shape=("nslot", 3)),  # of closed points, in the axes of the second geom (m)
        **_reals("impact_time", shape=("nmode", 4)),
        **_reals("modes_known", shape=("nevent_state",)),
        # where steps of time go over events: forces of the blocks of the step before (see `saltus.solve.past_forces`)
        **_reals("past_count"),
        **_reals("past_number", shape=("npast",)),
        **_reals("past_place", shape=("npast", 3)),
        **_reals("past_force", shape=("npast", 6)),
        **_reals("event_side", shape=("nuserevent",)),  # where functions of the user's are: 1 above zero, -1 below
        **_reals("actuation_state", shape=("nactuation_state",)),  # discrete, changed by events alone
        **_reals("mocap_pos", shape=("nmocap", 3)),
        **_reals("mocap_quat", shape=("nmocap", 4)),
        **_reals("userdata", shape=("nuserdata",)),
        **_reals("control_prm", shape=("ncontrol_prm",)),  # of a controller in the time loop
        **_reals("ctrl", shape=("nu",)),
        **_reals("qfrc_applied", shape=("nv",)),
        **_reals("xfrc_applied", shape=("nbody", 6)),  # force, torque about the body's centre of mass; world axes
        **_reals("timestep"),  # s, of the steps that are taken
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
        # tendons: length and velocity (m, m/s; rad, rad/s), and dL/dq along tendon_dof
        **_reals("ten_length", "ten_velocity", shape=("ntendon",)),
        **_reals("ten_J", shape=("ntenJ",)),
        # velocity
        **_reals("cvel", "cacc", "cfrc_body", shape=("nbody", 6)),
        **_reals(
            *["qfrc_bias", "qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_passive", "qfrc_actuator"],
            shape=("nv",),
        ),
        **_reals("actuator_length", "actuator_velocity", "actuator_force", shape=("nout",)),
        **_reals("moment", shape=("nmoment",)),  # dL/dq of the actuators' lengths, along moment_dof
        **_reals("act_dot", shape=("nact_room",)),
        **_reals("input", shape=("nu",)),  # controls after delay, limits and slew
        **_reals("qfrc_fluid", shape=("nv",)),
        # acceleration; qfrc_given: forces on the joints beside those of motion
        **_reals("qfrc_damper_slope", shape=("nv",)),  # -d(qfrc_damper)/d(qvel), N m s
        **_reals("qfrc_given", "qfrc_smooth", "qacc_smooth", "qacc", "qfrc_inverse", shape=("nv",)),
        **_reals("energy", shape=(2,)),
        # sensors, and what they read of the bodies: forces (N m, N) from outside and through the joint, momenta
        **_reals("sensordata", shape=("nsensordata",)),
        **_reals("cfrc_ext", "cfrc_int", shape=("nbody_sense", 6)),
        **_reals("subtree_linvel", "subtree_angmom", shape=("nbody_sense", 3)),
        # articulated bodies
        **_reals("artic_inertia", shape=("nbody", 21)),
        **_reals("artic_force", shape=("nbody", 6)),
        **_reals("artic_column", shape=("nv", 6)),
        **_reals("artic_invdiag", "artic_residual", shape=("nv",)),
        # integrators
        **_reals("qpos_saved", shape=("nq",)),
        **_reals("qvel_saved", "qacc_saved", "qstep", shape=("nv",)),
        **_reals("stage_qvel", "stage_qacc", shape=("nstage_nv",)),
        **_reals("act_saved", "act_dot_saved", shape=("nact_room",)),
        **_reals("stage_act", shape=("nstage_nact",)),
        **_reals("qfrc_actuator_slope", "slope", shape=("nv",)),  # N m s
        **_reals("velocity_force", shape=("nbody_implicit", 36)),
        **_reals("axis_rate", shape=("nv_implicit", 6)),
        **_reals("lower", "upper", shape=("nC_implicit",)),
        **_reals("qpos_here", shape=("nq_newton",)),
        **_reals("momentum", "momentum_rate", "momentum_saved", shape=("nv_newton",)),  # N m s, N s; N m, N
        **_reals("stage_unknown", "stage_residual", "stage_trial", shape=("nnewton",)),
        **_reals("jacobian", shape=("nnewton_square",)),
        # contacts: distance (m), position (m) and frame (normal from the first geom to the second, two tangents) in
        # world axes; contact_active: 1 where it acts, 0 where it does not
        **_ints("count", shape=(9,)),  # see `saltus.contact.counts`
        **_ints("contact_collision", "contact_block", shape=("nconmax",)),
        **_reals("contact_dist", shape=("nconmax",)),
        **_reals("contact_pos", shape=("nconmax", 3)),
        **_reals("contact_frame", shape=("nconmax", 9)),
        # where contacts follow a law of the user's: force on the second geom along the contact's axes, N; on the joints
        **_reals("contact_touch", shape=("ntouch", 3)),
        **_reals("qfrc_touch", shape=("nv_touch",)),
        # collision by MuJoCo: addresses and each lane's number of contacts (see `saltus.contact.foreign`)
        **_ints("foreign_functions", "foreign_model", "foreign_data"),
        **_ints("foreign_geom_xpos", "foreign_geom_xmat", "foreign_geom_xquat", "foreign_contacts"),
        **_ints("foreign_count", shape=(16,)),
        **_ints("foreign_sense", shape=(8,)),  # addresses for rays and distances (see `saltus.contact.foreign_ray`)
        # blocks of rows: kind, rows, first row, place in J, chain's place and length, what it belongs to
        **_ints(
            *["block_kind", "block_dim", "block_row", "block_J", "block_chain", "block_num", "block_id", "block_law"],
            shape=("nblockmax",),
        ),
        # rows: Jacobian (chain by chain dof, all rows of a block side by side), violation, 1/R, reference acceleration,
        # J a - aref, its change along the search, force
        **_reals("row_J", shape=("nJmax",)),
        **_reals(
            *["row_pos", "row_D", "row_aref", "row_residual", "row_search", "row_force", "row_loss"], shape=("nrowmax",)
        ),
        # weights in the Hessian: of a single row, of the edges u₀ + μ u and u₀ - μ u of a pyramid
        **_reals("row_upper", "row_lower", shape=("nrowmax",)),
        **_reals("block_weight", shape=("nblock_weight",)),  # [6, 6] of the block at work
        **_reals("constrained"),  # 1 where any row acts, else 0
        # the solver
        **_reals("qfrc_constraint", shape=("nv_constraint",)),
        **_reals("solve_Ma", "solve_gradient", "solve_search", "solve_Msearch", "solve_edge", shape=("nv_constraint",)),
        **_ints("edge_mark", shape=("nv_constraint",)),
        **_reals("hessian", shape=("nhessian",)),  # lower triangle, row by row
        # which entries of each row, but for the diagonal, are not zero: as bits, as lists; the chains they come from
        **_ints("hessian_bits", shape=("nhessian_bits",)),
        **_ints("hessian_num", shape=("nv_hessian",)),
        **_ints("hessian_col", shape=("nhessian",)),
        **_ints("hessian_chain", shape=("nblockmax",)),
        # conjugate gradients: M⁻¹ gradient, and the gradients of the iteration before
        **_reals("solve_Mgradient", "cg_gradient", "cg_Mgradient", shape=("nv_cg",)),
        # the dual problem: G = J L⁻¹ D^-½ (support by support dof, all rows of a block side by side) and its place, the
        # blocks G Gᵀ, y = Gᵀ force; forces of the unknowns, before and after extrapolation (see `saltus.solve.dual`)
        **_reals("dual_G", shape=("nG",)),
        **_ints("dual_place", shape=("nblock_dual",)),
        **_reals("dual_A", shape=("nrow_dual", 6)),
        **_reals("dual_y", shape=("nv_dual",)),
        **_reals("dual_force", "dual_before", "dual_start", shape=("ndual",)),
        # unknowns in the order of their turns, as block and place in it; the island of each tree
        **_ints("dual_item", shape=("ndual", 2)),
        **_ints("tree_island", shape=("ntree",)),
        # where events are located in time: each point's contact, -1 for none; what a block is the mode of, -1 for none;
        # distance of what has a mode (m, rad); rows: velocity J v, d(J v)/dt at constant v, and J M⁻¹ Jᵀ of them all
        **_ints("slot_contact", shape=("nslot",)),
        **_ints("block_item", shape=("nblock_event",)),
        **_ints("mode_before", shape=("nmode",)),
        **_ints("hard_block", "hard_place", shape=("nhardrow",)),  # of the rows of a problem: block, row among all
        **_reals("gap", shape=("nmode",)),
        **_reals("row_velocity", "row_drift", shape=("nrow_event",)),
        **_reals("row_A", shape=("nhardsquare",)),
        # L⁻ᵀ Jᵀ of all rows, with M = Lᵀ D L, and after them L⁻ᵀ of the forces without those of rows; one over D
        **_reals("row_half", shape=("nrow_half",)),
        **_reals("row_inverse", shape=("nv_event",)),
        **_reals("qpos_kept", shape=("nq_event",)),
        # where a step of a method of fixed steps begins
        **_ints("nmemory"),
        **_reals("qpos_start", shape=("nq_event",)),
        **_reals("qvel_start", shape=("nv_event",)),
        **_reals("act_start", shape=("nact_event",)),
        # event functions now, and where the part of a step that is searched begins and ends; the log of what happened
        **_reals("event_value", "event_before", "event_after", shape=("nevent",)),
        **_reals("event_look", shape=("nevent_look",)),  # at the ends of all parts of a step
        **_reals("event_seen", shape=("nuserevent", 2)),  # the user's, at places before
        **_ints("event_hit", shape=("nevent",)),
        **_ints("event_count", shape=("nevent_count",)),
        **_reals("event_error", shape=("nevent_state",)),  # of the step that is looked at, in parts of the tolerance
        **_reals("event_end", shape=("nevent_state",)),  # time (s) to which a step that has been begun goes
        **_reals("event_log", shape=("nevent_log", EVENT_WIDTH)),
        **cones.FIELDS,
        **cones_impact.IMPACT_FIELDS,
        # of the cone at work: old forces, residuals; friction's matrix, its factor, right-hand side, solution
        **_reals("cone_old", "cone_gap", "cone_b", "cone_v", "cone_w", shape=("ncone_work",)),
        **_reals("cone_A", "cone_L", shape=("ncone_work", 6)),
    },
)


EVENT_SIZES = (
    "nslot nslotpair nmode nevent nevent_state nevent_count nevent_log nblock_event nrow_event nrow_half nv_event "
    "nq_event nevent_look nuserevent"
)
NO_ROOM = [*EVENT_SIZES.split(), "nactuation_state", "npast", "ntouch", "nv_touch"]
NO_EVENTS = dict.fromkeys(NO_ROOM, 0) | cones.cone_sizes(0, 0)


def data_sizes(
    model_sizes, *, nmemory=0, nstage=0, implicit=False, newton=False, tangents=False, control_states=0, control_prm=0
):
    """Sizes of a Data for the model's sizes and what an integrator needs beside.

    Without constraints (nblockmax 0) there is no memory for them.

    `nmemory`: numbers that it remembers; `nstage`: stages whose slopes it keeps; `implicit`: it uses derivatives in the
    velocities; `newton`: it solves for all stages by Newton's method; `tangents`: it holds duals. `control_states`,
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
        nact_event=nact if model_sizes["nevent_state"] else 0,
        ncontrol_prm=control_prm,
        nbody_implicit=model_sizes["nbody"] if implicit else 0,
        nv_implicit=nv if implicit else 0,
        nC_implicit=model_sizes["nC"] if implicit else 0,
        nq_newton=model_sizes["nq"] if newton else 0,
        nv_newton=nv if newton else 0,
        nnewton=unknowns,
        nnewton_square=unknowns * unknowns,
    )
