"""Constraint islands: which trees rows couple, and the lists of trees and of blocks of rows of each.

References: connected components of SciPy; MuJoCo 4.0's islands of the same state, in the same order.
"""

from itertools import pairwise
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from helpers.constraints import put, reachable
from helpers.many_trees import world
from helpers.plain_python import plain
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import saltus
from saltus.contact.counts import NBLOCK, NISLAND
from saltus.number.kernels import Entry, interpret
from saltus.solve.soft.trees.couplings import couplings
from saltus.solve.soft.trees.islands import constraint_islands, is_small

pytestmark = pytest.mark.usefixtures("by_trees")

ISLANDS = Entry("islands", "", "couplings(m, d, False, False)", couplings=couplings)


def lists(d, adr, entries):
    """The list of each island."""
    ends = adr[: d.count[NISLAND] + 1]
    return [entries[first:last].tolist() for first, last in pairwise(ends)]


@pytest.mark.parametrize("ties", [True, False])
def test_mujocos_islands(ties):
    """A heap that falls: first many islands, then few."""
    m = world(ties=ties)
    sim = saltus.Simulation(saltus.load(m))
    numbers = set()
    for state in reachable(m, 6, every=15):
        put(sim, state)
        mujoco.mj_forward(m, state)
        d = sim.engine.d
        ISLANDS(sim.engine.m, d)
        assert d.count[NISLAND] == state.nisland
        np.testing.assert_array_equal(d.island_of_tree, state.tree_island)
        trees = lists(d, d.island_treeadr, d.island_tree)
        assert trees == [np.flatnonzero(state.tree_island == i).tolist() for i in range(state.nisland)]
        numbers.add(state.nisland)
    assert len(numbers) > 2


def test_connected_components():
    """Random pairs of trees, from none to many: SciPy's components of those that have rows."""
    sim = saltus.Simulation(saltus.load(world()))
    m, d = sim.engine.m, sim.engine.d
    rng = np.random.default_rng(0)
    for blocks in (0, 1, 5, 15, 25, 40, 80):
        pairs = np.sort(rng.integers(m.nsolvertree, size=(blocks, 2)), axis=1)
        d.count[NBLOCK] = blocks
        d.block_trees[:blocks] = pairs
        d.block_num[:blocks] = 1
        interpret(constraint_islands)(m, d)
        graph = coo_array((np.ones(blocks), pairs.T), shape=(m.nsolvertree, m.nsolvertree))
        label = connected_components(graph, directed=False)[1]
        active = np.unique(pairs)
        order = list(dict.fromkeys(label[active].tolist()))  # by their lowest trees
        assert d.count[NISLAND] == len(order)
        wanted = [order.index(label[t]) if t in active else -1 for t in range(m.nsolvertree)]
        assert d.island_of_tree.tolist() == wanted
        own = np.array([wanted[t] for t in pairs[:, 0]], int)
        assert lists(d, d.island_blockadr, d.island_block) == [
            np.flatnonzero(own == i).tolist() for i in range(len(order))
        ]
        assert lists(d, d.island_treeadr, d.island_tree) == [
            np.flatnonzero(np.array(wanted) == i).tolist() for i in range(len(order))
        ]


@pytest.mark.parametrize(
    ("trees", "small"), [([0], True), ([0, 1], True), ([1, 3], True), ([1, 2], False), ([0, 1, 3], False)]
)
def test_small_islands_have_room_in_one_matrix(trees, small):
    """One tree of any size, or at most two with 9 degrees of freedom together."""
    number = np.array([2, 6, 4, 3])
    of_island = number[trees]
    m = SimpleNamespace(nfewtrees=2, ndensedof=9, tree_dofnum=number)
    d = SimpleNamespace(island_treeadr=np.array([0, len(trees)]), island_tree=np.array(trees))
    d.island_dofadr = np.zeros(4, int)
    d.island_dofadr[trees] = np.cumsum(of_island) - of_island
    assert plain(is_small)(m, d, 0) == small
