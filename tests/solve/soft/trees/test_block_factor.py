"""The incomplete factorisation by blocks, and Newton's direction by conjugate gradients with it.

Laws: G H Gᵀ = K + Kᵀ + E; where nothing is filled in, K Kᵀ = G H Gᵀ, so that one iteration is exact; with any matrix
that is positive definite the direction is H⁻¹ (-g). Reference: dense algebra of NumPy. Tolerances: rounding of nv
operations, 1e-12; the part of the residual that is asked for, 1e-12, times the square root of the condition, below 1e7
here.
"""

import numpy as np
import pytest
from helpers.constraints import reachable
from helpers.many_trees import dense, dense_hessian, world

import saltus
from saltus.number.kernels import Entry, interpret
from saltus.solve.soft.trees import block_cg
from saltus.solve.soft.trees.block_cg import begin_direction, iterate_direction
from saltus.solve.soft.trees.block_factor import LARGEST, factor_blocks
from saltus.solve.soft.trees.couplings import couplings
from saltus.solve.soft.trees.tree_blocks import assemble_blocks

pytestmark = pytest.mark.usefixtures("by_trees")

KERNELS = dict(couplings=couplings, assemble=assemble_blocks, factor=factor_blocks)
ASSEMBLE = Entry("factor_assemble", "", "couplings(m, d, True, True)\nassemble(m, d, 0, 0)", **KERNELS)
FACTOR = Entry("factor_factor", "", "factor(m, d, 0, 0)", **KERNELS)
DIRECTION = Entry(
    "factor_direction",
    "part",
    "square = begin(m, d, 0)\niterate(m, d, 0, square > 0.0, square, part * part * square)\nreturn square",
    begin=begin_direction,
    iterate=iterate_direction,
)


def prepared(cone="pyramidal"):
    """Memory at the Hessian of a heap that has fallen."""
    m = world(cone)
    sim = saltus.Simulation(saltus.load(m))
    d = next(reachable(m, 1, every=100))
    sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
    sim.forward()
    ASSEMBLE(sim.engine.m, sim.engine.d)
    return sim, sim.engine.m, sim.engine.d


def factors(m, d):
    """G and K + Kᵀ + E, dense."""
    nowhere = np.zeros(m.nsolvertree + 1, int)
    G = dense(m, d.tree_factor, d.pair_factor, nowhere, d.near_tree, d.near_place)
    S = dense(m, d.tree_rest, d.pair_factor, d.near_adr, d.near_tree, d.near_place)
    for b in range(m.nsolvertree):  # E of trees without lower ones is not kept
        own = slice(m.tree_dofadr[b], m.tree_dofadr[b] + m.tree_dofnum[b])
        if d.near_adr[b] == d.near_adr[b + 1]:
            S[own, own] = -np.eye(m.tree_dofnum[b])
    return G, S + 2 * np.eye(m.nv)


def assert_direction(m, d, H, seed=0):
    g = np.random.default_rng(seed).normal(size=m.nv)
    d.solve_gradient[:] = g
    DIRECTION(m, d, 1e-12)
    wanted = -np.linalg.solve(H, g)
    np.testing.assert_allclose(d.solve_search, wanted, rtol=0, atol=1e-7 * np.abs(wanted).max())


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_scaled_hessian_and_direction(cone):
    _, m, d = prepared(cone)
    H = dense_hessian(m, d)
    assert np.linalg.cond(H) < 1e14
    FACTOR(m, d)
    G, scaled = factors(m, d)
    np.testing.assert_allclose(G @ H @ G.T, scaled, rtol=0, atol=1e-12 * np.abs(scaled).max())
    assert_direction(m, d, H)


def with_blocks(m, d, value):
    """The Hessian with 1 in trees, and value(b, a) times 1 in pairs of trees of six degrees of freedom."""
    d.tree_hessian[:] = 0.0
    d.pair_hessian[:] = 0.0
    for b in range(m.nsolvertree):
        n = m.tree_dofnum[b]
        d.tree_hessian[m.tree_blockadr[b] + (n + 1) * np.arange(n)] = 1.0
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            a = d.near_tree[p]
            if n == m.tree_dofnum[a] == 6:
                d.pair_hessian[d.near_place[p] + 7 * np.arange(6)] = value(b, int(a))
    return dense_hessian(m, d)


def neighbours(m, d):
    """Lower trees of each tree with six degrees of freedom."""
    six = m.tree_dofnum == 6
    near = {b: {int(a) for a in d.near_tree[d.near_adr[b] : d.near_adr[b + 1]]} for b in range(m.nsolvertree)}
    return {b: {a for a in lower if six[a]} for b, lower in near.items() if six[b]}


def test_it_is_exact_without_fill_in():
    """Each tree coupled with one higher one at most: the square of the first residual is gᵀ H⁻¹ g."""
    _, m, d = prepared()
    higher = {a: b for b, lower in neighbours(m, d).items() for a in lower}
    H = with_blocks(m, d, lambda b, a: 0.3 if higher[a] == b else 0.0)
    FACTOR(m, d)
    g = np.random.default_rng(0).normal(size=m.nv)
    d.solve_gradient[:] = g
    assert DIRECTION(m, d, 0.5) == pytest.approx(g @ np.linalg.solve(H, g), rel=1e-12)
    np.testing.assert_allclose(d.solve_search, -np.linalg.solve(H, g), rtol=0, atol=1e-12)


def test_where_elimination_would_lose_definiteness():
    """Three trees that all touch, coupled by 0.9: 1 - 0.81 - 0.81/0.19 < 0, though the matrix is positive definite."""
    _, m, d = prepared()
    near = neighbours(m, d)
    trio = next((a, b, c) for c in near for b in near[c] for a in near[c] & near[b])
    H = with_blocks(m, d, lambda b, a: 0.9 if {a, b} < set(trio) else 0.0)
    assert np.linalg.eigvalsh(H)[0] > 0.09
    FACTOR(m, d)
    highest = m.tree_blockadr[trio[2]]
    assert d.tree_factor[highest] == 1.0  # D̂ = D
    assert np.trace(d.tree_rest[highest : highest + 36].reshape(6, 6)) == -6.0
    assert LARGEST > 1.0 / 0.19  # the one below is kept
    assert d.tree_factor[m.tree_blockadr[trio[1]]] == pytest.approx(0.19**-0.5)
    assert_direction(m, d, H)


def test_a_direction_that_is_not_reached_is_said(monkeypatch):
    """Two iterations do not bring the residual of a heap down by 1e-6, as many as there are freedoms do."""
    _, m, d = prepared()
    FACTOR(m, d)
    short = []
    for most in (2, m.nv):
        monkeypatch.setattr(block_cg, "MOST", most)
        d.solve_gradient[:] = np.random.default_rng(0).normal(size=m.nv)
        square = interpret(begin_direction)(m, d, 0)
        short.append(bool(interpret(iterate_direction)(m, d, 0, True, square, 1e-12 * square)))
    assert short == [True, False]
