"""The Hessian M + Jᵀ W J of many trees as dense blocks: one for each tree, one for each coupled pair.

tree_hessian holds the upper triangles of the blocks of trees, n x n, by columns. pair_hessian holds the coupling of
each pair of `saltus.solve.soft.trees.tree_pairs`, by columns: those of the lower tree's degrees of freedom, each as
long as the upper tree has some. Most worlds are of free bodies in contact with friction: three rows and six degrees of
freedom a body have special code.

From one iteration to the next few rows change their state: only trees and pairs on which these act are reassembled.
They are marked by a number that grows with the iterations.
"""

from saltus.contact.rows.blocks import CONE, EQUALITY, PYRAMID, chained_dof
from saltus.contact.rows.cost import block_weight, cone_zone, single_weight
from saltus.model.enums import CONE_ELLIPTIC
from saltus.number.functions import any_lane, where
from saltus.number.kernels import kernel, only_with
from saltus.number.threads.team import acting, fetch_range, meet, share_of
from saltus.solve.soft.trees.domains import PHASES, groups_of, is_cut
from saltus.solve.soft.trees.islands import block_runs_of
from saltus.solve.soft.trees.tree_pairs import columns_of

EVERYTHING = 0  # lower bound of all marks


@kernel
def assemble_blocks(m, d, island, since):
    """tree_hessian, pair_hessian ← M + Σ Jᵀ W J of an island, with W the curvatures at row_residual.

    Changes since the last call are marked with `since` in tree_fresh and pair_fresh. Blocks with this mark or a higher
    one are fresh: all blocks for EVERYTHING. Each thread assembles the blocks that it will factor.
    """
    if since > EVERYTHING or m.opt_cone == CONE_ELLIPTIC:  # this stores the zones of cones
        begin, end = share_of(m, d, block_runs_of(d, island))
        for k in range(begin, end):
            for b in range(d.block_run[k, 0], d.block_run[k, 1]):
                mark_changes(m, d, b, since)
        meet(m, d)
    for phase in range(PHASES if is_cut(d, island) else 1):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            for k in range(d.group_adr[g], d.group_adr[g + 1]):
                if since == EVERYTHING and k + 1 < d.group_adr[g + 1]:
                    fetch_rows(m, d, d.island_tree[k + 1])
                assemble_tree(m, d, d.island_tree[k], since)


@only_with("threads")
@kernel
def fetch_rows(m, d, t):
    """Prefetch the Jacobian of the blocks of rows that act on tree t, which other threads have computed."""
    if acting(m, d) > 1:
        for k in range(d.row_treeadr[t], d.row_treeadr[t] + d.row_treenum[t]):
            b = d.row_treeblock[k]
            fetch_range(m, d, d.row_J, d.block_J[b], d.block_J[b] + d.block_dim[b] * d.block_num[b])


@kernel
def assemble_tree(m, d, t, since):
    """Assemble the fresh blocks of tree t and of its pairs with lower trees."""
    inertia_blocks(m, d, t, since)
    for k in range(d.row_treeadr[t], d.row_treeadr[t] + d.row_treenum[t]):
        b = d.row_treeblock[k]
        pair = d.block_trees[b, 0] != t and d.pair_fresh[d.block_pair[b]] >= since
        if d.tree_fresh[t] >= since or pair:
            block_weight(m, d, b)
            dim = d.block_dim[b]
            if dim == 3 and is_whole(m, d, b, d.block_trees[b, 0], d.block_trees[b, 1]):
                add_free_bodies(m, d, b, t, pair, since)
            else:
                add_rows(m, d, b, dim, t, pair, since)


@kernel
def mark_changes(m, d, b, mark):
    """tree_fresh, pair_fresh ← mark for those on which block b acts, if its curvature has changed."""
    if has_changed(m, d, b):
        d.tree_fresh[d.block_trees[b, 0]] = mark
        d.tree_fresh[d.block_trees[b, 1]] = mark
        if d.block_pair[b] >= 0:
            d.pair_fresh[d.block_pair[b]] = mark


@kernel
def has_changed(m, d, b):
    """Whether the curvature of block b at row_residual differs in any lane from that in row_upper, row_lower."""
    kind = d.block_kind[b]
    row = d.block_row[b]
    if kind == EQUALITY:
        return False
    if kind == PYRAMID:
        return pyramid_has_changed(m, d, b, row)
    if kind == CONE:
        return cone_has_changed(m, d, b, row)
    return any_lane(single_weight(d, kind, row) != d.row_upper[row])


@kernel
def pyramid_has_changed(m, d, b, row):
    """Whether an edge of a pyramid has changed its state."""
    law = d.block_law[b]
    u0 = d.row_residual[row]
    weight = d.row_D[row]
    zero = 0.0 * u0
    changed = False
    for k in range(1, d.block_dim[b]):
        across = m.law_friction[law, k - 1] * d.row_residual[row + k]
        upper = where(u0 + across < 0.0, weight, zero) != d.row_upper[row + k]
        lower = where(u0 - across < 0.0, weight, zero) != d.row_lower[row + k]
        changed = changed | any_lane(upper) | any_lane(lower)
    return changed


@kernel
def cone_has_changed(m, d, b, row):
    """Whether a cone is or was in a zone of varying curvature, or has changed its zone, which row_upper stores."""
    normal, _, bottom, around = cone_zone(m, d, b, d.row_residual, row)
    zero = 0.0 * normal
    zone = where(around, zero + 2.0, where(bottom, zero + 1.0, zero))
    changed = around | (zone != d.row_upper[row])
    d.row_upper[row] = zone
    return any_lane(changed)


@kernel
def inertia_blocks(m, d, t, since):
    """Set the fresh blocks of tree t to M, and those of its pairs with lower trees to zero."""
    zero = 0.0 * d.time
    first, n, place = m.tree_dofadr[t], m.tree_dofnum[t], m.tree_blockadr[t]
    if d.tree_fresh[t] >= since:
        for k in range(n * n):
            d.tree_hessian[place + k] = zero
        for i in range(n):
            for k in range(m.M_rowadr[first + i], m.M_rowadr[first + i] + m.M_rownnz[first + i]):
                d.tree_hessian[place + i * n + m.M_colind[k] - first] = d.M[k]
    for p in range(d.near_adr[t], d.near_adr[t + 1]):
        if d.pair_fresh[p] >= since:
            for k in range(n * m.tree_dofnum[d.near_tree[p]]):
                d.pair_hessian[d.near_place[p] + k] = zero


@kernel(inline=True)
def is_whole(m, d, b, lower, upper):
    """Whether all trees of block b have six degrees of freedom, and the block acts on all of these."""
    split, count = d.block_split[b], d.block_num[b]
    if lower == upper:
        return count == 6 and m.tree_dofnum[lower] == 6
    return split == 6 and count == 12 and m.tree_dofnum[lower] == 6 and m.tree_dofnum[upper] == 6


@kernel
def add_free_bodies(m, d, b, t, pair, since):
    """Add three rows that act on trees with six degrees of freedom to the blocks of tree t and of the `pair`."""
    place = d.block_J[b]
    own = place + 3 * columns_of(d, b, t)[0]
    if d.tree_fresh[t] >= since:
        add_six_by_six(d, d.tree_hessian, m.tree_blockadr[t], own, own)
    if pair:
        lower = place + 3 * columns_of(d, b, d.block_trees[b, 0])[0]
        add_six_by_six(d, d.pair_hessian, d.near_place[d.block_pair[b]], lower, own)


@kernel(inline=True)
def add_six_by_six(d, x, at, first, second):
    """x[at + 6 i + k] += (Jᵀ W J)[i, k] of three rows, i, k of six degrees of freedom from `first`, `second` on."""
    # no loop: the compiler would vectorise over numbers that are not contiguous
    add_six(d, x, at, first, second)
    add_six(d, x, at + 6, first + 3, second)
    add_six(d, x, at + 12, first + 6, second)
    add_six(d, x, at + 18, first + 9, second)
    add_six(d, x, at + 24, first + 12, second)
    add_six(d, x, at + 30, first + 15, second)


@kernel(inline=True)
def add_six(d, x, k, first, second):
    """One column of `add_six_by_six`."""
    w, J = d.block_weight, d.row_J
    j0, j1, j2 = J[first], J[first + 1], J[first + 2]
    t0 = w[0] * j0 + w[1] * j1 + w[2] * j2
    t1 = w[1] * j0 + w[4] * j1 + w[5] * j2
    t2 = w[2] * j0 + w[5] * j1 + w[8] * j2
    for i in range(6):
        q = second + 3 * i
        x[k + i] = x[k + i] + (t0 * J[q] + t1 * J[q + 1] + t2 * J[q + 2])


@kernel
def add_rows(m, d, b, dim, t, pair, since):
    """Add any number of rows that act on any degrees of freedom to the blocks of tree t and of the `pair`."""
    lower, own = d.block_trees[b, 0], columns_of(d, b, t)
    if d.tree_fresh[t] >= since:
        block = m.tree_blockadr[t], m.tree_dofnum[t], m.tree_dofadr[t]
        add_columns(m, d, b, dim, d.tree_hessian, block, own, m.tree_dofadr[t], own)
    if pair:
        block = d.near_place[d.block_pair[b]], m.tree_dofnum[t], m.tree_dofadr[lower]
        add_columns(m, d, b, dim, d.pair_hessian, block, columns_of(d, b, lower), m.tree_dofadr[t], own)


@kernel
def add_columns(m, d, b, dim, x, block, columns, first, rows):
    """x += Jᵀ W J for ranges of columns and rows of the block's degrees of freedom; the upper triangle if they agree.

    block: (address in x, length of a column, degree of freedom of the first one); first: that of the first row.
    """
    place, length, first_column = block
    dofs, J, w = d.block_dofs[b], d.block_J[b], d.block_weight
    for c in range(columns[0], columns[1]):
        column = place + (chained_dof(m, d, dofs + c) - first_column) * length - first
        end = c + 1 if columns[0] == rows[0] else rows[1]
        j = J + c * dim
        if dim == 3:
            t0 = w[0] * d.row_J[j] + w[1] * d.row_J[j + 1] + w[2] * d.row_J[j + 2]
            t1 = w[1] * d.row_J[j] + w[4] * d.row_J[j + 1] + w[5] * d.row_J[j + 2]
            t2 = w[2] * d.row_J[j] + w[5] * d.row_J[j + 1] + w[8] * d.row_J[j + 2]
            for e in range(rows[0], end):
                at, k = column + chained_dof(m, d, dofs + e), J + 3 * e
                x[at] = x[at] + (t0 * d.row_J[k] + t1 * d.row_J[k + 1] + t2 * d.row_J[k + 2])
        else:
            for r in range(dim):
                t = 0.0 * d.time
                for s in range(dim):
                    t = t + w[r * dim + s] * d.row_J[j + s]
                for e in range(rows[0], end):
                    at = column + chained_dof(m, d, dofs + e)
                    x[at] = x[at] + t * d.row_J[J + e * dim + r]
