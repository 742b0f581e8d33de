"""The constraint cost of one island: its residuals, its gradient, and the exact line search along a direction.

The quantities of `saltus.solve.soft.newton` and `saltus.solve.soft.line_search`, over the trees and the blocks of rows
of one island.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NEQUALITY
from saltus.contact.rows.blocks import EQUALITY, add_transpose_block, times_block
from saltus.contact.rows.cost import block_force
from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, any_lane, maximum, sqrt, where
from saltus.number.kernels import kernel
from saltus.solve.soft.line_search import LARGE, PRECISION, block_slope, next_length
from saltus.solve.soft.trees.islands import block_runs_of, dofs_of_run, rows_of_run, tree_runs_of


@kernel(sums=True)
def begin_island(m, d, island):
    """solve_Ma ← M a and row_residual ← J a - a_ref at the start.

    Returns the rounding level of the cost, and the scale of tolerances: 1/(trace of the island's M), as in MuJoCo 4.0.
    """
    trace = lost = 0.0 * d.time
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        multiply_trees(m, d, d.tree_run[k, 0], d.tree_run[k, 1], d.qacc_warmstart, d.solve_Ma)
        begin, end = dofs_of_run(m, d, k)
        for i in range(begin, end):
            trace = trace + d.M[m.M_rowadr[i] + m.M_rownnz[i] - 1]
    first, last = block_runs_of(d, island)
    for k in range(first, last):
        for b in range(d.block_run[k, 0], d.block_run[k, 1]):
            times_block(m, d, b, d.qacc_warmstart, d.row_residual)
        begin, end = rows_of_run(d, k)
        for r in range(begin, end):
            d.row_residual[r] = d.row_residual[r] - d.row_aref[r]
            lost = lost + d.row_D[r] * d.row_aref[r] * d.row_aref[r]
    error = 8.0 * epsilon_of(lost)
    return error * error * lost, 1.0 / trace


@kernel
def multiply_trees(m, d, first, last, x, y):
    """y ← M x for the degrees of freedom of neighbouring trees, first up to but without last, of fields x, y [nv]."""
    for i in range(m.tree_dofadr[first], m.tree_dofadr[last - 1] + m.tree_dofnum[last - 1]):
        y[i] = d.M[m.M_rowadr[i] + m.M_rownnz[i] - 1] * x[i]
    for r in range(m.tree_coupledadr[first], m.tree_coupledadr[last]):
        i = m.M_coupled[r]
        total = y[i]
        for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1):
            j = m.M_colind[k]
            total = total + d.M[k] * x[j]
            y[j] = y[j] + d.M[k] * x[i]
        y[i] = total


@kernel(sums=True)
def island_gradient(m, d, island):
    """Forces at the present accelerations; returns the length of the gradient, and its rounding level.

    Writes row_force, qfrc_constraint and solve_gradient [nv].
    """
    forces_of_island(m, d, island)
    square = terms = 0.0 * d.time
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        begin, end = dofs_of_run(m, d, k)
        for i in range(begin, end):
            smooth = d.qfrc_tau[i] - d.qfrc_bias[i]
            g = d.solve_Ma[i] - smooth - d.qfrc_constraint[i]
            d.solve_gradient[i] = g
            square = square + g * g
            size = absolute(d.solve_Ma[i]) + absolute(smooth) + absolute(d.qfrc_constraint[i])
            terms = terms + size * size
    return sqrt(square), 4.0 * epsilon_of(square) * sqrt(terms)


@kernel
def forces_of_island(m, d, island):
    """row_force and qfrc_constraint [nv] (N, N m), from row_residual."""
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        begin, end = dofs_of_run(m, d, k)
        for i in range(begin, end):
            d.qfrc_constraint[i] = 0.0 * d.time
    first, last = block_runs_of(d, island)
    for k in range(first, last):
        for b in range(d.block_run[k, 0], d.block_run[k, 1]):
            if d.block_kind[b] == EQUALITY:
                for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
                    d.row_force[r] = -d.row_D[r] * d.row_residual[r]
            else:
                block_force(m, d, b)
            add_transpose_block(m, d, b, d.row_force, d.qfrc_constraint)


@kernel(sums=True)
def along_island(m, d, island):
    """solve_Msearch ← M s and row_search ← J s of s = solve_search; returns the slope of the cost along it."""
    slope = 0.0 * d.time
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        multiply_trees(m, d, d.tree_run[k, 0], d.tree_run[k, 1], d.solve_search, d.solve_Msearch)
        begin, end = dofs_of_run(m, d, k)
        for i in range(begin, end):
            slope = slope + d.solve_gradient[i] * d.solve_search[i]
    first, last = block_runs_of(d, island)
    for k in range(first, last):
        for b in range(d.block_run[k, 0], d.block_run[k, 1]):
            times_block(m, d, b, d.solve_search, d.row_search)
    return slope


@kernel
def step_island(m, d, island, alpha):
    """a ← a + alpha s, with M a and the residuals."""
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        begin, end = dofs_of_run(m, d, k)
        for i in range(begin, end):
            d.qacc_warmstart[i] = d.qacc_warmstart[i] + alpha * d.solve_search[i]
            d.solve_Ma[i] = d.solve_Ma[i] + alpha * d.solve_Msearch[i]
    first, last = block_runs_of(d, island)
    for k in range(first, last):
        begin, end = rows_of_run(d, k)
        for r in range(begin, end):
            d.row_residual[r] = d.row_residual[r] + alpha * d.row_search[r]


@kernel
def reach_forces(m, d, island, rough):
    """qfrc_constraint [nv] ← M a - f in the lanes that are `rough`: the forces consistent with the final accelerations.

    Row forces come from residuals that truncation or rounding has left inexact, which stiff rows amplify.
    """
    if any_lane(rough):
        first, last = tree_runs_of(d, island)
        for k in range(first, last):
            begin, end = dofs_of_run(m, d, k)
            for i in range(begin, end):
                reached = d.solve_Ma[i] - (d.qfrc_tau[i] - d.qfrc_bias[i])
                d.qfrc_constraint[i] = where(rough, reached, d.qfrc_constraint[i])


# ---------------------------------------------------------------- line search


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
    for _ in range(m.opt_ls_iterations):
        # slope and curvature of the cost at α
        slope, bend = rows_slope(m, d, island, alpha)
        slope = slope + gauss + alpha * curvature
        seeking = seeking & (absolute(slope) > tolerance)
        if not any_lane(seeking):
            break
        after, low, high = next_length(alpha, slope, bend + curvature, low, high)
        alpha = where(seeking, after, alpha)
    return where(live, alpha, zero)


@kernel(sums=True)
def quadratic_slope(m, d, island):
    """Slope at α = 0 and curvature of the quadratic part of the cost, inertia and equalities; |solve_search|."""
    slope = curvature = square = 0.0 * d.time
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        begin, end = dofs_of_run(m, d, k)
        for i in range(begin, end):
            s = d.solve_search[i]
            slope = slope + s * (d.solve_Ma[i] - (d.qfrc_tau[i] - d.qfrc_bias[i]))
            curvature = curvature + s * d.solve_Msearch[i]
            square = square + s * s
    first, last = block_runs_of(d, island)
    for k in range(first, last):
        for b in range(d.block_run[k, 0], min(d.block_run[k, 1], d.count[NEQUALITY])):
            for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
                v = d.row_search[r]
                slope = slope + d.row_D[r] * v * d.row_residual[r]
                curvature = curvature + d.row_D[r] * v * v
    return slope, curvature, sqrt(square)


@kernel
def rows_slope(m, d, island, alpha):
    """First and second derivative in α of the cost of all rows except equalities."""
    slope = bend = 0.0 * alpha
    first, last = block_runs_of(d, island)
    for k in range(first, last):
        for b in range(max(d.block_run[k, 0], d.count[NEQUALITY]), d.block_run[k, 1]):
            one, two = block_slope(m, d, b, alpha)
            slope = slope + one
            bend = bend + two
    return slope, bend
