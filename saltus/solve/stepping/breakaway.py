"""Static friction above that of sliding in time steps: contacts that hold, and those that break away.

The law of a step is that of `saltus.solve.stepping.hard_rows` with two bounds on the impulse across a contact: it
sticks, u⁺ = 0, if the impulse that this takes is within μ_s times the normal one, and slides with μ_k if it is not. All
contacts begin a step as holding, with μ_s; those that slide at the solution get μ_k, which may break others loose, and
the problem is solved again until none does. Contacts with an impact have μ_k: impulses of impacts have one coefficient.
Where μ_k differs between the tangents, a contact holds up to the larger of μ_s and μ_k along each. A solution that has
not converged changes no state: it lets no contact go that held in the step before.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.acting import end_speed
from saltus.contact.rows.blocks import CONE
from saltus.model.event_enums import STICK
from saltus.number.conditions import has
from saltus.number.functions import MINVAL, maximum, minimum, sqrt
from saltus.number.kernels import kernel, only_with

EDGE = 1.0 - 1e-6  # fraction of the friction bound from which friction is at its limit


@kernel(inline=True)
def step_friction(m, d, b, k):
    """Coefficient of friction of tangential row k (from 1) of contact block b in this step."""
    own = m.law_friction[d.block_law[b], k - 1]
    if has(m, "stiction"):
        return maximum(own, d.block_hold[b]) if k <= 2 else own
    return own


@only_with("stiction")
@kernel
def hold_contacts(m, d, b, resting):
    """block_hold of block b ← μ_s if it is a contact that it may hold, else 0. `resting` (m/s): of impacts."""
    law = d.block_law[b]
    may = d.block_kind[b] == CONE and d.block_dim[b] >= 3 and not d.row_velocity[d.block_row[b]] < -resting
    above = may and m.law_static[law] > minimum(m.law_friction[law, 0], m.law_friction[law, 1])
    d.block_hold[b] = m.law_static[law] + 0.0 * d.time if above else 0.0 * d.time


@only_with("stiction", otherwise="False")
@kernel
def holds(m, d, b):
    """Whether static friction holds block b at the step's solution."""
    return d.block_hold[b] > 0.0


@only_with("stiction", otherwise="False")
@kernel
def break_away(m, d, rough):
    """Let contacts slide, block_hold ← 0, that hold and yet move at the step's solution; whether there are any.

    rough: whether the solution has not converged; those that held in the step before then stay.
    """
    found = False
    for b in range(d.count[NBLOCK]):
        p = d.block_past[b]
        stays = rough and p >= 0 and d.past_mode[p] == STICK
        if holds(m, d, b) and not stays:
            row, square, speed = d.block_row[b], 0.0 * d.time, 0.0 * d.time
            for k in range(1, d.block_dim[b]):
                part = d.row_force[row + k] / max(step_friction(m, d, b, k), MINVAL)
                square = square + part * part
                speed = speed + end_speed(m, d, b, k) * end_speed(m, d, b, k)
            if sqrt(square) >= EDGE * d.row_force[row] and sqrt(speed) > m.opt_speed_tolerance:
                d.block_hold[b] = 0.0 * d.time
                found = True
    return found
