"""Time steps that are short enough to limit the penetration of bodies.

Time stepping detects contacts at one position of a step, and a contact with restitution acts in the step after its gap
has closed: until then bodies penetrate each other by up to their speed times the step. A step with a larger depth than
allowed is repeated with a shorter length.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import FRICTION, times_block
from saltus.integrate.fixed import moreau_jean
from saltus.integrate.status import bad_state
from saltus.number.functions import maximum
from saltus.number.kernels import kernel
from saltus.solve.status import OK

METHOD = (0.5, 1e-6)  # θ and tolerance of the steps
DEEPER = 1e-4  # m, rad: largest new depth in a step, unless it was shortened `SHORTENED` times
SHORTENED, SHORTEST, MARGIN = 3, 0.1, 0.8  # most shortenings; least factor; target depth relative to `DEEPER`


@kernel
def shallow_step(m, d, h):
    """Take a time step of h seconds, or a shorter one without new depth above `DEEPER`.

    Positions are not yet corrected. Returns a status and the length (s) of the step.
    """
    start, status = d.time, OK
    for again in range(SHORTENED + 1):
        status = moreau_jean.uncorrected_step(m, d, h, METHOD)
        depth = new_depth(m, d, h)
        if again == SHORTENED or not depth > DEEPER or not bad_state(m, d) < 0.5:
            break
        for k in range(m.nq):
            d.qpos[k] = d.qpos_saved[k]
        for i in range(m.nv):
            d.qvel[i] = d.qvel_saved[i]
        for k in range(m.nact):
            d.act[k] = d.act_saved[k]
        d.time = start
        h = h * maximum(SHORTEST, MARGIN * DEEPER / depth)
    return status, h


@kernel
def new_depth(m, d, h):
    """The largest depth (m, rad) of contacts and limits at the end of a step of h seconds that is new in it."""
    most = 0.0 * h
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] > FRICTION:
            row = d.block_row[b]
            times_block(m, d, b, d.qvel_saved, d.row_search)
            before = maximum(0.5 * h * d.row_search[row] - d.row_pos[row], 0.0 * h)
            times_block(m, d, b, d.qvel, d.row_search)
            most = maximum(most, -0.5 * h * d.row_search[row] - d.row_pos[row] - before)
    return most
