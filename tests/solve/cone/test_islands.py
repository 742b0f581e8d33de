"""Contact problems of several islands are solved island by island.

References: each island by itself, and closed forms. The tolerance is that of the law, 1e-10 of the largest q; what
closed forms give is met to rounding.
"""

import numpy as np
from helpers.cones import cone_problem, random_mechanism, violation

from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED, COULOMB, UNILATERAL
from saltus.number.kernels import Entry
from saltus.solve.cone.problem import solve_cones

SOLVE = Entry("solve_cones", "tolerance", "return solve_cones(p, tolerance)", short=("p",), solve_cones=solve_cones)
TOLERANCE = 1e-10


def solved(*arguments, **options):
    p = cone_problem(*arguments, **options)
    assert SOLVE(p, TOLERANCE) <= TOLERANCE
    return p


def test_tables_and_points_in_turn_are_as_in_closed_form():
    """Two tables of two legs each, a sliding point, one that leaves, a held row and dry friction, all interleaved."""
    kinds = [UNILATERAL, COULOMB, UNILATERAL, BILATERAL, UNILATERAL, COULOMB, BOUNDED, UNILATERAL]
    dims, mu = [1, 3, 1, 1, 1, 3, 1, 1], [0, 0.6, 0, 0, 0, 0.5, 0.3, 0]
    W, q = np.zeros((12, 12)), np.zeros(12)
    for rows, mass, weight in (([0, 4], 2.0, 10.0), ([6, 11], 5.0, 8.0)):  # a table: half its weight each leg
        W[np.ix_(rows, rows)] = 1 / mass
        q[rows] = -weight
    W[range(1, 4), range(1, 4)], q[1:4] = 1 / 3.0, [-10.0, 6.0, -8.0]  # slides: 18 N of 30 N
    W[5, 5], q[5] = 0.5, 4.0
    W[range(7, 10), range(7, 10)], q[7:10] = 1.0, [2.0, 1.0, -3.0]  # leaves
    W[10, 10], q[10] = 2.0, -1.0  # moves against its 0.3 N
    p = solved(W, q, mu, kinds=kinds, dims=dims)
    np.testing.assert_allclose(p.hard_r, [10, 30, -10.8, 14.4, 10, -8, 20, 0, 0, 0, 0.3, 20], rtol=1e-13)
    np.testing.assert_allclose(p.hard_u, [0, 0, 2.4, -3.2, 0, 0, 0, 2, 1, -3, -0.4, 0], atol=1e-14)
    # the problem is as it was
    assert list(p.hard_kind) == kinds and list(p.hard_dim) == dims and list(p.hard_count) == [8, 12]
    np.testing.assert_array_equal(p.hard_mu, mu)


def test_islands_have_the_forces_that_each_has_alone():
    rng = np.random.default_rng(5)
    parts = [random_mechanism(rng, contacts) for contacts in (3, 1, 4)]
    sizes = [len(free) for _, free, _ in parts]
    W, q = np.zeros((sum(sizes), sum(sizes))), np.zeros(sum(sizes))
    order = np.argsort(rng.random(sum(sizes) // 3))  # contacts of all islands, shuffled
    place = np.empty(sum(sizes), int)
    place[:] = (3 * np.argsort(order)[:, None] + np.arange(3)).ravel()
    first, mus, expected = 0, np.zeros(len(order)), np.zeros(sum(sizes))
    for (own, free, mu), size in zip(parts, sizes, strict=True):
        at = place[first : first + size]
        W[np.ix_(at, at)], q[at], mus[at[::3] // 3] = own, free, mu
        expected[at] = solved(own, free, mu).hard_r
        first += size
    p = solved(W, q, mus)
    np.testing.assert_allclose(p.hard_r, expected, atol=1e-9 * abs(expected).max())
    assert violation(W, q, mus, p.hard_r) <= 1e-9
