"""Impact subproblems: an impact phase of some of the contacts, posed as one cone problem.

Every impact law is a few problems u = W r + q, 0 <= u_N - aim ⟂ r_N >= 0 with friction, on some of the contacts. If the
normal impulse of a contact with friction is given, its normal row is decoupled from the others, and its diagonal entry
makes a trivial problem with that impulse as solution: the block then has friction within a disk of given radius, as the
expansion of Poisson's law needs.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED, PRESSED
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel
from saltus.solve.cone.problem import solve_cones

ABSENT, FREE, GIVEN = 0, 1, 2  # impact_state
WHOLE, COMPRESSION, EXPANSION = 0, 1, 2  # phase: from impact_base to the aims; from there to 0; from impact_closed
SLACK = 100.0  # multiple of the tolerance of the largest velocity or impulse below which these count as zero


@kernel
def is_contact(p, b):
    """Whether block b is a contact.

    BILATERAL rows always close, BOUNDED forces have no impulse, and PRESSED blocks belong to the contact before them.
    """
    kind = p.impact_kind[b]
    return kind != BILATERAL and kind != BOUNDED and kind != PRESSED


@kernel
def keep_problem(p):
    """Save the whole problem, so that the hard_ fields can hold subproblems."""
    n, blocks = p.hard_count[ROWS], p.hard_count[BLOCKS]
    p.impact_count[BLOCKS], p.impact_count[ROWS] = blocks, n
    for b in range(blocks):
        p.impact_kind[b], p.impact_row[b], p.impact_dim[b] = p.hard_kind[b], p.hard_row[b], p.hard_dim[b]
        p.impact_mu[b], p.impact_parent[b] = p.hard_mu[b], p.hard_parent[b]
    for i in range(n):
        p.impact_before[i] = p.hard_q[i]
        p.impact_turn[i] = 0.0
    for k in range(n * n):
        p.impact_W[k] = p.hard_W[k]
    for k in range(3):
        p.impact_report[k] = 0
    from_before(p)


@kernel
def restore_problem(p):
    """Restore the whole problem, with the impulses impact_sum and the velocities impact_base as its solution."""
    n, blocks = p.impact_count[ROWS], p.impact_count[BLOCKS]
    p.hard_count[BLOCKS], p.hard_count[ROWS] = blocks, n
    for b in range(blocks):
        p.hard_kind[b], p.hard_row[b], p.hard_dim[b] = p.impact_kind[b], p.impact_row[b], p.impact_dim[b]
        p.hard_mu[b], p.hard_parent[b] = p.impact_mu[b], p.impact_parent[b]
    for i in range(n):
        p.hard_q[i] = p.impact_before[i]
        p.hard_r[i] = p.impact_sum[i]
        p.hard_u[i] = p.impact_base[i]
    for k in range(n * n):
        p.hard_W[k] = p.impact_W[k]


@kernel
def speed_before(p):
    """Largest velocity magnitude of all rows before the impact."""
    speed = 0.0
    for i in range(p.impact_count[ROWS]):
        speed = maximum(speed, absolute(p.impact_before[i]))
    return speed


@kernel
def least_approach(p, tolerance):
    """Threshold of approach velocities (m/s): SLACK tolerances of the largest velocity before the impact."""
    return SLACK * tolerance * speed_before(p)


@kernel
def take_all(p):
    """Make all contacts members, with zero aims and zero impulses."""
    for b in range(p.impact_count[BLOCKS]):
        p.impact_member[b] = 1
        p.impact_aim[b] = 0.0
        p.impact_push[b] = 0.0
    for i in range(p.impact_count[ROWS]):
        p.impact_r[i] = 0.0


@kernel
def solve_part(p, phase, tolerance):
    """Find impulses impact_r of a phase, from the present ones, and velocities impact_u of all rows after it.

    Returns the residual, relative to the velocities before the whole impact if those of the phase are smaller. Reads
    impact_state, impact_given; impact_base and impact_aim, or impact_closed.
    """
    # cone problem of the unknown impulses
    choose_blocks(p)
    speed = speed_before(p)
    rest = pose(p, phase, tolerance * speed)
    residual = solve_cones(p, tolerance)
    if rest < speed:
        residual = residual * rest / speed
    # impulses in the numbering of the whole problem
    n = p.impact_count[ROWS]
    for i in range(n):
        p.impact_r[i] = 0.0
    for k in range(p.hard_count[ROWS]):
        p.impact_r[p.impact_place[k]] = p.hard_r[k]
    for b in range(p.impact_count[BLOCKS]):
        if p.impact_state[b] == GIVEN:  # exactly, bit for bit
            p.impact_r[p.impact_row[b]] = p.impact_given[b]
    # u⁺ = W r + u⁻ of all rows
    for i in range(n):
        u = start_of(p, phase, i)
        for j in range(n):
            u = u + p.impact_W[i * n + j] * p.impact_r[j]
        p.impact_u[i] = u
    return residual


@kernel
def start_of(p, phase, i):
    """Velocity of row i at the start of a phase."""
    return p.impact_closed[i] if phase == EXPANSION else p.impact_base[i]


@kernel
def choose_blocks(p):
    """List the blocks with unknown impulses in the hard_ fields, and the places of their rows in the whole problem."""
    blocks, rows = 0, 0
    for b in range(p.impact_count[BLOCKS]):
        if p.impact_state[b] == FREE or (p.impact_state[b] == GIVEN and p.impact_dim[b] > 1):
            p.hard_kind[blocks], p.hard_row[blocks], p.hard_dim[blocks] = p.impact_kind[b], rows, p.impact_dim[b]
            p.hard_mu[blocks], p.hard_parent[blocks] = p.impact_mu[b], p.impact_parent[b]
            for k in range(p.impact_dim[b]):
                p.impact_place[rows] = p.impact_row[b] + k
                p.impact_cut[rows] = 1 if k == 0 and p.impact_state[b] == GIVEN else 0
                p.impact_block[rows] = b
                rows += 1
            blocks += 1
    p.hard_count[BLOCKS], p.hard_count[ROWS] = blocks, rows


@kernel
def pose(p, phase, least):
    """hard_W, hard_q and the warm start of the listed rows; returns the largest |q|.

    q is the velocity before the phase, with the effect of the given impulses and less the aim, normal or tangential.
    Below `least` it is set to zero, since rounding in dependent rows makes them inconsistent.
    """
    largest = 0.0
    n, rows = p.impact_count[ROWS], p.hard_count[ROWS]
    for k in range(rows):
        i, b = p.impact_place[k], p.impact_block[k]
        # velocity before the phase, less the aim
        q = start_of(p, phase, i)
        if phase == WHOLE and is_contact(p, b) and i == p.impact_row[b]:
            q = q - p.impact_aim[b]
        elif phase == WHOLE:
            q = q - p.impact_turn[i]
        # effect of the given normal impulses
        for c in range(p.impact_count[BLOCKS]):
            if p.impact_state[c] == GIVEN:
                q = q + p.impact_W[i * n + p.impact_row[c]] * p.impact_given[c]
        # Delassus operator with the rows of given impulses decoupled
        p.hard_r[k] = p.impact_r[i]
        for h in range(rows):
            coupled = p.impact_cut[k] == 0 and p.impact_cut[h] == 0
            p.hard_W[k * rows + h] = p.impact_W[i * n + p.impact_place[h]] if coupled else 0.0
        if p.impact_cut[k] == 1:
            # trivial row W_ii (r - r_given) = u
            own = p.impact_W[i * n + i]
            own = own if own > 0.0 else 1.0
            p.hard_W[k * rows + k] = own
            p.hard_r[k] = p.impact_given[b]
            q = -own * p.impact_given[b]
        elif absolute(q) < least:
            q = 0.0
        p.hard_q[k] = q
        largest = maximum(largest, absolute(q))
    return largest


@kernel
def add_to_row(p):
    """Add impact_r to impact_sum; impact_base ← the velocities after."""
    n = p.impact_count[ROWS]
    for i in range(n):
        p.impact_sum[i] += p.impact_r[i]
    for i in range(n):
        u = p.impact_before[i]
        for j in range(n):
            u = u + p.impact_W[i * n + j] * p.impact_sum[j]
        p.impact_base[i] = u


@kernel
def from_before(p):
    """Start a sequence of impacts from the velocities before the whole impact."""
    for i in range(p.impact_count[ROWS]):
        p.impact_base[i] = p.impact_before[i]
        p.impact_sum[i] = 0.0


@kernel
def gains_energy(p, slack):
    """Whether the impact from impact_base to impact_u gains energy: ½ rᵀ (u⁺ + u⁻) above slack times its terms."""
    change, scale = 0.0, 0.0
    for i in range(p.impact_count[ROWS]):
        change += p.impact_r[i] * (p.impact_u[i] + p.impact_base[i])
        scale += absolute(p.impact_r[i]) * (absolute(p.impact_u[i]) + absolute(p.impact_base[i]))
    return change > slack * scale
