"""The cost of one island, and its gradient. Reference: dense algebra of NumPy on the world's M, J and rows.

Slopes along a line are the gradient's, and a search ends where the slope is a thousandth of the first.

    cost(a) = ½ (a - a₀)ᵀ M (a - a₀) + s(J a - a_ref),   gradient = M a - f + Jᵀ s'

Tolerance: rounding, 1e-12 of the largest entry. Other islands must keep all that they have.
"""

import numpy as np
import pytest
from helpers.constraints import reachable
from helpers.hessians import blocks_of
from helpers.many_trees import world
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.contact.counts import NISLAND, NROW
from saltus.contact.rows.blocks import EQUALITY
from saltus.model.compile.constraints import many_trees
from saltus.solve.soft.trees import island_cost, island_search
from saltus.solve.soft.trees.couplings import couplings


@pytest.fixture(autouse=True)
def _plain_and_small(by_trees, monkeypatch):
    for name in ("FEWEST_DOFS", "FEWEST_IN_LANES"):
        monkeypatch.setattr(many_trees, name, 100)
    with plain_python():
        yield


class Dense:
    """M, J and lists of a world, and a random point and direction in its fields."""

    def __init__(self, cone):
        model = world(cone, bodies=22)
        state = next(reachable(model, 1, every=60))
        self.sim = saltus.Simulation(saltus.load(model))
        self.sim.qpos[:], self.sim.qvel[:] = state.qpos, state.qvel
        self.sim.forward()
        self.m, self.d = fields(self.sim.engine.m), fields(self.sim.engine.d)
        plain(couplings)(self.m, self.d, False, True)
        self.M, rows = self.sim.full_M(), self.d.count[NROW]
        self.J, self.kinds = np.zeros((rows, self.m.nv)), {}
        for k, (row, dim, dofs, J) in enumerate(blocks_of(self.m, self.d)):
            self.J[row : row + dim, dofs] = J
            self.kinds[row] = (dim, self.d.block_kind[k])
        rng = np.random.default_rng(0)
        self.a, self.s = rng.normal(size=(2, self.m.nv))
        self.islands = []
        for island in range(self.d.count[NISLAND]):
            trees = self.d.island_tree[self.d.island_treeadr[island] : self.d.island_treeadr[island + 1]]
            dofs = np.isin(self.m.tree_of_dof, trees)
            acts = np.zeros(rows, bool)
            for row, (dim, _) in self.kinds.items():
                acts[row : row + dim] = (self.J[row : row + dim, dofs] != 0).any()
            self.islands.append((dofs, acts))


def near(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(np.abs(wanted).max(), 1.0))


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_it_is_that_of_dense_algebra(cone):
    w = Dense(cone)
    m, d, sizes = w.m, w.d, set()
    rows, a_ref, D = slice(0, d.count[NROW]), d.row_aref[: d.count[NROW]].copy(), d.row_D[: d.count[NROW]].copy()
    f = np.array(d.qfrc_tau) - np.array(d.qfrc_bias)
    own = ("solve_Ma", "solve_Msearch", "solve_gradient", "qfrc_constraint")
    for island, (dofs, acts) in enumerate(w.islands):
        for name in (*own, "row_residual", "row_search", "row_force", "tree_sum", "row_sum"):
            getattr(d, name)[:] = 77.0
        d.qacc_warmstart[:], d.solve_search[:] = w.a, w.s
        lost, scale = plain(island_cost.begin_island)(m, d, island)
        residual = w.J @ w.a - a_ref
        near(np.array(d.solve_Ma)[dofs], (w.M @ w.a)[dofs])
        near(np.array(d.row_residual[rows])[acts], residual[acts])
        assert scale == pytest.approx(1.0 / np.trace(w.M[np.ix_(dofs, dofs)]), rel=1e-13)
        error = 8.0 * np.finfo(float).eps
        assert lost == pytest.approx(error**2 * (D * a_ref**2)[acts].sum(), rel=1e-12)
        # its gradient, and the level of rounding by the terms of the sum
        size, noise = plain(island_cost.island_gradient)(m, d, island)
        force = np.where(acts, d.row_force[rows], 0.0)
        equalities = [row + k for row, (dim, kind) in w.kinds.items() if kind == EQUALITY for k in range(dim)]
        near(force[equalities], np.where(acts, -D * residual, 0.0)[equalities])
        pushed = w.J.T @ force
        gradient = (w.M @ w.a - f - pushed)[dofs]
        near(np.array(d.qfrc_constraint)[dofs], pushed[dofs])
        near(np.array(d.solve_gradient)[dofs], gradient)
        assert size == pytest.approx(np.linalg.norm(gradient), rel=1e-12)
        terms = np.abs(w.M @ w.a) + np.abs(f) + np.abs(pushed)
        assert noise == pytest.approx(4.0 * np.finfo(float).eps * np.linalg.norm(terms[dofs]), rel=1e-12)
        # along a direction, and a step on it
        slope = plain(island_cost.along_island)(m, d, island)
        assert slope == pytest.approx(gradient @ w.s[dofs], rel=1e-11)
        near(np.array(d.solve_Msearch)[dofs], (w.M @ w.s)[dofs])
        near(np.array(d.row_search[rows])[acts], (w.J @ w.s)[acts])
        plain(island_cost.step_island)(m, d, island, 0.3)
        there = w.a + 0.3 * w.s
        near(np.array(d.qacc_warmstart)[dofs], there[dofs])
        near(np.array(d.solve_Ma)[dofs], (w.M @ there)[dofs])
        near(np.array(d.row_residual[rows])[acts], (w.J @ there - a_ref)[acts])
        # forces by the accelerations, only where asked
        kept = np.array(d.qfrc_constraint)
        plain(island_cost.reach_forces)(m, d, island, False)
        np.testing.assert_array_equal(d.qfrc_constraint, kept)
        plain(island_cost.reach_forces)(m, d, island, True)
        near(np.array(d.qfrc_constraint)[dofs], (w.M @ there - f)[dofs])
        # nothing of other islands has changed
        np.testing.assert_array_equal(np.array(d.qacc_warmstart)[~dofs], w.a[~dofs])
        for name in own:
            assert (np.array(getattr(d, name))[~dofs] == 77.0).all(), name
        assert (np.array(d.row_residual[rows])[~acts] == 77.0).all()
        sizes.add(int(dofs.sum()))
    assert len(sizes) > 2 and max(sizes) > 12


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_slopes_along_a_line(cone):
    w = Dense(cone)
    m, d = w.m, w.d
    island = int(np.argmax([dofs.sum() for dofs, _ in w.islands]))
    dofs = w.islands[island][0]
    w.sim.engine.m.views["opt_tolerance"][...] = 0.0

    def gradient(alpha):
        d.qacc_warmstart[:], d.solve_search[:] = w.a + alpha * w.s, w.s
        plain(island_cost.begin_island)(m, d, island)
        plain(island_cost.island_gradient)(m, d, island)
        return np.array(d.solve_gradient)[dofs]

    # a direction downhill
    w.s[dofs] = -np.linalg.solve(w.M[np.ix_(dofs, dofs)], gradient(0.0)) + w.s[dofs]
    slopes = {alpha: gradient(alpha) @ w.s[dofs] for alpha in (-0.4, 0.7, 0.7 + 1e-6, 0.7 - 1e-6, 2.0, 0.0)}
    start = plain(island_cost.along_island)(m, d, island)
    assert start == pytest.approx(slopes[0.0], rel=1e-11) and start < 0.0
    gauss, curvature, length = plain(island_search.quadratic_slope)(m, d, island)
    assert length == pytest.approx(np.linalg.norm(w.s[dofs]), rel=1e-13)
    for alpha, wanted in slopes.items():
        for which in (0, 2):
            kept = np.array(d.row_sum)[:, 2 - which]
            slope, bend = plain(island_search.rows_slope)(m, d, island, alpha, which)
            assert gauss + alpha * curvature + slope == pytest.approx(wanted, rel=1e-10, abs=1e-10 * abs(start))
            np.testing.assert_array_equal(np.array(d.row_sum)[:, 2 - which], kept)
        if alpha == 0.7:
            difference = (slopes[0.7 + 1e-6] - slopes[0.7 - 1e-6]) / 2e-6
            assert bend + curvature == pytest.approx(difference, rel=1e-5)
    found = plain(island_search.search_island)(m, d, island, np.True_, start, 1.0)
    assert found > 0.0 and abs(gradient(found) @ w.s[dofs]) <= 1e-3 * abs(start) * (1 + 1e-9)
    gradient(0.0)
    plain(island_cost.along_island)(m, d, island)
    assert plain(island_search.search_island)(m, d, island, np.False_, start, 1.0) == 0.0
