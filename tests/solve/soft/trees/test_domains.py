"""Domains of an island: what several threads may work on at once.

Reference: the definition of independence, for all pairs of trees that rows couple.
"""

import numpy as np
import pytest
from helpers.constraints import reachable
from helpers.many_trees import world

import saltus
from saltus.contact.counts import NISLAND
from saltus.number.kernels import Entry
from saltus.solve.soft.trees.couplings import couplings

pytestmark = pytest.mark.usefixtures("by_trees")

COUPLINGS = Entry("domain_couplings", "", "couplings(m, d, False, True)", couplings=couplings)


def test_groups_of_a_phase_are_independent():
    """Trees that touch are of one group, or the one that is eliminated later is of a later phase."""
    m = world(ties=False)
    sim = saltus.Simulation(saltus.load(m))
    cut = 0
    for state in reachable(m, 12, every=12):
        sim.qpos[:], sim.qvel[:] = state.qpos, state.qvel
        sim.forward()
        m_, d = sim.engine.m, sim.engine.d
        COUPLINGS(m_, d)
        place = np.argsort(d.island_tree)
        assert sorted(d.island_tree) == list(range(m_.nsolvertree))
        for island in range(d.count[NISLAND]):
            first, last = d.island_treeadr[island : island + 2]
            own = d.island_tree[first:last]
            assert np.array_equal(np.sort(own), np.flatnonzero(d.island_of_tree == island))
            phases = d.phase_adr[island]
            domains = 4 if last - first >= 8 * m_.ndomaintree else 2 if last - first >= 2 * m_.ndomaintree else 1
            if last - first <= m_.nfewtrees or domains < 2:
                assert not d.tree_group[own].any()
                continue
            cut += 1
            group, phase = d.tree_group[own], np.repeat(np.arange(3), np.diff(phases))
            ends = d.group_adr[first : first + phases[3] + 1] - first
            assert np.array_equal(np.diff(ends), np.bincount(group, minlength=phases[3]))
            assert (np.diff(group) >= 0).all() and phases[1] == domains and len(set(group[: ends[domains]])) > 1
            for b in own:
                for p in range(d.near_adr[b], d.near_adr[b + 1]):
                    a, pair = d.near_tree[p], (d.tree_group[d.near_tree[p]], d.tree_group[b])
                    assert place[a] < place[b]
                    assert pair[0] == pair[1] or phase[pair[0]] < phase[pair[1]]
    assert cut > 1


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_position_that_is_no_number_leaves_lists_whole(wrong):
    """As in a stage of an integrator whose step fails: each tree is still in one group, and in the list once."""
    m = world(ties=False)
    sim = saltus.Simulation(saltus.load(m))
    m_, d = sim.engine.m, sim.engine.d
    cut = False
    for state in reachable(m, 12, every=12):
        sim.qpos[:], sim.qvel[:] = state.qpos, state.qvel
        sim.forward()
        COUPLINGS(m_, d)
        island = int(np.argmax(np.diff(d.island_treeadr[: d.count[NISLAND] + 1])))
        first, last = d.island_treeadr[island : island + 2]
        cut = last - first >= 2 * m_.ndomaintree
        if cut:
            break
    assert cut
    own = np.sort(d.island_tree[first:last])
    assert d.phase_adr[island, 1] > 1
    d.xpos[m.dof_bodyid[m_.tree_dofadr[own[::3]]]] = wrong
    COUPLINGS(m_, d)
    assert np.array_equal(np.sort(d.island_tree[first:last]), own)
    assert set(d.tree_group[own]) <= set(range(d.phase_adr[island, 3]))
    assert d.bin_count.min() >= 0
