"""Constraint rows of the hard law for a time step: targets for the velocities at its end.

With u = J v the velocities of a row, u⁻ before the step and u⁺ after it, and P the impulse of the step,

    equality, dry friction    u⁺ = 0 (friction: as far as forces up to its bound can)
    limit, contact's normal   0 ≤ P ⟂ u⁺ + e u⁻ ≥ 0 for a closed gap that closes with u⁻ < 0 (Newton's law)
                              0 ≤ P ⟂ u⁺ ≥ 0 for a gap closed otherwise
                              0 ≤ P ⟂ u⁺ + gap/h ≥ 0 for an open gap without restitution
    contact's tangents        P in the ellipse of Coulomb friction, on its edge against u⁺ where that is not 0
                              (static friction above that of sliding: see `saltus.solve.stepping.breakaway`)

(Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988); Jean, The non-smooth contact dynamics
method (1999); for the gap Stewart & Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic
collisions and Coulomb friction (1996).) Restitution applies to approach velocities above `RESTING` times those of a
step of free fall, |g| h: otherwise a resting contact would bounce forever with decreasing height. As accelerations:
J a ← row_aref = (u⁺ - u⁻)/h. A gap is closed up to `CLOSED` h².
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NBLOCK, NCON
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, UNILATERAL, add_block, times_rows
from saltus.contact.rows.contacts import contact_jacobian, contact_velocity
from saltus.contact.rows.movers import add_carried_equality
from saltus.number.components import zero_like
from saltus.number.conditions import has, has_lanes
from saltus.number.functions import any_lane, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import find_contacts, rows_without_contacts
from saltus.solve.stepping.breakaway import hold_contacts

RESTING = 4.0
ABSENT = -1.0  # row_D of blocks that only other lanes have
CLOSED = 1.0  # m/s², rad/s²; all corners of a box at rest are closed despite rounding in their gaps


@kernel
def find_hard_rows(m, d, h):
    """All rows at the present positions, for a step of h seconds from the velocities qvel.

    Writes the blocks, row_aref (m/s², rad/s²), row_pos (m, rad: violation or distance), row_D: 0 for blocks that are
    inactive in this step, ABSENT for those of other lanes, 1 for the others; and row_step.
    """
    d.row_step = h + 0.0 * d.time
    rows_without_contacts(m, d)
    times_rows(m, d, d.qvel, d.row_velocity)
    if has(m, "movers"):
        for b in range(d.count[NBLOCK]):
            if d.block_kind[b] == EQUALITY:
                add_carried_equality(m, d, b, d.mover_vel, d.row_velocity)
    find_contacts(m, d)
    nearby_contacts(m, d)
    resting = resting_speed(m, h)
    for b in range(d.count[NBLOCK]):
        targets(m, d, b, h, resting)
        hold_contacts(m, d, b, resting)


@kernel
def resting_speed(m, h):
    """Least approach velocity (m/s) of a bounce or an impact event."""
    g = m.opt_gravity[0]
    return RESTING * h * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


@only_with("contact")
@kernel
def nearby_contacts(m, d):
    """Blocks of the detected contacts, those within `law_reach`, with their velocities."""
    for k in range(d.count[NCON]):
        c = d.contact_collision[k]
        law = m.collision_law[c]
        dim = m.law_dim[law]
        gap = d.contact_dist[k] - m.law_margin[law]
        there = gap == gap
        if has_lanes(d):  # the list holds contacts of all lanes
            there = d.contact_dist[k] <= m.law_reach[law]
        to_first_surface(d, k)
        b = add_block(m, d, UNILATERAL if dim == 1 else CONE, dim, m.collision_chain[c], law, k, there)
        d.contact_block[k] = b
        contact_jacobian(m, d, k, b, dim)
        contact_velocity(m, d, k, b, dim)
        d.row_pos[d.block_row[b]] = gap
        d.row_D[d.block_row[b]] = where(there, zero_like(gap) + 1.0, zero_like(gap))


@kernel
def to_first_surface(d, k):
    """Move contact k from the middle of its gap to the surface of its first geom.

    The points at which a foot meets the floor then lie in one plane, and all can stick at once while the foot rotates
    until it is flat. In the middles of gaps of different widths they could not: the tangential velocities of a rotating
    body differ there, slightly, but no forces could make all of them zero.
    """
    half = 0.5 * d.contact_dist[k]
    frame = d.contact_frame[k]
    for i in range(3):
        d.contact_pos[k, i] = d.contact_pos[k, i] - half * frame[i]


@kernel
def targets(m, d, b, h, resting):
    """row_aref of block b from its velocities u⁻, and row_D: whether it is active, from where it is above 0."""
    row, kind = d.block_row[b], d.block_kind[b]
    speed, zero = d.row_velocity[row], zero_like(d.time)
    there = d.row_D[row] > 0.0
    # target u⁺ = 0, final for equalities, dry friction and tangents
    for r in range(row, row + d.block_dim[b]):
        d.row_D[r] = where(there, zero + 1.0, zero + ABSENT)
        d.row_aref[r] = -d.row_velocity[r] / h
    if kind == EQUALITY or kind == FRICTION:
        return
    # unilateral: the gap at the end of the step, or Newton's restitution
    gap, e = d.row_pos[row], m.law_restitution[d.block_law[b]]
    bounces = (speed < -resting) & (e * (zero + 1.0) > 0.0)
    if any_lane(gap > CLOSED * h * h):
        parted = gap > CLOSED * h * h
        d.row_aref[row] = where(parted, -(gap / h + speed) / h, d.row_aref[row])
        # restitution acts in the step after the gap has closed
        d.row_D[row] = where(parted & bounces & there, zero, d.row_D[row])
    if any_lane(bounces & (gap <= CLOSED * h * h)):
        closed = bounces & (gap <= CLOSED * h * h)
        d.row_aref[row] = where(closed, -(1.0 + e) * speed / h, d.row_aref[row])
