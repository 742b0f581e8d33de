"""Layout of the kernels' Model and Data: names, shapes and units of their fields.

Fields that exist in MuJoCo have MuJoCo's names. Features disabled by options of a file (gravity, springs, dampers,
actuation) are already zero in the kernels' Model, so that kernels need no switches.
"""

import functools

from saltus.model import cones, cones_impact
from saltus.model.feature_keys import unknown_keys
from saltus.model.flex_fields import FLEX_DATA, FLEX_MODEL
from saltus.number.structs import Layout, ints, reals

BITS = 62  # bits of an integer that hold flags
NPRM = 10  # parameters of an actuator's dynamics, gain or bias
EVENT_WIDTH = 10  # numbers of an event in the log (see `saltus.contact.event.modes`)
NPOLY = 2  # coefficients of polynomial springs and dampers beyond the linear one

MODEL = Layout(
    "Model",
    {
        # sizes
        **ints("nq", "nv", "nu", "na", "nactuator", "nbody", "njnt", "ngeom", "nsite", "nC"),
        # sizes of constraints: geoms that collide, pairs of them, laws, chains, limits, dry friction, equalities
        **ints("ncollider", "ncollision", "nlaw", "nchain", "nchaindof", "nlimit", "nfriction", "neq"),
        # capacities of a Data for contacts, blocks of rows, rows, entries of the Jacobian
        **ints("nconmax", "nblockmax", "nrowmax", "nJmax"),
        # whether `euler` integrates dampers implicitly, gravity is compensated, there are free bodies, actuators act
        **ints("implicit_damping", "has_gravcomp", "has_freebody", "has_actuation"),
        # whether forces read orientations and velocities of all bodies
        **ints("keep_bodies"),
        **ints("ntouch", "nv_touch"),  # capacity for forces of a user-defined contact law
        # bodies
        **ints(
            *["body_parentid", "body_rootid", "body_jntadr", "body_jntnum", "body_dofadr", "body_dofnum"],
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
        # actuators: laws, and addresses of controls, activation states and outputs; actuator_slot: addresses of the
        # states of DC motors and servos in act, -1 for none (see `saltus.model.compile.actuators`); actuator_period:
        # of setpoints that are angles, 0 for none
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
        # delayed controls: samples in the history (0: no delay), interpolation, address in the history, delay (s)
        **ints("actuator_nsample", "actuator_interp", "actuator_historyadr", shape=("nactuator",)),
        **reals("actuator_delay", shape=("nactuator",)),
        # outputs of actuators: kind of transmission, objects that it acts on, degrees of freedom of its moment arms
        **ints("nout", "nmoment"),
        # out_axis: index among the actuator's outputs
        **ints("out_kind", "out_obj1", "out_obj2", "out_axis", "moment_adr", "moment_num", shape=("nout",)),
        **ints("moment_dof", shape=("nmoment",)),
        **reals("actuator_gear", shape=("nout", 6)),
        **reals("actuator_cranklength", "actuator_acc0", shape=("nout",)),
        **reals("actuator_lengthrange", shape=("nout", 2)),
        # activation states: MuJoCo's, then those of muscles and controllers; history of delayed controls and sensors
        **ints("nact", "nhistory"),
        # states of a controller in the time loop, the last of act
        **ints("ncontrol_state"),
        **ints("actuator_ctrllimited", shape=("nu",)),
        **reals("actuator_ctrlrange", shape=("nu", 2)),
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
        **FLEX_MODEL,
        # soft laws: stiffness K (1/s²) and damping B (1/s) of the reference acceleration, tangential damping (1/s),
        # impedance curve (at no violation, at full width, width in m or rad, midpoint, power)
        **reals("law_stiffness", "law_damping", "law_damping_tangent", shape=("nlaw",)),
        **reals("law_impedance", shape=("nlaw", 5)),
        # contact laws: dimension (condim), margin (m), margin + gap (m), friction, and the friction of the regularised
        # cone
        **ints("law_dim", shape=("nlaw",)),
        **ints("law_direct", shape=("nlaw",)),  # solref holds stiffness and damping, not time constant and ratio
        **reals("law_margin", "law_reach", "law_mu", shape=("nlaw",)),
        **reals("law_friction", shape=("nlaw", 5)),
        **reals("law_restitution", shape=("nlaw",)),  # of the hard law
        # collision pairs, lower geom type first; the geom of a deformable body is -1, as are the flexes of pairs of
        # geoms
        **ints("collider", shape=("ncollider",)),  # geoms in any pair
        **ints(
            *["collision_geom1", "collision_geom2", "collision_kind", "collision_law", "collision_chain"],
            shape=("ncollision",),
        ),
        **ints("collision_moves", shape=("ncollision",)),  # a geom has a surface velocity
        **ints("collision_foreign", shape=("ncollision",)),  # detected by MuJoCo's functions
        # with located events: numbered contact points of each pair, and items with a mode: these points, both ends of
        # each limit, each dry friction
        **ints("nslot", "nmode", "nevent", "nevent_log", "nrow_event"),
        # slot_varies: number and order of a pair's points change with the motion
        **ints("slot_adr", "slot_num", "slot_varies", shape=("nslotpair",)),
        # user-defined events: watched direction (1, -1, 0 for both), whether the run ends, the kind in the event log;
        # discrete states of actuation
        **ints("nuserevent", "nactuation_state", "nclosedmax", "ntree_event"),
        **ints("event_direction", "event_terminal", "event_kind", shape=("nuserevent",)),
        # chains, the degrees of freedom of the relative motion of two bodies; sign 1 if they move the second, -1 the
        # first; chain_fill: they are not all on one path to the root, and couple entries that are zero in M
        **ints("chain_adr", "chain_num", "chain_body1", "chain_body2", "chain_fill", shape=("nchain",)),
        **ints("chain_dof", shape=("nchaindof",)),
        **reals("chain_sign", shape=("nchaindof",)),
        **reals("chain_translation", "chain_rotation", shape=("nchain",)),  # inverse inertias: 1/kg, 1/(kg m²)
        # for the dual problem: a chain's degrees of freedom with all their ancestors, and kinematic trees (a single one
        # where islands are disabled)
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
        # tendons: path elements, and addresses of their degrees of freedom in tendon_dof, MuJoCo's order of ten_J;
        # tendon_common: the last degree of freedom that moves the tendon as a whole, -1 for none
        **ints("ntendon", "npath", "ntenJ"),
        **ints("tendon_adr", "tendon_num", "tendon_Jadr", "tendon_Jnum", "tendon_common", shape=("ntendon",)),
        **ints("tendon_dof", shape=("ntenJ",)),
        **reals("tendon_length0", shape=("ntendon",)),
        # tendon springs (N/m and more; no force within lengthspring), dampers, inertia (kg, kg m²), limits of the
        # actuators' force
        **reals("tendon_stiffness", "tendon_damping", "tendon_armature", shape=("ntendon",)),
        **reals("tendon_stiffnesspoly", "tendon_dampingpoly", shape=("ntendon", NPOLY)),
        **reals("tendon_lengthspring", "tendon_actfrcrange", shape=("ntendon", 2)),
        **ints("tendon_actfrclimited", shape=("ntendon",)),
        # path elements: a joint, or two sites with a wrapping geom or -1, and a side site or -1 (see
        # `saltus.model.compile.tendons`); path_factor: coefficient, or inverse of the pulley's divisor
        **ints("path_type", "path_obj1", "path_obj2", "path_geom", "path_side", shape=("npath",)),
        **reals("path_factor", shape=("npath",)),
        # mocap bodies, -1 for none
        **ints("nmocap"),
        **ints("body_mocapid", shape=("nbody",)),
        # the medium: shapes that it acts on, in ascending order of bodies: kind (see `saltus.model.compile.fluid`),
        # frame in the body; Stokes resistance (N s/m, N m s); quadratic drag (kg/m) and angular drag (kg m²); Kutta
        # (kg/m) and Magnus (kg) lift; added mass and inertia (kg, kg m²); shape of the sections
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
        # sensed objects: geoms visible to rays, geoms of bodies, sites with a volume
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
        # hard contact: tolerance of gaps (m) and speeds (m/s); height (m) below which bounces end; restitution law and
        # treatment of simultaneous impacts (see `saltus.solve.impact.law`)
        **reals("opt_gap_tolerance", "opt_speed_tolerance", "opt_bounce_height"),
        **reals("opt_dense_events", "opt_dense_time", "opt_dense_step"),
        **ints("opt_impact_law", "opt_impact_treatment", "opt_dense"),
    },
    frozen=True,
)


@functools.cache
def model_layout(features: frozenset[str]) -> Layout:
    """The layout of a Model with a set of features (see `saltus.model.feature_keys`)."""
    if unknown := unknown_keys(features):
        raise ValueError(f"no such feature: {', '.join(unknown)}")
    if not features:
        return MODEL
    of_fields = features & {"hill"}  # features that add fields
    fields = MODEL.fields | (_HILL if of_fields else {})
    narrowed = functools.partial(_with_features, of_fields)
    name = "_".join(["Model", *sorted(features)])
    return Layout(name, fields, frozen=True, features=features, narrowed=narrowed)


_HILL = {  # Hill-type muscles with an elastic tendon
    **reals("hill_prm", shape=("nhill", 8)),
    # segments of curves, as polynomials of a parameter from 0 to 1: x and y, six coefficients each
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
        **reals("memory", shape=("nmemory",)),  # of integrators with memory between steps
        # slopes at the state, from which an adaptive method continues (first same as last)
        **reals("fsal_qacc", shape=("nv_fsal",)),
        **reals("fsal_act", shape=("nact_fsal",)),
        **reals("qacc_warmstart", shape=("nv_constraint",)),  # warm start of the constraint solver
        # with located events: modes (see `saltus.contact.event.modes`), slip directions (world axes; a sign for dry
        # friction), times of the last impacts (s), and whether all this belongs to the state
        **reals("mode", shape=("nmode",)),
        **reals("slip", shape=("nmode", 3)),
        **reals("slot_place", shape=("nslot", 3)),  # positions of active points in the frame of the second geom (m)
        **reals("impact_time", shape=("nmode", 4)),
        **reals("modes_known", shape=("nevent_state",)),
        # accumulation point of impacts: time (s), 0 for none; speed of the last impact (m/s)
        **reals("impact_limit", shape=("nmode", 2)),
        **reals("event_before", shape=("nevent",)),  # event functions at the state
        # density of events: decaying count, and time of the last (s); see `saltus.integrate.event.dense_events`
        **reals("event_rate", shape=("nmode", 2)),
        **reals("dense", shape=("ndense",)),
        # warm start of time stepping: forces of the blocks of the previous step (see
        # `saltus.solve.stepping.warm_start`), their modes, numbers among the points of a pair, forces on the second
        # geom (N, world axes); whether modes are those of the step that led here (see `saltus.solve.stepping.modes`)
        **reals("past_count", "past_known"),
        **reals("past_number", "past_mode", "past_slot", shape=("npast",)),
        **reals("past_place", "past_push", shape=("npast", 3)),
        **reals("past_force", shape=("npast", 6)),
        **reals("event_side", shape=("nuserevent",)),  # sides of the user's event functions: 1 above zero, -1 below
        **reals("actuation_state", shape=("nactuation_state",)),  # discrete, changed at events alone
        **reals("mocap_pos", shape=("nmocap", 3)),
        **reals("mocap_quat", shape=("nmocap", 4)),
        **reals("userdata", shape=("nuserdata",)),
        **reals("control_prm", shape=("ncontrol_prm",)),  # of a controller in the time loop
        **reals("ctrl", shape=("nu",)),
        **reals("qfrc_applied", shape=("nv",)),
        **reals("xfrc_applied", shape=("nbody", 6)),  # force, torque about the body's centre of mass; world axes
        **reals("timestep"),  # s, of the simulation
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
        # acceleration; qfrc_tau: all generalised forces but the bias
        **reals("qfrc_damper_slope", shape=("nv",)),  # -d(qfrc_damper)/d(qvel), N m s
        **reals("qfrc_tau", "qfrc_smooth", "qacc_smooth", "qacc", "qfrc_inverse", shape=("nv",)),
        **reals("energy", shape=(2,)),
        # sensors, and what they read of bodies: external wrenches, wrenches through joints (N m, N), subtree momenta
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
        # implicit steps by conjugate gradients, A = M + weighted stiffness and damping: weights of stiffness (s²) and
        # damping (s); residual forces (N, N m), Newton step (m/s², rad/s²) and its product with A, gradient, search
        # direction and its product with A; of the conjugate gradients: residual, preconditioned residual, direction,
        # product with A; blocks of the preconditioner, lower triangles by rows
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
        # world axes; contact_block: block of rows, -1 for none
        **ints("count", shape=(13,)),  # see `saltus.contact.counts`
        **ints("contact_collision", "contact_block", shape=("nconmax",)),
        **reals("contact_dist", shape=("nconmax",)),
        **reals("contact_pos", shape=("nconmax", 3)),
        **reals("contact_frame", shape=("nconmax", 9)),
        # user-defined contact law: force on the second geom in the contact frame (N); generalised forces
        **reals("contact_touch", shape=("ntouch", 3)),
        **reals("qfrc_compliant", shape=("nv_touch",)),
        # collision by MuJoCo: addresses, and number of contacts of each lane (see `saltus.contact.mujoco.collision`)
        **ints("foreign_functions", "foreign_model", "foreign_data"),
        **ints("foreign_geom_xpos", "foreign_geom_xmat", "foreign_geom_xquat", "foreign_contacts"),
        **ints("foreign_count", shape=(16,)),
        **ints("foreign_sense", shape=(8,)),  # addresses for rays and distances (see `saltus.contact.mujoco.rays`)
        # blocks of rows: kind, number of rows, first row, address in J, chain, length of the chain, constraint, law
        **ints(
            *["block_kind", "block_dim", "block_row", "block_J", "block_chain", "block_num", "block_id", "block_law"],
            *["block_dofs", "block_fill"],  # address of the list of its degrees of freedom; see chain_fill
            shape=("nblockmax",),
        ),
        # rows: Jacobian (by dof of the chain, all rows of a block contiguous), violation, 1/R, reference acceleration,
        # residual J a - aref, its change along the search direction, force, bound of dry friction
        **reals("row_J", shape=("nJmax",)),
        **reals(
            *["row_pos", "row_D", "row_aref", "row_residual", "row_search", "row_force", "row_loss"], shape=("nrowmax",)
        ),
        # weights in the Hessian: of a single row, of the edges u₀ + μ u and u₀ - μ u of a pyramid
        **reals("row_upper", "row_lower", shape=("nrowmax",)),
        **reals("block_weight", shape=("nblock_weight",)),  # [6, 6] of the current block
        **reals("constrained"),  # 1 where any row is active, else 0
        # the solver
        **reals("qfrc_constraint", shape=("nv_constraint",)),
        **reals("solve_Ma", "solve_gradient", "solve_search", "solve_Msearch", "solve_edge", shape=("nv_constraint",)),
        **ints("edge_mark", shape=("nv_constraint",)),
        **reals("hessian", shape=("nhessian",)),  # lower triangle, row by row
        # sparsity pattern of each row without its diagonal: as bits, as lists; the chains that it comes from
        **ints("hessian_bits", shape=("nhessian_bits",)),
        **ints("hessian_num", shape=("nv_hessian",)),
        **ints("hessian_col", shape=("nhessian",)),
        **ints("hessian_chain", shape=("nblockmax",)),
        # conjugate gradients: M⁻¹ gradient, and the gradients of the previous iteration
        **reals("solve_Mgradient", "cg_gradient", "cg_Mgradient", shape=("nv_cg",)),
        # the dual problem: G = J L⁻¹ D^-½ (by dof of the support, all rows of a block contiguous) and its address, the
        # blocks G Gᵀ, y = Gᵀ force; forces of the unknowns, before and after extrapolation (see
        # `saltus.solve.soft.dual`)
        **reals("dual_G", shape=("nG",)),
        **ints("dual_place", shape=("nblock_dual",)),
        **reals("dual_A", shape=("nrow_dual", 6)),
        **reals("dual_y", shape=("nv_dual",)),
        **reals("dual_force", "dual_before", "dual_start", shape=("ndual",)),
        # unknowns in the order of their updates, as block and index in it; the island of each tree
        **ints("dual_item", shape=("ndual", 2)),
        **ints("tree_island", shape=("ntree",)),
        # with located events: contact of each point, -1 for none; item with a mode of each block, -1 for none; gap of
        # each item (m, rad); rows: velocity J v, d(J v)/dt at constant v, and the Delassus operator J M⁻¹ Jᵀ
        **ints("slot_contact", shape=("nslot",)),
        **ints("block_item", shape=("nblock_event",)),
        **ints("mode_before", shape=("nmode",)),
        **ints("hard_block", "hard_place", shape=("nhardrow",)),  # rows of a cone problem: block, index among all rows
        **reals("gap", shape=("nmode",)),
        **reals("row_velocity", "row_drift", shape=("nrow_event",)),
        **reals("row_A", shape=("nhardsquare",)),
        # L⁻ᵀ Jᵀ of all rows, with M = Lᵀ D L, followed by L⁻ᵀ of the smooth forces
        **reals("row_half", shape=("nrow_half",)),
        **reals("row_inverse", shape=("nv_event",)),  # of the current row or forces, multiplied by D⁻¹ or M⁻¹
        **reals("qpos_kept", shape=("nq_event",)),
        # start of a step of a method with fixed steps
        **ints("nmemory"),
        **reals("qpos_start", shape=("nq_event",)),
        **reals("qvel_start", shape=("nv_event",)),
        **reals("act_start", shape=("nact_event",)),
        # event functions at the current state, and at the end of the searched part of a step; the event log
        **reals("event_value", "event_after", shape=("nevent",)),
        **reals("event_look", shape=("nevent_look",)),  # samples at the ends of all parts of a step
        **reals("event_seen", shape=("nuserevent", 2)),  # earlier samples of the user's functions
        **ints("event_hit", shape=("nevent",)),
        **ints("event_count", shape=("nevent_count",)),
        # matching of blocks in time stepping: the block of the previous step, -1 for none, its number among the points
        # of a pair, its mode; whether a block of the previous step has been matched
        **ints("block_past", "block_slot", "past_found", shape=("npast",)),
        **reals("block_mode", shape=("npast",)),
        **reals("event_error", shape=("nevent_state",)),  # error of the trial step, relative to the tolerance
        **reals("event_end", shape=("nevent_state",)),  # end time (s) of an interrupted step
        **reals("event_log", shape=("nevent_log", EVENT_WIDTH)),
        **cones.FIELDS,
        **cones_impact.IMPACT_FIELDS,
        # of the current cone: old forces, residuals; matrix of friction, its factor, right-hand side, solution
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
    """Sizes of a Data for the model's sizes and the needs of an integrator.

    Without constraints (nblockmax 0) no memory is allocated for them.

    `nmemory`: values that the integrator keeps between steps; `nstage`: stages whose slopes it stores; `implicit`: it
    uses velocity derivatives; `newton`: it solves for all stages by Newton iteration; `pcg`: it uses conjugate
    gradients with the derivatives of forces, with "flex" only those of deformable bodies; `fsal`: its last slopes are
    the first of the next step; `tangents`: the Data holds duals. `control_states`, `control_prm`: numbers of states and
    parameters of a controller in the time loop.
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
