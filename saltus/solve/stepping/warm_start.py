"""Warm start of a time step: the contact forces of the previous step.

Blocks are matched by a number, that of their equality, limit, dry friction or pair of geoms, and the contacts of a
pair by their positions.

The forces are kept without gaps, so that those of a simulation are the same in every lane and by themselves; lanes are
matched one after the other.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NBLOCK, NCYCLED, NROW
from saltus.contact.rows.blocks import EQUALITY, FRICTION
from saltus.model.enums import TENDON
from saltus.number.components import lane_count, lane_get, lane_set
from saltus.number.kernels import kernel
from saltus.solve.soft.dual.problem import get, put
from saltus.solve.stepping.breakaway import note_held
from saltus.spatial.vectors import dot3, sub3


@kernel
def recall_forces(m, d):
    """row_force ← the forces of matching blocks of the step before, zero if new; writes block_past and block_held."""
    for r in range(d.count[NROW]):
        d.row_force[r] = 0.0 * d.time
    for lane in range(lane_count(d.time)):
        match_blocks(m, d, lane)
        for b in range(d.count[NBLOCK]):
            row, found = d.block_row[b], d.block_past[b]
            note_held(m, d, b, found, lane)
            if m.opt_warmstart and found >= 0 and get(d.row_D, row, lane) > 0.0:
                for r in range(d.block_dim[b]):
                    put(d.row_force, row + r, lane, lane_get(d.past_force[found, r], lane))


@kernel
def match_blocks(m, d, lane):
    """block_past ← for each block of a lane its match in the step before, -1 for none."""
    first, count = 0, past_blocks(d, lane)
    for b in range(d.count[NBLOCK]):
        d.block_past[b] = -1
        if is_there(d, b, lane):
            number = block_number(m, d, b)
            while first < count and get(d.past_number, first, lane) < number:
                first += 1
            d.block_past[b] = nearest(m, d, b, number, first, lane)


@kernel
def nearest(m, d, b, number, first, lane):
    """The past block with the number of block b, from `first` on, that is nearest to it; -1 for none."""
    place, count = block_place(m, d, b, lane), past_blocks(d, lane)
    best, least = -1, 1e300
    k = first
    while k < count and get(d.past_number, k, lane) == number:
        past = d.past_place[k]
        offset = sub3((lane_get(past[0], lane), lane_get(past[1], lane), lane_get(past[2], lane)), place)
        distance = dot3(offset, offset)
        if distance < least:
            best, least = k, distance
        k += 1
    return best


@kernel
def remember_forces(m, d, lane):
    """Keep row_force of a lane for the next step, except forces of inconsistent equalities, which grow."""
    n = 0
    for b in range(d.count[NBLOCK]):
        if is_there(d, b, lane):
            put(d.past_number, n, lane, 1.0 * block_number(m, d, b))
            place = block_place(m, d, b, lane)
            for i in range(3):
                d.past_place[n, i] = lane_set(d.past_place[n, i], lane, place[i])
            grows = d.block_kind[b] == EQUALITY and d.count[NCYCLED]
            for r in range(d.block_dim[b]):
                force = 0.0 if grows else get(d.row_force, d.block_row[b] + r, lane)
                d.past_force[n, r] = lane_set(d.past_force[n, r], lane, force)
            n += 1
    d.past_count = lane_set(d.past_count, lane, 1.0 * n)


@kernel(inline=True)
def is_there(d, b, lane):
    """Whether a lane has block b: the blocks are those of all lanes."""
    return get(d.row_D, d.block_row[b], lane) >= 0.0


@kernel(inline=True)
def past_blocks(d, lane):
    """Number of blocks of the step before in a lane."""
    return int(lane_get(d.past_count, lane))


@kernel
def of_contact(m, d, b):
    """Whether block b is a contact."""
    chain = d.block_chain[b]
    return d.block_kind[b] > FRICTION and (m.chain_body1[chain] > 0 or m.chain_body2[chain] > 0)


@kernel
def block_number(m, d, b):
    """Number of the object that block b belongs to, in ascending order of the blocks."""
    kind, k = d.block_kind[b], d.block_id[b]
    if kind == EQUALITY:
        return k + (m.neq if m.eq_type[k] == TENDON else 0)
    k += 2 * m.neq
    if kind == FRICTION:
        return k
    k += m.nfriction
    if not of_contact(m, d, b):
        return k
    return 2 * m.neq + m.nfriction + m.nlimit + d.contact_collision[d.block_id[b]]


@kernel
def block_place(m, d, b, lane):
    """Position of the contact of block b (m, world axes); else the origin, shifted by the sign of a limit's end."""
    if of_contact(m, d, b):
        pos = d.contact_pos[d.block_id[b]]
        return lane_get(pos[0], lane), lane_get(pos[1], lane), lane_get(pos[2], lane)
    return get(d.row_J, d.block_J[b], lane), 0.0, 0.0
