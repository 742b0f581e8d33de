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
    **ints("newton_real_pivot", "newton_pair_pivot", shape=("nnewton_side",)),
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
