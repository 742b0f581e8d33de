"""Warm start of a time step: the contact forces of the previous step.

Blocks are matched by a number, that of their equality, limit, dry friction or pair of geoms, and the contacts of a
pair by their positions.
"""

from saltus.contact.counts import NBLOCK, NCYCLED, NROW
from saltus.contact.rows.blocks import EQUALITY, FRICTION
from saltus.model.enums import TENDON
from saltus.number.kernels import kernel
from saltus.spatial.vectors import dot3, sub3


@kernel
def recall_forces(m, d):
    """row_force ← the forces of the matching blocks of the step before, zero for new ones.

    Writes block_past: for each block its match in the step before, -1 for none.
    """
    for r in range(d.count[NROW]):
        d.row_force[r] = 0.0 * d.time
    first = 0
    for b in range(d.count[NBLOCK]):
        number = block_number(m, d, b)
        while first < d.past_count and d.past_number[first] < number:
            first += 1
        found = nearest(m, d, b, number, first)
        d.block_past[b] = found
        if m.opt_warmstart and found >= 0 and d.row_D[d.block_row[b]] > 0.0:
            for r in range(d.block_dim[b]):
                d.row_force[d.block_row[b] + r] = d.past_force[found, r]


@kernel
def nearest(m, d, b, number, first):
    """The past block with the number of block b, from `first` on, that is nearest to it; -1 for none."""
    place = block_place(m, d, b)
    best, least = -1, 1e300
    k = first
    while k < d.past_count and d.past_number[k] == number:
        offset = sub3(d.past_place[k], place)
        distance = dot3(offset, offset)
        if distance < least:
            best, least = k, distance
        k += 1
    return best


@kernel
def remember_forces(m, d):
    """Keep row_force for the next step, except forces of inconsistent equalities, which grow."""
    n = d.count[NBLOCK]
    d.past_count = 0.0 * d.time + n
    for b in range(n):
        d.past_number[b] = 0.0 * d.time + block_number(m, d, b)
        d.past_place[b] = block_place(m, d, b)
        for r in range(d.block_dim[b]):
            grows = d.block_kind[b] == EQUALITY and d.count[NCYCLED]
            d.past_force[b, r] = 0.0 * d.time if grows else d.row_force[d.block_row[b] + r]


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
def block_place(m, d, b):
    """Position of the contact of block b (m, world axes); else the origin, shifted by the sign of a limit's end."""
    if of_contact(m, d, b):
        return d.contact_pos[d.block_id[b]]
    zero = 0.0 * d.time
    return zero + d.row_J[d.block_J[b]], zero, zero
