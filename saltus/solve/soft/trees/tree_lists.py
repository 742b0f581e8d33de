"""What each tree of a world has: blocks of rows that act on it, and pairs with trees of other groups.

With them a thread computes all that belongs to its own trees, in the same order however many threads there are.
"""

from saltus.contact.counts import NBLOCK
from saltus.number.kernels import kernel


@kernel
def list_blocks_of_trees(m, d):
    """row_treeblock: the blocks of rows that act on each tree, ascending, from row_treeadr[tree] on."""
    clear_counts(m, d.row_treeadr)
    for b in range(d.count[NBLOCK]):
        if d.block_num[b] > 0:
            count_one(d.row_treeadr, d.block_trees[b, 0])
            if d.block_trees[b, 0] != d.block_trees[b, 1]:
                count_one(d.row_treeadr, d.block_trees[b, 1])
    sum_up(m, d.row_treeadr)
    for b in range(d.count[NBLOCK] - 1, -1, -1):
        if d.block_num[b] > 0:
            d.row_treeblock[place_of_one(d.row_treeadr, d.block_trees[b, 0])] = b
            if d.block_trees[b, 0] != d.block_trees[b, 1]:
                d.row_treeblock[place_of_one(d.row_treeadr, d.block_trees[b, 1])] = b


@kernel
def list_outer_pairs(m, d, groups):
    """outer_pair: the pairs of each lower tree with trees of other groups, if there are `groups`, from
    outer_adr[tree] on.
    """
    clear_counts(m, d.outer_adr)
    if groups == 1:
        return
    for b in range(m.nsolvertree):
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            if d.tree_group[b] != d.tree_group[d.near_tree[p]]:
                count_one(d.outer_adr, d.near_tree[p])
    sum_up(m, d.outer_adr)
    for b in range(m.nsolvertree):
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            if d.tree_group[b] != d.tree_group[d.near_tree[p]]:
                d.outer_pair[place_of_one(d.outer_adr, d.near_tree[p])] = p


# ---------------------------------------------------------------- lists by trees, by counting


@kernel
def clear_counts(m, adr):
    """adr ← 0."""
    for t in range(m.nsolvertree + 1):
        adr[t] = 0


@kernel(inline=True)
def count_one(adr, t):
    """One more of tree t."""
    adr[t] = adr[t] + 1


@kernel
def sum_up(m, adr):
    """adr[t] ← the end of the list of tree t."""
    for t in range(m.nsolvertree):
        adr[t + 1] = adr[t + 1] + adr[t]


@kernel(inline=True)
def place_of_one(adr, t):
    """The place before those that are taken of tree t."""
    adr[t] = adr[t] - 1
    return adr[t]
