"""Moreau-Jean time stepping over dense events, and the return to event location.

In a box that rattles to rest, a heap, or a chattering foot, impacts follow each other in ever shorter intervals, too
irregular for their accumulation point to be extrapolated. If one contact has had `opt_dense_events` events within
`opt_dense_time`, or the active set exceeds the capacity of event location, the Moreau-Jean scheme takes over with steps
of `opt_dense_step`, each of which sums all of its impacts (Moreau 1988; Jean 1999; Acary & Brogliato, Numerical Methods
for Nonsmooth Dynamical Systems (2008), chapter 10). It also takes over if a step fails while contacts are active, as at
the end of a slip, where the direction of friction turns without bound. After these steps, touching contacts become
active and events are located again. A phase of time stepping that begins soon after the last one takes twice as many
steps.
"""

from saltus.contact.bounding_spheres import smaller_radius
from saltus.contact.collide import collider_frames
from saltus.contact.counts import NBLOCK
from saltus.contact.event.active_rows import closed_rows, has_room
from saltus.contact.event.contact_matching import remember_points
from saltus.contact.event.gap_functions import bounding_distance, gaps
from saltus.contact.event.modes import count_closed, log_event
from saltus.contact.rows.blocks import FRICTION, times_block
from saltus.dynamics.history import note_controls
from saltus.dynamics.motions import prescribe
from saltus.dynamics.smooth import energy_of_state
from saltus.dynamics.tree.factor import solve
from saltus.dynamics.tree.kinematics import kinematics
from saltus.dynamics.tree.manifold import difference, displace
from saltus.integrate.dense.motion_bounds import body_velocities, velocity_of
from saltus.integrate.event.energy_kept import take_gain, total_energy
from saltus.integrate.event.shallow_steps import shallow_step
from saltus.integrate.fixed import moreau_jean
from saltus.integrate.manifold import save_state
from saltus.integrate.passing import may_pass, note_passing
from saltus.integrate.status import bad_state
from saltus.model.event_enums import (
    BEGAN,
    CLOSED,
    COLLIDED,
    DENSE,
    ENERGY,
    IMPACTS,
    JAM,
    LEFT,
    LENGTH,
    NOTHING,
    OPEN,
    OVER,
    RECENT,
    SIZE,
    STEP,
    STICK,
    STIFF,
    TRIES,
)
from saltus.number.conditions import has, has_tangents
from saltus.number.functions import maximum, minimum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.event.constraint_stabilization import project, project_positions
from saltus.solve.event.event_resolution import choose_modes, part
from saltus.solve.event.redundant_rows import forget_rank
from saltus.solve.status import CHATTER, CROWDED, DIVERGED, JAMMED, OK, TOO_DENSE, UNRESOLVED
from saltus.spatial.vectors import dot3, sub3

CROWDED_STEP = 2.0  # times opt_dense_step, if the active set exceeds the capacity of event location

FEWEST, MOST, CROWD = 4.0, 256.0, 8.0  # number of steps at first; at most; factor if crowded
SOON = 10.0  # relative to opt_dense_time
TURN, TRAVEL = 0.1, 0.25  # largest rotation (rad), and approach relative to the smaller radius, of bodies in a step
REACH = 2.0  # m/s²; times the square of the step: the gap below which a contact touches after a step
SLOW = 1e-3  # relative to the velocity gained in a step of free fall: slower motion counts as rest
APPROACH = 1e-2  # relative to the velocity gained in a step of free fall: faster approaches count as impacts


@kernel
def can_go_over(m, d):
    """Whether time may be stepped after a failed step: with active contacts, limits or dry friction."""
    return m.opt_dense == STEP and d.event_count[CLOSED] > m.neq


@kernel
def go_over(m, d, status):
    """Begin time stepping over events, if the contact options allow it; returns a status.

    `status`: the reason, returned unchanged if they do not. The active set is empty meanwhile. If friction jams
    (Painlevé), impulses exist although accelerations do not.
    """
    if has_tangents(d):
        return status  # steps over events have no derivatives
    over = status == CROWDED or status == UNRESOLVED or status == CHATTER or status == TOO_DENSE or status == JAMMED
    if m.opt_dense != STEP or not over:
        return status
    if status == JAMMED:
        zero = 0.0 * d.time
        log_event(m, d, JAM, NOTHING, zero, zero, (zero, zero, zero), zero, zero)
    # number and size of the steps: twice as many if the last phase has just ended
    soon = d.dense[LENGTH] > 0.0 and d.time - d.dense[OVER] < SOON * m.opt_dense_time
    energy_of_state(m, d)
    d.dense[LEFT] = minimum(2.0 * d.dense[LENGTH], MOST) if soon else FEWEST
    d.dense[LENGTH] = d.dense[LEFT]
    d.dense[SIZE] = m.opt_dense_step * (CROWDED_STEP if status == CROWDED else 1.0)
    # time, energy (J) and counts at the start of the phase
    d.dense[BEGAN] = d.time
    d.dense[ENERGY] = d.energy[0] + d.energy[1]
    d.dense[IMPACTS] = 0.0
    d.dense[RECENT] = 0.0
    d.dense[STIFF] = d.dense[TRIES] = 0.0
    # empty active set
    d.past_count = 0.0 * d.time
    open_all(m, d)
    d.modes_known[0] = 1.0 + 0.0 * d.time
    return OK


@kernel
def open_all(m, d):
    """Open every contact and limit: an empty active set."""
    for i in range(m.nslot + 2 * m.nlimit):
        d.mode[i] = OPEN
    count_closed(m, d)


@kernel
def step_over(m, d, end):
    """Take one time step towards `end` (s), counted down in dense[LEFT]; returns a status.

    The state at the step's start is kept in qpos_saved, qvel_saved, act_saved.
    """
    left, start = end - d.time, d.time
    size = short_enough(m, d)
    whole = size if left > 1.5 * size else left
    save_state(m, d)
    followed = may_pass(m, d, whole)
    status, h = shallow_step(m, d, whole)
    if not bad_state(m, d) < 0.5:
        return DIVERGED
    note_impacts(m, d, h)
    correct(m, d, h)
    if followed:
        note_passing(m, d, start)
    note_controls(m, d, start)
    if h == left:
        d.time = end
    d.dense[LEFT] = d.dense[LEFT] - h / whole
    return status


@kernel
def note_impacts(m, d, h):
    """Count the impacts of the step of h seconds that has just been taken; qvel_jump ← their velocity jump."""
    d.dense[COLLIDED] = impacts_of_step(m, d, h)
    if d.dense[COLLIDED] > 0.0:
        for i in range(m.nv):
            d.qvel_jump[i] = h * d.qfrc_constraint[i]
        solve(m, d, d.qvel_jump)
    d.dense[IMPACTS] = d.dense[IMPACTS] + d.dense[COLLIDED]


@kernel
def correct(m, d, h):
    """Correct the violations of constraints after a step of h seconds, without a gain of energy."""
    if moreau_jean.finds_violations(m, d, h):
        before = total_energy(m, d)
        displace(m, d.qpos, 1.0, d.qstep, d.qpos)
        take_gain(m, d, before)


@kernel
def short_enough(m, d):
    """Size (s) of the next time step: that of the phase, or shorter if a body rotates or moves too fast for it.

    The scheme is explicit in gyroscopic forces, and detects contacts at only one position of a step.
    """
    h = d.dense[SIZE]
    kinematics(m, d, m.keep_bodies)
    body_velocities(m, d)
    for b in range(1, m.nbody):
        v = d.body_motion[b]
        turning = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        if turning * h > TURN:
            h = TURN / turning
    return not_through(m, d, h)


@only_with("contact", otherwise="h")
@kernel
def not_through(m, d, h):
    """The size h (s) of a step, or a shorter one in which no geom passes through another."""
    collider_frames(m, d)
    for c in range(m.ncollision):
        g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
        v1 = velocity_of(d, m.geom_bodyid[g1], d.geom_xpos[g1])
        v2 = velocity_of(d, m.geom_bodyid[g2], d.geom_xpos[g2])
        v = sub3(v2, v1)
        speed, most = sqrt(dot3(v, v)), TRAVEL * smaller_radius(m, g1, g2)
        if speed * h > most and bounding_distance(m, d, g1, g2) < speed * h:
            h = most / speed
    return h


@kernel
def impacts_of_step(m, d, h):
    """Number of contacts and limits with an impact during the step of h seconds that has just been taken."""
    fall, count = free_fall(m, h), 0.0 * h
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] > FRICTION and d.row_force[d.block_row[b]] > 0.0:
            times_block(m, d, b, d.qvel_saved, d.row_search)
            if d.row_search[d.block_row[b]] < -APPROACH * fall:
                count = count + 1.0
    return count


@kernel
def free_fall(m, h):
    """Velocity (m/s) gained in h seconds of free fall."""
    g = m.opt_gravity[0]
    return h * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


@kernel
def come_back(m, d):
    """Activate touching contacts and return to event location, with a log entry; else prolong time stepping.

    Returns whether events are located again.
    """
    if not close_touching(m, d):
        open_all(m, d)
        d.dense[LEFT] = CROWD
        d.dense[SIZE] = CROWDED_STEP * m.opt_dense_step
        d.dense[LENGTH] = d.dense[LENGTH] + CROWD
        return False
    energy_of_state(m, d)
    zero = 0.0 * d.time
    since, count, before = d.dense[BEGAN], d.dense[IMPACTS], d.dense[ENERGY]
    log_event(m, d, DENSE, NOTHING, since, count, (zero, zero, zero), before, d.energy[0] + d.energy[1])
    d.dense[OVER] = d.time
    return True


@kernel
def close_touching(m, d):
    """Contact modes after time stepping; returns whether consistent ones were found.

    Contacts that touch and do not separate become active, and penetrations are corrected; the tolerance is proportional
    to the square of the step. The modes are then those of the resulting accelerations.
    """
    # candidates: gaps of the order of the step's displacement, h²
    h = d.dense[SIZE]
    near, slow = REACH * h * h, maximum(m.opt_speed_tolerance, SLOW * free_fall(m, h))
    forget_rank(d)
    keep_end(m, d)
    energy = total_energy(m, d)
    gaps(m, d)
    for i in range(m.nslot + 2 * m.nlimit):
        there = i >= m.nslot or d.slot_contact[i] >= 0
        d.mode[i] = STICK if there and d.gap[i] <= near else OPEN
    if not has_room(m, d):
        return False
    # open separating candidates, correct penetrations, project velocities
    remember_points(m, d)
    closed_rows(m, d)
    part(m, d, slow)
    lift_out(m, d)
    count_closed(m, d)
    project(m, d)
    difference(m, d.qpos_start, d.qpos, d.qstep)
    take_gain(m, d, energy)
    # modes consistent with the accelerations
    for i in range(m.nmode):
        d.mode_before[i] = int(d.mode[i])
    for e in range(m.nevent):
        d.event_hit[e] = 0
    status = choose_modes(m, d)
    count_closed(m, d)
    d.modes_known[0] = 1.0 + 0.0 * d.time
    return status == OK


@kernel
def lift_out(m, d):
    """Project separating contacts that still penetrate to zero gap, together with the active set."""
    for i in range(m.nslot + 2 * m.nlimit):
        d.event_hit[i] = 0
        if d.mode[i] == OPEN and d.gap[i] < -m.opt_gap_tolerance and (i >= m.nslot or d.slot_contact[i] >= 0):
            d.event_hit[i] = 1
            d.mode[i] = STICK
    if has_room(m, d):
        count_closed(m, d)
        project_positions(m, d)
    for i in range(m.nslot + 2 * m.nlimit):
        if d.event_hit[i]:
            d.mode[i] = OPEN


@kernel
def keep_end(m, d):
    """Save the state in qpos_start, qvel_start, act_start while samples inside a step are computed."""
    for k in range(m.nq):
        d.qpos_start[k] = d.qpos[k]
    for i in range(m.nv):
        d.qvel_start[i] = d.qvel[i]
    for k in range(m.nact):
        d.act_start[k] = d.act[k]


@kernel
def back_to_end(m, d):
    """Restore the state that `keep_end` has saved."""
    for k in range(m.nq):
        d.qpos[k] = d.qpos_start[k]
    for i in range(m.nv):
        d.qvel[i] = d.qvel_start[i]
    for k in range(m.nact):
        d.act[k] = d.act_start[k]


@kernel
def state_inside(m, d, h, theta):
    """The state at the fraction theta of the time step of h seconds whose end `keep_end` has saved.

    Positions go straight from the start to the end, so that they are nowhere deeper than at these. Velocities are
    interpolated linearly; after an impact, its impulses act from the start on, as on the positions: with the velocities
    before, a body would be fast and already thrown up again, and energy would rise. Prescribed motions have their
    values at that time.
    """
    collided = d.dense[COLLIDED] > 0.0
    jumped = 1.0 if collided and theta > 0.0 else 0.0 * theta
    for i in range(m.nv):
        jump = d.qvel_jump[i] if collided else 0.0 * theta
        change = d.qvel_start[i] - d.qvel_saved[i] - jump
        d.qvel[i] = d.qvel_saved[i] + theta * change + jumped * jump
        d.qstep[i] = 0.5 * (d.qvel_saved[i] + d.qvel_start[i])
    displace(m, d.qpos_saved, theta * h, d.qstep, d.qpos)
    for k in range(m.nact):
        d.act[k] = d.act_saved[k] + theta * (d.act_start[k] - d.act_saved[k])
    if has(m, "prescribed", "carriers"):
        end = d.time
        d.time = end - (1.0 - theta) * h
        prescribe(m, d)
        d.time = end
