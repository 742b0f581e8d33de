"""What several threads may do at once with the trees of an island: lists of trees by levels, of rows by trees.

The factor of a tree needs those of the lower trees that it is coupled with. Threads that act together go from level to
level: level 0 are the trees with no such pair, and each other tree is one level above the highest of them, so that
trees of a level do not depend on each other (level scheduling: Saad, Iterative Methods for Sparse Linear Systems
(2003), 11.6). A thread that acts alone takes them in ascending order, as one level: the numbers are the same to the
last bit.
"""

from saltus.contact.counts import NBLOCK, NLEVEL
from saltus.number.kernels import kernel
from saltus.number.team import acting_together
from saltus.solve.soft.trees.islands import trees_of


@kernel
def list_levels(m, d, island):
    """level_tree: an island's trees by levels, ascending in each; those of level k begin at level_adr[k], of NLEVEL."""
    first, last = trees_of(d, island)
    d.count[NLEVEL] = 0
    d.level_adr[0] = first
    for k in range(first, last):
        t = d.island_tree[k]
        level = level_of(m, d, t) if acting_together(m, d) else 0
        d.tree_level[t] = level
        while d.count[NLEVEL] <= level:
            d.count[NLEVEL] = d.count[NLEVEL] + 1
            d.level_adr[d.count[NLEVEL]] = 0
        d.level_adr[level + 1] = d.level_adr[level + 1] + 1
    for level in range(d.count[NLEVEL]):
        d.level_adr[level + 1] = d.level_adr[level + 1] + d.level_adr[level]
    # the last tree first: each goes before those of its level that are placed, and ends move to beginnings
    for k in range(last - 1, first - 1, -1):
        t = d.island_tree[k]
        level = d.tree_level[t] + 1
        d.level_adr[level] = d.level_adr[level] - 1
        d.level_tree[d.level_adr[level]] = t
    for level in range(d.count[NLEVEL]):
        d.level_adr[level] = d.level_adr[level + 1]
    d.level_adr[d.count[NLEVEL]] = last


@kernel
def level_of(m, d, t):
    """One more than the highest level of the lower trees that tree t is coupled with."""
    level = 0
    for p in range(d.near_adr[t], d.near_adr[t + 1]):
        level = max(level, d.tree_level[d.near_tree[p]] + 1)
    return level


@kernel
def list_blocks_of_trees(m, d):
    """tree_block: the blocks of rows that act on each tree, ascending, from row_treeadr[tree] on."""
    for t in range(m.nsolvertree + 1):
        d.row_treeadr[t] = 0
    for b in range(d.count[NBLOCK]):
        if d.block_num[b] > 0:
            count_one(d.row_treeadr, d.block_trees[b, 0])
            if d.block_trees[b, 0] < d.block_trees[b, 1]:
                count_one(d.row_treeadr, d.block_trees[b, 1])
    sum_up(m, d.row_treeadr)
    total = d.row_treeadr[m.nsolvertree]
    for b in range(d.count[NBLOCK] - 1, -1, -1):
        if d.block_num[b] > 0:
            d.row_treeblock[place_of_one(d.row_treeadr, d.block_trees[b, 0])] = b
            if d.block_trees[b, 0] < d.block_trees[b, 1]:
                d.row_treeblock[place_of_one(d.row_treeadr, d.block_trees[b, 1])] = b
    begin_lists(m, d.row_treeadr, total)


# ---------------------------------------------------------------- sorting by trees, by counting


@kernel(inline=True)
def count_one(adr, t):
    """One more of tree t."""
    adr[t + 1] = adr[t + 1] + 1


@kernel
def sum_up(m, adr):
    """adr[t + 1] ← the end of the list of tree t."""
    for t in range(m.nsolvertree):
        adr[t + 1] = adr[t + 1] + adr[t]


@kernel(inline=True)
def place_of_one(adr, t):
    """The place before those that are taken of tree t."""
    adr[t + 1] = adr[t + 1] - 1
    return adr[t + 1]


@kernel
def begin_lists(m, adr, total):
    """adr[t] ← the beginning of the list of tree t, when all is placed."""
    for t in range(m.nsolvertree):
        adr[t] = adr[t + 1]
    adr[m.nsolvertree] = total
