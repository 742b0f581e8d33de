"""Projected Gauss-Seidel on several islands together, those without cones that have a dense matrix.

The iteration is that of `saltus.solve.soft.dual.pgs`, operation by operation. An update waits for the gradient that the
last one has left; therefore the islands, of one simulation or of lanes with different orders, take turns unknown by
unknown, and the processor works on several at once.
"""

from saltus.contact.counts import NITER
from saltus.number.functions import clip, rarely
from saltus.number.kernels import kernel
from saltus.solve.soft.dual.island import (
    BEFORE,
    FORCE,
    HIGH,
    LOW,
    START,
    add_column,
    bounded_minimum,
    give_back,
    stride,
)
from saltus.solve.soft.dual.order import put_in_order
from saltus.solve.soft.dual.problem import WORSE

SHORT = 32  # number of unknowns up to which adding a column is faster than testing whether it is needed


@kernel
def iterate_together(m, d, count):
    """Sweep over `count` islands, each until its scaled cost improves by less than the tolerance.

    Returns 1 if an island did not converge, else 0.
    """
    largest_first(d, count)
    for iteration in range(m.opt_iterations if count > 0 else 0):
        # Nesterov extrapolation, then a sweep in random order
        for s in range(count):
            extrapolate_single(d, s)
            reorder(m, d, s, iteration)
        sweep_single(d, count)
        d.count[NITER] = max(d.count[NITER], iteration + 1)
        # those that have not converged move up
        left = 0
        for s in range(count):
            if converged(m, d, s):
                give_back(d, s)
            else:
                move(d, s, left)
                left += 1
        count = left
        if count == 0:
            break
    for s in range(count):
        give_back(d, s)
    return 1 if count > 0 else 0


@kernel
def largest_first(d, count):
    """Sort islands that have not begun to iterate by their numbers of unknowns."""
    for last in range(1, count):
        s = last
        while s > 0 and d.problem[s - 1, 2] < d.problem[s, 2]:
            smaller, scale = d.problem[s - 1], d.problem_scale[s - 1]
            d.problem[s - 1], d.problem_scale[s - 1] = d.problem[s], d.problem_scale[s]
            d.problem[s], d.problem_scale[s] = smaller, scale
            s -= 1


@kernel
def move(d, one, other):
    """Move an island to the place of another."""
    d.problem[other] = d.problem[one]
    d.problem_random[other] = d.problem_random[one]
    d.problem_momentum[other] = d.problem_momentum[one]
    d.problem_scale[other] = d.problem_scale[one]
    d.problem_improvement[other] = d.problem_improvement[one]


# ---------------------------------------------------------------- any island


@kernel(inline=True)
def share_of_momentum(d, s):
    """(k - 1)/(k + 2): share of their last change by which the forces of island s are extrapolated."""
    return (d.problem_momentum[s] - 1.0) / (d.problem_momentum[s] + 2.0)


@kernel
def reorder(m, d, s, iteration):
    """Put the unknowns of island s in the order of an iteration."""
    _, first, _, items, _ = d.problem[s]
    d.problem_random[s] = put_in_order(m, d, first, items, iteration, d.problem_random[s])


@kernel
def converged(m, d, s):
    """Whether the last iteration has improved the cost of island s by less than the tolerance.

    Restarts the extrapolation if the iteration went against it.
    """
    _, begin, n, _, _ = d.problem[s]
    along = 0.0 * d.problem_scale[s]
    for i in range(begin, begin + n):
        begun = d.unknown[i, START]
        along = along + (d.unknown[i, FORCE] - begun) * (begun - d.unknown[i, BEFORE])
    d.problem_momentum[s] = 0 if along < 0.0 else d.problem_momentum[s] + 1
    return d.problem_scale[s] * d.problem_improvement[s] < m.opt_tolerance


# ---------------------------------------------------------------- islands whose unknowns are single forces


@kernel
def extrapolate_single(d, s):
    """Extrapolate the forces of island s as `saltus.solve.soft.dual.pgs.extrapolate` does."""
    problem = d.problem[s]
    _, first, n, _, _ = problem
    share = share_of_momentum(d, s)
    for i in range(first, first + n):
        force = d.unknown[i, FORCE]
        moved = clip(force + share * (force - d.unknown[i, BEFORE]), d.unknown[i, LOW], d.unknown[i, HIGH])
        new = moved if share > 0.0 else force
        d.unknown[i, BEFORE] = force
        d.unknown[i, FORCE] = new
        d.unknown[i, START] = new
    # the gradient, four columns at a time
    if share > 0.0:
        fours = first + n - n % 4
        for k in range(first, fours, 4):
            spread_four(d, k, problem)
        for k in range(fours, first + n):
            i = d.dual_order[k]
            spread_single(d, i, d.unknown[i, START] - d.unknown[i, BEFORE], problem)


@kernel
def spread_four(d, k, problem):
    """Update the gradient for the extrapolation of the four unknowns at place k of the order, one after the other."""
    _, begin, n, _, place = problem
    width = stride(n)
    i0, i1, i2, i3 = d.dual_order[k], d.dual_order[k + 1], d.dual_order[k + 2], d.dual_order[k + 3]
    change0 = d.unknown[i0, START] - d.unknown[i0, BEFORE]
    change1 = d.unknown[i1, START] - d.unknown[i1, BEFORE]
    change2 = d.unknown[i2, START] - d.unknown[i2, BEFORE]
    change3 = d.unknown[i3, START] - d.unknown[i3, BEFORE]
    column0, column1 = place + (i0 - begin) * width, place + (i1 - begin) * width
    column2, column3 = place + (i2 - begin) * width, place + (i3 - begin) * width
    for j in range(width):
        slope = d.island_gap[begin + j]
        slope = slope + change0 * d.island_A[column0 + j]
        slope = slope + change1 * d.island_A[column1 + j]
        slope = slope + change2 * d.island_A[column2 + j]
        d.island_gap[begin + j] = slope + change3 * d.island_A[column3 + j]


@kernel
def sweep_single(d, count):
    """Update all forces of `count` islands, each in its order; problem_improvement ← the decrease of their costs.

    The islands are sorted, the one with the most unknowns first.
    """
    for s in range(count):
        d.problem_improvement[s] = 0.0 * d.problem_scale[s]
    for k in range(d.problem[0, 2]):
        while d.problem[count - 1, 2] <= k:
            count -= 1
        for s in range(count):
            problem = d.problem[s]
            # to the minimum within the bounds
            i = d.dual_order[problem[1] + k]
            new, change, gain = bounded_minimum(d, i, d.island_gap[i])
            if rarely(gain < -WORSE):
                continue
            d.unknown[i, FORCE] = new
            spread_single(d, i, change, problem)
            d.problem_improvement[s] = d.problem_improvement[s] + gain


@kernel(inline=True)
def spread_single(d, i, change, problem):
    """Update the gradient for a change of the force of unknown i. A short column is added even if it is zero."""
    if problem[2] <= SHORT or change != 0.0:
        add_column(d, i, change, problem)
