"""Islands of many trees that threads share, and rows of the method `discrete`, in plain Python.

Laws: independence of groups of one phase, for all pairs of trees that rows couple; slabs of as many trees along
the longest axis; sums over rows of Jacobians by NumPy, to rounding.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import many_trees, solvers
from helpers.constraints import reachable
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.contact.counts import NBLOCK, NISLAND
from saltus.contact.rows.blocks import times_block
from saltus.model.compile.constraints import many_trees as trees_together
from saltus.solve.soft.discrete_rows import softening
from saltus.solve.soft.trees import block_factor, domains
from saltus.solve.soft.trees.couplings import couplings


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


@pytest.fixture
def crowded(monkeypatch):
    """A world whose trees touch, at a state with an island of many; domains have three trees and more."""
    for name, least in {"FEWEST_TREES": 4, "FEWEST_DOFS": 20, "FEW_TREES": 3, "DOMAIN": 3}.items():
        monkeypatch.setattr(trees_together, name, least)
    m = many_trees.world("pyramidal", bodies=30, ties=False)
    sim = saltus.Simulation(saltus.load(m))
    for state in reachable(m, 4, every=25):
        sim.qpos[:], sim.qvel[:] = state.qpos, state.qvel
    sim.forward()
    plain(couplings)(fields(sim.engine.m), fields(sim.engine.d), False, True)
    return sim


def test_domains_of_islands(crowded):
    """Trees that touch are of one group, or the one that is eliminated later is of a later phase."""
    m, d = crowded.engine.m, crowded.engine.d
    place, cut = np.argsort(d.island_tree), 0
    assert sorted(d.island_tree) == list(range(m.nsolvertree))
    body = crowded.model.mujoco.dof_bodyid[m.tree_dofadr]
    for island in range(d.count[NISLAND]):
        first, last = d.island_treeadr[island : island + 2]
        own, phases = d.island_tree[first:last], d.phase_adr[island]
        assert np.array_equal(np.sort(own), np.flatnonzero(d.island_of_tree == island))
        wanted = 4 if last - first >= 24 else 2 if last - first >= 6 else 1
        if wanted == 1:
            continue
        cut += 1
        group, phase = d.tree_group[own], np.repeat(np.arange(3), np.diff(phases))
        ends = d.group_adr[first : first + phases[3] + 1] - first
        assert np.array_equal(np.diff(ends), np.bincount(group, minlength=phases[3]))
        assert (np.diff(group) >= 0).all() and phases[1] == wanted
        for b in own:
            for p in range(d.near_adr[b], d.near_adr[b + 1]):
                a, pair = d.near_tree[p], (d.tree_group[d.near_tree[p]], d.tree_group[b])
                assert place[a] < place[b]
                assert pair[0] == pair[1] or phase[pair[0]] < phase[pair[1]]
        # slabs: each tree's follows from its place along the longest axis
        at = crowded.data.xpos[body[own]]
        axis = int(np.argmax(np.ptp(at, axis=0)))
        found = plain(domains.longest_axis)(fields(m), fields(d), island)
        np.testing.assert_allclose(found, [axis, at[:, axis].min(), np.ptp(at[:, axis])], rtol=1e-13)
        plain(domains.cut_into_slabs)(fields(m), fields(d), island, wanted)
        slab = d.tree_group[own]
        order = np.argsort(at[:, axis])
        assert (np.diff(slab[order]) >= 0).all() and slab.min() == 0 and slab.max() == wanted - 1
        counts = np.bincount(slab)
        assert np.abs(counts - len(own) / wanted).max() <= np.bincount(d.bin_count).max() + len(own) / 4
        near = plain(domains.mark_separators)(fields(d), island)
        touching = [(d.block_trees[k][0], d.block_trees[k][1]) for k in blocks_of(d, island)]
        by_tree = dict(zip(own, slab, strict=True))
        lower = {min(pair, key=by_tree.get) for pair in touching if by_tree[pair[0]] != by_tree[pair[1]]}
        assert {t for t in own if d.separates[t]} == lower
        assert bool(near) == all(abs(by_tree[a] - by_tree[b]) <= 1 for a, b in touching)
    assert cut > 0


def blocks_of(d, island):
    return d.island_block[d.island_blockadr[island] : d.island_blockadr[island + 1]]


@pytest.mark.parametrize("strength", [0.05, 0.9])
@pytest.mark.parametrize("dofs", [[6, 6, 6], [6, 2, 6, 3], [2, 1, 6, 6]])
def test_factors_of_blocks(dofs, strength):
    """Trees that all touch: D̂_b = D_b - Σ L_ba D̂_a⁻¹ L_baᵀ = C Cᵀ, or D_b where that would lose definiteness.

    G = C⁻¹ is upper triangular, and G H Gᵀ = K + Kᵀ + E with K the pairs' blocks and the unit matrix.
    """
    rng, count, first = np.random.default_rng(0), len(dofs), np.cumsum([0, *dofs])
    pairs = [(a, b) for b in range(count) for a in range(b)]
    m = SimpleNamespace(tree_dofnum=dofs, tree_dofadr=first, nv=first[-1], nsolvertree=count)
    m.tree_blockadr = np.cumsum([0, *(n * n for n in dofs)])
    d = SimpleNamespace(time=np.float64(0.0), block_scratch=np.zeros(36), near_tree=[a for a, _ in pairs])
    d.near_adr = np.cumsum([0, *range(count)])
    d.near_place = np.cumsum([0, *(dofs[a] * dofs[b] for a, b in pairs)])
    d.tree_hessian, d.tree_factor, d.tree_rest = np.full((3, m.tree_blockadr[-1]), np.nan)
    d.pair_hessian, d.pair_factor = np.full((2, d.near_place[-1]), np.nan)
    D, L = [], {}
    for b, n in enumerate(dofs):
        J = 0.2 * rng.normal(size=(n, n))
        D.append(np.eye(n) + J @ J.T)
        d.tree_hessian[m.tree_blockadr[b] :][: n * n] = np.triu(D[b]).T.ravel()
    for p, (a, b) in enumerate(pairs):
        L[b, a] = strength * np.eye(dofs[b], dofs[a])
        d.pair_hessian[d.near_place[p] :][: L[b, a].size] = L[b, a].T.ravel()
    H = many_trees.dense_hessian(m, d)
    fallen = 0
    for b, n in enumerate(dofs):
        with np.errstate(over="ignore", invalid="ignore"):  # where elimination is given up
            plain(block_factor.factor_tree)(m, d, b, n)
        G = [d.tree_factor[m.tree_blockadr[a] :][: k * k].reshape(k, k).T for a, k in enumerate(dofs)]
        S = sum((L[b, a] @ G[a].T @ G[a] @ L[b, a].T for a in range(b)), np.zeros((n, n)))
        wanted = D[b] - S
        if np.linalg.eigvalsh(wanted)[0] < 1e-9:
            wanted, fallen = D[b], fallen + 1
        np.testing.assert_allclose(np.linalg.inv(G[b].T @ G[b]), wanted, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(np.tril(G[b], -1), 0.0)
    assert (fallen > 0) == (strength > 0.5)
    E = many_trees.dense(m, d.tree_rest, d.pair_factor, d.near_adr, d.near_tree, d.near_place)
    E[: dofs[0], : dofs[0]] = -np.eye(dofs[0])  # of a tree without lower ones it is not kept
    whole = np.zeros((m.nv, m.nv))
    for b, n in enumerate(dofs):
        whole[first[b] : first[b] + n, first[b] : first[b] + n] = G[b]
    np.testing.assert_allclose(whole @ H @ whole.T, E + 2 * np.eye(m.nv), rtol=0, atol=1e-11)


def test_springs_and_dampers_soften_rows():
    """J D⁻¹ Jᵀ with and without them, of a row and of an edge of a pyramid."""
    sim = saltus.Simulation(saltus.load(solvers.compiled(solvers.heap("pyramidal"), "Newton")), "discrete")
    sim.forward()
    m, d, rng = sim.engine.m, sim.engine.d, np.random.default_rng(0)
    d.slope[:] = rng.uniform(0.1, 3.0, d.slope.shape)
    diagonal = np.array([d.M[m.M_rowadr[i] + m.M_rownnz[i] - 1] for i in range(m.nv)])
    rows = 0
    for b in range(d.count[NBLOCK]):
        J = dense(m, d, b)
        for r, slope in ((0, 0.0), (0, 0.4), (1, 0.3)):
            if r + (slope > 0.0) >= len(J):
                continue
            edge = J[r] + slope * J[r + 1] if slope else J[r]
            bare, stiff = (edge**2 / diagonal).sum(), (edge**2 / (diagonal + d.slope)).sum()
            wanted = stiff / bare if bare else 1.0
            found = plain(softening)(fields(m), fields(d), b, r, slope)
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
            rows += bare > 0.0
    assert rows > 10


def dense(m, d, b):
    """Rows of a block as a matrix [dim, nv], by unit velocities."""
    velocity, found = np.zeros(m.nv), []
    for i in range(m.nv):
        velocity[:] = 0.0
        velocity[i] = 1.0
        out = np.zeros(d.row_J.size + d.row_force.size)
        plain(times_block)(fields(m), fields(d), b, velocity, out)
        found.append(out[d.block_row[b] : d.block_row[b] + d.block_dim[b]])
    return np.transpose(found)
