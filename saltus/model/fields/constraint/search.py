"""Search of steps for contacts: bounds of the motion over a step, and lower bounds of distances of geoms."""

from saltus.number.structs import ints, reals

SCRATCH = {  # scratch
    # bounds of joint rates and accelerations over the step, and velocities at the last sample in it
    **reals("rate_bound", "rate_change", "rate_seen", shape=("nv_search",)),
    # bounds of a body's speed (m/s), acceleration (m/s²), angular speed (rad/s) and its rate (rad/s²); angular velocity
    # and velocity of the origin
    **reals("body_bound", shape=("nbody_search", 4)),
    **reals("body_motion", shape=("nbody_search", 6)),
    # the fraction of the step up to which an item is known to be open, and its last evaluation
    **reals("clear_until", shape=("nclear",)),
    **reals("clear_seen", shape=("nclear", 6)),
    # evaluations in the step; the item violated in it; steps in which some pair could not be proved apart within the
    # limit on evaluations, counted from call to call
    **ints("clear_looks", "clear_item", "unproved", shape=("nsearch",)),
}

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {"SCRATCH": ("integrate",)}
WRITTEN_BY = {"SCRATCH": ("integrate",)}


def search_sizes(sizes: dict[str, int], searches: bool) -> dict[str, int]:
    """Sizes of these fields for a model's sizes; `searches`: steps are searched for contacts."""
    there = int(searches and (sizes["nblockmax"] > 0 or sizes["nevent_state"] > 0))
    points = sizes["nslot"] if sizes["nevent_state"] else sizes["ncollision"]
    return {
        "nsearch": there,
        "nv_search": there * sizes["nv"],
        "nbody_search": there * sizes["nbody"],
        "nclear": there * (points + 2 * sizes["njntlimit"]),
    }
