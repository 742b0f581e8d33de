"""Present couplings of trees by rows: islands, domains of large ones, pairs of trees, and lists by trees."""

from saltus.contact.counts import NISLAND
from saltus.number.kernels import kernel
from saltus.solve.soft.trees.domains import list_domains, one_group
from saltus.solve.soft.trees.islands import constraint_islands, is_small, one_island
from saltus.solve.soft.trees.tree_lists import list_blocks_of_trees, list_outer_pairs
from saltus.solve.soft.trees.tree_pairs import split_blocks, tree_pairs


@kernel
def couplings(m, d, whole, cut):
    """Build all lists of trees and blocks of rows for the solver.

    `whole`: all trees are one island. `cut`: large islands are cut into domains, not for lanes, whose results would
    then depend on each other.
    """
    split_blocks(m, d)
    if whole:
        one_island(m, d)
    else:
        constraint_islands(m, d)
    groups = 1
    for island in range(d.count[NISLAND]):
        if is_small(m, d, island):
            one_group(d, island)
        else:
            groups = max(groups, list_domains(m, d, island, cut))
    tree_pairs(m, d)
    list_blocks_of_trees(m, d)
    list_outer_pairs(m, d, groups)
