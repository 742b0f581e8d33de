"""Pairs of kinematic trees that constraint rows couple now: the sparsity of the Hessian of many trees.

A block of rows acts on one tree or on two. The lower one is eliminated first: it has the smaller degrees of freedom,
except in large islands (see `saltus.solve.soft.trees.domains`). Pairs are in the order of their upper tree, then of the
lower one, regardless of the order of the blocks.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import chained_dof
from saltus.dynamics.awake.walks import awake_tree_count, awake_trees
from saltus.number.kernels import kernel


@kernel
def split_blocks(m, d):
    """block_trees and block_split of all blocks of rows, from their degrees of freedom."""
    for b in range(d.count[NBLOCK]):
        split_block(m, d, b)


@kernel
def tree_pairs(m, d):
    """near_adr [trees + 1], near_tree and near_place [pairs], block_pair [blocks]. Reads block_trees."""
    # sort by lower trees, then by upper ones: the second sort keeps the order of the first
    count = sort_blocks(m, d, d.count[NBLOCK], 0)
    sort_blocks(m, d, count, 1)
    list_pairs(m, d, count)
    place_pairs(m, d)


@kernel
def place_pairs(m, d):
    """pair_upper and near_place: places of the blocks of pairs, in the order of elimination."""
    place = 0
    for k in range(awake_tree_count(m, d)):
        b = d.island_tree[k]
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            d.pair_upper[p] = b
            d.near_place[p] = place
            place += m.tree_dofnum[d.near_tree[p]] * m.tree_dofnum[b]


@kernel(inline=True)
def columns_of(d, b, t):
    """Range of the columns of block b that are degrees of freedom of tree t."""
    if t > d.block_trees[b, 0] or t > d.block_trees[b, 1]:
        return d.block_split[b], d.block_num[b]
    return 0, d.block_split[b]


@kernel
def split_block(m, d, b):
    """block_trees ← the trees of block b, ascending; block_split ← number of columns of the first tree."""
    first, count = d.block_dofs[b], d.block_num[b]
    d.block_pair[b] = -1
    d.block_split[b] = count
    d.block_trees[b, 0] = d.block_trees[b, 1] = 0
    if count > 0:
        lower = m.tree_of_dof[chained_dof(m, d, first)]
        upper = m.tree_of_dof[chained_dof(m, d, first + count - 1)]
        d.block_trees[b, 0] = lower
        d.block_trees[b, 1] = upper
        if lower < upper:
            split = 1
            while chained_dof(m, d, first + split) < m.tree_dofadr[upper]:
                split += 1
            d.block_split[b] = split


@kernel
def sort_blocks(m, d, count, side):
    """block_order[:, side] ← the blocks that couple trees, by their tree of that side; returns their number.

    Blocks of the same tree keep their previous order: that of `side` 0, or that of their numbers.
    """
    for t in awake_trees(m, d):
        d.near_count[t] = 0
    for k in range(count):
        b = k if side == 0 else d.block_order[k, 0]
        if d.block_trees[b, 0] != d.block_trees[b, 1]:
            t = d.block_trees[b, side]
            d.near_count[t] = d.near_count[t] + 1
    # start of the blocks of each tree
    coupling = 0
    for t in awake_trees(m, d):
        before = coupling
        coupling = coupling + d.near_count[t]
        d.near_count[t] = before
    for k in range(count):
        b = k if side == 0 else d.block_order[k, 0]
        if d.block_trees[b, 0] != d.block_trees[b, 1]:
            t = d.block_trees[b, side]
            d.block_order[d.near_count[t], side] = b
            d.near_count[t] = d.near_count[t] + 1
    return coupling


@kernel
def list_pairs(m, d, count):
    """List the pairs from the sorted blocks that couple trees."""
    pairs = k = 0
    for tree in awake_trees(m, d):
        d.near_adr[tree] = pairs
        before = -1
        while k < count and d.block_trees[d.block_order[k, 1], 1] == tree:
            b = d.block_order[k, 1]
            lower = d.block_trees[b, 0]
            if lower != before:
                before = lower
                d.near_tree[pairs] = lower
                pairs += 1
            d.block_pair[b] = pairs - 1
            k += 1
        d.near_adr[tree + 1] = pairs
    d.near_adr[m.nsolvertree] = pairs
