"""Constraint rows of the active set of event-located contact: modes decide which constraints are closed.

A closed contact has three rows, motions of the second geom relative to the first along the normal and two tangents;
with torsional friction a fourth, the rotation about the normal; with rolling friction six, the last two the rotations
about the tangents; or the normal row alone if it is frictionless. A closed end of a limit has one row.
"""

from saltus.contact.counts import NBLOCK, NCON
from saltus.contact.event.modes import friction_item, limit_item
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, UNILATERAL, add_block, clear_blocks, times_block
from saltus.contact.rows.contacts import add_surface_velocity, contact_jacobian
from saltus.contact.rows.equality import equality_rows
from saltus.contact.rows.joints import friction_bound
from saltus.contact.rows.movers import add_carried_contact, add_carried_equality
from saltus.contact.rows.tendons import friction_jacobian, tendon_equality_rows, tendon_jacobian
from saltus.model.enums import BALL
from saltus.model.event_enums import OPEN
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.fields import load4
from saltus.spatial.quaternions import quat_log, quat_normalize
from saltus.spatial.vectors import dot3


@kernel
def has_room(m, d):
    """Whether there is room for the rows of all closed contacts."""
    count = 0
    for s in range(m.nslot):
        if d.mode[s] != OPEN:
            count += 1
    return count <= m.nclosedmax


@kernel
def closed_rows(m, d):
    """Blocks of equalities, dry friction, closed limits and closed contacts, with row_J, row_pos and row_velocity.

    Reads the gaps at the same positions (`gaps`). Writes block_item, -1 for equalities.
    """
    clear_blocks(m, d)
    equality_rows(m, d)
    tendon_equality_rows(m, d)
    for b in range(d.count[NBLOCK]):
        d.block_item[b] = -1
    joint_friction(m, d)
    tendon_friction(m, d)
    closed_limits(m, d)
    closed_tendon_limits(m, d)
    closed_contacts(m, d)
    for b in range(d.count[NBLOCK]):
        times_block(m, d, b, d.qvel, d.row_velocity)
        if d.block_kind[b] == CONE or d.block_kind[b] == UNILATERAL:
            moving_surfaces(m, d, b)
        elif d.block_kind[b] == EQUALITY:
            add_carried_equality(m, d, b, d.mover_vel, d.row_velocity)


@only_with("carriers")
@kernel
def carried_accelerations(m, d):
    """row_carried ← accelerations of all rows from prescribed mocap bodies (m/s², rad/s²), after `closed_rows`.

    Accelerations that follow from velocities, such as centripetal ones, are part of the drifts.
    """
    for b in range(d.count[NBLOCK]):
        row, dim, kind = d.block_row[b], d.block_dim[b], d.block_kind[b]
        for r in range(row, row + dim):
            d.row_carried[r] = 0.0 * d.time
        if kind == CONE or kind == UNILATERAL:
            s = d.block_item[b]
            if 0 <= s < m.nslot:
                add_carried_contact(m, d, d.slot_contact[s], row, dim, d.mover_acc, d.row_carried)
        elif kind == EQUALITY:
            add_carried_equality(m, d, b, d.mover_acc, d.row_carried)


@kernel
def single_row(m, d, kind, chain, law, index, item):
    """Append a block of one row with a zero Jacobian; returns its number."""
    zero = 0.0 * d.time
    b = add_block(m, d, kind, 1, chain, law, index, zero == zero)
    d.block_item[b] = item
    d.row_pos[d.block_row[b]] = zero
    for c in range(d.block_num[b]):
        d.row_J[d.block_J[b] + c] = zero
    return b


@kernel
def joint_friction(m, d):
    """Rows of dry friction in joints."""
    for k in range(m.ndoffriction):
        b = single_row(m, d, FRICTION, m.friction_chain[k], m.friction_law[k], k, friction_item(m, k))
        d.row_J[d.block_J[b]] = 1.0 + 0.0 * d.time
        d.row_loss[d.block_row[b]] = friction_bound(m, d, k)


@only_with("tendon")
@kernel
def tendon_friction(m, d):
    """Rows of dry friction in tendons."""
    for k in range(m.ndoffriction, m.nfriction):
        b = single_row(m, d, FRICTION, m.friction_chain[k], m.friction_law[k], k, friction_item(m, k))
        friction_jacobian(m, d, b, k)


@kernel
def closed_limit(m, d, k, end):
    """Append the block of an end of limit k; the caller writes its Jacobian."""
    item = limit_item(m, k, end)
    b = single_row(m, d, UNILATERAL, m.limit_chain[k], m.limit_law[k], k, item)
    d.row_pos[d.block_row[b]] = d.gap[item]
    return b


@kernel
def closed_limits(m, d):
    """Rows of closed joint limits."""
    for k in range(m.njntlimit):
        for end in range(2):
            if d.mode[limit_item(m, k, end)] != OPEN:
                b = closed_limit(m, d, k, end)
                j = m.limit_obj[k]
                if m.jnt_type[j] == BALL:
                    # gradient of the gap: minus the rotation axis
                    turn = quat_log(quat_normalize(load4(d.qpos, m.jnt_qposadr[j])))
                    angle = sqrt(dot3(turn, turn))
                    for r in range(3):
                        component = turn[0] if r == 0 else turn[1] if r == 1 else turn[2]
                        d.row_J[d.block_J[b] + r] = -component / angle
                else:
                    d.row_J[d.block_J[b]] = 1.0 - 2.0 * end + 0.0 * d.time


@only_with("tendon")
@kernel
def closed_tendon_limits(m, d):
    """Rows of closed tendon limits."""
    for k in range(m.njntlimit, m.nlimit):
        for end in range(2):
            if d.mode[limit_item(m, k, end)] != OPEN:
                tendon_jacobian(m, d, closed_limit(m, d, k, end), m.limit_obj[k], 1.0 - 2.0 * end)


@only_with("contact")
@kernel
def closed_contacts(m, d):
    """Rows of closed contacts; contact_block of all others is -1."""
    for k in range(d.count[NCON]):
        d.contact_block[k] = -1
    for s in range(m.nslot):
        k = d.slot_contact[s]
        if k >= 0 and d.mode[s] != OPEN:
            closed_contact(m, d, s, k)


@kernel
def closed_contact(m, d, s, k):
    """Write the rows of contact k in slot s."""
    c = d.contact_collision[k]
    law = m.collision_law[c]
    chain = m.collision_chain[c]
    dim = 1 if m.law_friction[law, 0] <= 0.0 else m.law_dim[law]
    # normal row alone if there is no friction
    b = add_block(m, d, UNILATERAL if dim == 1 else CONE, dim, chain, law, k, True)
    d.block_item[b] = s
    d.contact_block[k] = b
    row = d.block_row[b]
    d.row_pos[row] = d.gap[s]
    for r in range(1, dim):
        d.row_pos[row + r] = 0.0 * d.time
    contact_jacobian(m, d, k, b, dim)


@only_with("contact")
@kernel
def moving_surfaces(m, d, b):
    """Add the motion of the geoms' surfaces to row_velocity of block b, if it is a contact with moving surfaces."""
    s = d.block_item[b]
    if 0 <= s < m.nslot:
        k = d.slot_contact[s]
        if m.collision_moves[d.contact_collision[k]]:
            surface_rows(m, d, b, k)


@kernel
def surface_rows(m, d, b, k):
    """Add the motion of contact k's moving surfaces to row_velocity of block b."""
    row, dim = d.block_row[b], d.block_dim[b]
    add_surface_velocity(m, d, k, row, dim)
