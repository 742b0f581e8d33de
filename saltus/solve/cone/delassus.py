"""Delassus operator of the active set: the motion of its rows under forces on these rows.

    u = A f + u₀,   A = J M⁻¹ Jᵀ

for accelerations u and forces f, or velocities and impulses. A slipping contact counts as one row, along the normal,
with the force f_N (n - μ t) along it and against the slip t; in the same way, torsional and rolling friction that slips
has no rows, and its moments belong to the normal force.
"""

from saltus.contact.counts import NBLOCK, NROW
from saltus.contact.event.modes import turning_item
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, add_transpose_rows
from saltus.dynamics.tree.factor import solve_half
from saltus.model.enums import BLOCKS, ROWS
from saltus.model.event_enums import ROLL, SLIDE, SLIP, SPIN
from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED, COULOMB, PRESSED, UNILATERAL
from saltus.number.components import is_zero
from saltus.number.conditions import has
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel

# problems: accelerations at given modes; choice of the next modes; constraint stabilisation; impulses
HELD, OPENING, DRIFT, IMPULSES = range(4)


@kernel
def row_matrix(m, d):
    """row_A [nrow, nrow] = J M⁻¹ Jᵀ of all rows; needs the factor of M = Lᵀ D L.

    The matrix is Y D⁻¹ Yᵀ with Y = J L⁻¹, whose rows are kept in row_half. With many bodies each row has few entries:
    half_num, at the degrees of freedom in half_dof.
    """
    n, zero = d.count[NROW], 0.0 * d.time
    for i in range(m.nv):
        d.row_inverse[i] = zero
    for b in range(d.count[NBLOCK]):
        for k in range(d.block_dim[b]):
            r = d.block_row[b] + k
            at = r * m.nv
            half_row(m, d, b, k, at)
            note_entries(m, d, r)
            for c in range(d.half_num[r]):
                i = d.half_dof[at + c]
                d.row_inverse[i] = d.row_half[at + i] * d.qLDiagInv[i]
            for c in range(r + 1):
                total = along(m, d, c)
                d.row_A[r * n + c] = total
                d.row_A[c * n + r] = total
            for c in range(d.half_num[r]):
                d.row_inverse[d.half_dof[at + c]] = zero


@kernel
def half_row(m, d, b, k, at):
    """row_half from `at` on ← L⁻ᵀ Jᵀ of row k of block b."""
    for i in range(m.nv):
        d.row_half[at + i] = 0.0 * d.time
    first = m.chain_adr[d.block_chain[b]]
    dim = d.block_dim[b]
    moves = False
    for c in range(d.block_num[b]):
        entry = d.row_J[d.block_J[b] + c * dim + k]
        d.row_half[at + m.chain_dof[first + c]] = entry
        moves = moves or not is_zero(entry)
    if moves:  # zero for a direction normal to planar motion
        solve_half(m, d, d.row_half, at)


@kernel
def note_entries(m, d, r):
    """half_dof, half_num ← the degrees of freedom at which row r of row_half is not zero."""
    count, at = 0, r * m.nv
    for i in range(m.nv):
        if not is_zero(d.row_half[at + i]):
            d.half_dof[at + count] = i
            count += 1
    d.half_num[r] = count


@kernel(inline=True)
def along(m, d, r):
    """Acceleration of row r under the forces in row_inverse, which holds D⁻¹ L⁻ᵀ of them."""
    total, at = 0.0 * d.time, r * m.nv
    for c in range(d.half_num[r]):
        i = d.half_dof[at + c]
        total = total + d.row_half[at + i] * d.row_inverse[i]
    return total


@kernel
def contact_friction(m, d, b):
    """Coefficient of friction of a contact block."""
    return m.law_friction[d.block_law[b], 0]


@kernel
def holding_friction(m, d, b):
    """Coefficient of friction up to which a contact block sticks."""
    if has(m, "stiction"):
        return m.law_static[d.block_law[b]]
    return contact_friction(m, d, b)


@kernel
def turning_friction(m, d, b, first):
    """Coefficient (m) of the torsional (first row SPIN) or rolling (ROLL) friction of a contact block."""
    return m.law_friction[d.block_law[b], first - 1]


@kernel
def slip_direction(m, d, b):
    """Unit slip direction of a contact in its two tangents."""
    return tangent_direction(m, d, b, SLIDE, d.block_item[b])


@kernel
def tangent_direction(m, d, b, first, item):
    """Unit direction, in the two tangents, of the slip (first row SLIDE) or rolling (ROLL) of a contact.

    The direction of the velocity, or the stored one if the velocity is at rounding. If the velocity has reversed within
    a step, the opposite direction, so that the force stays smooth until the reversal is located.
    """
    row = d.block_row[b] + first
    # kept direction along the tangents
    frame, kept = d.contact_frame[d.slot_contact[d.block_item[b]]], d.slip[item]
    c1 = frame[3] * kept[0] + frame[4] * kept[1] + frame[5] * kept[2]
    c2 = frame[6] * kept[0] + frame[7] * kept[1] + frame[8] * kept[2]
    v1, v2 = d.row_velocity[row], d.row_velocity[row + 1]
    speed = sqrt(v1 * v1 + v2 * v2)
    # direction of the velocity, with the sign that agrees with the kept one
    if speed > m.opt_speed_tolerance:
        sign = 1.0 if c1 * v1 + c2 * v2 >= 0.0 else -1.0
        return sign * v1 / speed, sign * v2 / speed
    length = sqrt(c1 * c1 + c2 * c2)
    return c1 / length, c2 / length


@kernel
def slips(d, b):
    """Whether a block is a slipping contact or slipping dry friction."""
    item = d.block_item[b]
    return item >= 0 and d.mode[item] == SLIP


@kernel(inline=True)
def end_of_turning(d, b):
    """The first rows of torsional and rolling friction of contact block b are SPIN and on, up to this (exclusive)."""
    return min(d.block_dim[b], ROLL + 1)


@kernel
def turning_slips(m, d, b, first):
    """Whether the torsional (first row SPIN) or rolling (ROLL) friction of contact block b slips."""
    return d.mode[turning_item(m, d.block_item[b], first)] == SLIP


@kernel
def part_item(m, d, j):
    """Item with the mode of the part of a block that has row j of the problem; -1 for equalities."""
    b = d.hard_block[j]
    first, item = d.hard_place[j] - d.block_row[b], d.block_item[b]
    return turning_item(m, item, first) if d.block_kind[b] == CONE and first >= SPIN else item


@kernel
def turning_rows(m, d, b, first, problem):
    """Number of rows in a problem of the torsional (first row SPIN) or rolling (ROLL) friction of block b."""
    if d.block_kind[b] != CONE or d.block_dim[b] <= first or turning_friction(m, d, b, first) <= 0.0:
        return 0
    if problem != IMPULSES and turning_slips(m, d, b, first):
        return 0
    return 1 if first == SPIN else 2


@kernel
def part_rows(d, b, problem):
    """Number of rows of block b in a problem, without those of torsional and rolling friction."""
    kind = d.block_kind[b]
    if kind == FRICTION and (problem == DRIFT or problem == IMPULSES or slips(d, b)):
        return 0 if problem != DRIFT or slips(d, b) else 1
    if kind == CONE:
        return 1 if problem != IMPULSES and slips(d, b) else 3
    return d.block_dim[b]


@kernel
def part_kind(d, b, problem):
    """Kind of the law of a block in a problem."""
    kind = d.block_kind[b]
    if kind == EQUALITY:
        return BILATERAL
    if kind == FRICTION:
        return BOUNDED
    return COULOMB if part_rows(d, b, problem) == 3 else UNILATERAL


@kernel
def assemble(m, d, problem):
    """hard_* ← the blocks of a problem: kinds, rows, friction, and W from row_A; the caller sets hard_q.

    hard_block [rows] is the block of each row, hard_place its row in row_A.
    """
    # blocks and rows of the problem
    blocks = rows = 0
    for b in range(d.count[NBLOCK]):
        count = part_rows(d, b, problem)
        if count > 0:
            d.hard_kind[blocks] = part_kind(d, b, problem)
            friction = d.block_kind[b] == FRICTION
            d.hard_mu[blocks] = d.row_loss[d.block_row[b]] if friction else problem_friction(m, d, b, problem)
            place_rows(m, d, blocks, rows, b, 0, count)
            contact = blocks
            blocks += 1
            rows += count
            for first in range(SPIN, end_of_turning(d, b)):
                turning = turning_rows(m, d, b, first, problem)
                if turning > 0:
                    d.hard_kind[blocks] = PRESSED
                    d.hard_mu[blocks] = turning_friction(m, d, b, first) + 0.0 * d.time
                    place_rows(m, d, blocks, rows, b, first, turning)
                    d.hard_parent[blocks] = blocks - contact
                    blocks += 1
                    rows += turning
    d.hard_count[BLOCKS] = blocks
    d.hard_count[ROWS] = rows
    # Delassus operator
    for j in range(rows):
        assemble_column(m, d, j, problem)


@kernel(inline=True)
def problem_friction(m, d, b, problem):
    """Coefficient of friction of a contact block in a problem: of accelerations at rest, or of sliding in impulses."""
    if problem == HELD or problem == OPENING:
        return holding_friction(m, d, b)
    return contact_friction(m, d, b)


@kernel
def place_rows(m, d, k, row, b, first, count):
    """Rows of block k of the problem, from `row` on: `count` rows of block b, beginning with its row `first`."""
    d.hard_row[k], d.hard_dim[k], d.hard_parent[k] = row, count, 0
    d.hard_restitution[k] = 0.0 * d.time + m.law_restitution[d.block_law[b]]
    d.hard_tangential[k] = 0.0 * d.time + m.law_tangential[d.block_law[b]]
    for r in range(count):
        d.hard_block[row + r] = b
        d.hard_place[row + r] = d.block_row[b] + first + r


@kernel(inline=True)
def presses(d, b, place, problem):
    """Whether a row is the normal of a contact, in a problem where the friction that slips belongs to it."""
    return d.block_kind[b] == CONE and place == d.block_row[b] and problem != IMPULSES and problem != DRIFT


@kernel
def assemble_column(m, d, j, problem):
    """Column j of W: motion of all rows under a unit force on row j, with the sliding friction it causes."""
    n, rows = d.count[NROW], d.hard_count[ROWS]
    b, place = d.hard_block[j], d.hard_place[j]
    if presses(d, b, place, problem) and slips(d, b):
        t1, t2 = slip_direction(m, d, b)
        mu = contact_friction(m, d, b)
        # column A (n - μ t), with the sliding friction of a unit normal force
        for i in range(rows):
            row = d.hard_place[i] * n
            d.hard_W[i * rows + j] = d.row_A[row + place] - mu * (
                t1 * d.row_A[row + place + 1] + t2 * d.row_A[row + place + 2]
            )
    else:
        for i in range(rows):
            d.hard_W[i * rows + j] = d.row_A[d.hard_place[i] * n + place]
    if presses(d, b, place, problem) and d.block_dim[b] > SPIN:
        for first in range(SPIN, end_of_turning(d, b)):
            if turning_slips(m, d, b, first):
                t1, t2 = turning_direction(m, d, b, first)
                mu, second = turning_friction(m, d, b, first), first - SPIN
                for i in range(rows):
                    row = d.hard_place[i] * n + place + first
                    turned = t1 * d.row_A[row] + t2 * d.row_A[row + second]
                    d.hard_W[i * rows + j] = d.hard_W[i * rows + j] - mu * turned


@kernel
def turning_direction(m, d, b, first):
    """Unit direction of torsional slip (first row SPIN), a sign and zero, or of rolling (ROLL) along the tangents."""
    item = turning_item(m, d.block_item[b], first)
    if first == SPIN:
        return d.slip[item, 0], 0.0 * d.time
    return tangent_direction(m, d, b, ROLL, item)


@kernel
def spread(m, d, problem):
    """row_force ← hard_r, with the friction of slipping contacts; qfrc_constraint [nv] ← Jᵀ row_force.

    Rows outside the problem keep their row_force: see `begin_forces` and `clear_forces`.
    """
    for j in range(d.hard_count[ROWS]):
        b, place = d.hard_block[j], d.hard_place[j]
        d.row_force[place] = d.hard_r[j]
        if presses(d, b, place, problem):
            spread_slipping(m, d, b, d.hard_r[j])
    gather(m, d)


@kernel
def spread_slipping(m, d, b, force):
    """row_force of the friction of contact block b that slips, at its normal force."""
    row = d.block_row[b]
    if slips(d, b):
        t1, t2 = slip_direction(m, d, b)
        mu = contact_friction(m, d, b)
        d.row_force[row + 1] = -mu * t1 * force
        d.row_force[row + 2] = -mu * t2 * force
    for first in range(SPIN, end_of_turning(d, b)):
        if turning_slips(m, d, b, first):
            t1, t2 = turning_direction(m, d, b, first)
            mu = turning_friction(m, d, b, first)
            d.row_force[row + first] = -mu * t1 * force
            if first == ROLL:
                d.row_force[row + first + 1] = -mu * t2 * force


@kernel
def clear_forces(d):
    """row_force ← 0 for all rows, before a problem that does not contain all of them."""
    for b in range(d.count[NBLOCK]):
        for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
            d.row_force[r] = 0.0 * d.time


@kernel
def begin_forces(m, d):
    """row_force and qfrc_constraint [nv] of slipping dry friction, which are known; zero for other rows."""
    clear_forces(d)
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] == FRICTION and slips(d, b):
            r = d.block_row[b]
            d.row_force[r] = -d.row_loss[r] * d.slip[d.block_item[b], 0]
    if m.nfriction:
        gather(m, d)
    else:
        for i in range(m.nv):
            d.qfrc_constraint[i] = 0.0 * d.time


@kernel
def gather(m, d):
    """qfrc_constraint [nv] ← Jᵀ row_force."""
    for i in range(m.nv):
        d.qfrc_constraint[i] = 0.0 * d.time
    add_transpose_rows(m, d, d.row_force, d.qfrc_constraint)
