"""Rows of the hard law as one step of time sees them: what the velocities at its end are to be.

With u = J v the velocities of a row, u⁻ before the step and u⁺ after it, and P the impulse of the step,

    equality, dry friction    u⁺ = 0 (friction: as far as forces up to its bound can)
    limit, contact's normal   0 ≤ P ⟂ u⁺ + e u⁻ ≥ 0 where the gap is closed and closes with u⁻ < 0 (Newton's law)
                              0 ≤ P ⟂ u⁺ ≥ 0 where it is closed otherwise
                              0 ≤ P ⟂ u⁺ + gap/h ≥ 0 where it is open and e does not matter
    contact's tangents        P in the ellipse of Coulomb's friction, on its edge against u⁺ where that is not 0

(Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988); Jean, The non-smooth contact dynamics
method (1999); for the gap Stewart & Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic
collisions and Coulomb friction (1996).) e matters where bodies approach faster than `RESTING` times what a step of free
fall makes, |g| h: without that, a contact at rest would bounce for ever, lower and lower. As accelerations:
J a ← row_aref = (u⁺ - u⁻)/h. A gap is closed up to `CLOSED` h².
"""

from saltus.contact.counts import NBLOCK, NCON
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, UNILATERAL, add_block, times_rows
from saltus.contact.rows.contacts import contact_jacobian, contact_velocity
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import find_contacts_anew, rows_without_contacts

RESTING = 4.0
CLOSED = 1.0  # m/s², rad/s²; all corners of a box that lies are closed, whatever rounding does to their gaps


@kernel
def find_hard_rows(m, d, h):
    """All rows at the present positions, for a step of h seconds from the velocities qvel.

    Writes the blocks, row_aref (m/s², rad/s²), row_pos (m, rad: violation or gap), and row_D: 0 where a block is not to
    act, 1 elsewhere.
    """
    rows_without_contacts(m, d)
    times_rows(m, d, d.qvel, d.row_aref)
    find_contacts_anew(m, d)
    nearby_contacts(m, d)
    resting = resting_speed(m, h)
    for b in range(d.count[NBLOCK]):
        targets(m, d, b, h, resting)


@kernel
def resting_speed(m, h):
    """How fast bodies approach at least that bounce, or hit each other (m/s)."""
    g = m.opt_gravity[0]
    return RESTING * h * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


@only_with("contact")
@kernel
def nearby_contacts(m, d):
    """Blocks of all contacts that were found, those within `law_reach`, and their velocities in row_aref."""
    for k in range(d.count[NCON]):
        c = d.contact_collision[k]
        law = m.collision_law[c]
        dim = m.law_dim[law]
        gap = d.contact_dist[k] - m.law_margin[law]
        to_first_surface(d, k)
        b = add_block(m, d, UNILATERAL if dim == 1 else CONE, dim, m.collision_chain[c], law, k, gap == gap)
        d.contact_block[k] = b
        contact_jacobian(m, d, k, b, dim)
        contact_velocity(m, d, k, b, dim)
        d.row_pos[d.block_row[b]] = gap


@kernel
def to_first_surface(d, k):
    """Move contact k from the middle of its gap to the surface of its first geom.

    Points at which a foot meets the floor are in one plane thereby, and all of them can stick at once while the foot
    turns until it is flat. In the middles of gaps of different widths they could not: the tangential velocities of a
    body that turns differ there, by too little to matter, but no forces at all would make all of them zero.
    """
    half = 0.5 * d.contact_dist[k]
    frame = d.contact_frame[k]
    for i in range(3):
        d.contact_pos[k, i] = d.contact_pos[k, i] - half * frame[i]


@kernel
def targets(m, d, b, h, resting):
    """row_aref of block b from its velocities u⁻ in row_aref, and whether it acts."""
    row, kind = d.block_row[b], d.block_kind[b]
    speed = d.row_aref[row]
    for r in range(row, row + d.block_dim[b]):
        d.row_D[r] = 1.0
        d.row_aref[r] = -d.row_aref[r] / h
    if kind == EQUALITY or kind == FRICTION:
        return
    gap, e = d.row_pos[row], m.law_restitution[d.block_law[b]]
    bounces = e > 0.0 and speed < -resting
    if gap > CLOSED * h * h:
        d.row_aref[row] = -(gap / h + speed) / h
        if bounces:  # once it has closed
            d.row_D[row] = 0.0
    elif bounces:
        d.row_aref[row] = -(1.0 + e) * speed / h
