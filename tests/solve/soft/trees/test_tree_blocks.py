"""The Hessian of many trees by blocks: which trees are coupled, the blocks, and what is assembled anew.

Law: H = M + Jᵀ W J with W the derivative of -force by the residual; blocks between trees only where a row acts on both.
References: dense algebra of NumPy, differences of the forces (pieces of the cost are quadratic, or cones: 1e-7); a
second assembly of everything, to the bit.
"""

import numpy as np
import pytest
from helpers.constraints import reachable
from helpers.hessians import blocks_of, hessian_by_differences
from helpers.many_trees import dense_hessian, world

import saltus
from saltus.contact.counts import NROW, NSTAMP
from saltus.contact.rows.cost import row_forces
from saltus.number.kernels import Entry
from saltus.solve.soft.trees.couplings import couplings
from saltus.solve.soft.trees.tree_blocks import EVERYTHING, assemble_blocks

pytestmark = pytest.mark.usefixtures("by_trees")

PAIRS = Entry("tree_couplings", "", "couplings(m, d, True, True)", couplings=couplings)
ASSEMBLE = Entry("tree_assemble", "since", "assemble_blocks(m, d, 0, since)", assemble_blocks=assemble_blocks)
FORCES = Entry("tree_forces", "", "row_forces(m, d)", row_forces=row_forces)
CONES = "pyramidal", "elliptic"


def prepared(cone):
    """A simulation of a heap that has fallen, and its memory."""
    m = world(cone)
    sim = saltus.Simulation(saltus.load(m))
    d = next(reachable(m, 1, every=100))
    sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
    sim.forward()
    assert sim.engine.d.views["hessian"].size == 0
    PAIRS(sim.engine.m, sim.engine.d)
    return sim, sim.engine.m, sim.engine.d


@pytest.mark.parametrize("cone", CONES)
def test_its_entries(cone):
    """In a heap with equalities between trees, limits, dry friction, tendons and one to six friction dimensions."""
    sim, m, d = prepared(cone)
    wanted = hessian_by_differences(sim, m, d, FORCES)
    seen = {(dim, len({int(t) for t in m.tree_of_dof[dofs]})) for _, dim, dofs, _ in blocks_of(m, d)}
    assert {(1, 1), (1, 2), (3, 1), (3, 2), (4, 1), (6, 1), (6, 2)} <= seen
    ASSEMBLE(m, d, EVERYTHING)
    np.testing.assert_allclose(dense_hessian(m, d), wanted, rtol=0, atol=1e-7 * np.abs(wanted).max())


@pytest.mark.parametrize("cone", CONES)
def test_only_pairs_that_rows_couple(cone):
    """Each once, by its trees in the order of elimination, and no other."""
    _, m, d = prepared(cone)
    wanted, place = set(), np.argsort(d.island_tree)
    for _, _, dofs, _ in blocks_of(m, d):
        trees = sorted({int(t) for t in m.tree_of_dof[dofs]}, key=lambda t: place[t])
        wanted |= {(trees[1], trees[0])} if len(trees) == 2 else set()
    found = [(b, int(d.near_tree[p])) for b in range(m.nsolvertree) for p in range(d.near_adr[b], d.near_adr[b + 1])]
    assert found == sorted(wanted)
    assert 20 < len(found) < m.nsolvertree**2 / 8


@pytest.mark.parametrize("cone", CONES)
def test_what_has_not_changed_stays(cone):
    """After some rows have changed their states: the same bits as everything anew, from a part of the trees."""
    _, m, d = prepared(cone)
    ASSEMBLE(m, d, EVERYTHING)
    rng, rows = np.random.default_rng(0), d.count[NROW]
    fresh = []
    for since, changed in enumerate((0, 2, 10, 300), start=d.count[NSTAMP] + 1):
        some = rng.permutation(rows)[:changed]
        d.row_residual[some] = -d.row_residual[some]
        ASSEMBLE(m, d, since)
        fresh.append(np.count_nonzero(d.tree_fresh >= since))
        found = dense_hessian(m, d)
        ASSEMBLE(m, d, EVERYTHING)
        np.testing.assert_array_equal(found, dense_hessian(m, d))
    assert fresh[0] < fresh[3] and fresh[1] < m.nsolvertree / 2
