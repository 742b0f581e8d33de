"""Located events: numbered points, modes, event functions, the log."""

from saltus.model.event_enums import EVENT_WIDTH
from saltus.number.structs import ints, reals

MODEL = {  # fixed
    # with located events: numbered contact points of each pair, and items with a mode: these points, both ends of
    # each limit, each dry friction
    **ints("nslot", "nmode", "nevent", "nevent_log", "nrow_event"),
    # slot_varies: number and order of a pair's points change with the motion
    **ints("slot_adr", "slot_num", "slot_varies", shape=("nslotpair",)),
    # user-defined events: watched direction (1, -1, 0 for both), whether the run ends, the kind in the event log;
    # discrete states of actuation
    **ints("nuserevent", "nactuation_state", "nclosedmax", "ntree_event"),
    **ints("slot_pair", shape=("nslot",)),  # the pair of each point
    **ints("event_direction", "event_terminal", "event_kind", shape=("nuserevent",)),
}

STATE = {  # state: kept from step to step
    # with located events: modes (see `saltus.model.event_enums`), slip directions (world axes; a sign for
    # dry and torsional friction), times of the last impacts (s), and whether all this belongs to the state
    **reals("mode", shape=("nmode",)),
    **reals("slip", shape=("nmode", 3)),
    **reals("slot_place", shape=("nslot", 3)),  # positions of active points in the frame of the second geom (m)
    # on height fields: feature of the field with the active point, the normal there in the field's axes
    **reals("slot_feature", shape=("nslot_field",)),
    **reals("slot_normal", shape=("nslot_field", 3)),
    **reals("impact_time", shape=("nmode", 4)),
    **reals("modes_known", shape=("nevent_state",)),
    # rows of the active set when its constraints were last satisfied, their rank, and the number of its forces in
    # shared_force (N, N m), which are those of the last evaluation if they are not unique; zeros if unknown
    **reals("active_rank", shape=("nevent_state", 3)),
    **reals("shared_force", shape=("nrow_event",)),
    # accumulation point of impacts: time (s), 0 for none; speed of the last impact (m/s)
    **reals("impact_limit", shape=("nmode", 2)),
    **reals("event_before", shape=("nevent",)),  # event functions at the state
    # density of events: decaying count, and time of the last (s); see `saltus.integrate.event.dense_events`
    **reals("event_rate", shape=("nmode", 2)),
    **reals("dense", shape=("ndense",)),
}

USER_STATE = {  # state: kept from step to step
    **reals("event_side", shape=("nuserevent",)),  # signs of user-defined event functions: 1 above zero, -1 below
    **reals("actuation_state", shape=("nactuation_state",)),  # discrete, changed only at events
}

SCRATCH = {  # scratch
    # with located events: contact of each point, -1 for none; item with a mode of each block, -1 for none; gap of
    # each item (m, rad); rows: velocity J v, d(J v)/dt at constant v, and the Delassus operator J M⁻¹ Jᵀ
    **ints("slot_contact", shape=("nslot",)),
    **ints("contact_feature", shape=("ncon_field",)),  # feature of a height field with each contact
    **ints("block_item", shape=("nblock_event",)),
    **ints("mode_before", shape=("nmode",)),
    **reals("gap", shape=("nmode",)),
    **reals("row_drift", shape=("nrow_event",)),
    **reals("row_A", shape=("nhardsquare",)),
    # contact points at displaced positions: where they exist (1 ahead, 2 behind, 3 both); velocities (m/s), places (m)
    **ints("slot_sides", shape=("nslot",)),
    **reals("slot_rate", shape=("nslot", 12)),
    **reals("slot_reached", shape=("nslot", 6)),
    # L⁻ᵀ Jᵀ of all rows, with M = Lᵀ D L, followed by L⁻ᵀ of the smooth forces
    **reals("row_half", shape=("nrow_half",)),
    # nonzero entries of each of these rows: their number, and their degrees of freedom
    **ints("half_num", shape=("nrow_event",)),
    **ints("half_dof", shape=("nrow_half",)),
    **reals("row_inverse", shape=("nv_event",)),  # current row or forces, multiplied by D⁻¹ or M⁻¹
    **reals("qpos_kept", shape=("nq_event",)),
    **reals("qpos_start", shape=("nq_event",)),
    **reals("qvel_start", shape=("nv_event",)),
    **reals("qvel_jump", shape=("nv_event",)),  # change by the constraints' impulses in a time step with impacts
    **reals("act_start", shape=("nact_event",)),
    # event functions at the current state, and at the end of the searched part of a step; the event log
    **reals("event_value", "event_after", shape=("nevent",)),
    **reals("event_look", shape=("nevent_look",)),  # samples at the ends of all parts of a step
    **reals("event_seen", shape=("nuserevent", 2)),  # earlier samples of user-defined functions
    **ints("event_hit", shape=("nevent",)),
    **ints("event_count", shape=("nevent_count",)),
    **reals("event_error", shape=("nevent_state",)),  # error of the trial step, relative to the tolerance
    **reals("event_end", shape=("nevent_state",)),  # end time (s) of an interrupted step
    **reals("event_log", shape=("nevent_log", EVENT_WIDTH)),
}

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "integrate", "solve"),
    "STATE": ("contact", "integrate", "solve"),
    "USER_STATE": ("integrate",),
    "SCRATCH": ("contact", "integrate", "solve"),
}
WRITTEN_BY = {
    "STATE": ("contact", "integrate", "solve"),
    "USER_STATE": ("integrate",),
    "SCRATCH": ("contact", "integrate", "solve"),
}


def sizes_without_events():
    """Sizes of a Model without located events: all 0."""
    names = (
        "nslot nslotpair nmode nevent nevent_state nevent_count nevent_log nblock_event nrow_event nrow_half nv_event "
        "nslot_field ncon_field nq_event nevent_look nuserevent ndense nactuation_state npast ntouch nv_touch nmover "
        "nlooprow nloopentry nloopcolumn"
    )
    return dict.fromkeys(names.split(), 0)
