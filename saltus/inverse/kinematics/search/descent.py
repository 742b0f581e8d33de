"""Levenberg-Marquardt's method on the configuration manifold, within the joints' ranges.

The damping follows the ratio of the cost's decrease to the one that the quadratic model promised (Nielsen, Damping
parameter in Marquardt's method, 1999; Madsen, Nielsen & Tingleff, Methods for non-linear least squares problems, 2004,
algorithm 3.16).
"""

from saltus.inverse.kinematics.kinds import ITERATIONS
from saltus.inverse.kinematics.rows.residuals import evaluate, within
from saltus.inverse.kinematics.search.bounded_step import bounded_step, normal_equations
from saltus.inverse.kinematics.search.moves import copy_to, keep_ranges, largest_entry, measure_room, move, shorten
from saltus.number.kernels import kernel

FIRST = 1e-3  # damping of the first step, as a part of the largest diagonal entry of Jᵀ J
SMALLEST_STEP = 1e-9  # rad or m: a shorter step ends the search
SLOW = 0.02  # a part of the cost: smaller decreases, several times in turn, end a coarse search
PATIENCE = 4
LEAST, TINY = 1e-9, 1e-12  # of the damping, as a part of that entry, and at all


@kernel
def descend(m, d, problem, goals, space, thorough):
    """Go from d.qpos to a minimum of the cost; returns the number of iterations and whether the tolerances are met.

    Unless `thorough`, the search ends where it goes slowly: another start is worth more then. Residuals and costs are
    those of the last configuration.
    """
    norms, costs, x, room, saved = space[2], space[3], space[7], space[8], space[12]
    keep_ranges(m, problem, d.qpos)
    evaluate(m, d, problem, goals, space)
    cost, reached = costs[0], within(problem, norms)
    scale = normal_equations(space)
    damping, growth, slow, last, iteration = FIRST * scale + TINY, 2.0, 0, True, 0
    while iteration < problem[8][ITERATIONS] and not reached:
        iteration += 1
        copy_to(saved, d.qpos, m.nq)
        measure_room(m, d, problem, room)
        promised = bounded_step(problem, space, damping)
        share = shorten(x)
        move(m, d, problem, saved, x)
        evaluate(m, d, problem, goals, space)
        gained, last = cost - costs[0], costs[0] < cost
        if last:
            slow = slow + 1 if gained < SLOW * cost else 0
            cost, reached = costs[0], within(problem, norms)
            ratio = 2.0 * min(gained / max(promised * share * (2.0 - share), 1e-300), 1.0) - 1.0
            scale = normal_equations(space)
            damping = max(damping * max(1.0 / 3.0, 1.0 - ratio * ratio * ratio), LEAST * scale + TINY)
            growth = 2.0
        else:
            copy_to(d.qpos, saved, m.nq)
            damping, growth = damping * growth, growth * 2.0
        if largest_entry(x) < SMALLEST_STEP or (slow >= PATIENCE and not thorough):
            break
    if not last:
        evaluate(m, d, problem, goals, space)
    return iteration, reached
