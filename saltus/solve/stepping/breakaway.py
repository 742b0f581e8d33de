"""Static friction above that of sliding in time steps: contacts that hold, and those that break away.

The law of a step is that of `saltus.solve.stepping.hard_rows` with two bounds on the impulse across a contact: it
sticks, u⁺ = 0, if the impulse that this takes is within μ_s times the normal one, and slides with μ_k if it is not. All
contacts begin a step as holding, with μ_s; those that slide at the solution get μ_k, which may break others loose, and
the problem is solved again until none does. Contacts with an impact have μ_k: impulses of impacts have one coefficient.
Where μ_k differs between the tangents, a contact holds up to the larger of μ_s and μ_k along each. A solution that has
not converged changes no state: it lets no contact go that held in the step before.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.acting import end_speed
from saltus.contact.rows.blocks import CONE
from saltus.model.event_enums import STICK
from saltus.number.components import zero_like
from saltus.number.conditions import has
from saltus.number.functions import MINVAL, any_lane, maximum, minimum, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.solve.soft.dual.problem import get, put

EDGE = 1.0 - 1e-6  # fraction of the friction bound from which friction is at its limit


@kernel(inline=True)
def step_friction(m, d, b, k):
    """Coefficient of friction of tangential row k (from 1) of contact block b in this step."""
    own = m.law_friction[d.block_law[b], k - 1]
    if has(m, "stiction"):
        hold = d.block_hold[b]
        own = own + 0.0 * hold
        return maximum(own, hold) if k <= 2 else own
    return own


@only_with("stiction")
@kernel
def hold_contacts(m, d, b, resting):
    """block_hold of block b ← μ_s if it is a contact that it may hold, else 0. `resting` (m/s): of impacts."""
    law = d.block_law[b]
    row, hold = d.block_row[b], zero_like(d.time)
    above = m.law_static[law] > minimum(m.law_friction[law, 0], m.law_friction[law, 1])
    if d.block_kind[b] == CONE and d.block_dim[b] >= 3 and above:
        hits = (d.row_velocity[row] < -resting) | (d.row_D[row] < 0.0)
        hold = where(hits, hold, m.law_static[law] + hold)
    d.block_hold[b] = hold


@only_with("stiction", otherwise="False")
@kernel
def holds(m, d, b, lane):
    """Whether static friction holds block b at the step's solution, in a lane."""
    return get(d.block_hold, b, lane) > 0.0


@only_with("stiction")
@kernel
def note_held(m, d, b, past, lane):
    """block_held of block b ← 1 if its match in the step before, of number `past`, stuck, else 0; of one lane."""
    stuck = past >= 0 and get(d.past_mode, past, lane) == STICK
    put(d.block_held, b, lane, 1.0 if stuck else 0.0)


@only_with("stiction", otherwise="False")
@kernel
def break_away(m, d, chosen, unconverged):
    """Let contacts slide, block_hold ← 0, that hold and yet move at the step's solution; the lanes that have any.

    chosen: the lanes in which they may. unconverged: 1 in lanes whose solution has not converged, else 0: there
    contacts that held in the step before stay.
    """
    found = zero_like(d.time) > 0.0
    for b in range(d.count[NBLOCK]):
        holding = chosen & (d.block_hold[b] > 0.0)
        if any_lane(holding):
            holding = holding & (unconverged * d.block_held[b] < 0.5)
            row, square, speed = d.block_row[b], 0.0 * d.time, 0.0 * d.time
            for k in range(1, d.block_dim[b]):
                part = d.row_force[row + k] / maximum(step_friction(m, d, b, k), MINVAL)
                square = square + part * part
                speed = speed + end_speed(m, d, b, k) * end_speed(m, d, b, k)
            slides = (sqrt(square) >= EDGE * d.row_force[row]) & (sqrt(speed) > m.opt_speed_tolerance)
            slides = slides & holding
            d.block_hold[b] = where(slides, zero_like(d.time), d.block_hold[b])
            found = found | slides
    return found
