"""The constraint cost of one island: its residuals, and its gradient.

Quantities are those of `saltus.solve.soft.newton`, for the trees and the blocks of rows of one island.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.rows.blocks import EQUALITY, chained_dof, times_block
from saltus.contact.rows.cost import block_force
from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, any_lane, sqrt, where
from saltus.number.kernels import kernel
from saltus.number.threads.team import meet, share_of
from saltus.solve.soft.trees.islands import block_runs_of, dofs_of_run, rows_of_run, tree_runs_of
from saltus.solve.soft.trees.tree_pairs import columns_of


@kernel
def begin_island(m, d, island):
    """solve_Ma ← M a and row_residual ← J a - a_ref at the start.

    Returns the rounding level of the cost, and the scale of tolerances: 1/(trace of the island's M), as in MuJoCo 4.0.
    """
    first, last = share_of(m, d, tree_runs_of(d, island))
    for k in range(first, last):
        multiply_trees(m, d, d.tree_run[k, 0], d.tree_run[k, 1], d.qacc_warmstart, d.solve_Ma)
        d.tree_sum[k, 0] = trace_of_run(m, d, k)
    first, last = share_of(m, d, block_runs_of(d, island))
    for k in range(first, last):
        for b in range(d.block_run[k, 0], d.block_run[k, 1]):
            times_block(m, d, b, d.qacc_warmstart, d.row_residual)
        d.row_sum[k, 0] = begin_rows(d, rows_of_run(d, k))
    meet(m, d)
    lost = sum_of_runs(d, d.row_sum, block_runs_of(d, island), 0)
    error = 8.0 * epsilon_of(lost)
    return error * error * lost, 1.0 / sum_of_runs(d, d.tree_sum, tree_runs_of(d, island), 0)


@kernel(sums=True)
def trace_of_run(m, d, k):
    """Trace of M of a run of trees."""
    trace = 0.0 * d.time
    begin, end = dofs_of_run(m, d, k)
    for i in range(begin, end):
        trace = trace + d.M[m.M_rowadr[i] + m.M_rownnz[i] - 1]
    return trace


@kernel(sums=True)
def begin_rows(d, rows):
    """row_residual ← J a - a_ref from J a; returns Σ D a_ref²."""
    lost = 0.0 * d.time
    for r in range(rows[0], rows[1]):
        d.row_residual[r] = d.row_residual[r] - d.row_aref[r]
        lost = lost + d.row_D[r] * d.row_aref[r] * d.row_aref[r]
    return lost


@kernel
def sum_of_runs(d, x, runs, which):
    """The sum of a field's contributions from all runs of an island."""
    total = 0.0 * d.time
    for k in range(runs[0], runs[1]):
        total = total + x[k, which]
    return total


@kernel
def multiply_trees(m, d, first, last, x, y):
    """y ← M x for the degrees of freedom of adjacent trees, from first up to last (exclusive), of fields x, y [nv]."""
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


@kernel
def island_gradient(m, d, island):
    """Forces at the present accelerations; returns the length of the gradient, and its rounding level.

    Writes row_force, qfrc_constraint and solve_gradient [nv]. Overwrites tree_sum.
    """
    first, last = share_of(m, d, block_runs_of(d, island))
    for k in range(first, last):
        for b in range(d.block_run[k, 0], d.block_run[k, 1]):
            row_forces_of(m, d, b)
    meet(m, d)
    first, last = share_of(m, d, tree_runs_of(d, island))
    for k in range(first, last):
        for t in range(d.tree_run[k, 0], d.tree_run[k, 1]):
            force_on_tree(m, d, t)
        d.tree_sum[k, 0], d.tree_sum[k, 1] = gradient_of_run(m, d, k)
    meet(m, d)
    square = sum_of_runs(d, d.tree_sum, tree_runs_of(d, island), 0)
    terms = sum_of_runs(d, d.tree_sum, tree_runs_of(d, island), 1)
    return sqrt(square), 4.0 * epsilon_of(square) * sqrt(terms)


@kernel(inline=True)
def row_forces_of(m, d, b):
    """row_force of block b, from row_residual."""
    if d.block_kind[b] == EQUALITY:
        for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
            d.row_force[r] = -d.row_D[r] * d.row_residual[r]
    else:
        block_force(m, d, b)


@kernel
def force_on_tree(m, d, t):
    """qfrc_constraint of tree t (N, N m), from row_force."""
    if m.tree_dofnum[t] == 6:
        force_on_free_body(m, d, t)
        return
    for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        d.qfrc_constraint[i] = 0.0 * d.time
    for k in range(d.row_treeadr[t], d.row_treeadr[t] + d.row_treenum[t]):
        b = d.row_treeblock[k]
        add_force(m, d, b, columns_of(d, b, t))


@kernel(inline=True)
def force_on_free_body(m, d, t):
    """qfrc_constraint of a free body, in registers if three rows act on all six degrees of freedom."""
    x0 = x1 = x2 = x3 = x4 = x5 = 0.0 * d.time
    i = m.tree_dofadr[t]
    store_six(d, i, x0, x1, x2, x3, x4, x5)
    for k in range(d.row_treeadr[t], d.row_treeadr[t] + d.row_treenum[t]):
        b = d.row_treeblock[k]
        first, last = columns_of(d, b, t)
        if d.block_dim[b] == 3 and last - first == 6:
            row, q = d.block_row[b], d.block_J[b] + 3 * first
            f = d.row_force[row], d.row_force[row + 1], d.row_force[row + 2]
            x0 = x0 + power(d, q, f)
            x1 = x1 + power(d, q + 3, f)
            x2 = x2 + power(d, q + 6, f)
            x3 = x3 + power(d, q + 9, f)
            x4 = x4 + power(d, q + 12, f)
            x5 = x5 + power(d, q + 15, f)
        else:
            store_six(d, i, x0, x1, x2, x3, x4, x5)
            add_force(m, d, b, (first, last))
            g = d.qfrc_constraint
            x0, x1, x2, x3, x4, x5 = g[i], g[i + 1], g[i + 2], g[i + 3], g[i + 4], g[i + 5]
    store_six(d, i, x0, x1, x2, x3, x4, x5)


@kernel(inline=True)
def power(d, q, f):
    """Force of three rows on a degree of freedom, whose entries of J begin at q."""
    return d.row_J[q] * f[0] + d.row_J[q + 1] * f[1] + d.row_J[q + 2] * f[2]


@kernel(inline=True)
def store_six(d, i, x0, x1, x2, x3, x4, x5):
    """qfrc_constraint of six degrees of freedom."""
    q = d.qfrc_constraint
    q[i], q[i + 1], q[i + 2], q[i + 3], q[i + 4], q[i + 5] = x0, x1, x2, x3, x4, x5


@kernel(inline=True)
def add_force(m, d, b, columns):
    """qfrc_constraint += Jᵀ f of block b for a range of its degrees of freedom."""
    dim, row, first = d.block_dim[b], d.block_row[b], d.block_dofs[b]
    place = d.block_J[b] + dim * columns[0]
    if dim == 3:
        f0, f1, f2 = d.row_force[row], d.row_force[row + 1], d.row_force[row + 2]
        for c in range(columns[0], columns[1]):
            i = chained_dof(m, d, first + c)
            d.qfrc_constraint[i] = d.qfrc_constraint[i] + (
                d.row_J[place] * f0 + d.row_J[place + 1] * f1 + d.row_J[place + 2] * f2
            )
            place += 3
    else:
        for c in range(columns[0], columns[1]):
            i = chained_dof(m, d, first + c)
            total = d.qfrc_constraint[i]
            for r in range(dim):
                total = total + d.row_J[place + r] * d.row_force[row + r]
            d.qfrc_constraint[i] = total
            place += dim


@kernel(sums=True)
def gradient_of_run(m, d, k):
    """solve_gradient of a run of trees; returns the sums of its squares, and of those of its terms."""
    square = terms = 0.0 * d.time
    begin, end = dofs_of_run(m, d, k)
    for i in range(begin, end):
        smooth = d.qfrc_tau[i] - d.qfrc_bias[i]
        g = d.solve_Ma[i] - smooth - d.qfrc_constraint[i]
        d.solve_gradient[i] = g
        square = square + g * g
        size = absolute(d.solve_Ma[i]) + absolute(smooth) + absolute(d.qfrc_constraint[i])
        terms = terms + size * size
    return square, terms


@kernel
def along_island(m, d, island):
    """solve_Msearch ← M s and row_search ← J s of s = solve_search; returns the slope of the cost along it."""
    first, last = share_of(m, d, tree_runs_of(d, island))
    for k in range(first, last):
        multiply_trees(m, d, d.tree_run[k, 0], d.tree_run[k, 1], d.solve_search, d.solve_Msearch)
        d.tree_sum[k, 3] = slope_of_run(m, d, k)
    first, last = share_of(m, d, block_runs_of(d, island))
    for k in range(first, last):
        for b in range(d.block_run[k, 0], d.block_run[k, 1]):
            times_block(m, d, b, d.solve_search, d.row_search)
    meet(m, d)
    return sum_of_runs(d, d.tree_sum, tree_runs_of(d, island), 3)


@kernel(sums=True)
def slope_of_run(m, d, k):
    """Gradient times direction of a run of trees."""
    slope = 0.0 * d.time
    begin, end = dofs_of_run(m, d, k)
    for i in range(begin, end):
        slope = slope + d.solve_gradient[i] * d.solve_search[i]
    return slope


@kernel
def step_island(m, d, island, alpha):
    """a ← a + alpha s, with M a and the residuals."""
    first, last = share_of(m, d, tree_runs_of(d, island))
    for k in range(first, last):
        begin, end = dofs_of_run(m, d, k)
        for i in range(begin, end):
            d.qacc_warmstart[i] = d.qacc_warmstart[i] + alpha * d.solve_search[i]
            d.solve_Ma[i] = d.solve_Ma[i] + alpha * d.solve_Msearch[i]
    first, last = share_of(m, d, block_runs_of(d, island))
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
        first, last = share_of(m, d, tree_runs_of(d, island))
        for k in range(first, last):
            begin, end = dofs_of_run(m, d, k)
            for i in range(begin, end):
                reached = d.solve_Ma[i] - (d.qfrc_tau[i] - d.qfrc_bias[i])
                d.qfrc_constraint[i] = where(rough, reached, d.qfrc_constraint[i])
