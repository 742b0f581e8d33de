"""The shortest least-squares solution of square systems of any rank.

Reference: NumPy's singular values (`lstsq`). The tolerance is rounding, 2e-16, times the condition of what counts (at
most about 1e4 for these matrices) and the size of the result.
"""

import numpy as np
import pytest

from saltus.model.fields.constraint.cone import PROBLEM, cone_sizes
from saltus.number.kernels import Entry
from saltus.number.structs import Struct
from saltus.solve.cone.minimum_norm import minimum_norm

SOLVE = Entry(
    "minimum_norm",
    "",
    "return minimum_norm(p, p.hard_count[1], p.hard_W, p.hard_q, p.hard_r)",
    short=("p",),
    minimum_norm=minimum_norm,
)


def solve(A, b):
    p = Struct(PROBLEM, cone_sizes(1, len(b)))
    p.hard_count[:] = 0, len(b)
    p.hard_W[:], p.hard_q[:] = A.ravel(), b
    rank, missed = SOLVE(p)
    assert np.array_equal(p.hard_W, A.ravel()) and np.array_equal(p.hard_q, b)
    return p.hard_r.copy(), rank, missed


@pytest.mark.parametrize("n", [1, 2, 3, 6, 17, 60])
def test_all_ranks(n):
    rng = np.random.default_rng(n)
    for rank in sorted({0, 1, n // 2, n - 1, n}):
        A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
        b = rng.normal(size=n)
        x, found, missed = solve(A, b)
        expected = np.linalg.lstsq(A, b, rcond=1e-11)[0]
        assert found == rank
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-11 * (1 + abs(expected).max()))
        assert missed == pytest.approx(np.linalg.norm(A @ expected - b), abs=1e-10)


def test_symmetric_with_a_right_side_in_its_range_is_met():
    rng = np.random.default_rng(0)
    J = rng.normal(size=(12, 6))
    x, rank, missed = solve(J @ J.T, J @ rng.normal(size=6))
    null = np.linalg.svd(J.T)[2][6:]
    assert rank == 6
    assert missed < 1e-13
    assert abs(null @ x).max() < 1e-13  # nothing that does nothing


def test_what_is_small_but_clear_counts():
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    A = Q * [1.0, 1e-3, 1e-6, 1e-9, 0.0] @ Q.T
    x, rank, _ = solve(A, A @ np.ones(5))
    assert rank == 4
    # errors of A of 1e-16, over 1e-9
    np.testing.assert_allclose(x, Q[:, :4] @ (Q[:, :4].T @ np.ones(5)), atol=1e-6)


def test_rank_does_not_depend_on_the_unit():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(6, 4)) @ rng.normal(size=(4, 6))
    b = rng.normal(size=6)
    x, rank, _ = solve(A, b)
    for unit in (1e-12, 1e12):
        scaled, same, _ = solve(unit * A, b)
        assert same == rank == 4
        np.testing.assert_allclose(unit * scaled, x, rtol=1e-11)


def test_systems_that_nothing_couples_are_solved_by_themselves():
    """Redundant supports of a light body beside those of a heavy one, in turn: each has its own rank."""
    rng = np.random.default_rng(3)
    places = rng.permutation(15)
    A, b, expected, first = np.zeros((15, 15)), np.zeros(15), np.zeros(15), 0
    for unit in (1.0, 1e-14, 1e14):
        J, at = rng.normal(size=(5, 3)), places[first : first + 5]
        A[np.ix_(at, at)] = unit * J @ J.T
        b[at] = unit * J @ rng.normal(size=3)
        expected[at] = np.linalg.lstsq(J @ J.T, b[at] / unit, rcond=1e-11)[0]
        first += 5
    x, rank, _ = solve(A, b)
    assert rank == 9
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-11 * abs(expected).max())
