"""Constraint islands: kinematic trees that constraint rows couple, directly or through others.

Islands are numbered in the order of their lowest trees; trees without rows are in none, and come last in the list of
trees. A block of rows exists for all lanes if it acts in any, so that all lanes share the islands of all their blocks.
"""

from saltus.contact.counts import NBLOCK, NISLAND
from saltus.dynamics.awake.walks import awake_tree_count, awake_trees, awake_trees_back
from saltus.number.kernels import kernel
from saltus.solve.disjoint_sets import lowest

RUN = 64  # most trees or blocks of a run


@kernel
def constraint_islands(m, d):
    """island_of_tree [trees], -1 for none; trees and blocks of each island, in ascending order.

    Trees of island i, of NISLAND islands, are island_tree[island_treeadr[i] : island_treeadr[i + 1]], and so are blocks
    of rows. island_dofadr [trees]: first degree of freedom of a tree in the order of that list. Reads block_trees.

    Most trees and blocks of an island have consecutive numbers: runs of them, from tree_run[k, 0] up to tree_run[k, 1]
    (exclusive), make long loops. Runs of island i begin at island_treerunadr[i], and so for blocks. Threads take runs,
    and sums are added run by run.
    """
    join_trees(m, d)
    number_islands(m, d)
    list_trees(m, d)
    list_blocks(m, d)
    list_runs(d, d.island_treeadr, d.island_tree, d.island_treerunadr, d.tree_run, RUN)
    list_runs(d, d.island_blockadr, d.island_block, d.island_blockrunadr, d.block_run, RUN)


@kernel
def one_island(m, d):
    """Build the lists of `constraint_islands` with all trees, also those without rows, and all blocks as one island.

    Runs are as long as possible: if they were cut, a lane's sums would depend on the number of blocks of others.
    """
    d.count[NISLAND] = 1
    for t in awake_trees(m, d):
        d.island_of_tree[t] = 0
    list_trees(m, d)
    list_blocks(m, d)
    list_runs(d, d.island_treeadr, d.island_tree, d.island_treerunadr, d.tree_run, m.nsolvertree)
    list_runs(d, d.island_blockadr, d.island_block, d.island_blockrunadr, d.block_run, d.count[NBLOCK])


@kernel(inline=True)
def trees_of(d, island):
    """Range of an island's trees in island_tree."""
    return d.island_treeadr[island], d.island_treeadr[island + 1]


@kernel(inline=True)
def tree_runs_of(d, island):
    """Range of an island's runs of neighbouring trees in tree_run."""
    return d.island_treerunadr[island], d.island_treerunadr[island + 1]


@kernel(inline=True)
def block_runs_of(d, island):
    """Range of an island's runs of neighbouring blocks in block_run."""
    return d.island_blockrunadr[island], d.island_blockrunadr[island + 1]


@kernel(inline=True)
def rows_of_run(d, k):
    """Range of the rows of run k of blocks."""
    last = d.block_run[k, 1] - 1
    return d.block_row[d.block_run[k, 0]], d.block_row[last] + d.block_dim[last]


@kernel(inline=True)
def dofs_of_run(m, d, k):
    """Range of the degrees of freedom of run k of trees."""
    last = d.tree_run[k, 1] - 1
    return m.tree_dofadr[d.tree_run[k, 0]], m.tree_dofadr[last] + m.tree_dofnum[last]


@kernel(inline=True)
def dofs_of(m, d, island):
    """Range of an island's degrees of freedom in the order of islands."""
    first, last = trees_of(d, island)
    end = d.island_tree[last - 1]
    return d.island_dofadr[d.island_tree[first]], d.island_dofadr[end] + m.tree_dofnum[end]


@kernel(inline=True)
def is_small(m, d, island):
    """Whether an island is a single tree, or has few of them: its direction is exact."""
    first, last = trees_of(d, island)
    begin, end = dofs_of(m, d, island)
    return last == first + 1 or (last - first <= m.nfewtrees and end - begin <= m.ndensedof)


@kernel
def join_trees(m, d):
    """island_of_tree ← a lower tree of the same island, or the tree itself if it is the lowest; -1 without rows."""
    for t in awake_trees(m, d):
        d.island_of_tree[t] = -1
    for b in range(d.count[NBLOCK]):
        if d.block_num[b] > 0:
            one = lowest_tree(d, d.block_trees[b, 0])
            other = lowest_tree(d, d.block_trees[b, 1])
            d.island_of_tree[max(one, other)] = min(one, other)


@kernel(inline=True)
def lowest_tree(d, t):
    """The lowest tree of those joined with tree t, which then has rows."""
    if d.island_of_tree[t] < 0:
        d.island_of_tree[t] = t
    return lowest(d.island_of_tree, t)


@kernel
def number_islands(m, d):
    """Set island_of_tree to the numbers of islands, and count them in NISLAND."""
    islands = 0
    for t in awake_trees(m, d):
        lower = d.island_of_tree[t]
        if lower == t:
            d.island_of_tree[t] = islands
            islands += 1
        elif lower >= 0:
            d.island_of_tree[t] = d.island_of_tree[lower]  # already numbered
    d.count[NISLAND] = islands


@kernel
def list_trees(m, d):
    """island_treeadr, island_tree and island_dofadr, by a counting sort."""
    for i in range(d.count[NISLAND] + 1):
        d.island_treeadr[i] = 0
    for t in awake_trees(m, d):
        i = d.island_of_tree[t]
        d.tree_group[t] = 0
        if i >= 0:
            d.island_treeadr[i] = d.island_treeadr[i] + 1
    add_up(d, d.island_treeadr)
    # from the last to the first: each tree goes before those already placed
    for t in awake_trees_back(m, d):
        i = d.island_of_tree[t]
        if i >= 0:
            d.island_treeadr[i] = d.island_treeadr[i] - 1
            d.island_tree[d.island_treeadr[i]] = t
    place = d.island_treeadr[d.count[NISLAND]]
    for t in awake_trees(m, d):
        if d.island_of_tree[t] < 0:
            d.island_tree[place] = t
            place += 1
    order_dofs(m, d, 0, awake_tree_count(m, d))


@kernel
def order_dofs(m, d, first, last):
    """island_dofadr of a range of island_tree."""
    place = 0
    if first > 0:
        before = d.island_tree[first - 1]
        place = d.island_dofadr[before] + m.tree_dofnum[before]
    for k in range(first, last):
        t = d.island_tree[k]
        d.island_dofadr[t] = place
        place += m.tree_dofnum[t]


@kernel
def list_blocks(m, d):
    """island_blockadr and island_block, by a counting sort."""
    for i in range(d.count[NISLAND] + 1):
        d.island_blockadr[i] = 0
    for b in range(d.count[NBLOCK]):
        if d.block_num[b] > 0:
            i = d.island_of_tree[d.block_trees[b, 0]]
            d.island_blockadr[i] = d.island_blockadr[i] + 1
    add_up(d, d.island_blockadr)
    for b in range(d.count[NBLOCK] - 1, -1, -1):
        if d.block_num[b] > 0:
            i = d.island_of_tree[d.block_trees[b, 0]]
            d.island_blockadr[i] = d.island_blockadr[i] - 1
            d.island_block[d.island_blockadr[i]] = b


@kernel
def add_up(d, x):
    """x ← cumulative sums over islands, with the total at the end."""
    for i in range(1, d.count[NISLAND] + 1):
        x[i] = x[i] + x[i - 1]


@kernel
def list_runs(d, adr, entries, runadr, run, most):
    """Build runadr and run from the lists adr and entries of all islands, of trees or of blocks; `most` in a run."""
    runs = 0
    for i in range(d.count[NISLAND]):
        runadr[i] = runs
        for k in range(adr[i], adr[i + 1]):
            entry = entries[k]
            if k == adr[i] or entry > run[runs - 1, 1] or entry - run[runs - 1, 0] == most:
                run[runs, 0] = entry
                runs += 1
            run[runs - 1, 1] = entry + 1
    runadr[d.count[NISLAND]] = runs
