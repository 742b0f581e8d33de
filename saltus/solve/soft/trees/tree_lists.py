"""Lists for each tree: blocks of rows that act on it, and pairs with trees of other groups.

With these lists a thread computes everything for its own trees, in an order that does not depend on the number of
threads.
"""

from saltus.contact.counts import NBLOCK
from saltus.dynamics.awake.walks import awake_trees
from saltus.number.kernels import kernel


@kernel
def list_blocks_of_trees(m, d):
    """row_treeblock: blocks of rows that act on each tree, ascending; row_treenum of them from row_treeadr on."""
    clear_counts(m, d, d.row_treenum)
    for b in range(d.count[NBLOCK]):
        if d.block_num[b] > 0:
            count_one(d.row_treenum, d.block_trees[b, 0])
            if d.block_trees[b, 0] != d.block_trees[b, 1]:
                count_one(d.row_treenum, d.block_trees[b, 1])
    begin_lists(m, d, d.row_treeadr, d.row_treenum)
    for b in range(d.count[NBLOCK]):
        if d.block_num[b] > 0:
            d.row_treeblock[next_place(d.row_treeadr, d.row_treenum, d.block_trees[b, 0])] = b
            if d.block_trees[b, 0] != d.block_trees[b, 1]:
                d.row_treeblock[next_place(d.row_treeadr, d.row_treenum, d.block_trees[b, 1])] = b


@kernel
def list_outer_pairs(m, d, groups):
    """outer_pair: pairs of each lower tree with trees of other groups, if there are several `groups`.

    Each tree has outer_num pairs from outer_adr on, ascending.
    """
    clear_counts(m, d, d.outer_num)
    if groups == 1:
        return
    for b in awake_trees(m, d):
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            if d.tree_group[b] != d.tree_group[d.near_tree[p]]:
                count_one(d.outer_num, d.near_tree[p])
    begin_lists(m, d, d.outer_adr, d.outer_num)
    for b in awake_trees(m, d):
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            if d.tree_group[b] != d.tree_group[d.near_tree[p]]:
                d.outer_pair[next_place(d.outer_adr, d.outer_num, d.near_tree[p])] = p


# ---------------------------------------------------------------- lists by trees, by counting


@kernel
def clear_counts(m, d, num):
    """num ← 0."""
    for t in awake_trees(m, d):
        num[t] = 0


@kernel(inline=True)
def count_one(num, t):
    """Add one to the count of tree t."""
    num[t] = num[t] + 1


@kernel
def begin_lists(m, d, adr, num):
    """adr ← start of the list of each tree, from the lengths num, which are reset."""
    total = 0
    for t in awake_trees(m, d):
        adr[t] = total
        total = total + num[t]
        num[t] = 0


@kernel(inline=True)
def next_place(adr, num, t):
    """The next place in the list of tree t."""
    num[t] = num[t] + 1
    return adr[t] + num[t] - 1
