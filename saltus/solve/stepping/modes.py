"""Modes of contacts and limits that a step of time has come to, and its events: what has changed since the step before.

Closed is what pushes; or what did in the step before and does not part, since loads that can be shared in many ways may
leave a contact without force. A closed contact slips where its friction is at its bound and its velocity is not zero.
"impact" is a contact or limit that was open and is closed fast, so that it would bounce under a law that has it bounce;
"touchdown", the same slowly. All events of a step have the time of its end. What bounces is noted as an impact alone,
without a liftoff. After a change of the state from outside nothing but impacts is noted.

Contacts of a pair of geoms have numbers, which they keep from step to step: corners of a box on a plane their own,
others the first that is free.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.event.modes import IMPACT, LIFTOFF, OPEN, SLIP, SLIPS, STICK, STICKS, TOUCHDOWN, log_event
from saltus.contact.rigid.plane_box_corner import corner
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, times_block
from saltus.model.compile.hard import PLANE_BOX
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.stepping.hard_rows import resting_speed
from saltus.solve.stepping.warm_start import of_contact
from saltus.spatial.vectors import add3, scale3

BOUNCED = 4.0  # added to the mode of what was closed in the course of a step, and parts again
POINTS = 64  # more than a pair of geoms has: item of a contact is POINTS times the pair's number, plus its own
LIMIT = -2  # item of the lower end of limit 0; that of limit k's end (0 or 1) is LIMIT - 2 k - end
EDGE = 1.0 - 1e-6  # of the bound of friction
NOWHERE = -1


@kernel
def find_modes(m, d, h):
    """block_mode and block_slot after a step of h seconds from the velocities qvel, and its events.

    Reads qacc, the forces and the rows of the step, and block_past. Overwrites row_search and row_residual.
    """
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
    for b in range(d.count[NBLOCK]):
        d.block_mode[b] = OPEN
        if d.block_kind[b] > FRICTION:
            number_point(m, d, b)
            compare(m, d, b, h)
    for p in range(int(d.past_count)):
        if not d.past_found[p] and was_closed(d, p):
            note(m, d, LIFTOFF, past_item(m, d, p), 0.0 * h, 0.0 * h, NOWHERE, h)


@kernel
def compare(m, d, b, h):
    """The mode of block b, and how it differs from that before."""
    row, p = d.block_row[b], d.block_past[b]
    times_block(m, d, b, d.qvel, d.row_residual)
    times_block(m, d, b, d.qacc, d.row_search)
    approach = d.row_residual[row]
    before = d.past_mode[p] if p >= 0 else OPEN
    held = before == STICK or before == SLIP
    parting = h * (d.row_search[row] - d.row_aref[row])
    closed = d.row_force[row] > 0.0 or (held and d.row_D[row] > 0.0 and parting <= m.opt_speed_tolerance)
    mode = OPEN
    if closed:
        mode = SLIP if slips(m, d, b, h) else STICK
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
    bounces = closed and fast and m.law_restitution[d.block_law[b]] > 0.0
    d.block_mode[b] = mode + BOUNCED if bounces else mode


@kernel
def slips(m, d, b, h):
    """Whether the closed block b, whose row_residual is J v and row_search J a, slips at the end of the step."""
    if d.block_kind[b] != CONE or d.block_dim[b] < 3:
        return False
    row, law = d.block_row[b], d.block_law[b]
    push, moved = 0.0 * h, 0.0 * h
    for k in range(1, 3):
        part = d.row_force[row + k] / max(m.law_friction[law, k - 1], 1e-300)
        speed = d.row_residual[row + k] + h * d.row_search[row + k]
        push, moved = push + part * part, moved + speed * speed
    return sqrt(push) >= EDGE * d.row_force[row] and sqrt(moved) > m.opt_speed_tolerance


@kernel
def number_point(m, d, b):
    """block_slot of block b, if it has none yet."""
    if not of_contact(m, d, b):
        row = d.block_J[b]
        d.block_slot[b] = 1 if d.row_J[row] < 0.0 and d.block_num[b] == 1 else 0
    elif m.collision_kind[d.contact_collision[d.block_id[b]]] == PLANE_BOX:
        d.block_slot[b] = corner(m, d, d.block_id[b])
    elif d.block_slot[b] < 0:
        number = 0
        while is_taken(m, d, b, number):
            number += 1
        d.block_slot[b] = number


@kernel
def is_taken(m, d, b, number):
    """Whether a contact of the same pair as block b's has a number; they follow each other."""
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
    """What an event of block b is of."""
    k, number = d.block_id[b], d.block_slot[b]
    if of_contact(m, d, b):
        return POINTS * d.contact_collision[k] + number
    return LIMIT - 2 * k - number


@kernel
def past_item(m, d, p):
    """The same of a block of the step before, by its number."""
    k = int(d.past_number[p]) - 2 * m.neq - m.nfriction
    if k < m.nlimit:
        return LIMIT - 2 * k - int(d.past_slot[p])
    return POINTS * (k - m.nlimit) + int(d.past_slot[p])


@kernel(inline=True)
def was_closed(d, p):
    """Whether a block of the step before was closed, and it is known."""
    return d.past_known > 0.0 and (d.past_mode[p] == STICK or d.past_mode[p] == SLIP)


@kernel
def logs_steps(m, d, kind, item, gap, speed, b, h):
    """Note an event of block b, -1 for one that is gone, with the impulse of the step."""
    zero = 0.0 * h
    push = (zero, zero, zero)
    if b >= 0:
        row, dim = d.block_row[b], d.block_dim[b]
        normal = h * d.row_force[row]
        push = (normal, zero, zero) if dim < 3 else (normal, h * d.row_force[row + 1], h * d.row_force[row + 2])
    log_event(m, d, kind, item, gap, speed, push, zero, zero)


@only_with("event", otherwise=logs_steps)
@kernel
def note(m, d, kind, item, gap, speed, b, h):
    """Nothing where events are located in time, which has a log of its own."""


@kernel
def remember_modes(m, d):
    """Keep modes, numbers and forces on the second geoms for the next step; before `remember_forces`."""
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
