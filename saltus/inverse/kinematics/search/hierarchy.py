"""Descent by levels of priority: a level gets better only where those above it get no worse.

A step of `priority_step` keeps the levels above to first order. What it changes there by its curvature is taken back by
steps of these levels alone, before costs are compared, level by level.
"""

from saltus.inverse.kinematics.kinds import HAS_POSTURE, ITERATIONS, LENGTH_TOLERANCE, LEVELS
from saltus.inverse.kinematics.rows.residuals import evaluate, within
from saltus.inverse.kinematics.search.moves import copy_to, keep_ranges, largest_entry, measure_room, move, shorten
from saltus.inverse.kinematics.search.priority_step import priority_step
from saltus.number.kernels import kernel

FIRST, LEAST, MOST = 1e-3, 1e-10, 1e8  # damping: at first, at least, and where the search ends
SMALLEST_STEP = 1e-8  # rad or m: a shorter step ends the search
RESTORING = 6  # most steps that take back what a step has changed in the levels above
SLOW, PATIENCE = 0.02, 4  # as in `saltus.inverse.kinematics.search.descent`
SAME = 1e-9  # costs that differ by this part are the same


@kernel
def descend_by_levels(m, d, problem, goals, space, thorough):
    """As `descend` of `saltus.inverse.kinematics.search.descent`, for several levels."""
    norms, costs, saved, before = space[2], space[3], space[12], space[18]
    whole = problem[8]
    levels = whole[LEVELS] + whole[HAS_POSTURE]
    keep_ranges(m, problem, d.qpos)
    evaluate(m, d, problem, goals, space)
    damping, slow, iteration = FIRST, 0, 0
    while iteration < whole[ITERATIONS]:
        if within(problem, norms) and not whole[HAS_POSTURE]:
            break
        iteration += 1
        copy_to(saved, d.qpos, m.nq)
        copy_to(before, costs, len(costs))
        size = step_by_levels(m, d, problem, goals, space, damping, levels)
        restore(m, d, problem, goals, space, levels - 1)
        gain = compare(problem, costs, before)
        if gain > 0.0:
            slow = slow + 1 if gain < SLOW else 0
            damping = max(damping / 4.0, LEAST)
        else:
            copy_to(d.qpos, saved, m.nq)
            evaluate(m, d, problem, goals, space)
            damping *= 8.0
        if size < SMALLEST_STEP or damping > MOST or (slow >= PATIENCE and not thorough):
            break
    return iteration, within(problem, norms)


@kernel
def step_by_levels(m, d, problem, goals, space, damping, levels):
    """A step from d.qpos of some levels; returns its largest entry."""
    x, room, origin = space[7], space[8], space[19]
    copy_to(origin, d.qpos, m.nq)
    measure_room(m, d, problem, room)
    priority_step(m, problem, space, damping, levels)
    shorten(x)
    move(m, d, problem, origin, x)
    size = largest_entry(x)
    evaluate(m, d, problem, goals, space)
    return size


@kernel
def restore(m, d, problem, goals, space, levels):
    """Steps of the first levels alone, as long as they are worse than before."""
    costs, before = space[3], space[18]
    for _ in range(RESTORING):
        worse = False
        for level in range(levels):
            worse = worse or costs[level] > allowed(problem, before[level])
        if not worse:
            return
        step_by_levels(m, d, problem, goals, space, LEAST, levels)


@kernel
def allowed(problem, cost):
    """The largest cost that counts as no worse: within the tolerance, or the same but for rounding."""
    tolerance = problem[9][LENGTH_TOLERANCE]
    return max(cost * (1.0 + SAME), 0.1 * tolerance * tolerance)


@kernel
def compare(problem, costs, before):
    """The part by which the first level that has changed got better; not positive where it got worse."""
    for level in range(len(costs)):
        if costs[level] > allowed(problem, before[level]):
            return -1.0
        if costs[level] < before[level] * (1.0 - SAME) and before[level] > allowed(problem, 0.0):
            return 1.0 - costs[level] / before[level]
    return 0.0
