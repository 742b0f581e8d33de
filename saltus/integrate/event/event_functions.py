"""Event functions: positive while the contact modes do not change.

Functions are the gap of an open contact, the normal force of an active one, its margin to the friction cone if it
sticks, or its speed along the slip direction if it slips; the last two of torsional and rolling friction, too; then
user-defined ones.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.event.gap_functions import closed_gaps, gaps, open_gap, open_gaps
from saltus.contact.event.modes import turning_item
from saltus.contact.rows.blocks import CONE, FRICTION, UNILATERAL
from saltus.dynamics.tendon.length import tendons
from saltus.dynamics.tree.com_frame import com_dof, com_inertia, tree_centre_of_mass
from saltus.dynamics.tree.kinematics import kinematics
from saltus.integrate.event.user_events import EVENTS, observe, user_values
from saltus.model.enums import BLOCKS, ROWS
from saltus.model.event_enums import CLOSED, OPEN, ROLL, SHARED, SLIDE, SLIP, SPIN, UNIQUE
from saltus.number.conditions import has
from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.acceleration import acceleration
from saltus.solve.cone.delassus import end_of_turning, holding_friction, part_item, turning_friction

ROOM = 1e-9  # relative to the cone's radius and the largest force: smaller values are rounding


@only_with("loops", otherwise="False")
@kernel(inline=True)
def watches_nothing(m):
    """Whether a mechanism with exactly closed loops has no event functions, so that its steps need no search."""
    return m.nevent == 0


@kernel
def event_values(m, d):
    """event_value [nevent] at the current state: gaps and forces [nmode], slip [nmode], user-defined functions."""
    if has(m, EVENTS):
        observe(m, d)
        open_gaps(m, d)
    elif d.event_count[CLOSED]:
        acceleration(m, d)
        open_gaps(m, d)
    else:
        positions(m, d)
    read_values(m, d)


@kernel
def positions(m, d):
    """Compute gaps of all contacts and limits at the current positions."""
    kinematics(m, d, m.keep_bodies)
    tendon_lengths(m, d)
    closed_gaps(m, d)
    open_gaps(m, d)


@kernel
def points(m, d):
    """Compute gaps at the current positions, with new contacts for all points within reach."""
    kinematics(m, d, m.keep_bodies)
    tendon_lengths(m, d)
    gaps(m, d)


@only_with("tendon")
@kernel
def tendon_lengths(m, d):
    """Compute lengths of tendons at the current positions."""
    tree_centre_of_mass(m, d)
    com_inertia(m, d)
    com_dof(m, d)
    tendons(m, d)


@kernel
def read_values(m, d):
    """event_value from gaps, and from the forces of the active constraints."""
    # open: the gap
    one = 1.0 + 0.0 * d.time
    for i in range(m.nmode):
        d.event_value[i] = open_gap(m, d, i) if d.mode[i] == OPEN and i < m.nslot + 2 * m.nlimit else one
        if i < m.nslot and d.mode[i] != OPEN and d.slot_contact[i] < 0:
            d.event_value[i] = -one  # the contact point no longer exists
        d.event_value[m.nmode + i] = one
    # active: functions of forces and slip
    if d.event_count[CLOSED]:
        largest = 0.0 * d.time
        for b in range(d.count[NBLOCK]):
            largest = maximum(largest, absolute(d.row_force[d.block_row[b]]))
        for b in range(d.count[NBLOCK]):
            if d.block_item[b] >= 0:
                read_block(m, d, b, ROOM * largest)
        if d.event_count[SHARED] != UNIQUE:
            read_shared(m, d)
    user_values(m, d)


@kernel
def read_shared(m, d):
    """Event functions for forces that are not unique: whether an active contact begins to move."""
    largest = 0.0 * d.time
    for j in range(d.hard_count[ROWS]):
        largest = maximum(largest, absolute(d.hard_q[j]))
    for k in range(d.hard_count[BLOCKS]):
        j = d.hard_row[k]
        item = part_item(m, d, j)
        motion = 0.0 * largest
        for r in range(j, j + d.hard_dim[k]):
            motion = maximum(motion, absolute(d.hard_u[r]))
        if item >= 0:
            d.event_value[item] = ROOM * largest - motion


@kernel
def read_block(m, d, b, rounding):
    """Event functions of one block; `rounding` (N): force below which it counts as zero."""
    item, row, kind = d.block_item[b], d.block_row[b], d.block_kind[b]
    force = d.row_force[row]
    # without friction: the normal force
    if kind == UNILATERAL:
        d.event_value[item] = force + rounding
    # slip: the normal force, and the speed along the slip direction kept in `slip`
    elif kind == CONE and d.mode[item] == SLIP:
        d.event_value[item] = force + rounding
        d.event_value[m.nmode + item] = speed_along(m, d, b, SLIDE, item)
    # stick: margin to the cone of static friction, μ f_N - |f_T|
    elif kind == CONE:
        f1, f2 = d.row_force[row + 1], d.row_force[row + 2]
        across = sqrt(f1 * f1 + f2 * f2)
        d.event_value[item] = holding_friction(m, d, b) * force * (1.0 + ROOM) + rounding - across
    # dry friction: speed along the slip, or margin to the bound
    elif kind == FRICTION and d.mode[item] == SLIP:
        d.event_value[m.nmode + item] = d.slip[item, 0] * d.row_velocity[row]
    elif kind == FRICTION:
        d.event_value[item] = d.row_loss[row] * (1.0 + ROOM) - absolute(force)
    # torsional and rolling friction
    if kind == CONE:
        for first in range(SPIN, end_of_turning(d, b)):
            read_turning(m, d, b, first, rounding)


@kernel
def read_turning(m, d, b, first, rounding):
    """Event functions of the torsional (first row SPIN) or rolling (ROLL) friction of contact block b."""
    item, row, mu = turning_item(m, d.block_item[b], first), d.block_row[b], turning_friction(m, d, b, first)
    if d.mode[item] == SLIP:
        spin = d.slip[item, 0] * d.row_velocity[row + SPIN]
        d.event_value[m.nmode + item] = spin if first == SPIN else speed_along(m, d, b, ROLL, item)
    elif mu > 0.0:
        f1 = d.row_force[row + first]
        f2 = d.row_force[row + first + 1] if first == ROLL else 0.0 * f1
        d.event_value[item] = mu * (d.row_force[row] * (1.0 + ROOM) + rounding) - sqrt(f1 * f1 + f2 * f2)


@kernel
def speed_along(m, d, b, first, item):
    """Velocity of the slip (first row SLIDE) or rolling (ROLL) of contact block b along the direction in `slip`."""
    row = d.block_row[b] + first
    frame, kept = d.contact_frame[d.slot_contact[d.block_item[b]]], d.slip[item]
    c1 = frame[3] * kept[0] + frame[4] * kept[1] + frame[5] * kept[2]
    c2 = frame[6] * kept[0] + frame[7] * kept[1] + frame[8] * kept[2]
    return c1 * d.row_velocity[row] + c2 * d.row_velocity[row + 1]
