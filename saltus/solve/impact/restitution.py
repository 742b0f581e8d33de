"""Restitution laws for the member contacts of one impact: Newton's, Poisson's and the energetic coefficient.

Newton: the normal velocity after is -e that before. Poisson: compression until no contact approaches, then expansion
with e times the normal impulse of compression (Glocker and Pfeiffer 1995, Multiple impacts with friction in rigid
multibody systems, Nonlinear Dynamics 7). Energetic: the work of the normal impulse in expansion is -e² that in
compression (Stronge 1990, Rigid body collisions with friction, Proc. R. Soc. A 431). Coulomb friction acts in each
problem.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.cone import BILATERAL, PRESSED
from saltus.model.fields.constraint.impact import ENERGETIC, NEWTON
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel
from saltus.solve.impact.problem import (
    ABSENT,
    COMPRESSION,
    EXPANSION,
    FREE,
    GIVEN,
    SLACK,
    WHOLE,
    gains_energy,
    is_contact,
    least_approach,
    solve_part,
)

LARGEST = 8.0  # largest multiple of impact_push in the search for the energetic expansion
HALVINGS = 60  # halvings of the interval that contains it
CLOSE = 1e-14  # relative error of the work at which the search ends


@kernel
def impact_by(p, law, tolerance):
    """Resolve one impact of the members: to impact_aim by Newton's law, with the expansion impact_push by Poisson's.

    Starts from impact_base; writes impact_r and impact_u and, by Poisson's law, the results of `compress`. Returns the
    residual.
    """
    if law == NEWTON:
        free_members(p)
        return solve_part(p, WHOLE, tolerance)
    residual = compress(p, tolerance)
    return maximum(residual, expand(p, 1.0, tolerance))


@kernel
def free_members(p):
    """impact_state ← FREE for members, their torsional and rolling friction, bilateral rows; ABSENT for the others."""
    for b in range(p.impact_count[BLOCKS]):
        contact = b - p.impact_parent[b] if p.impact_kind[b] == PRESSED else b
        free = p.impact_kind[b] == BILATERAL or (is_contact(p, contact) and p.impact_member[contact] == 1)
        p.impact_state[b] = FREE if free else ABSENT


@kernel
def compress(p, tolerance):
    """Plastic impact of the members: impulses impact_pressed (N s), velocities impact_closed (m/s) after it."""
    free_members(p)
    residual = solve_part(p, COMPRESSION, tolerance)
    for i in range(p.impact_count[ROWS]):
        p.impact_pressed[i] = p.impact_r[i]
        p.impact_closed[i] = p.impact_u[i]
    return residual


@kernel
def expand(p, factor, tolerance):
    """Expansion after `compress` with normal impulses of at least factor impact_push, more only where u_N stays zero.

    0 <= u_N ⟂ r_N - push >= 0 and friction |r_T| <= mu r_N of the expansion alone. The closed contacts are found by an
    active-set iteration: open ones that would approach close, closed ones with less than their push open. Writes
    impact_r, the sum of both phases, and impact_u. Overwrites impact_given and impact_state.
    """
    # members with a push have a given normal impulse
    free_members(p)
    for b in range(p.impact_count[BLOCKS]):
        p.impact_given[b] = 0.0
        if is_contact(p, b) and p.impact_member[b] == 1 and factor * p.impact_push[b] > 0.0:
            p.impact_given[b] = factor * p.impact_push[b]
            p.impact_state[b] = GIVEN
    # active-set iteration on which contacts stay closed
    approach, residual = least_approach(p, tolerance), 0.0
    for i in range(p.impact_count[ROWS]):
        p.impact_r[i] = 0.0
    for _ in range(4 + 2 * p.impact_count[BLOCKS]):
        residual = solve_part(p, EXPANSION, tolerance)
        if exchange(p, approach, tolerance) == 0:
            break
    # sum of both phases
    for i in range(p.impact_count[ROWS]):
        p.impact_r[i] += p.impact_pressed[i]
    return residual


@kernel
def exchange(p, approach, tolerance):
    """Close open contacts that approach and open closed ones that lack impulse; returns the number of changes."""
    count = 0
    for b in range(p.impact_count[BLOCKS]):
        row = p.impact_row[b]
        lacks = p.impact_given[b] > 0.0 and p.impact_r[row] < p.impact_given[b] * (1.0 - SLACK * tolerance)
        if p.impact_state[b] == GIVEN and p.impact_u[row] < -approach:
            p.impact_state[b] = FREE
            count += 1
        elif p.impact_state[b] == FREE and lacks:
            p.impact_state[b] = GIVEN
            count += 1
    return count


@kernel
def spare_energy(p, residual, tolerance):
    """Replace the impact in impact_r by one with the energetic coefficient if it gains energy; returns the residual.

    Unsolved impacts (by their residual) are also replaced: with friction, given velocities may be impossible. Reads
    impact_push, a multiple of which is the expansion.
    """
    if residual <= SLACK * tolerance and not gains_energy(p, tolerance):
        return residual
    p.impact_report[ENERGETIC] = 1
    # energetic coefficient: e² of the work of compression
    residual = compress(p, tolerance)
    factor = energetic_factor(p, tolerance)
    residual = maximum(residual, expand(p, factor, tolerance))
    if gains_energy(p, 0.0):  # friction that changes direction within a phase; compression alone never gains
        # largest factor without a gain, by bisection
        low, high = 0.0, factor
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            expand(p, middle, tolerance)
            if gains_energy(p, 0.0):
                high = middle
            else:
                low = middle
        residual = maximum(residual, expand(p, low, tolerance))
    return residual


@kernel
def energetic_factor(p, tolerance):
    """Factor of impact_push with which the expansion returns e² of the work of compression.

    Work over a phase is ½ r_N (u_N before + u_N after), summed over contacts; the factor is common to them. Its root is
    found by false position (Illinois), since the work is a quadratic function of it as long as no contact changes mode.
    """
    # work e² W_c that the expansion owes
    owed = 0.0
    for b in range(p.impact_count[BLOCKS]):
        if is_contact(p, b) and p.impact_member[b] == 1:
            i, e = p.impact_row[b], p.hard_restitution[b]
            owed -= 0.5 * e * e * p.impact_pressed[i] * (p.impact_base[i] + p.impact_closed[i])
    if owed <= 0.0:
        return 0.0
    # bracket the root
    low, high, below, above = 0.0, 1.0, -owed, expansion_work(p, 1.0, tolerance) - owed
    while above < 0.0 and high < LARGEST:
        low, below, high = high, above, 2.0 * high
        above = expansion_work(p, high, tolerance) - owed
    if above < 0.0:  # jammed: no expansion does that much work; keep Poisson's
        return 1.0
    # false position (Illinois)
    for _ in range(HALVINGS):
        factor = (low * above - high * below) / (above - below)
        error = expansion_work(p, factor, tolerance) - owed
        if absolute(error) <= CLOSE * owed:
            return factor
        if error < 0.0:
            low, below, above = factor, error, 0.5 * above
        else:
            high, above, below = factor, error, 0.5 * below
    return low


@kernel
def expansion_work(p, factor, tolerance):
    """Work (J) of the normal impulses in the expansion with factor impact_push; writes the results of `expand`."""
    expand(p, factor, tolerance)
    work = 0.0
    for b in range(p.impact_count[BLOCKS]):
        if is_contact(p, b) and p.impact_member[b] == 1:
            i = p.impact_row[b]
            work += 0.5 * (p.impact_r[i] - p.impact_pressed[i]) * (p.impact_closed[i] + p.impact_u[i])
    return work
