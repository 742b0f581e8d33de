"""Pairs of kinematic trees that constraint rows couple now: the sparsity of the Hessian of many trees.

A block of rows acts on one tree or on two, the lower one with the smaller degrees of freedom. Pairs are in the order
of their upper tree, then of the lower one, whatever the order of the blocks.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import chained_dof
from saltus.dynamics.awake.walks import awake_trees
from saltus.number.kernels import kernel


@kernel
def tree_pairs(m, d):
    """near_adr [trees + 1], near_tree and near_place [pairs], block_pair and block_split [blocks].

    Reads the blocks of rows and their degrees of freedom.
    """
    for b in range(d.count[NBLOCK]):
        split_block(m, d, b)
    # by lower trees, then by upper ones: the second sort keeps the order of the first
    count = sort_blocks(m, d, d.count[NBLOCK], 0)
    sort_blocks(m, d, count, 1)
    list_pairs(m, d, count)


@kernel
def split_block(m, d, b):
    """block_trees ← the lower and upper tree of block b; block_split ← how many of its columns are the lower one's."""
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
    """block_order[:, side] ← the blocks that couple trees, by their tree of that side; returns how many they are.

    Blocks of the same tree keep the order that they had: that of `side` 0, or that of their numbers.
    """
    for t in awake_trees(m, d):
        d.near_count[t] = 0
    for k in range(count):
        b = k if side == 0 else d.block_order[k, 0]
        if d.block_trees[b, 0] < d.block_trees[b, 1]:
            t = d.block_trees[b, side]
            d.near_count[t] = d.near_count[t] + 1
    # where those of each tree begin
    coupling = 0
    for t in awake_trees(m, d):
        before = coupling
        coupling = coupling + d.near_count[t]
        d.near_count[t] = before
    for k in range(count):
        b = k if side == 0 else d.block_order[k, 0]
        if d.block_trees[b, 0] < d.block_trees[b, 1]:
            t = d.block_trees[b, side]
            d.block_order[d.near_count[t], side] = b
            d.near_count[t] = d.near_count[t] + 1
    return coupling


@kernel
def list_pairs(m, d, count):
    """Pairs from the sorted blocks that couple trees, with the addresses of their blocks of the Hessian."""
    pairs = place = size = 0
    k = 0
    for tree in awake_trees(m, d):
        d.near_adr[tree] = pairs
        before = -1
        while k < count and d.block_trees[d.block_order[k, 1], 1] == tree:
            b = d.block_order[k, 1]
            lower = d.block_trees[b, 0]
            if lower != before:
                before = lower
                place += size
                size = m.tree_dofnum[lower] * m.tree_dofnum[tree]
                d.near_tree[pairs] = lower
                d.near_place[pairs] = place
                pairs += 1
            d.block_pair[b] = pairs - 1
            k += 1
        d.near_adr[tree + 1] = pairs
    d.near_adr[m.nsolvertree] = pairs
