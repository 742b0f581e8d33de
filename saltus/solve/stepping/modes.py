"""Contact modes after a time step, and its events: the changes of mode since the step before.

A contact is closed if it pushes, or if it was closed in the step before and does not separate: where loads are
indeterminate, a contact may carry no force. A closed contact slips if its friction is at its bound and its velocity is
not zero. "impact" is a contact or limit that was open and closes fast enough to bounce under a law with restitution;
"touchdown", the same slowly. All events of a step have the time of its end. A bounce is logged as an impact alone,
without a liftoff. After an external change of the state, only impacts are logged.

The contacts of a pair of geoms are numbered, and keep their numbers from step to step: the corners of a box on a plane
have fixed numbers, other contacts get the first free one.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.event.modes import log_event
from saltus.contact.rigid.plane_box_corner import corner
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, times_block
from saltus.model.enums import BOX, PLANE, pair_kind
from saltus.model.event_enums import IMPACT, LIFTOFF, OPEN, SLIP, SLIPS, STICK, STICKS, TOUCHDOWN
from saltus.number.conditions import has
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel
from saltus.solve.stepping.breakaway import holds, step_friction
from saltus.solve.stepping.hard_rows import resting_speed
from saltus.solve.stepping.warm_start import of_contact
from saltus.spatial.vectors import add3, scale3

BOUNCED = 4.0  # added to the mode of a contact that closes within a step and separates again
POINTS = 64  # upper bound of the contacts of a pair; item of a contact: POINTS times the pair's number, plus its own
LIMIT = -2  # item of the lower end of limit 0; that of limit k's end (0 or 1) is LIMIT - 2 k - end
EDGE = 1.0 - 1e-6  # fraction of the friction bound from which friction is at its limit
NOWHERE = -1


@kernel
def find_modes(m, d, h):
    """block_mode and block_slot after a step of h seconds from the velocities qvel, and the events of the step.

    Reads qacc, the forces and the rows of the step, and block_past. Overwrites row_search and row_residual.
    """
    # each block of the step before continues in at most one
    for p in range(int(d.past_count)):
        d.past_found[p] = 0
    for b in range(d.count[NBLOCK]):
        d.block_slot[b] = NOWHERE
        p = d.block_past[b]
        if p >= 0:
            if d.past_found[p]:
                d.block_past[b] = NOWHERE
            else:
                d.past_found[p] = 1
                d.block_slot[b] = int(d.past_slot[p])
    # modes and their changes
    for b in range(d.count[NBLOCK]):
        d.block_mode[b] = OPEN
        if d.block_kind[b] > FRICTION:
            number_point(m, d, b)
            compare(m, d, b, h)
    # closed blocks that have disappeared
    for p in range(int(d.past_count)):
        if not d.past_found[p] and was_closed(d, p):
            note(m, d, LIFTOFF, past_item(m, d, p), 0.0 * h, 0.0 * h, NOWHERE, h)


@kernel
def compare(m, d, b, h):
    """Mode of block b, and the event of its change since the step before."""
    row, p = d.block_row[b], d.block_past[b]
    # velocities before the step and accelerations over it
    for r in range(row, row + d.block_dim[b]):
        d.row_residual[r] = d.row_velocity[r]
    times_block(m, d, b, d.qacc, d.row_search)
    approach = d.row_residual[row]
    # closed: pushing, or closed before and not separating
    before = d.past_mode[p] if p >= 0 else OPEN
    held = before == STICK or before == SLIP
    parting = h * (d.row_search[row] - d.row_aref[row])
    closed = d.row_force[row] > 0.0 or (held and d.row_D[row] > 0.0 and parting <= m.opt_speed_tolerance)
    mode = OPEN
    if closed:
        mode = SLIP if slips(m, d, b, h) else STICK
    # events: changes of the mode
    item, known = item_of(m, d, b), d.past_known > 0.0
    fast = approach < -resting_speed(m, h)
    if closed and not held:
        if fast:
            note(m, d, IMPACT, item, d.row_pos[row], approach, b, h)
        elif known:
            note(m, d, TOUCHDOWN, item, d.row_pos[row], approach, b, h)
    elif closed and mode != before and known:
        note(m, d, SLIPS if mode == SLIP else STICKS, item, d.row_pos[row], approach, b, h)
    elif held and not closed and known:
        note(m, d, LIFTOFF, item, d.row_pos[row], approach, b, h)
    # a contact with restitution separates again
    bounces = closed and fast and m.law_restitution[d.block_law[b]] > 0.0
    d.block_mode[b] = mode + BOUNCED if bounces else mode


@kernel
def slips(m, d, b, h):
    """Whether the closed block b slips at the end of the step.

    row_residual: velocities of its rows at the start; row_search: J a.
    """
    if d.block_kind[b] != CONE or d.block_dim[b] < 3 or holds(m, d, b):
        return False
    row = d.block_row[b]
    push, moved = 0.0 * h, 0.0 * h
    for k in range(1, 3):
        part = d.row_force[row + k] / max(step_friction(m, d, b, k), 1e-300)
        speed = d.row_residual[row + k] + h * d.row_search[row + k]
        push, moved = push + part * part, moved + speed * speed
    return sqrt(push) >= EDGE * d.row_force[row] and sqrt(moved) > m.opt_speed_tolerance


@kernel
def number_point(m, d, b):
    """Give block b a number block_slot, if it has none yet."""
    if not of_contact(m, d, b):
        row = d.block_J[b]
        d.block_slot[b] = 1 if d.row_J[row] < 0.0 and d.block_num[b] == 1 else 0
    elif m.collision_kind[d.contact_collision[d.block_id[b]]] == pair_kind(PLANE, BOX):
        d.block_slot[b] = corner(m, d, d.block_id[b])
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
def past_item(m, d, p):
    """Item number of block p of the step before, by its block number."""
    k = int(d.past_number[p]) - 2 * m.neq - m.nfriction
    if k < m.nlimit:
        return LIMIT - 2 * k - int(d.past_slot[p])
    return POINTS * (k - m.nlimit) + int(d.past_slot[p])


@kernel(inline=True)
def was_closed(d, p):
    """Whether block p of the step before was closed; False after an external change of the state."""
    return d.past_known > 0.0 and (d.past_mode[p] == STICK or d.past_mode[p] == SLIP)


@kernel
def note(m, d, kind, item, gap, speed, b, h):
    """Log an event of block b, -1 for one that no longer exists, with the impulse of the step.

    Located events have their own log and are not logged here.
    """
    if has(m, "event"):
        return
    zero = 0.0 * h
    push = (zero, zero, zero)
    if b >= 0:
        row, dim = d.block_row[b], d.block_dim[b]
        normal = h * d.row_force[row]
        push = (normal, zero, zero) if dim < 3 else (normal, h * d.row_force[row + 1], h * d.row_force[row + 2])
    log_event(m, d, kind, item, gap, speed, push, zero, zero)


@kernel
def remember_modes(m, d):
    """Keep modes, numbers and the forces on the second geoms for the next step; call it before `remember_forces`."""
    for b in range(d.count[NBLOCK]):
        d.past_mode[b], d.past_slot[b] = d.block_mode[b], 0.0 * d.time + d.block_slot[b]
        row, zero = d.block_row[b], 0.0 * d.time
        push = (zero, zero, zero)
        if d.block_kind[b] > EQUALITY and of_contact(m, d, b):
            frame = d.contact_frame[d.block_id[b]]
            push = scale3(d.row_force[row], (frame[0], frame[1], frame[2]))
            if d.block_dim[b] >= 3:
                push = add3(push, scale3(d.row_force[row + 1], (frame[3], frame[4], frame[5])))
                push = add3(push, scale3(d.row_force[row + 2], (frame[6], frame[7], frame[8])))
        d.past_push[b] = push
    d.past_known = 1.0 + 0.0 * d.time
