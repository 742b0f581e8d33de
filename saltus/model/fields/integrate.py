"""Fields of integrators: memory between steps, and scratch."""

from saltus.number.structs import ints, reals

STATE = {  # state: kept from step to step
    **reals("memory", shape=("nmemory",)),  # memory of integrators between steps
    # slopes at the state, from which an adaptive method continues (first same as last)
    **reals("fsal_qacc", shape=("nv_fsal",)),
    **reals("fsal_act", shape=("nact_fsal",)),
    # collocation methods: derivatives of qacc, act_dot by the state, row by row; stages of the last step
    **reals("slope_matrix", shape=("nslope_matrix",)),
    **reals("stage_past", shape=("ncollocation",)),
}

SCRATCH = {  # scratch
    **reals("qpos_saved", shape=("nq",)),
    **reals("qvel_saved", "qacc_saved", shape=("nv",)),
    # tangent vector from the step's start, and this vector divided by the step
    **reals("step_tangent", "qstep", shape=("nv",)),
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
    # collocation methods: stages of a step, in coordinates that part them, and their changes; error scale of a state
    **reals("stage_change", "newton_state", "newton_change", shape=("ncollocation",)),
    **reals("error_scale", shape=("nstate_collocation",)),
    # factors of their Newton matrices for steps of newton_length s, with the rows exchanged; right sides
    **reals("newton_length"),  # s
    **reals("newton_real", shape=("nnewton_real",)),
    **reals("newton_pair", shape=("nnewton_pair",)),
    **reals("newton_side", shape=("nnewton_side",)),
    **reals("newton_real_pivot", "newton_pair_pivot", shape=("nnewton_side",)),
    # balance of momenta over a step, of bodies in their axes (see `saltus.dynamics.balance.momentum_balance`): at the
    # start and at the end poses in the world, motions for the velocities of the start (v) and of the end (w), and the
    # translations (m/s) by which these differ from motions without momentum; momenta (p); halves of mean momenta (f, g)
    **reals("balance_quat", "balance_quat_end", shape=("nbody_balance", 4)),
    **reals("balance_pos", "balance_pos_end", "balance_rest", "balance_rest_end", shape=("nbody_balance", 3)),
    **reals(
        *["balance_v", "balance_v_end", "balance_w", "balance_w_end"],
        *["balance_f", "balance_g", "balance_p", "balance_p_end", "balance_moment"],
        shape=("nbody_balance", 6),
    ),
    # of free trees, at their roots: velocities and acceleration of the centre of mass; mass; first moments of mass;
    # uniform accelerations of weights; mass carried
    **reals("balance_sums", shape=("nbody_balance", 12)),
    **reals("balance_centre", "balance_field", shape=("nbody_balance", 3)),
    **reals("balance_mass", "balance_under", shape=("nbody_balance",)),
    **reals("joint_v", "joint_w", shape=("njnt_balance", 6)),
    **reals("joint_field", shape=("njnt_balance", 3)),
    # lengths of tendons at the start of a step and at its end (m, rad)
    **reals("ten_length_start", "ten_length_end", shape=("ntendon_balance",)),
    # reference accelerations of rows without the bias accelerations of connects and welds (m/s²; rad/s²)
    **reals("row_aref_still", shape=("nrow_balance",)),
    # closed loops over a step (see `saltus.integrate.implicit.loop_rows`): violations at its end, discrete derivatives
    # and derivatives by accelerations, row by row; multipliers (N, N m); columns of a point or direction, dof by dof
    **reals("loop_gap", "loop_gap_kept", "loop_force", shape=("nlooprow",)),
    **reals("loop_J", "loop_tangent", shape=("nloopentry",)),
    **reals("loop_column", shape=("nloopcolumn",)),
    # Newton steps since the last tangent matrix (m/s², rad/s²), see `saltus.integrate.implicit.energy_momentum`
    **reals("secant", shape=("nsecant",)),
    # start of a step of fixed length
    **ints("nmemory"),
}

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "STATE": ("integrate",),
    "SCRATCH": ("dynamics", "integrate", "sense", "solve"),
}
WRITTEN_BY = {
    "STATE": ("integrate",),
    "SCRATCH": ("dynamics", "integrate", "sense", "solve"),
}
