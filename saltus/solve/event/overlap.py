"""Overlap at the start: bodies that penetrate each other are moved apart by the least motion.

The motion is least in the metric of the inertia, as in constraint stabilisation, with constraints only along the
normals: neither tangents nor rotations nor dry friction restrict it.
"""

from saltus.contact.event.active_rows import has_room
from saltus.contact.event.contact_matching import remember_points
from saltus.contact.event.gap_functions import gaps
from saltus.contact.event.modes import count_closed, first_turning, friction_item, log_event
from saltus.dynamics.smooth import position_stage
from saltus.model.event_enums import OPEN, SEPARATED, SLIP
from saltus.number.functions import minimum
from saltus.number.kernels import kernel, only_with
from saltus.solve.event.constraint_stabilization import project_positions

ROUNDS = 30  # most corrections, each of which may cause new contacts


@only_with("event")
@kernel
def separate(m, d):
    """Move positions until no contact point or limit is violated; logs the largest initial violation (m, rad).

    Modes are unknown afterwards, and violations may remain after `ROUNDS` corrections.
    """
    deepest, item = 0.0 * d.time, -1
    for k in range(m.nfriction):
        d.mode[friction_item(m, k)] = SLIP
        d.slip[friction_item(m, k)] = (1.0 + 0.0 * d.time, 0.0 * d.time, 0.0 * d.time)
    for i in range(first_turning(m), m.nmode):
        d.mode[i] = SLIP
        d.slip[i] = (1.0 + 0.0 * d.time, 0.0 * d.time, 0.0 * d.time)
    for _ in range(ROUNDS):
        position_stage(m, d, 0)
        gaps(m, d)
        # overlapping points and limits
        found = False
        for i in range(m.nslot + 2 * m.nlimit):
            overlaps = d.gap[i] < -m.opt_gap_tolerance
            d.mode[i] = SLIP if overlaps else OPEN
            found = found or overlaps
            if d.gap[i] < deepest:
                deepest, item = minimum(deepest, d.gap[i]), i
        if not found or not has_room(m, d):
            break
        # move them to where they touch
        remember_points(m, d)
        count_closed(m, d)
        project_positions(m, d)
    if item >= 0 and deepest < -m.opt_gap_tolerance:
        zero = 0.0 * d.time
        log_event(m, d, SEPARATED, item, deepest, zero, (zero, zero, zero), zero, zero)
    d.modes_known[0] = 0.0 * d.time
