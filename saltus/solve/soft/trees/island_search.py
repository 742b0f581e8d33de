"""Exact line search along a direction for one island: that of `saltus.solve.soft.line_search`, run by run."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NEQUALITY
from saltus.number.functions import absolute, any_lane, maximum, sqrt, where
from saltus.number.kernels import kernel
from saltus.number.threads.team import meet, share_of
from saltus.solve.soft.line_search import LARGE, PRECISION, block_slope, next_length
from saltus.solve.soft.trees.island_cost import sum_of_runs
from saltus.solve.soft.trees.islands import block_runs_of, dofs_of_run, tree_runs_of


@kernel
def search_island(m, d, island, live, start_slope, scale):
    """Step length α along solve_search at which the cost is least, in the lanes that are live, 0 in the others.

    start_slope: slope of the cost at α = 0, negative. Reads solve_Msearch, row_residual and its rate row_search.
    """
    gauss, curvature, length = quadratic_slope(m, d, island)
    tolerance = maximum(m.opt_tolerance * m.opt_ls_tolerance / scale * length, -PRECISION * start_slope)
    zero = 0.0 * gauss
    alpha = zero + 1.0
    low, high = zero, zero + LARGE
    seeking = live
    for iteration in range(m.opt_ls_iterations):
        # slope and curvature of the cost at α
        slope, bend = rows_slope(m, d, island, alpha, 2 * (iteration & 1))
        slope = slope + gauss + alpha * curvature
        seeking = seeking & (absolute(slope) > tolerance)
        if not any_lane(seeking):
            break
        after, low, high = next_length(alpha, slope, bend + curvature, low, high)
        alpha = where(seeking, after, alpha)
    return where(live, alpha, zero)


@kernel
def quadratic_slope(m, d, island):
    """Slope at α = 0 and curvature of the quadratic part of the cost, inertia and equalities; |solve_search|."""
    trees, blocks = tree_runs_of(d, island), block_runs_of(d, island)
    first, last = share_of(m, d, trees)
    for k in range(first, last):
        d.tree_sum[k, 0], d.tree_sum[k, 1], d.tree_sum[k, 2] = inertia_slope_of_run(m, d, k)
    first, last = share_of(m, d, blocks)
    for k in range(first, last):
        d.row_sum[k, 2], d.row_sum[k, 3] = equality_slope_of_run(d, k)
    meet(m, d)
    slope = sum_of_runs(d, d.tree_sum, trees, 0) + sum_of_runs(d, d.row_sum, blocks, 2)
    curvature = sum_of_runs(d, d.tree_sum, trees, 1) + sum_of_runs(d, d.row_sum, blocks, 3)
    return slope, curvature, sqrt(sum_of_runs(d, d.tree_sum, trees, 2))


@kernel(sums=True)
def inertia_slope_of_run(m, d, k):
    """Slope, curvature and |solve_search|² of a run of trees."""
    slope = curvature = square = 0.0 * d.time
    begin, end = dofs_of_run(m, d, k)
    for i in range(begin, end):
        s = d.solve_search[i]
        slope = slope + s * (d.solve_Ma[i] - (d.qfrc_tau[i] - d.qfrc_bias[i]))
        curvature = curvature + s * d.solve_Msearch[i]
        square = square + s * s
    return slope, curvature, square


@kernel(sums=True)
def equality_slope_of_run(d, k):
    """Slope and curvature of the equalities of a run of blocks."""
    slope = curvature = 0.0 * d.time
    for b in range(d.block_run[k, 0], min(d.block_run[k, 1], d.count[NEQUALITY])):
        for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
            v = d.row_search[r]
            slope = slope + d.row_D[r] * v * d.row_residual[r]
            curvature = curvature + d.row_D[r] * v * v
    return slope, curvature


@kernel
def rows_slope(m, d, island, alpha, which):
    """First and second derivative in α of the cost of all rows except equalities.

    Uses row_sum[:, which] and the column after it; no other thread may still read their sums.
    """
    blocks = block_runs_of(d, island)
    first, last = share_of(m, d, blocks)
    for k in range(first, last):
        slope = bend = 0.0 * alpha
        for b in range(max(d.block_run[k, 0], d.count[NEQUALITY]), d.block_run[k, 1]):
            one, two = block_slope(m, d, b, alpha)
            slope = slope + one
            bend = bend + two
        d.row_sum[k, which], d.row_sum[k, which + 1] = slope, bend
    meet(m, d)
    return sum_of_runs(d, d.row_sum, blocks, which), sum_of_runs(d, d.row_sum, blocks, which + 1)
