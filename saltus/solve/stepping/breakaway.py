"""Static friction above that of sliding in time steps: contacts that hold, and those that break away.

The law of a step is that of `saltus.solve.stepping.hard_rows` with two bounds on the impulse across a contact: it
sticks, u⁺ = 0, if the impulse that this takes is within μ_s times the normal one, and slides with μ_k if it is not. All
contacts begin a step as holding, with μ_s; those that slide at the solution get μ_k, which may break others loose, and
the problem is solved again until none does. Contacts with an impact have μ_k: impulses of impacts have one coefficient.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.acting import end_speed
from saltus.contact.rows.blocks import CONE
from saltus.number.components import zero_like
from saltus.number.conditions import has
from saltus.number.functions import MINVAL, any_lane, maximum, sqrt, where
from saltus.number.kernels import kernel, only_with

EDGE = 1.0 - 1e-6  # fraction of the friction bound from which friction is at its limit


@kernel(inline=True)
def step_friction(m, d, b, k):
    """Coefficient of friction of tangential row k (from 1) of contact block b in this step."""
    own = m.law_friction[d.block_law[b], k - 1]
    if has(m, "stiction"):
        return d.block_hold[b] * own if k <= 2 else own
    return own


@only_with("stiction")
@kernel
def hold_contacts(m, d, b, resting):
    """block_hold of block b ← μ_s / μ_k if it is a contact that may stick, else 1. `resting` (m/s): of impacts."""
    law = d.block_law[b]
    row, hold = d.block_row[b], zero_like(d.time) + 1.0
    if d.block_kind[b] == CONE and d.block_dim[b] > 1:
        hits = (d.row_velocity[row] < -resting) | (d.row_D[row] < 0.0)
        hold = where(hits, hold, m.law_static[law] / m.law_friction[law, 0])
    d.block_hold[b] = hold


@only_with("stiction", otherwise="False")
@kernel
def break_away(m, d, chosen):
    """Let contacts slide, block_hold ← 1, that hold and yet move at the step's solution; the lanes that have any.

    chosen: the lanes in which they may.
    """
    found = zero_like(d.time) > 0.0
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] == CONE and d.block_dim[b] >= 3 and any_lane(d.block_hold[b] > 1.0):
            row, square, speed = d.block_row[b], 0.0 * d.time, 0.0 * d.time
            for k in range(1, d.block_dim[b]):
                part = d.row_force[row + k] / maximum(step_friction(m, d, b, k), MINVAL)
                square = square + part * part
                speed = speed + end_speed(m, d, b, k) * end_speed(m, d, b, k)
            slides = (sqrt(square) >= EDGE * d.row_force[row]) & (sqrt(speed) > m.opt_speed_tolerance)
            slides = slides & chosen & (d.block_hold[b] > 1.0)
            d.block_hold[b] = where(slides, zero_like(d.time) + 1.0, d.block_hold[b])
            found = found | slides
    return found
