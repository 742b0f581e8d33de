"""One contact solved by its cases, and sweeps over several.

Reference: Coulomb's law written independently (`helpers.cones`). One contact is solved to what bisection leaves of the
direction, 1e-13, and to what keeps singular blocks finite, 1e-12 over the least eigenvalue of W; sweeps contract.
"""

import numpy as np
import pytest
from helpers.cones import cone_problem, violation

from saltus.number.kernels import Entry
from saltus.solve.cone.gauss_seidel import gauss_seidel

SWEEP = Entry("gauss_seidel", "sweeps", "gauss_seidel(p, sweeps)", short=("p",), gauss_seidel=gauss_seidel)


def swept(W, q, mu, sweeps):
    p = cone_problem(W, q, mu)
    p.hard_A[:], p.hard_b[:] = p.hard_W, p.hard_q
    SWEEP(p, sweeps)
    return p.hard_z.copy()


def test_one_contact_at_once():
    rng = np.random.default_rng(0)
    slid = 0
    for _ in range(500):
        J = rng.normal(size=(3, 5))
        W, q, mu = J @ J.T / 5, rng.normal(size=3), rng.choice([0.0, 0.2, 0.6])
        q[0] -= 0.5
        r = swept(W, q, [mu], 1)
        assert violation(W, q, [mu], r) < 1e-9
        slid += np.linalg.norm((W @ r + q)[1:]) > 1e-6 and r[0] > 0
    assert slid > 100


@pytest.mark.parametrize("still", [1, 2])
def test_a_planar_contact(still):
    """Nothing moves along one of the tangents."""
    W, order = np.array([[1.0, 0.3, 0], [0.3, 1.0, 0], [0, 0, 0]]), [0, 3 - still, still]
    for q in ([-1, 2.0, 0], [-1, -2.0, 0], [-1, 0.2, 0], [-1, 0, 0], [1, 1, 0]):
        turned, given = W[np.ix_(order, order)], np.array(q)[order]
        r = swept(turned, given, [0.5], 1)
        assert violation(turned, given, [0.5], r) < 1e-10
        assert abs(r[still]) < 1e-10


def test_sweeps_come_closer():
    rng = np.random.default_rng(1)
    J = rng.normal(size=(12, 30)) / np.sqrt(30)
    W, q, mu = J @ J.T, rng.normal(size=12) - np.tile([1.0, 0, 0], 4), [0.3] * 4
    left = [violation(W, q, mu, swept(W, q, mu, sweeps)) for sweeps in (1, 5, 20, 80)]
    assert left[1] < 0.3 * left[0]
    assert left[2] < 0.1 * left[1]
    assert left[3] < 1e-9
