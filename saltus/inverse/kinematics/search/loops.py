"""Compiled loops over the problems of a batch, or over the frames of a recording."""

from saltus.inverse.kinematics.kinds import FOLLOW, HAS_POSTURE, LEVELS
from saltus.inverse.kinematics.search.descent import descend
from saltus.inverse.kinematics.search.hierarchy import allowed, descend_by_levels
from saltus.inverse.kinematics.search.memory import divided
from saltus.inverse.kinematics.search.moves import copy_to
from saltus.number.kernels import entry, kernel

SAME = 1e-9  # costs that differ by this part are the same


@kernel
def search(m, d, problem, goals, space, thorough):
    """One search from d.qpos; returns the number of iterations and whether the tolerances are met."""
    whole = problem[8]
    if whole[LEVELS] > 1 or whole[HAS_POSTURE]:
        return descend_by_levels(m, d, problem, goals, space, thorough)
    return descend(m, d, problem, goals, space, thorough)


@kernel
def solve(m, d, problem, goals, start, starts, space):
    """Search from a start [nq], then from starts [n, nq] until the tolerances are met; at last from the best again.

    Coordinates that are NaN in `starts` are those of the first one.
    """
    costs, best, least = space[3], space[13], space[20]
    copy_to(d.qpos, start, m.nq)
    chooses = problem[8][HAS_POSTURE] > 0  # also among configurations that are good enough
    iterations, reached = search(m, d, problem, goals, space, chooses or len(starts) == 0)
    if reached or len(starts) == 0:
        return iterations, reached
    copy_to(best, d.qpos, m.nq)
    copy_to(least, costs, len(costs))
    for k in range(len(starts)):
        for i in range(m.nq):
            d.qpos[i] = start[i] if starts[k, i] != starts[k, i] else starts[k, i]
        more, reached = search(m, d, problem, goals, space, False)
        iterations += more
        if reached and not chooses:
            return iterations, True
        if cheaper(problem, costs, least):
            copy_to(best, d.qpos, m.nq)
            copy_to(least, costs, len(costs))
    copy_to(d.qpos, best, m.nq)
    more, reached = search(m, d, problem, goals, space, True)
    return iterations + more, reached


@kernel
def cheaper(problem, costs, least):
    """Whether costs are less than others, level by level."""
    for level in range(len(costs)):
        if costs[level] < least[level] * (1.0 - SAME):
            return True
        if costs[level] > allowed(problem, least[level]):
            return False
    return False


@kernel
def solve_all(
    m,
    d,
    tasks,
    frames,
    movers,
    weights,
    dofs,
    bounds,
    balls,
    posture,
    whole,
    real,
    kept,
    goals,
    starts,
    first_row,
    fixed,
    work,
    qpos,
    norms,
    counts,
):
    """Solve for each row of goals [n, K, 7] from the row of qpos [n, nq], where the solution goes.

    norms [n, K]: lengths of the residuals; counts [n, 2]: iterations, whether the tolerances are met. starts [k, nq]:
    where searches begin that have failed otherwise. With the option FOLLOW each row begins at the solution before it,
    and nowhere else.
    """
    problem = tasks, frames, movers, weights, dofs, bounds, balls, posture, whole, real, kept
    space = divided(work, len(dofs), first_row[len(first_row) - 1], len(tasks), len(first_row), m.nq, fixed, first_row)
    for row in range(len(qpos)):
        source = row - 1 if whole[FOLLOW] and row > 0 else row
        others = starts[:0] if source < row else starts
        iterations, reached = solve(m, d, problem, goals[row], qpos[source], others, space)
        copy_to(qpos[row], d.qpos, m.nq)
        copy_to(norms[row], space[2], len(tasks))
        counts[row, 0], counts[row, 1] = iterations, reached


solve_rows = entry(solve_all, name="solve_rows")
