"""Torsional and rolling friction in contact problems: PRESSED blocks.

References: closed forms of one contact, and the law itself, written independently below. The tolerance of the law is
the solver's, 1e-10; closed forms are met to rounding.
"""

import numpy as np
import pytest
from helpers.cones import cone_problem, violation
from helpers.plain_python import fields, plain, plain_python

from saltus.model.fields.constraint.cone import COULOMB, PRESSED, UNILATERAL
from saltus.number.kernels import Entry
from saltus.solve.cone import newton, pressed, residual
from saltus.solve.cone.problem import solve_cones

SOLVE = Entry("solve_cones", "tolerance", "return solve_cones(p, tolerance)", short=("p",), solve_cones=solve_cones)
TOLERANCE = 1e-10
CONTACT = ([COULOMB, PRESSED, PRESSED], [3, 1, 2], [0, 1, 2])  # kinds, rows and parents of a contact that rolls


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def solved(W, q, mu, kinds, dims, parents):
    p = cone_problem(W, q, mu, kinds, dims, parents=parents)
    assert SOLVE(p, TOLERANCE) <= TOLERANCE
    assert p.hard_iterations[0] <= 12 * len(kinds)  # Newton's method with its exact Jacobian, without restarts
    return p.hard_r.copy(), p.hard_u.copy()


def turning_violation(W, q, mu, r, normal, rows):
    """Largest violation of |r| ≤ μ r_N and of |u| r against -μ r_N u, in the units of `helpers.cones.violation`."""
    u = (W @ r + q)[rows] / abs(q).max()
    size = max(abs(r).max(), 1e-300)
    push, force = mu * r[normal] / size, r[rows] / size
    opposed = np.linalg.norm(u) * force + push * u
    return max(np.linalg.norm(force) - push, abs(opposed).max(), 0.0)


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    ("q", "force", "u"),
    [
        ([2.0, 0, 0, 5, 3, 4], [0, 0, 0, 0, 0, 0], [2, 0, 0, 5, 3, 4]),  # it leaves
        ([-10.0, 0, 0, 0.5, 0.6, -0.8], [10, 0, 0, -0.5, -0.6, 0.8], [0, 0, 0, 0, 0, 0]),  # nothing turns
        ([-10.0, 0, 0, -5, 0.6, 0.8], [10, 0, 0, 1, -0.6, -0.8], [0, 0, 0, -4, 0, 0]),  # spins: 1 of at most 1
        ([-10.0, 6, -8, 0.5, 6, 8], [10, -3.6, 4.8, -0.5, -1.2, -1.6], [0, 2.4, -3.2, 0, 4.8, 6.4]),  # slides, rolls
    ],
)
def test_a_point_that_turns(mass, q, force, u):
    r, velocity = solved(np.eye(6) / mass, q, [0.6, 0.1, 0.2], *CONTACT)
    np.testing.assert_allclose(r, mass * np.array(force), atol=1e-13 * mass)
    np.testing.assert_allclose(velocity, u, atol=1e-13)


def test_torsion_under_a_contact_that_slides_already():
    """A slipping contact is one row along the normal, which bounds its torsional friction, too."""
    W, q = np.array([[1.0, 0.3], [0.3, 2.0]]), [-3.0, 1.0]
    r, u = solved(W, q, [0.0, 0.1], [UNILATERAL, PRESSED], [1, 1], [0, 1])
    normal = 3.0 / (1.0 - 0.3 * 0.1)  # u_N = 0 with r = -μ r_N
    np.testing.assert_allclose(r, [normal, -0.1 * normal], rtol=1e-13)
    np.testing.assert_allclose(u, [0.0, 1.0 + (0.3 - 0.2) * normal], atol=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_the_law_of_random_contacts(seed):
    """Contacts with all parts of friction, coupled by random Jacobians, some without torsion, in random islands."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 4))
    dofs = int(rng.integers(6, 6 * count + 4))
    J = 0.5 * rng.normal(size=(6 * count, dofs))
    J[::6, 0] = abs(J[::6, 0]) + 0.5
    for k in range(1, 6):
        J[k::6, 0] = 0.0  # the first velocity opens all contacts, so that there is a solution
    v = rng.normal(size=dofs)
    v[0] -= 3.0
    W, q = J @ J.T, J @ v
    mu = np.array([rng.choice([0.1, 0.5]), rng.choice([0.01, 0.2]), rng.choice([0.01, 0.3])] * count)
    kinds, dims, parents = (list(part) * count for part in CONTACT)
    r, _ = solved(W, q, mu, kinds, dims, parents)
    sliding = np.concatenate([np.arange(6 * k, 6 * k + 3) for k in range(count)])
    rest = q + W @ np.where(np.isin(np.arange(len(q)), sliding), 0.0, r)
    assert violation(W[np.ix_(sliding, sliding)], rest[sliding], mu[::3], r[sliding]) < 1e-8
    for k in range(count):
        assert turning_violation(W, q, mu[3 * k + 1], r, 6 * k, [6 * k + 3]) < 1e-8
        assert turning_violation(W, q, mu[3 * k + 2], r, 6 * k, [6 * k + 4, 6 * k + 5]) < 1e-8


def test_torsion_of_a_ball_is_in_the_island_of_its_contact():
    """W does not couple the normal of a sphere with its spin: the limit does."""
    W = np.diag([1.0, 3.5, 3.5, 250.0, 250.0, 250.0, 1.0, 3.5, 3.5, 250.0, 250.0, 250.0])
    q = np.array([-1.0, 0, 0, 5, 0, 0, -2.0, 0, 0, 5, 0, 0])
    r, _ = solved(W, q, [0.5, 0.01, 0.0] * 2, *(list(part) * 2 for part in CONTACT))
    np.testing.assert_allclose(r, [1, 0, 0, -0.01, 0, 0, 2, 0, 0, -0.02, 0, 0], atol=1e-14)


@pytest.mark.parametrize("normal", [0.05, 0.6, 3.0])
@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_derivatives_are_those_of_values(normal, size):
    """Differences of Alart and Curnier's values, of contacts that hold, slip and turn under small forces, too."""
    rng, rows = np.random.default_rng(int(100 * normal)), 6
    J = rng.normal(size=(rows, 8))
    A, z = J @ J.T / 8, size * rng.normal(size=rows)
    p = cone_problem(A, np.zeros(rows), [0.5, 0.3, 0.4], *CONTACT[:2], parents=CONTACT[2])
    view, z[0], p.hard_bound[1:3] = fields(p), normal, (0.3, 0.4)
    p.hard_A[:], p.hard_b[:], p.hard_z[:] = A.ravel(), 0.1 * size * rng.normal(size=rows) - A @ z, z
    plain(newton.parameters)(view)
    plain(residual.velocity)(view)

    def value(change):
        p.hard_z[:] = z + change
        plain(residual.velocity)(view)
        plain(newton.alart_curnier)(view, 0.0)
        return p.hard_F.copy()

    h = 1e-7 * size
    wanted = np.transpose([(value(h * e) - value(-h * e)) / (2 * h) for e in np.eye(rows)])
    value(0.0)
    plain(newton.jacobian)(view)
    np.testing.assert_allclose(np.reshape(p.hard_J, (rows, rows)), wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("normal", [-1.0, 0.0, 2.0])
@pytest.mark.parametrize("block", [1, 2])
def test_a_projected_step(block, normal):
    """z - (A z + b)/Σ A_ii projected on |z| ≤ μ z_N, with all other forces held."""
    rng = np.random.default_rng(7)
    J, z, b = rng.normal(size=(6, 9)), rng.normal(size=6), rng.normal(size=6)
    A, z[0], bound = J @ J.T, normal, 0.2
    p = cone_problem(A, np.zeros(6), [0.5, 0.3, 0.4], *CONTACT[:2], parents=CONTACT[2])
    p.hard_A[:], p.hard_b[:], p.hard_z[:], p.hard_bound[block] = A.ravel(), b, z, bound
    rows = {1: [3], 2: [4, 5]}[block]
    plain(pressed.pressed_sweep)(fields(p), block, rows[0])
    wanted = z.copy()
    stepped = z[rows] - (A @ z + b)[rows] / A[rows, rows].sum()
    length, radius = np.linalg.norm(stepped), bound * max(normal, 0.0)
    wanted[rows] = stepped if length <= radius else radius / length * stepped
    np.testing.assert_allclose(p.hard_z, wanted, rtol=1e-13, atol=1e-15)
    # rows that nothing moves keep their forces
    p.hard_A[:], p.hard_z[:] = 0.0, z
    plain(pressed.pressed_sweep)(fields(p), block, rows[0])
    np.testing.assert_array_equal(p.hard_z, z)
