"""Worlds of many bodies: whether Newton's method takes its Hessian tree by tree, and how much memory that needs.

The Hessian of such a world is sparse: a kinematic tree is coupled with those few that it touches. Blocks for each tree
and each touching pair of trees grow with their number, a triangle of all degrees of freedom with its square. Each
island of trees is solved by itself, a small one as one dense matrix.
"""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.layout import BINS
from saltus.model.tree.chains import ChainTable

FEATURE = "many_trees"
FEWEST_TREES, FEWEST_DOFS = 40, 270  # below these numbers one matrix is faster
LARGEST_TREE = 300  # degrees of freedom: the block of a tree is dense
# limits for lanes, which have no islands
FEWEST_IN_LANES, LARGEST_IN_LANES = 330, 60  # degrees of freedom
FEW_TREES, DENSE_DOFS = 15, 1500  # most in an island with a single dense matrix, unless it is one tree
DOMAIN = 75  # fewest trees of each of two domains of an island that threads share; twice as many for four domains
VALUES = "tree_dofadr", "tree_dofnum", "tree_blockadr", "tree_of_dof", "tree_coupledadr"
SIZES = (
    *("nv_trees", "nsolvertree", "nsolvertree_end", "ntreeblock"),
    *("nlargestblock", "nfewtrees", "ndensedof", "ntreepair", "npairblock", "nblock_trees", "nv_lanes_hessian"),
    *("nblock_twice", "nbin", "ndomaintree"),
)


class ManyTrees(NamedTuple):
    """Fields, sizes and features of tree-wise Hessians; empty if the Hessian is one matrix."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: set[str]


def many_trees(m: mujoco.MjModel, chains: ChainTable, trees: np.ndarray, parents: np.ndarray, blocks: int) -> ManyTrees:
    """Addresses and sizes for up to `blocks` blocks of constraint rows; empty if 0.

    trees [nv]: the tree of each degree of freedom; trees coupled by tendons with inertia count as one. parents [nv]:
    the next degree of freedom that each is coupled with, -1 for none.
    """
    if not (blocks and solved_by_trees(m, chains, trees)):
        return ManyTrees({name: [] for name in VALUES}, {name: 0 for name in SIZES}, set())
    one_matrix = bool(m.nv < FEWEST_IN_LANES or m.tree_dofnum.max() > LARGEST_IN_LANES)
    number = m.tree_dofnum.astype(int)
    square = number * number
    dense = min(int(np.sort(number)[-FEW_TREES:].sum()), DENSE_DOFS)
    pairs = min(m.ntree * (m.ntree - 1) // 2, blocks)
    values = {
        "tree_dofadr": m.tree_dofadr,
        "tree_dofnum": number,
        "tree_blockadr": np.cumsum(square) - square,
        "tree_of_dof": m.dof_treeid,
        "tree_coupledadr": np.searchsorted(np.flatnonzero(parents >= 0), [*m.tree_dofadr, m.nv]),
    }
    sizes = {
        "nv_trees": m.nv,
        "nsolvertree": m.ntree,
        "nsolvertree_end": m.ntree + 1,
        "ntreeblock": int(square.sum()),
        "nlargestblock": (8 * -(-max(int(number.max()), dense) // 8)) ** 2,  # whole eights
        "nfewtrees": FEW_TREES,
        "ndensedof": dense,
        "ntreepair": pairs,
        "npairblock": largest_blocks(number, pairs),
        "nblock_trees": blocks,
        "nblock_twice": 2 * blocks,
        "nbin": BINS,
        "ndomaintree": DOMAIN,
        "nv_lanes_hessian": m.nv if one_matrix else 0,
    }
    return ManyTrees(values, sizes, {FEATURE, "matrix_in_lanes"} if one_matrix else {FEATURE})


def has_many_small_trees(m: mujoco.MjModel) -> bool:
    """Whether there are many trees, each of them small."""
    return m.ntree >= FEWEST_TREES and m.nv >= FEWEST_DOFS and m.tree_dofnum.max() <= LARGEST_TREE


def solved_by_trees(m: mujoco.MjModel, chains: ChainTable, trees: np.ndarray) -> bool:
    """Whether the model has many small trees, and neither inertia nor constraints couple more than two of them."""
    if m.nflex or not has_many_small_trees(m):
        return False
    return np.array_equal(trees, m.dof_treeid) and all(
        len({int(trees[i]) for i in dofs}) <= 2 for bodies, dofs, _ in chains.entries if bodies == (0, 0)
    )


def largest_blocks(number: np.ndarray, pairs: int) -> int:
    """Entries of the largest blocks that `pairs` pairs of trees with `number` degrees of freedom each can have."""
    extent, count = np.unique(number, return_counts=True)
    entries = np.outer(extent, extent)
    occur = np.triu(np.outer(count, count), 1) + np.diag(count * (count - 1) // 2)
    order = np.argsort(-entries, axis=None)
    entries, occur = entries.flat[order], occur.flat[order]
    taken = np.clip(pairs - (np.cumsum(occur) - occur), 0, occur)
    return int((taken * entries).sum())
