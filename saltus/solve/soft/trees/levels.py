"""In which order the trees of a large island may be worked on at once.

The factor of a tree, and the solution for it, need those of the lower trees that it is coupled with: level 0 are the
trees with no such pair, and each other tree is one level above the highest of them. Trees of a level do not depend on
each other, so that several threads may take them, and the result is the same to the last bit (level scheduling: Saad,
Iterative Methods for Sparse Linear Systems (2003), 11.6).
"""

from saltus.contact.counts import NBLOCK, NLEVEL
from saltus.number.kernels import kernel
from saltus.solve.soft.trees.islands import trees_of


@kernel
def list_levels(m, d, island):
    """level_tree: an island's trees by levels, ascending in each; those of level k begin at level_adr[k], of NLEVEL."""
    first, last = trees_of(d, island)
    d.count[NLEVEL] = 0
    for k in range(first, last):
        t = d.island_tree[k]
        level = 0
        for p in range(d.near_adr[t], d.near_adr[t + 1]):
            level = max(level, d.level_of_tree[d.near_tree[p]] + 1)
        d.level_of_tree[t] = level
        while d.count[NLEVEL] <= level:
            d.count[NLEVEL] = d.count[NLEVEL] + 1
            d.level_adr[d.count[NLEVEL]] = 0
        d.level_adr[level + 1] = d.level_adr[level + 1] + 1
    d.level_adr[0] = 0
    for level in range(d.count[NLEVEL]):
        d.level_adr[level + 1] = d.level_adr[level + 1] + d.level_adr[level]
    # the last tree first: each goes before those that are placed
    for k in range(last - 1, first - 1, -1):
        t = d.island_tree[k]
        level = d.level_of_tree[t] + 1
        d.level_adr[level] = d.level_adr[level] - 1
        d.level_tree[d.level_adr[level]] = t
    # level_adr[k + 1] is now where level k begins
    for level in range(d.count[NLEVEL]):
        d.level_adr[level] = d.level_adr[level + 1]
    d.level_adr[d.count[NLEVEL]] = last - first


@kernel
def list_uppers(m, d):
    """upper_pair: the pairs of each lower tree, the highest upper tree first, from upper_adr[tree] on."""
    for t in range(m.nsolvertree + 1):
        d.upper_adr[t] = 0
    pairs = d.near_adr[m.nsolvertree]
    for p in range(pairs):
        a = d.near_tree[p] + 1
        d.upper_adr[a] = d.upper_adr[a] + 1
    for t in range(m.nsolvertree):
        d.upper_adr[t + 1] = d.upper_adr[t + 1] + d.upper_adr[t]
    for b in range(m.nsolvertree):
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            a = d.near_tree[p]
            d.upper_adr[a + 1] = d.upper_adr[a + 1] - 1
            d.upper_pair[d.upper_adr[a + 1]] = p
            d.pair_upper[p] = b
    # upper_adr[a + 1] is now where the pairs of a begin
    for t in range(m.nsolvertree):
        d.upper_adr[t] = d.upper_adr[t + 1]
    d.upper_adr[m.nsolvertree] = pairs


@kernel
def list_blocks_of_trees(m, d):
    """tree_block: the blocks of rows that act on each tree, ascending, from tree_rowadr[tree] on."""
    for t in range(m.nsolvertree + 1):
        d.tree_rowadr[t] = 0
    for b in range(d.count[NBLOCK]):
        if d.block_num[b] > 0:
            lower, upper = d.block_trees[b, 0], d.block_trees[b, 1]
            d.tree_rowadr[lower + 1] = d.tree_rowadr[lower + 1] + 1
            if upper != lower:
                d.tree_rowadr[upper + 1] = d.tree_rowadr[upper + 1] + 1
    for t in range(m.nsolvertree):
        d.tree_rowadr[t + 1] = d.tree_rowadr[t + 1] + d.tree_rowadr[t]
    total = d.tree_rowadr[m.nsolvertree]
    for b in range(d.count[NBLOCK] - 1, -1, -1):
        if d.block_num[b] > 0:
            lower, upper = d.block_trees[b, 0], d.block_trees[b, 1]
            place_block(d, lower, b)
            if upper != lower:
                place_block(d, upper, b)
    for t in range(m.nsolvertree):
        d.tree_rowadr[t] = d.tree_rowadr[t + 1]
    d.tree_rowadr[m.nsolvertree] = total


@kernel(inline=True)
def place_block(d, t, b):
    """Put block b before those that are placed of tree t."""
    d.tree_rowadr[t + 1] = d.tree_rowadr[t + 1] - 1
    d.tree_block[d.tree_rowadr[t + 1]] = b
