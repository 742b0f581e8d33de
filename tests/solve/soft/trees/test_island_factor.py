"""Newton's direction of a small island by one dense matrix: H s = -g.

Reference: dense algebra of NumPy on the Hessian of the whole world. Tolerance: rounding, 2e-16, by the condition of an
island's Hessian and the number of operations, below 1e7 here.
"""

import numpy as np
import pytest
from helpers.constraints import reachable
from helpers.many_trees import dense_hessian, world

import saltus
from saltus.contact.counts import NISLAND
from saltus.number.kernels import Entry
from saltus.solve.soft.trees.couplings import couplings
from saltus.solve.soft.trees.island_factor import solve_island_exactly
from saltus.solve.soft.trees.tree_blocks import assemble_blocks

pytestmark = pytest.mark.usefixtures("by_trees")

KERNELS = dict(couplings=couplings, assemble=assemble_blocks, solve=solve_island_exactly)
DIRECTIONS = Entry(
    "island_directions",
    "islands_",
    "couplings(m, d, False, True)\nfor i in range(d.count[islands_]):\n    assemble(m, d, i, 0)\n    solve(m, d, i)",
    **KERNELS,
)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_exact_directions(cone, monkeypatch):
    """Single bodies, mechanisms of two joints, and several trees that touch."""
    from saltus.model.compile.constraints import many_trees

    monkeypatch.setattr(many_trees, "FEW_TREES", 1000)
    m = world(cone, ties=False)
    sim = saltus.Simulation(saltus.load(m))
    rng = np.random.default_rng(0)
    kinds = set()
    for state in reachable(m, 3, every=30):
        sim.qpos[:], sim.qvel[:] = state.qpos, state.qvel
        sim.forward()
        m_, d = sim.engine.m, sim.engine.d
        g = rng.normal(size=m.nv)
        d.solve_gradient[:] = g
        DIRECTIONS(m_, d, NISLAND)
        H = dense_hessian(m_, d)
        for island in range(d.count[NISLAND]):
            trees = d.island_tree[d.island_treeadr[island] : d.island_treeadr[island + 1]]
            own = np.flatnonzero(np.isin(m_.tree_of_dof, trees))
            wanted = -np.linalg.solve(H[np.ix_(own, own)], g[own])
            np.testing.assert_allclose(d.solve_search[own], wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
            kinds.add((len(trees), len(own)))
    assert {(1, 6), (1, 2)} <= kinds and any(trees > 4 for trees, _ in kinds)
