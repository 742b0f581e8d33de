"""Constraints other than contacts, and the rows of all constraints."""

from saltus.number.structs import ints, reals

MODEL = {  # fixed
    # limits of joints, then of tendons
    **ints("njntlimit"),
    **ints("limit_obj", "limit_law", "limit_chain", shape=("nlimit",)),
    **reals("limit_range", shape=("nlimit", 2)),
    **reals("limit_margin", "limit_invweight", shape=("nlimit",)),
    # dry friction of degrees of freedom, then of tendons
    **ints("ndoffriction"),
    **ints("friction_obj", "friction_law", "friction_chain", shape=("nfriction",)),
    **reals("friction_loss", "friction_invweight", shape=("nfriction",)),
    # equality constraints of the file: number; those simulated: eq_id is their number in the file, eq_obj bodies,
    # joints or sites; eq_site: they are sites
    **ints("nequality"),
    **ints("eq_id", "eq_type", "eq_obj1", "eq_obj2", "eq_site", "eq_law", "eq_chain", shape=("neq",)),
    **ints("eq_active0", shape=("neq",)),
    **reals("eq_data", shape=("neq", 11)),
    **reals("eq_invweight", shape=("neq", 2)),  # inverse inertias of translation and rotation
}

DRIVE = {  # fields of the Model for drives with losses: friction at rest, its fall with velocity, and of the load
    **ints("friction_stribeck_exponent", shape=("nfriction",)),
    **reals("friction_static", "friction_stribeck_velocity", "friction_of_load", shape=("nfriction",)),
    # elastic gears: tendon whose torque rubs at the motor, or -1; friction by that torque, its mean of both directions
    **ints("friction_tendon", shape=("nfriction",)),
    **reals("friction_of_twist", "friction_shift", shape=("nfriction",)),
}

CAM = {  # fields of the Model for equalities along curves: segments of each one, 0 for none; 0 without a period
    **ints("cam_num", "cam_adr", shape=("neq",)),
    **reals("cam_period", "cam_advance", shape=("neq",)),  # rad, m: period, and change of the first joint in it
    **reals("cam_begin", shape=("ncamsegment",)),  # rad, m: where a segment begins
    **reals("cam_coef", shape=("ncamsegment", 4)),  # coefficients of powers of the distance from there
}

STATE = {  # state: kept from step to step
    **reals("eq_active", shape=("nequality",)),  # 1 for equality constraints that act, 0 for others
}

VELOCITY = {  # depends on velocities and inputs
    # blocks of rows: kind, number of rows, first row, address in J, chain, length of the chain, constraint, law
    **ints(
        *["block_kind", "block_dim", "block_row", "block_J", "block_chain", "block_num", "block_id", "block_law"],
        *["block_dofs", "block_fill"],  # address of the list of its degrees of freedom; see chain_fill
        shape=("nblockmax",),
    ),
    # rows: Jacobian (by dof of the chain, all rows of a block contiguous), violation, velocity J v, 1/R, reference
    # acceleration, residual J a - aref, its change along the search direction, force, bound of dry friction
    **reals("row_J", shape=("nJmax",)),
    **reals(
        *["row_pos", "row_velocity", "row_D", "row_aref", "row_residual", "row_search", "row_force", "row_loss"],
        shape=("nrowmax",),
    ),
    # weights in the Hessian: for a single row, for the edges u₀ + μ u and u₀ - μ u of a pyramid
    **reals("row_upper", "row_lower", shape=("nrowmax",)),
    # contribution of prescribed motions of mocap bodies to velocities or accelerations of rows (m/s, m/s²; rad)
    **reals("row_carried", shape=("nrow_carried",)),
    **reals("block_weight", shape=("nblock_weight",)),  # weights [6, 6] of the current block
}

#: Fields of MODEL that may differ from simulation to simulation of a batch.
VARIES = (
    *(
        "limit_range",
        "limit_margin",
        "limit_invweight",
        "friction_loss",
        "friction_invweight",
        "eq_data",
    ),
    *("eq_invweight",),
)

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "dynamics", "integrate", "sense", "solve"),
    "DRIVE": ("contact", "dynamics"),
    "CAM": ("contact",),
    "STATE": ("contact", "integrate"),
    "VELOCITY": ("contact", "integrate", "sense", "solve"),
}
WRITTEN_BY = {
    "VELOCITY": ("contact", "integrate", "solve"),
}
