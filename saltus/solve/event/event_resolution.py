"""Event resolution: impacts, then the modes of the contacts: open, sticking or slipping.

Modes follow from the complementarity problem of the accelerations of all contacts that touch and do not separate, with
Coulomb's cone for contacts without slip (Pfeiffer & Glocker, Multibody Dynamics with Unilateral Contacts (1996)).
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.event.active_rows import closed_rows, has_room
from saltus.contact.event.contact_matching import remember_points
from saltus.contact.event.gap_functions import gaps
from saltus.contact.event.modes import count_closed, first_turning, log_event, turning_item
from saltus.contact.rows.blocks import CONE, FRICTION, UNILATERAL
from saltus.dynamics.equations import joint_inertia
from saltus.dynamics.smooth import energy_of_state, force_stage, position_stage
from saltus.dynamics.tree.factor import factor
from saltus.dynamics.tree.guided.movers import fastest_mover
from saltus.model.enums import BLOCKS, ROWS
from saltus.model.event_enums import (
    CLOSED,
    LIFTOFF,
    OPEN,
    PAUSED,
    ROLL,
    SLIDE,
    SLIP,
    SLIPS,
    SPIN,
    STICK,
    STICKS,
    TOUCHDOWN,
)
from saltus.model.fields.constraint.cone import BOUNDED, COULOMB, PRESSED
from saltus.model.fields.constraint.cone import UNILATERAL as PUSHES
from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.cone.delassus import (
    DRIFT,
    OPENING,
    assemble,
    end_of_turning,
    part_item,
    row_matrix,
    slips,
    turning_friction,
    turning_slips,
)
from saltus.solve.cone.problem import ROUNDING, SOLVED
from saltus.solve.event.breakaway import ON_EDGE, largest_drive, solve_breakaway
from saltus.solve.event.constrained_acceleration import free_motion, free_rows, row_drifts
from saltus.solve.event.constraint_stabilization import project, project_velocities
from saltus.solve.event.redundant_rows import forget_rank
from saltus.solve.impact.impact import approaching, collide_touching, pose_impact, speed_at_limit
from saltus.solve.status import AT_IMPACT, CROWDED, JAMMED, OK, UNRESOLVED
from saltus.spatial.vectors import dot3

LEAVING = 2.0  # relative to the impact speed at an accumulation point: contacts that separate more slowly are at rest
CONTRADICTION = 1e-7  # relative to accelerations: allowed contradiction between rows of overconstrained loops
NOTHING = 1e-9  # relative to gravity and squared speeds: smaller accelerations (m/s²) of equalities are rounding


@kernel
def settle(m, d):
    """Resolve impacts and choose new modes at the present state, with log entries; returns a status."""
    # rows of all contacts within the gap tolerance
    forget_rank(d)
    touch(m, d)
    if not has_room(m, d):
        return CROWDED
    closed_rows(m, d)
    if approaching(m, d):
        # impact problem u⁺ = J M⁻¹ Jᵀ r + u⁻
        energy_of_state(m, d)
        potential = d.energy[0]
        joint_inertia(m, d)
        factor(m, d)
        row_matrix(m, d)
        pose_impact(m, d)
        if d.event_count[PAUSED]:
            return AT_IMPACT
        # velocity jump; at the limit of accumulating impacts the contacts close
        limit = speed_at_limit(m, d)
        status = collide_touching(m, d, potential)
        if status != OK:
            return status
        closed_rows(m, d)
        if limit > 0.0:
            end_accumulation(m, d, LEAVING * limit)
    # velocity level: take-off, stick or slip; constraint stabilisation
    part(m, d, m.opt_speed_tolerance)
    count_closed(m, d)
    project(m, d)
    # acceleration level: modes from the complementarity problem
    status = choose_modes(m, d)
    note_changes(m, d)
    count_closed(m, d)
    d.modes_known[0] = 1.0 + 0.0 * d.time
    return status


@kernel
def touch(m, d):
    """Close, provisionally, all contacts within the gap tolerance; mode_before keeps the previous modes."""
    position_stage(m, d, 0)
    gaps(m, d)
    for i in range(m.nmode):
        d.mode_before[i] = int(d.mode[i])
    for i in range(m.nslot + 2 * m.nlimit):
        if d.mode[i] == OPEN and d.gap[i] <= m.opt_gap_tolerance:
            d.mode[i] = STICK
        elif d.gap[i] > m.opt_gap_tolerance and d.modes_known[0] < 0.5:
            d.mode[i] = OPEN  # the state was changed from outside
        if i < m.nslot and d.slot_contact[i] < 0:
            d.mode[i] = OPEN
    remember_points(m, d)


@kernel
def end_accumulation(m, d, speed):
    """Close all contacts that touch and do not separate faster than `speed` (m/s): their impacts have accumulated.

    A block that rocks from edge to edge with decreasing height thus comes to rest on both.
    """
    for b in range(d.count[NBLOCK]):
        item, row, kind = d.block_item[b], d.block_row[b], d.block_kind[b]
        if kind == CONE or kind == UNILATERAL:
            if d.row_velocity[row] > speed:
                d.mode[item] = OPEN
            elif kind == CONE:
                slide(m, d, b, m.opt_speed_tolerance)
                turn(m, d, b, m.opt_speed_tolerance)
            else:
                d.mode[item] = STICK
        elif kind == FRICTION:
            rub(m, d, b, m.opt_speed_tolerance)
    closed_rows(m, d)
    joint_inertia(m, d)
    factor(m, d)
    row_matrix(m, d)
    assemble(m, d, DRIFT)
    project_velocities(m, d)
    closed_rows(m, d)


@kernel
def part(m, d, least):
    """Open separating contacts; the remaining ones stick, or slip in the direction of their velocity.

    `least`: threshold of velocities (m/s, rad/s).
    """
    for b in range(d.count[NBLOCK]):
        item, row, kind = d.block_item[b], d.block_row[b], d.block_kind[b]
        if kind == CONE or kind == UNILATERAL:
            if d.row_velocity[row] > least:
                d.mode[item] = OPEN
            elif kind == CONE:
                slide(m, d, b, least)
                turn(m, d, b, least)
            else:
                d.mode[item] = STICK
        elif kind == FRICTION:
            rub(m, d, b, least)


@kernel
def rub(m, d, b, least):
    """Mode of dry friction, sticking below the speed `least` (m/s, rad/s), and its slip direction."""
    item, v = d.block_item[b], d.row_velocity[d.block_row[b]]
    if absolute(v) > least:
        d.mode[item] = SLIP
        keep_sign(d, item, v)
    else:
        d.mode[item] = STICK


@kernel
def slide(m, d, b, least):
    """Mode of a closed contact, sticking below the speed `least` (m/s), and its slip direction."""
    slide_along(d, b, SLIDE, d.block_item[b], least)


@kernel
def slide_along(d, b, first, item, least):
    """Mode and direction of the slip (first row SLIDE) or rolling (ROLL) of a closed contact, by its velocity."""
    row = d.block_row[b] + first
    v1, v2 = d.row_velocity[row], d.row_velocity[row + 1]
    speed = sqrt(v1 * v1 + v2 * v2)
    if speed > least:
        d.mode[item] = SLIP
        keep_direction(d, b, item, v1 / speed, v2 / speed)
    else:
        d.mode[item] = STICK


@kernel
def turn(m, d, b, least):
    """Modes of the torsional and rolling friction of a closed contact, sticking below the speed `least` (rad/s).

    Friction with a coefficient of zero does not slip, and has no force.
    """
    for first in range(SPIN, end_of_turning(d, b)):
        item = turning_item(m, d.block_item[b], first)
        if turning_friction(m, d, b, first) <= 0.0:
            d.mode[item] = STICK
        elif first == SPIN:
            v = d.row_velocity[d.block_row[b] + SPIN]
            d.mode[item] = SLIP if absolute(v) > least else STICK
            keep_sign(d, item, v)
        else:
            slide_along(d, b, ROLL, item, least)


@kernel
def keep_sign(d, item, v):
    """slip ← the sign of a velocity or acceleration, of dry or torsional friction."""
    d.slip[item] = (1.0 if v > 0.0 else -1.0, 0.0, 0.0)


@kernel
def keep_direction(d, b, item, c1, c2):
    """slip of an item of a contact ← the direction (c1, c2) along its tangents, in world axes."""
    frame = d.contact_frame[d.slot_contact[d.block_item[b]]]
    d.slip[item] = (c1 * frame[3] + c2 * frame[6], c1 * frame[4] + c2 * frame[7], c1 * frame[5] + c2 * frame[8])


@kernel
def choose_modes(m, d):
    """Modes of the active set from the complementarity problem of accelerations; returns a status."""
    if not d.event_count[CLOSED]:
        open_turning(m, d)
        return OK
    accelerations(m, d)
    if m.neq:
        drop_rounding(m, d)
    # J̇ v of equalities comes from finite differences, whose errors make redundant rows inconsistent
    accepted = CONTRADICTION if m.neq else SOLVED
    residual = solve_breakaway(m, d, accepted)
    if not residual <= accepted:
        return JAMMED if may_jam(m, d) else UNRESOLVED
    rounding = maximum(ROUNDING, residual) * largest_drive(d)
    for k in range(d.hard_count[BLOCKS]):
        choose_mode(m, d, k, rounding)
    open_turning(m, d)
    return OK


@kernel
def open_turning(m, d):
    """Open the torsional and rolling friction of open contacts."""
    for i in range(first_turning(m), m.nmode):
        if d.mode[(i - first_turning(m)) % m.nslot] == OPEN:
            d.mode[i] = OPEN


@kernel
def drop_rounding(m, d):
    """hard_q ← 0 if it is only rounding, as for a loop in free fall, whose redundant rows are then inconsistent."""
    g, speed = m.opt_gravity[0], fastest_mover(m, d)
    for i in range(m.nv):
        speed = maximum(speed, absolute(d.qvel[i]))
    if largest_drive(d) <= NOTHING * (sqrt(dot3(g, g)) + speed * speed):
        for j in range(d.hard_count[ROWS]):
            d.hard_q[j] = 0.0 * d.time


@kernel
def may_jam(m, d):
    """Whether friction increases the pressure of a slipping contact, W_ii <= 0: accelerations may not exist."""
    n = d.hard_count[ROWS]
    found = False
    for j in range(n):
        b = d.hard_block[j]
        normal = d.hard_place[j] == d.block_row[b]
        found = found or (normal and brings_friction(m, d, b) and not d.hard_W[j * n + j] > 0.0)
    return found


@kernel
def brings_friction(m, d, b):
    """Whether the normal force of block b brings friction with it, which slips."""
    found = slips(d, b)
    if d.block_kind[b] == CONE:
        for first in range(SPIN, end_of_turning(d, b)):
            found = found or turning_slips(m, d, b, first)
    return found


@kernel
def accelerations(m, d):
    """Pose the complementarity problem of accelerations and forces of the active set."""
    row_drifts(m, d)
    position_stage(m, d, 0)
    force_stage(m, d, 0)
    gaps(m, d)
    closed_rows(m, d)
    free_motion(m, d)
    row_matrix(m, d)
    assemble(m, d, OPENING)
    free_rows(m, d)
    for j in range(d.hard_count[ROWS]):
        d.hard_r[j] = 0.0 * d.time


@kernel
def choose_mode(m, d, k, rounding):
    """Mode of block k of the problem. rounding: accelerations (m/s²) below this count as zero."""
    j = d.hard_row[k]
    b = d.hard_block[j]
    item, kind = part_item(m, d, j), d.hard_kind[k]
    if kind == COULOMB or kind == PUSHES:
        # zero normal force, which has vanished or never existed
        idle = d.hard_r[j] * d.hard_W[j * d.hard_count[ROWS] + j] <= rounding
        if d.hard_u[j] > rounding or (idle and (d.event_hit[item] or d.mode_before[item] == OPEN)):
            d.mode[item] = OPEN
        elif kind == COULOMB:
            begin_slip(d, b, item, j + 1, d.hard_mu[k] * d.hard_r[j], rounding)
    elif kind == PRESSED and d.hard_dim[k] == 2:
        begin_slip(d, b, item, j, d.hard_mu[k] * d.hard_r[d.hard_row[k - d.hard_parent[k]]], rounding)
    elif kind == PRESSED:
        limit = d.hard_mu[k] * d.hard_r[d.hard_row[k - d.hard_parent[k]]]
        if absolute(d.hard_r[j]) >= (1.0 - ON_EDGE) * limit:
            if absolute(d.hard_u[j]) > rounding:
                d.mode[item] = SLIP
                keep_sign(d, item, d.hard_u[j])
            elif d.event_hit[item] and d.hard_r[j] != 0.0:
                d.mode[item] = SLIP
                keep_sign(d, item, -d.hard_r[j])
    elif kind == BOUNDED and absolute(d.hard_u[j]) > rounding:
        d.mode[item] = SLIP
        keep_sign(d, item, d.hard_u[j])


@kernel
def begin_slip(d, b, item, j, limit, rounding):
    """Let an item of contact b slip if its friction, rows j and j + 1, is at its limit and its slip accelerates."""
    r1, r2, a1, a2 = d.hard_r[j], d.hard_r[j + 1], d.hard_u[j], d.hard_u[j + 1]
    force, a = sqrt(r1 * r1 + r2 * r2), sqrt(a1 * a1 + a2 * a2)
    if force >= (1.0 - ON_EDGE) * limit:
        if a > rounding:
            d.mode[item] = SLIP
            keep_direction(d, b, item, a1 / a, a2 / a)
        elif d.event_hit[item] and force > 0.0:  # the force reached the edge of the cone from inside
            d.mode[item] = SLIP
            keep_direction(d, b, item, -r1 / force, -r2 / force)


@kernel
def note_changes(m, d):
    """Log all changes of mode."""
    zero = 0.0 * d.time
    for i in range(m.nmode):
        was, now = d.mode_before[i], int(d.mode[i])
        if i >= first_turning(m) and (was == OPEN or now == OPEN):
            continue  # noted for the contact
        if was != now and d.modes_known[0] > 0.5:
            kind = SLIPS
            if now == OPEN:
                kind = LIFTOFF
            elif was == OPEN:
                kind = TOUCHDOWN
            elif now == STICK:
                kind = STICKS
            gap = zero if i >= first_turning(m) else d.gap[i]
            log_event(m, d, kind, i, gap, zero, (zero, zero, zero), zero, zero)
