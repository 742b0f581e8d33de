"""Time stepping: data that a step leaves for the next one."""

from saltus.number.structs import ints, reals

STATE = {  # state: kept from step to step
    # warm start of time stepping: forces of the blocks of the previous step (see
    # `saltus.solve.stepping.warm_start`), their modes, numbers among the points of a pair, forces on the second
    # geom (N, world axes); whether modes are those of the step to this state (see `saltus.solve.stepping.modes`)
    **reals("past_count", "past_known"),
    **reals("past_number", "past_mode", "past_slot", shape=("npast",)),
    **reals("past_place", "past_push", shape=("npast", 3)),
    **reals("past_force", shape=("npast", 6)),
}

SCRATCH = {  # scratch
    # matching of blocks in time stepping: the block of the previous step, -1 for none, its number among the points
    # of a pair, its mode; whether a block of the previous step has been matched; forces of a block that are free where
    # loads are indeterminate (see `saltus.solve.stepping.least_forces`)
    **ints("block_past", "block_slot", "past_found", "block_free", shape=("npast",)),
    # static friction that holds a contact, 0 for none; whether it held in the step before
    # (see `saltus.solve.stepping.breakaway`)
    **reals("block_mode", "block_hold", "block_held", shape=("npast",)),
    # length of the step that the rows are for (s)
    **reals("row_step"),
    # forces of the rows, and Gᵀ times these, two sweeps ago
    **reals("cycle_force", shape=("nrow_dual",)),
    **reals("cycle_y", shape=("nv_dual",)),
}

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "STATE": ("solve",),
    "SCRATCH": ("contact", "solve"),
}
WRITTEN_BY = {
    "STATE": ("integrate", "solve"),
    "SCRATCH": ("solve",),
}
