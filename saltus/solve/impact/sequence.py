"""Multiple impacts as a sequence: reflections of all approaching contacts, or one contact after another.

Reflections: all approaching contacts are reflected together, repeatedly, until none approaches; the others take no
part, so that they can open (Smith, Kaufman, Vouga, Tamstorf and Grinspun 2012, Reflections on simultaneous impact, ACM
Transactions on Graphics 31, section 5: generalised reflections). Restitution between 0 and 1 is the mean of the plastic
impact and the reflections (section 6). Here each contact has its own e: the mean is over a level, uniform in [0, 1];
contacts with e above the level are elastic, the others plastic. Kinetic energy, cones and feasible velocities are
convex: the mean keeps momentum, gains no energy and keeps every impulse in its cone.

A sequence may be long: between constraints whose normals are at an angle θ in the metric of the inertia there are up to
π/θ elastic impacts in a row (Galperin, Playing pool with π, Regular and Chaotic Dynamics 8 (2003)), and a light body
between a wall and one of M times its mass has θ ≈ 1/√M. The limit on their number follows these angles.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.cone import BILATERAL
from saltus.model.fields.constraint.impact import LEFTOVER, NEWTON, ROUNDS
from saltus.number.functions import absolute, clip, maximum, minimum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.impact.problem import SLACK, add_to_row, from_before, is_contact, least_approach, take_all
from saltus.solve.impact.restitution import compress, expand, impact_by, spare_energy
from saltus.solve.impact.tangential import turning_impact

PATIENCE = 200.0  # impacts in sequence, per contact and over the smallest angle of normals, before the rest is plastic
MOST = 4e5  # impacts in sequence
COLLAPSED = 1e-9  # relative to the work of a series of impacts: less energy than this is no leftover
DEPENDENT = 1e-10  # sin² of the angle between a normal and the others below which it depends on them
TIE = 1e-9  # relative difference below which two approach velocities are equal: the first contact is hit


@kernel
def mean_of_reflections(p, law, tolerance):
    """Mean of reflection sequences and the plastic impact; writes the impulses impact_mean; returns the residual."""
    n = p.impact_count[ROWS]
    for i in range(n):
        p.impact_mean[i] = 0.0
    level, residual = 0.0, 0.0
    # elastic above the level, plastic below: weighted by the length of each interval of levels
    while True:
        top = next_level(p, level)
        if top <= level:
            break
        residual = maximum(residual, reflect(p, level, law, tolerance))
        for i in range(n):
            p.impact_mean[i] += (top - level) * p.impact_sum[i]
        level = top
    # above all coefficients: the plastic impact
    from_before(p)
    take_all(p)
    residual = maximum(residual, compress(p, tolerance))
    for i in range(n):
        p.impact_mean[i] += (1.0 - level) * p.impact_pressed[i]
    return residual


@kernel
def next_level(p, level):
    """Smallest coefficient of restitution above `level`, or `level` if there is none."""
    top = level
    for b in range(p.impact_count[BLOCKS]):
        e = clip(p.hard_restitution[b], 0.0, 1.0)
        if is_contact(p, b) and e > level:
            top = e if top == level else minimum(top, e)
    return top


@kernel
def reflect(p, level, law, tolerance):
    """Reflections until no contact approaches, elastic for e above level, else plastic; writes impact_sum."""
    from_before(p)
    approach, residual, rounds, most = least_approach(p, tolerance), 0.0, 0, patience(p)
    while rounds < most:
        if choose_reflected(p, level, approach) == 0:
            break
        residual = maximum(residual, reflect_once(p, level, law, tolerance))
        add_to_row(p)
        rounds += 1
    p.impact_report[ROUNDS] = maximum(p.impact_report[ROUNDS], 1.0 * rounds)
    return maximum(residual, end_plastically(p, approach, tolerance))


@kernel
def patience(p):
    """Largest number of impacts in sequence, from the smallest angle θ of a normal with the span of other rows.

    The pivots of the Cholesky factorisation of W over its diagonal are sin² of the angle of each row with those before
    it, in the metric of the inertia. Overwrites hard_factor.
    """
    n, least = p.impact_count[ROWS], 1.0
    for b in range(p.impact_count[BLOCKS]):
        for i in range(p.impact_row[b], p.impact_row[b] + p.impact_dim[b]):
            used = p.impact_kind[b] == BILATERAL or (is_contact(p, b) and i == p.impact_row[b])
            # row i of the factor; rows that are not used or depend on others are zero
            pivot = p.impact_W[i * n + i]
            for j in range(i):
                total = p.impact_W[i * n + j]
                for k in range(j):
                    total = total - p.hard_factor[i * n + k] * p.hard_factor[j * n + k]
                own = p.hard_factor[j * n + j]
                p.hard_factor[i * n + j] = total / own if used and own > 0.0 else 0.0
                pivot = pivot - p.hard_factor[i * n + j] * p.hard_factor[i * n + j]
            p.hard_factor[i * n + i] = 0.0
            if used and pivot > DEPENDENT * p.impact_W[i * n + i]:
                p.hard_factor[i * n + i] = sqrt(pivot)
                if is_contact(p, b):
                    least = minimum(least, pivot / p.impact_W[i * n + i])
    return minimum(PATIENCE * (p.impact_count[BLOCKS] + 1) / sqrt(least), MOST)


@kernel
def choose_reflected(p, level, approach):
    """Members: approaching contacts, and plastic ones that do not separate; returns the number that approach."""
    count = 0
    for b in range(p.impact_count[BLOCKS]):
        p.impact_member[b], p.impact_aim[b] = 0, 0.0
        if is_contact(p, b):
            u = p.impact_base[p.impact_row[b]]
            elastic = p.hard_restitution[b] > level
            if u < -approach:
                count += 1
                p.impact_member[b], p.impact_aim[b] = 1, (-u if elastic else 0.0)
            elif not elastic and u <= approach:
                p.impact_member[b] = 1
    return count


@kernel
def reflect_once(p, level, law, tolerance):
    """One impact of the members, each with e = 1 or 0; by Poisson's law where Newton's has no solution."""
    for i in range(p.impact_count[ROWS]):
        p.impact_r[i] = 0.0
    if law == NEWTON:
        residual = impact_by(p, law, tolerance)
        if residual <= SLACK * tolerance:
            return residual
    residual = compress(p, tolerance)
    for b in range(p.impact_count[BLOCKS]):
        elastic = is_contact(p, b) and p.hard_restitution[b] > level
        p.impact_push[b] = p.impact_pressed[p.impact_row[b]] if elastic else 0.0
    return maximum(residual, expand(p, 1.0, tolerance))


@kernel
def end_plastically(p, approach, tolerance):
    """Append the plastic impact of all contacts if any still approaches; returns its residual.

    Reports leftovers if the impact takes a significant energy: a collapsed series of impacts leaves nothing.
    """
    fastest = fastest_contact(p)
    if fastest < 0 or p.impact_base[p.impact_row[fastest]] >= -approach:
        return 0.0
    take_all(p)
    residual = compress(p, tolerance)
    # energy loss, compared with the work of all impulses so far
    taken, work = 0.0, 0.0
    for i in range(p.impact_count[ROWS]):
        taken -= p.impact_r[i] * (p.impact_u[i] + p.impact_base[i])
        work += absolute(p.impact_sum[i] * p.impact_before[i])
    if taken > COLLAPSED * work:
        p.impact_report[LEFTOVER] = 1
    add_to_row(p)
    return residual


@kernel
def fastest_contact(p):
    """The contact that approaches fastest, the first of equal ones; -1 if none approaches."""
    fastest, u = -1, 0.0
    for b in range(p.impact_count[BLOCKS]):
        if is_contact(p, b) and p.impact_base[p.impact_row[b]] < u * (1.0 + TIE):
            fastest, u = b, p.impact_base[p.impact_row[b]]
    return fastest


@kernel
def one_after_the_other(p, law, tolerance):
    """Single impacts, each of the fastest approaching contact, until none approaches; writes impact_sum.

    No single impact gains energy (`spare_energy`). Returns the residual.
    """
    from_before(p)
    approach, residual, rounds, most = least_approach(p, tolerance), close_loops(p, tolerance), 0, patience(p)
    while rounds < most:
        fastest = fastest_contact(p)
        if fastest < 0 or p.impact_base[p.impact_row[fastest]] >= -approach:
            break
        residual = maximum(residual, single_impact(p, fastest, law, tolerance))
        add_to_row(p)
        rounds += 1
    p.impact_report[ROUNDS] = rounds
    return maximum(residual, end_plastically(p, approach, tolerance))


@kernel
def close_loops(p, tolerance):
    """Impact of the bilateral rows alone; returns the residual."""
    for b in range(p.impact_count[BLOCKS]):
        p.impact_member[b] = 0
    for i in range(p.impact_count[ROWS]):
        p.impact_r[i] = 0.0
    residual = compress(p, tolerance)
    add_to_row(p)
    return residual


@kernel
def single_impact(p, contact, law, tolerance):
    """Impact of one contact alone, from impact_base; returns the residual."""
    for b in range(p.impact_count[BLOCKS]):
        p.impact_member[b] = 0
    for i in range(p.impact_count[ROWS]):
        p.impact_r[i] = 0.0
    p.impact_member[contact] = 1
    row, e = p.impact_row[contact], p.hard_restitution[contact]
    residual = compress(p, tolerance)
    p.impact_aim[contact] = -e * p.impact_base[row]
    p.impact_push[contact] = e * p.impact_pressed[row]
    return maximum(residual, spare_energy(p, turning_impact(p, law, tolerance), tolerance))
