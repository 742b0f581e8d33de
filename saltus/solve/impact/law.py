"""Impact law: relative velocities after an impact, by a law of restitution with Coulomb friction.

The problem is that of `saltus.model.fields.constraint.cone` at velocity level: hard_q = u⁻ (m/s; normal first,
approaching is negative), hard_W = J M⁻¹ Jᵀ, hard_r impulses (N s), hard_u = u⁺ = W r + u⁻. Laws and treatments:
`resolve_impact`.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.impact import MOREAU, SEQUENTIAL
from saltus.number.functions import maximum
from saltus.number.kernels import kernel
from saltus.solve.impact.problem import (
    SLACK,
    add_to_row,
    from_before,
    is_contact,
    keep_problem,
    least_approach,
    restore_problem,
    take_all,
)
from saltus.solve.impact.restitution import compress, spare_energy
from saltus.solve.impact.sequence import end_plastically, mean_of_reflections, one_after_the_other
from saltus.solve.impact.tangential import turning_impact


@kernel
def resolve_impact(p, law, treatment, tolerance):
    """Resolve an impact of all contacts of the problem; returns the largest residual of the cone problems solved.

    law: NEWTON or POISSON (see `saltus.solve.impact.restitution`), with friction on the tangential velocities after the
    impact; by Newton's law on u_T⁺ + e_T u_T⁻ where a contact approaches (see `saltus.solve.impact.tangential`).
    treatment of several contacts:

    - SIMULTANEOUS: normal velocities (Newton) or expansion impulses (Poisson) as after the reflections of
      `saltus.solve.impact.sequence`, then one problem with these and friction. Without friction this is the mean of
      reflections; for e = 0 it is the plastic impact; for one contact it is the law itself.
    - SEQUENTIAL: one contact at a time, the fastest approaching first.
    - MOREAU: one problem for all, with -e u_N⁻ as the least normal velocity of each (Moreau 1988, Unilateral contact
      and dry friction in finite freedom dynamics) or e times its compression as its expansion (Glocker and Pfeiffer).

    Bilateral rows end at u⁺ = 0. Kinetic energy does not grow: see `spare_energy`. Reads hard_W, hard_q,
    hard_restitution, hard_tangential, hard_mu; writes hard_r, hard_u and impact_report: whether the energetic
    coefficient was used, the number of impacts in sequence, whether remaining approach was resolved plastically.
    """
    keep_problem(p)
    if treatment == SEQUENTIAL:
        residual = one_after_the_other(p, law, tolerance)
    else:
        residual = all_at_once(p, law, treatment, tolerance)
    restore_problem(p)
    return residual


@kernel
def all_at_once(p, law, treatment, tolerance):
    """Impact of all contacts in one problem; returns the residual. Writes impact_sum and impact_base."""
    # plastic impact: the compression phase
    take_all(p)
    residual = compress(p, tolerance)
    # target velocities and impulses
    rebound, contacts = count_contacts(p, least_approach(p, tolerance))
    if rebound > 0:
        if treatment == MOREAU or contacts == 1:
            aim_by_contact(p)
        else:
            residual = maximum(residual, mean_of_reflections(p, law, tolerance))
            aim_by_reflections(p, tolerance)
        # impact with restitution, without a gain of energy
        residual = maximum(residual, spare_energy(p, turning_impact(p, law, tolerance), tolerance))
    # plastic impact of the contacts that still approach
    add_to_row(p)
    return maximum(residual, end_plastically(p, least_approach(p, tolerance), tolerance))


@kernel
def count_contacts(p, approach):
    """Number of contacts with any restitution if one approaches, otherwise 0; and number of contacts."""
    approaching, rebound, contacts = 0, 0, 0
    for b in range(p.impact_count[BLOCKS]):
        if is_contact(p, b):
            contacts += 1
            if p.hard_restitution[b] > 0.0 or p.hard_tangential[b] > 0.0:
                rebound += 1
            if p.impact_base[p.impact_row[b]] < -approach:
                approaching += 1
    return (rebound if approaching > 0 else 0), contacts


@kernel
def aim_by_contact(p):
    """Aims for separate contacts: impact_aim ← -e u_N⁻, impact_push ← e times the contact's compression impulse."""
    for b in range(p.impact_count[BLOCKS]):
        if is_contact(p, b):
            row, e = p.impact_row[b], p.hard_restitution[b]
            p.impact_aim[b] = maximum(-e * p.impact_base[row], 0.0)
            p.impact_push[b] = e * p.impact_pressed[row]


@kernel
def aim_by_reflections(p, tolerance):
    """Aims from the mean of reflections: impact_aim ← velocities after, impact_push ← impulses beyond compression.

    A contact without impulse gets no aim: other contacts open it.
    """
    n, largest = p.impact_count[ROWS], 0.0
    for i in range(n):
        p.impact_sum[i] = 0.0
        p.impact_r[i] = p.impact_mean[i]
        largest = maximum(largest, p.impact_mean[i])
    for b in range(p.impact_count[BLOCKS]):
        if is_contact(p, b):
            row = p.impact_row[b]
            u = p.impact_before[row]
            for j in range(n):
                u = u + p.impact_W[row * n + j] * p.impact_mean[j]
            pressed = p.impact_mean[row] > SLACK * tolerance * largest
            p.impact_aim[b] = maximum(u, 0.0) if pressed else 0.0
            p.impact_push[b] = maximum(p.impact_mean[row] - p.impact_pressed[row], 0.0)
    from_before(p)
