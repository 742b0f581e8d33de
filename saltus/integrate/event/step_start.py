"""The start of a step between events: contact modes, slopes and values of event functions at the present state."""

from saltus.contact.counts import NBLOCK, NUNSOLVED
from saltus.contact.event.contact_matching import remember_points
from saltus.contact.event.gap_functions import open_gaps
from saltus.contact.event.modes import count_closed, loops_alone, turning_item
from saltus.contact.rows.blocks import CONE
from saltus.integrate.adaptive.memory import ERROR_BEFORE, GOING, STEP
from saltus.integrate.adaptive.stages import first_slopes, resume_slopes, save_start
from saltus.integrate.adaptive.step_bounds import behind_break
from saltus.integrate.dense.substep import FIXED, keep_start
from saltus.integrate.event.dense_events import go_over
from saltus.integrate.event.event_functions import event_values, read_values, watches_nothing
from saltus.integrate.event.user_events import EVENTS, first_sides, look, pass_sides, sides_after
from saltus.model.event_enums import LEFT, RECENT, ROLL, ROUGHLY, SHARED, SLIDE
from saltus.number.conditions import has, has_tangents
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.cone.delassus import slips, turning_slips
from saltus.solve.event.constraint_stabilization import project, project_near
from saltus.solve.event.event_resolution import keep_direction, settle
from saltus.solve.status import JAMMED, OK


@kernel
def begin(m, d):
    """Contact modes, if they are not known, and slopes at the current state. Returns a status."""
    status = OK
    for e in range(m.nevent):
        d.event_hit[e] = 0
    # unknown modes: resolve contacts at this state as at an event
    if d.modes_known[0] < 0.5:
        d.dense[LEFT] = 0.0
        d.dense[RECENT] = 0.0
        for i in range(m.nmode):
            d.impact_limit[i] = (0.0, 0.0)
        status = settle(m, d)
        if status != JAMMED:  # an initial state without a solution is an error, not a motion to step over
            status = go_over(m, d, status)
        if status == OK:
            if d.dense[LEFT] < 0.5:
                start_step(m, d)
            else:
                look(m, d)
            first_sides(m, d)
        return status
    # known modes: only slopes and event functions
    count_closed(m, d)
    if has_tangents(d):
        project(m, d)  # changes of a state in contact that leave the contact are changes that stay, to first order
    if d.dense[LEFT] < 0.5:
        start_step(m, d)
    return status


@kernel
def resume(m, d):
    """Continue where the last call stopped, identical to the bit, or begin at a new state. Returns a status."""
    if d.modes_known[0] < 0.5 or d.memory[GOING] < 0.5:
        return begin(m, d)
    count_closed(m, d)
    resume_slopes(m, d)
    return OK


@kernel
def start_step(m, d):
    """Set the current state, with its slopes and event functions, as the start of the next step."""
    if has(m, FIXED):
        keep_start(m, d)
    else:
        first_slopes(m, d)
    if watches_nothing(m):
        return
    if has(m, FIXED, EVENTS):
        event_values(m, d)
    else:  # use the forces that `first_slopes` has computed
        open_gaps(m, d)
        read_values(m, d)
    sides_after(m, d)
    pass_sides(m, d, False)
    keep_values(m, d)


@kernel
def go_on(m, d):
    """Set the start of the next step after one without events, whose event functions at the end are known.

    The last stage of dopri5 is the next first one, unless the projection changes the accelerations.
    """
    if stabilise(m, d):
        start_step(m, d)
        return
    if has(m, FIXED):
        keep_start(m, d)
    else:
        save_start(m, d)
    keep_values(m, d)


@kernel
def stabilise(m, d):
    """Project the state onto the active constraints; returns whether accelerations are to be computed anew.

    Loops that `energy_momentum` has closed stay as they are: to project velocities would change the energy.
    """
    if has(m, "loops"):
        return False if loops_alone(m, d) else project(m, d)
    if has(m, FIXED):
        return project(m, d)
    return project_near(m, d)


@kernel
def keep_values(m, d):
    """Store event functions, contact points and slip directions at the next step's start; counts rough forces."""
    for e in range(m.nevent):
        d.event_before[e] = d.event_value[e]
    remember_points(m, d)
    follow_slips(m, d)
    if d.event_count[SHARED] == ROUGHLY:
        d.count[NUNSOLVED] = d.count[NUNSOLVED] + 1


@only_with("contact")
@kernel
def follow_slips(m, d):
    """slip ← directions of the present velocities of slipping contacts, for detecting a reversal."""
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] == CONE and slips(d, b):
            follow(m, d, b, SLIDE, d.block_item[b])
        if d.block_kind[b] == CONE and d.block_dim[b] > ROLL and turning_slips(m, d, b, ROLL):
            follow(m, d, b, ROLL, turning_item(m, d.block_item[b], ROLL))


@kernel
def follow(m, d, b, first, item):
    """slip of an item ← direction of the slip (first row SLIDE) or rolling (ROLL) of contact block b."""
    row = d.block_row[b] + first
    v1, v2 = d.row_velocity[row], d.row_velocity[row + 1]
    speed = sqrt(v1 * v1 + v2 * v2)
    if speed > m.opt_speed_tolerance:
        keep_direction(d, b, item, v1 / speed, v2 / speed)


@kernel
def go_behind_break(m, d, bounds):
    """Start the next step just behind a break, with a first step size, if a law may jump at this time."""
    behind = behind_break(d.time, bounds)
    if behind > d.time:
        d.time = behind
        d.memory[STEP] = 0.0
        d.memory[ERROR_BEFORE] = 0.0
        start_step(m, d)
