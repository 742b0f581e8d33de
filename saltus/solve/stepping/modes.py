"""Contact modes after a time step, and its events: the changes of mode since the step before.

A contact is closed if it pushes, or if it was closed in the step before and does not separate: where loads are
indeterminate, a contact may carry no force. A closed contact slips if its friction is at its bound and its velocity is
not zero. "impact" is a contact or limit that was open and closes fast enough to bounce under a law with restitution;
"touchdown", the same slowly. All events of a step have the time of its end. A bounce is logged as an impact alone,
without a liftoff. After an external change of the state, only impacts are logged.

The contacts of a pair of geoms are numbered, and keep their numbers from step to step: the corners of a box on a plane
have fixed numbers, other contacts get the first free one.

In lanes one is done after the other, with `lane` as its number; block_past, block_slot and past_found are those of the
present one.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NBLOCK
from saltus.contact.event.modes import begin_log, end_log, log_event, log_in_lane
from saltus.contact.rigid.plane_box_corner import corner
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, times_block
from saltus.model.enums import BOX, PLANE, pair_kind
from saltus.model.event_enums import IMPACT, LIFTOFF, OPEN, SLIP, SLIPS, STICK, STICKS, TOUCHDOWN
from saltus.number.components import lane_count, lane_get, lane_set
from saltus.number.conditions import has, has_lanes
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.soft.dual.problem import get, put
from saltus.solve.stepping.breakaway import holds, step_friction
from saltus.solve.stepping.hard_rows import resting_speed
from saltus.solve.stepping.warm_start import is_there, match_blocks, of_contact, past_blocks, remember_forces

BOUNCED = 4.0  # added to the mode of a contact that closes within a step and separates again
POINTS = 64  # upper bound of the contacts of a pair; item of a contact: POINTS times the pair's number, plus its own
LIMIT = -2  # item of the lower end of limit 0; that of limit k's end (0 or 1) is LIMIT - 2 k - end
EDGE = 1.0 - 1e-6  # fraction of the friction bound from which friction is at its limit
NOWHERE = -1


@only_with("constraint")
@kernel
def note_step(m, d, h):
    """Log the changes of a step of h seconds from the velocities qvel; keep its modes and forces for the next one.

    Reads qacc, the forces and the rows of the step, and block_past. Overwrites row_search.
    """
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] > FRICTION:
            times_block(m, d, b, d.qacc, d.row_search)
    for lane in range(lane_count(d.time)):
        if has_lanes(d):
            match_blocks(m, d, lane)
            begin_log(d)
        find_modes(m, d, h, lane)
        if has_lanes(d):
            end_log(m, d, lane)
        remember_modes(m, d, lane)
        remember_forces(m, d, lane)


@kernel
def find_modes(m, d, h, lane):
    """block_mode and block_slot after a step of h seconds, and the events of the step."""
    past = past_blocks(d, lane)
    # each block of the step before continues in at most one
    for p in range(past):
        d.past_found[p] = 0
    for b in range(d.count[NBLOCK]):
        d.block_slot[b] = NOWHERE
        p = d.block_past[b]
        if p >= 0:
            if d.past_found[p]:
                d.block_past[b] = NOWHERE
            else:
                d.past_found[p] = 1
                d.block_slot[b] = int(get(d.past_slot, p, lane))
    # modes and their changes
    for b in range(d.count[NBLOCK]):
        put(d.block_mode, b, lane, OPEN)
        if d.block_kind[b] > FRICTION and is_there(d, b, lane):
            number_point(m, d, b, lane)
            compare(m, d, b, h, lane)
    # closed blocks that have disappeared
    for p in range(past):
        if not d.past_found[p] and was_closed(d, p, lane):
            note(m, d, LIFTOFF, past_item(m, d, p, lane), 0.0 * h, 0.0 * h, NOWHERE, h, lane)


@kernel
def compare(m, d, b, h, lane):
    """Mode of block b, and the event of its change since the step before; row_search: J a."""
    row, p = d.block_row[b], d.block_past[b]
    approach, gap = get(d.row_velocity, row, lane), get(d.row_pos, row, lane)
    # closed: pushing, or closed before and not separating
    before = get(d.past_mode, p, lane) if p >= 0 else OPEN
    held = before == STICK or before == SLIP
    parting = h * (get(d.row_search, row, lane) - get(d.row_aref, row, lane))
    active = get(d.row_D, row, lane) > 0.0
    closed = get(d.row_force, row, lane) > 0.0 or (held and active and parting <= m.opt_speed_tolerance)
    mode = OPEN
    if closed:
        mode = SLIP if slips(m, d, b, h, lane) else STICK
    # events: changes of the mode
    item, known = item_of(m, d, b), lane_get(d.past_known, lane) > 0.0
    fast = approach < -resting_speed(m, h)
    if closed and not held:
        if fast:
            note(m, d, IMPACT, item, gap, approach, b, h, lane)
        elif known:
            note(m, d, TOUCHDOWN, item, gap, approach, b, h, lane)
    elif closed and mode != before and known:
        note(m, d, SLIPS if mode == SLIP else STICKS, item, gap, approach, b, h, lane)
    elif held and not closed and known:
        note(m, d, LIFTOFF, item, gap, approach, b, h, lane)
    # a contact with restitution separates again
    bounces = closed and fast and m.law_restitution[d.block_law[b]] > 0.0
    put(d.block_mode, b, lane, mode + BOUNCED if bounces else mode)


@kernel
def slips(m, d, b, h, lane):
    """Whether the closed block b slips at the end of the step; row_search: J a."""
    if d.block_kind[b] != CONE or d.block_dim[b] < 3 or holds(m, d, b, lane):
        return False
    row = d.block_row[b]
    push, moved = 0.0 * h, 0.0 * h
    for k in range(1, 3):
        part = get(d.row_force, row + k, lane) / max(lane_get(step_friction(m, d, b, k), lane), 1e-300)
        speed = get(d.row_velocity, row + k, lane) + h * get(d.row_search, row + k, lane)
        push, moved = push + part * part, moved + speed * speed
    return sqrt(push) >= EDGE * get(d.row_force, row, lane) and sqrt(moved) > m.opt_speed_tolerance


@kernel
def number_point(m, d, b, lane):
    """Give block b a number block_slot, if it has none yet."""
    if not of_contact(m, d, b):
        row = d.block_J[b]
        d.block_slot[b] = 1 if get(d.row_J, row, lane) < 0.0 and d.block_num[b] == 1 else 0
    elif m.collision_kind[d.contact_collision[d.block_id[b]]] == pair_kind(PLANE, BOX):
        d.block_slot[b] = corner(m, d, d.block_id[b], lane)
    elif d.block_slot[b] < 0:
        number = 0
        while is_taken(m, d, b, number):
            number += 1
        d.block_slot[b] = number


@kernel
def is_taken(m, d, b, number):
    """Whether another contact of block b's pair has this number; the blocks of a pair are adjacent."""
    pair = d.contact_collision[d.block_id[b]]
    for way in range(-1, 2, 2):
        other = b + way
        while 0 <= other and other < d.count[NBLOCK] and of_contact(m, d, other):
            if d.contact_collision[d.block_id[other]] != pair:
                break
            if d.block_slot[other] == number:
                return True
            other += way
    return False


@kernel
def item_of(m, d, b):
    """Item number of block b for the event log."""
    k, number = d.block_id[b], d.block_slot[b]
    if of_contact(m, d, b):
        return POINTS * d.contact_collision[k] + number
    return LIMIT - 2 * k - number


@kernel
def past_item(m, d, p, lane):
    """Item number of block p of the step before, by its block number."""
    k = int(get(d.past_number, p, lane)) - 2 * m.neq - m.nfriction
    slot = int(get(d.past_slot, p, lane))
    if k < m.nlimit:
        return LIMIT - 2 * k - slot
    return POINTS * (k - m.nlimit) + slot


@kernel(inline=True)
def was_closed(d, p, lane):
    """Whether block p of the step before was closed; False after an external change of the state."""
    mode = get(d.past_mode, p, lane)
    return lane_get(d.past_known, lane) > 0.0 and (mode == STICK or mode == SLIP)


@kernel
def note(m, d, kind, item, gap, speed, b, h, lane):
    """Log an event of block b, -1 for one that no longer exists, with the impulse of the step.

    Located events have their own log and are not logged here.
    """
    if has(m, "event"):
        return
    zero = 0.0 * h
    push = (zero, zero, zero)
    if b >= 0:
        row, dim = d.block_row[b], d.block_dim[b]
        push = (h * get(d.row_force, row, lane), zero, zero)
        if dim >= 3:
            push = (push[0], h * get(d.row_force, row + 1, lane), h * get(d.row_force, row + 2, lane))
    if has_lanes(d):
        log_in_lane(m, d, kind, item, gap, speed, push, lane)
    else:
        log_event(m, d, kind, item, gap, speed, push, zero, zero)


@kernel
def remember_modes(m, d, lane):
    """Keep modes, numbers and the forces on the second geoms for the next step; call it before `remember_forces`."""
    n = 0
    for b in range(d.count[NBLOCK]):
        if is_there(d, b, lane):
            put(d.past_mode, n, lane, get(d.block_mode, b, lane))
            put(d.past_slot, n, lane, 1.0 * d.block_slot[b])
            contact = d.block_kind[b] > EQUALITY and of_contact(m, d, b)
            for i in range(3):
                push = push_along(d, b, i, lane) if contact else 0.0
                d.past_push[n, i] = lane_set(d.past_push[n, i], lane, push)
            n += 1
    d.past_known = lane_set(d.past_known, lane, 1.0)


@kernel
def push_along(d, b, i, lane):
    """Component i of the force of contact block b on its second geom (N, world axes)."""
    row, k = d.block_row[b], d.block_id[b]
    push = get(d.row_force, row, lane) * lane_get(d.contact_frame[k, i], lane)
    if d.block_dim[b] >= 3:
        push = push + get(d.row_force, row + 1, lane) * lane_get(d.contact_frame[k, 3 + i], lane)
        push = push + get(d.row_force, row + 2, lane) * lane_get(d.contact_frame[k, 6 + i], lane)
    return push
