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

COUPLINGS = Entry("domain_couplings", "", "couplings(m, d, True, True)", couplings=couplings)


def test_groups_of_a_phase_are_independent():
    """Trees that touch are of one group, or the one that is eliminated later is of a later phase."""
    m = world()
    sim = saltus.Simulation(saltus.load(m))
    cuts = set()
    for state in reachable(m, 5, every=25):
        sim.qpos[:], sim.qvel[:] = state.qpos, state.qvel
        sim.forward()
        m_, d = sim.engine.m, sim.engine.d
        COUPLINGS(m_, d)
        assert d.count[NISLAND] == 1
        phases = d.phase_adr[0]
        phase = np.repeat(np.arange(3), np.diff(phases))
        group, place = d.tree_group, np.argsort(d.island_tree)
        assert sorted(d.island_tree) == list(range(m_.nsolvertree))
        assert (np.diff(group[d.island_tree]) >= 0).all()
        ends = d.group_adr[: phases[3] + 1]
        assert np.array_equal(np.diff(ends), np.bincount(group, minlength=phases[3]))
        for b in range(m_.nsolvertree):
            for p in range(d.near_adr[b], d.near_adr[b + 1]):
                a = d.near_tree[p]
                assert place[a] < place[b]
                assert group[a] == group[b] or phase[group[a]] < phase[group[b]]
        cuts.add(tuple(phases.tolist()))
        # the domains are of about as many trees each
        domains = np.bincount(group, minlength=phases[1])[: phases[1]]
        assert phases[1] == 4 and domains.min() > 0
    assert len(cuts) >= 1
