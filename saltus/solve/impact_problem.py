"""Part of an impact as one cone problem: which contacts take part, from which velocities, to which.

Every law of impact is a few problems of the form u = W r + q, 0 <= u_N - aim, r_N >= 0, ... on some of the contacts.
A contact that is left out, or whose normal impulse is known beforehand, keeps its rows: they are cut off from the
others, and their diagonal makes a trivial problem whose answer is that impulse. A Coulomb block with such a normal row
has friction within a disk of given radius, which is what the expansion of Poisson's law needs.
"""

from saltus.model.cones import BILATERAL, BOUNDED
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel
from saltus.solve.cone import solve_cones

ABSENT, FREE, GIVEN = 0, 1, 2  # impact_state
WHOLE, COMPRESSION, EXPANSION = 0, 1, 2  # phase: from impact_base to the aims; from there to 0; from impact_closed
SLACK = 100.0  # approach velocities and gains of energy below this many tolerances, relative to all there is, are 0


@kernel
def is_contact(p, b):
    """Whether block b is a contact: BILATERAL rows close always, BOUNDED forces have no impulse."""
    return p.hard_kind[b] != BILATERAL and p.hard_kind[b] != BOUNDED


@kernel
def keep_problem(p):
    """Copy W and u⁻ aside, so that hard_W and hard_q can hold parts of the problem."""
    n = p.hard_count[1]
    for i in range(n):
        p.impact_before[i] = p.hard_q[i]
        p.impact_base[i] = p.hard_q[i]
        p.impact_sum[i] = 0.0
        p.impact_mean[i] = 0.0
    for k in range(n * n):
        p.impact_W[k] = p.hard_W[k]
    for k in range(3):
        p.impact_report[k] = 0


@kernel
def restore_problem(p):
    """Put W and u⁻ back; hard_r and hard_u stay."""
    n = p.hard_count[1]
    for i in range(n):
        p.hard_q[i] = p.impact_before[i]
    for k in range(n * n):
        p.hard_W[k] = p.impact_W[k]


@kernel
def least_approach(p, tolerance):
    """Velocity (m/s) below which a contact does not approach: the part SLACK tolerance of the largest before."""
    speed = 0.0
    for i in range(p.hard_count[1]):
        speed = maximum(speed, absolute(p.impact_before[i]))
    return SLACK * tolerance * speed


@kernel
def take_all(p):
    """Let all contacts take part, with no velocity to aim at, from no impulse."""
    for b in range(p.hard_count[0]):
        p.impact_member[b] = 1
        p.impact_aim[b] = 0.0
        p.impact_push[b] = 0.0
    for i in range(p.hard_count[1]):
        p.hard_r[i] = 0.0


@kernel
def solve_part(p, phase, tolerance):
    """Impulses hard_r of the members in a phase, and the velocities hard_u of all rows after; returns the residual.

    Reads impact_state, impact_given; impact_base and impact_aim, or impact_closed.
    """
    pose_rows(p, phase)
    pose_matrix(p)
    residual = solve_cones(p, tolerance)
    for b in range(p.hard_count[0]):  # to the bit what is known beforehand
        row = p.hard_row[b]
        if p.impact_state[b] == ABSENT:
            for k in range(p.hard_dim[b]):
                p.hard_r[row + k] = 0.0
        elif p.impact_state[b] == GIVEN:
            p.hard_r[row] = p.impact_given[b]
    n = p.hard_count[1]
    for i in range(n):
        u = start_of(p, phase, i)
        for j in range(n):
            u = u + p.impact_W[i * n + j] * p.hard_r[j]
        p.hard_u[i] = u
    return residual


@kernel
def start_of(p, phase, i):
    """Velocity of row i before a phase."""
    return p.impact_closed[i] if phase == EXPANSION else p.impact_base[i]


@kernel
def joined(p, b, k):
    """Whether row k of block b is coupled to the others in the problem being solved."""
    return p.impact_state[b] == FREE or (p.impact_state[b] == GIVEN and k > 0)


@kernel
def pose_rows(p, phase):
    """Write hard_q: velocities before, with what the given impulses do to them and without the aims."""
    n = p.hard_count[1]
    for b in range(p.hard_count[0]):
        row = p.hard_row[b]
        for k in range(p.hard_dim[b]):
            i = row + k
            q = start_of(p, phase, i)
            if k == 0 and phase == WHOLE and is_contact(p, b):
                q = q - p.impact_aim[b]
            for c in range(p.hard_count[0]):
                if p.impact_state[c] == GIVEN:
                    q = q + p.impact_W[i * n + p.hard_row[c]] * p.impact_given[c]
            if not joined(p, b, k):
                q = 0.0
                p.hard_r[i] = 0.0
                if k == 0 and p.impact_state[b] == GIVEN:
                    q = -diagonal(p, i) * p.impact_given[b]
                    p.hard_r[i] = p.impact_given[b]
                elif k == 0 and is_contact(p, b):
                    q = 1.0
            p.hard_q[i] = q


@kernel
def pose_matrix(p):
    """Write hard_W: W between joined rows, its diagonal alone in the others."""
    n = p.hard_count[1]
    for b in range(p.hard_count[0]):
        for k in range(p.hard_dim[b]):
            i = p.hard_row[b] + k
            for c in range(p.hard_count[0]):
                for h in range(p.hard_dim[c]):
                    j = p.hard_row[c] + h
                    together = joined(p, b, k) and joined(p, c, h)
                    p.hard_W[i * n + j] = p.impact_W[i * n + j] if together else 0.0
            if not joined(p, b, k):
                p.hard_W[i * n + i] = diagonal(p, i)


@kernel
def diagonal(p, i):
    """The diagonal of W in row i, or 1 where it is 0."""
    w = p.impact_W[i * (p.hard_count[1] + 1)]
    return w if w > 0.0 else 1.0


@kernel
def add_to_row(p):
    """Add the impact in hard_r to impact_sum and go on from the velocities after."""
    n = p.hard_count[1]
    for i in range(n):
        p.impact_sum[i] += p.hard_r[i]
    for i in range(n):
        u = p.impact_before[i]
        for j in range(n):
            u = u + p.impact_W[i * n + j] * p.impact_sum[j]
        p.impact_base[i] = u


@kernel
def from_before(p):
    """Begin a row of impacts at the velocities before all."""
    for i in range(p.hard_count[1]):
        p.impact_base[i] = p.impact_before[i]
        p.impact_sum[i] = 0.0


@kernel
def gains_energy(p, tolerance):
    """Whether the impact from impact_base to hard_u raises the kinetic energy, by ½ rᵀ(u⁺ + u⁻) > 0, beyond rounding."""
    change, scale = 0.0, 0.0
    for i in range(p.hard_count[1]):
        change += p.hard_r[i] * (p.hard_u[i] + p.impact_base[i])
        scale += absolute(p.hard_r[i]) * (absolute(p.hard_u[i]) + absolute(p.impact_base[i]))
    return change > SLACK * tolerance * scale
