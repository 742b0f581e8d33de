"""Pairs of geoms that may pass each other within one step of fixed length, and recorded passages.

All sizes are 0 if no pair can pass, or if steps are searched for contacts.
"""

from saltus.number.structs import ints, reals

SEEN = 8  # pairs that passed are kept until they are read; more are counted
REST, COUNT = 0, 1  # places in passing_count
BOUND, NEXT = 0, 1  # places in passing_level

MODEL = {  # fixed
    # pairs of geoms, degrees of freedom, geoms, pairs that are kept: their numbers
    **ints("npassing", "npassingdof", "npassinggeom", "npassed"),
    # sum of half thicknesses of both geoms (m); infinite if one has an unbounded inside
    **reals("passing_least", shape=("npassing",)),
    # degrees of freedom: largest motion of a geom per speed, relative to the thickness of a pair with relative motion
    # (1/m or 1 times seconds); whether it is the last of its tree
    **reals("passing_reach", shape=("npassingdof",)),
    **ints("passing_last", shape=("npassingdof",)),
}

SCRATCH = {  # scratch
    # poses of geoms at the start of a step
    **reals("passing_pos", shape=("npassinggeom", 3)),
    **reals("passing_mat", shape=("npassinggeom", 9)),
    # number of next steps without checks, or if negative with checks; pairs that passed since they were last read;
    # bound of motion at the last check, and start time of the next step (s)
    **ints("passing_count", shape=("npassed",)),
    **reals("passing_level", shape=("npassed",)),
    # pairs that passed, and the time at the start of the step (s)
    **ints("passed_pair", shape=("npassed",)),
    **reals("passed_time", shape=("npassed",)),
}

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {"MODEL": ("integrate",), "SCRATCH": ("integrate",)}
WRITTEN_BY = {"SCRATCH": ("integrate",)}
