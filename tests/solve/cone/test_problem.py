"""Contact problems with all kinds of blocks together.

References: closed forms of one and two contacts; Coulomb's law written independently (`helpers.cones`); the least
forces by SciPy's SLSQP. The tolerance of the law is the solver's, 1e-10; closed forms are met to rounding.
"""

import numpy as np
import pytest
from helpers.cones import cone_problem, point_velocity, random_mechanism, stacked_boxes, violation
from scipy.optimize import minimize

from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED, COULOMB, UNILATERAL
from saltus.number.kernels import Entry
from saltus.solve.cone.problem import solve_cones

SOLVE = Entry("solve_cones", "tolerance", "return solve_cones(p, tolerance)", short=("p",), solve_cones=solve_cones)
TOLERANCE = 1e-10


def solved(*arguments, **options):
    p = cone_problem(*arguments, **options)
    residual, size = SOLVE(p, TOLERANCE), 1e-300 + abs(p.hard_q).max()
    assert residual <= TOLERANCE
    np.testing.assert_allclose(p.hard_u, p.hard_W.reshape(len(p.hard_q), -1) @ p.hard_r + p.hard_q, atol=1e-12 * size)
    return p.hard_r.copy(), p.hard_u.copy()


# ---------------------------------------------------------------- one contact


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    ("q", "force", "u"),
    [
        ([2.0, 1.0, -3.0], [0, 0, 0], [2, 1, -3]),  # it leaves
        ([-10.0, 3.0, -4.0], [10, -3, 4], [0, 0, 0]),  # sticks: 5 of at most 6
        ([-10.0, 6.0, -8.0], [10, -3.6, 4.8], [0, 2.4, -3.2]),  # slides: 10 of at most 6
        ([-10.0, 0.0, 6.0], [10, 0, -6], [0, 0, 0]),  # at the boundary
    ],
)
def test_a_point_mass(mass, q, force, u):
    r, velocity = solved(np.eye(3) / mass, q, [0.6])
    np.testing.assert_allclose(r, mass * np.array(force), atol=1e-14 * mass * 10)
    np.testing.assert_allclose(velocity, u, atol=1e-14 * 10)


@pytest.mark.parametrize("angle", [0.1, 0.46, 0.47, 1.2])
def test_a_block_on_a_slope_sticks_below_the_friction_angle(angle):
    g, mu = 9.81, 0.5  # the friction angle is 0.4636
    r, u = solved(np.eye(3) / 2.0, [-g * np.cos(angle), g * np.sin(angle), 0.0], [mu])
    acceleration = max(0.0, g * (np.sin(angle) - mu * np.cos(angle)))
    np.testing.assert_allclose(u, [0, acceleration, 0], atol=1e-14)
    np.testing.assert_allclose(r[:2], [2 * g * np.cos(angle), 2 * (acceleration - g * np.sin(angle))], rtol=1e-14)


def test_a_planar_rod_slides_as_in_closed_form():
    """A rod's end at 45°: u_N = 0 and r_T = -μ r_N decide, W couples normal and tangent."""
    J = np.array([[0, 1, -np.cos(np.pi / 4)], [1, 0, np.sin(np.pi / 4)], [0, 0, 0]])
    W, q, mu = J * [1, 1, 3] @ J.T, np.array([-9.81, 30.0, 0.0]), 0.3
    r, u = solved(W, q, [mu])
    normal = 9.81 / (W[0, 0] - mu * W[0, 1])
    np.testing.assert_allclose(r, [normal, -mu * normal, 0], rtol=1e-13)
    assert u[1] > 0
    assert u[2] == 0


def test_all_that_is_no_friction():
    # y = 2 r1 + r2 - 1, r1 + 2 r2 + 5: the first row is at its bound, the second too
    r, u = solved([[2, 1], [1, 2]], [-1, 5], [0.3, 0.7], kinds=[BOUNDED, BOUNDED])
    np.testing.assert_allclose(r, [0.3, -0.7], rtol=1e-14)
    np.testing.assert_allclose(u, [-1.1, 3.9], rtol=1e-14)
    # a joint held by two rows and pressed on a stop by a motor's friction
    W = np.array([[2.0, 0.5, 0.3, 0.1], [0.5, 1.0, 0.2, 0.0], [0.3, 0.2, 1.5, 0.4], [0.1, 0.0, 0.4, 1.0]])
    r, u = solved(W, [1, -2, -3, 0.2], [0, 0, 1], kinds=[BILATERAL, UNILATERAL, BOUNDED], dims=[2, 1, 1])
    np.testing.assert_allclose(r, -np.linalg.solve(W, [1, -2, -3, 0.2]), rtol=1e-13)
    np.testing.assert_allclose(u, 0, atol=1e-14)


# ---------------------------------------------------------------- many solutions


def test_a_table_with_more_legs_than_it_needs():
    """Two rods side by side under one weight carry half each; normals only and with friction."""
    r, _ = solved(np.ones((2, 2)), [-1, -1], [0, 0], kinds=[UNILATERAL, UNILATERAL], r=[1.0, 0.0])
    np.testing.assert_allclose(r, [0.5, 0.5], rtol=1e-14)
    W = np.kron(np.ones((2, 2)), np.eye(3))
    r, _ = solved(W, [-10, 2, 0, -10, 2, 0], [0.5, 0.5])
    np.testing.assert_allclose(r, [5, -1, 0, 5, -1, 0], rtol=1e-13)
    # sliding, from forces that already solve it
    r, u = solved(W, [-10, 8, 0, -10, 8, 0], [0.5, 0.5], r=[10.0, -5, 0, 0, 0, 0])
    np.testing.assert_allclose(r, [5, -2.5, 0, 5, -2.5, 0], rtol=1e-13)
    np.testing.assert_allclose(u, [0, 3, 0, 0, 3, 0], atol=1e-13)


def test_least_forces_inside_their_cones():
    """A cube on a slope: the downhill corners carry more, and friction not more than μ of each corner's load."""
    J = cube_jacobian()
    inverse = np.array([1, 1, 1, 6, 6, 6.0])
    slope, mu = 0.3, 0.32
    W, q = J * inverse @ J.T, J @ (9.81 * np.array([np.sin(slope), 0, -np.cos(slope), 0, 0, 0]))
    r, u = solved(W, q, [mu] * 4)
    np.testing.assert_allclose(u, 0, atol=1e-13)
    assert violation(W, q, [mu] * 4, r) < 1e-12
    cones = {"type": "ineq", "fun": lambda x: (mu * x[::3]) ** 2 - x[1::3] ** 2 - x[2::3] ** 2}
    pushes = {"type": "ineq", "fun": lambda x: x[::3]}
    same = {"type": "eq", "fun": lambda x: J.T @ (x - r)}
    least = minimize(lambda x: 0.5 * x @ x, r, jac=lambda x: x, constraints=[cones, pushes, same], tol=1e-14)
    free = np.linalg.pinv(J.T) @ (J.T @ r)
    assert np.linalg.norm(free[1:3]) > mu * free[0] or np.linalg.norm(free[7:9]) > mu * free[6]  # the cones matter
    assert least.success
    np.testing.assert_allclose(r, least.x, atol=1e-6)  # SLSQP's


def cube_jacobian():
    return np.vstack([point_velocity(np.array([x, y, -1]) / 2) for x in (-1, 1) for y in (-1, 1)])


# ---------------------------------------------------------------- any problem


@pytest.mark.parametrize("seed", range(8))
def test_random_mechanisms(seed):
    rng = np.random.default_rng(seed)
    problems = [random_mechanism(rng, rng.integers(1, 12)) for _ in range(40)]
    problems += [stacked_boxes(rng, rng.integers(1, 4)) for _ in range(15)]
    for W, q, mu in problems:
        r, _ = solved(W, q, mu)
        assert violation(W, q, mu, r) < 1e-9  # forces and velocities in other units than the residual's


def test_newton_alone_solves_nearly_all():
    """Sweeps and proximal steps are for the rest: they take more than the 60 iterations of the first attempt."""
    rng = np.random.default_rng(11)
    problems = [cone_problem(*random_mechanism(rng, rng.integers(1, 8))) for _ in range(100)]
    for p in problems:
        SOLVE(p, TOLERANCE)
    counts = np.array([p.hard_iterations[0] for p in problems])
    assert np.median(counts) <= 7
    assert np.mean(counts > 60) <= 0.02


def test_sliding_contacts_by_their_normals_alone():
    """One row a contact, its friction opposite to a given direction: W is not symmetric, of any rank."""
    rng = np.random.default_rng(12)
    for _ in range(200):
        n, mu = rng.integers(1, 8), rng.choice([0.05, 0.2, 0.5])
        dofs = rng.integers(max(2, n // 2), 3 * n + 3)
        normal, tangent = rng.normal(size=(2, n, dofs))
        normal[:, 0], tangent[:, 0] = abs(normal[:, 0]) + 0.5, 0.0  # a motion opens all
        v = rng.normal(size=dofs)
        v[0] -= 2.0
        r, u = solved(normal @ (normal - mu * tangent).T, normal @ v, [0.0] * n, kinds=[UNILATERAL] * n)
        assert r.min() >= -1e-9 * abs(r).max()
        assert u.min() >= -1e-9 * abs(normal @ v).max()
        assert abs(r * u).max() <= 1e-9 * abs(r).max() * abs(normal @ v).max()


def test_all_kinds_together():
    rng = np.random.default_rng(13)
    for _ in range(200):
        kinds = rng.permutation([BILATERAL, UNILATERAL, COULOMB, BOUNDED])
        first = np.cumsum([0] + [3 if kind == COULOMB else 1 for kind in kinds])
        J, v = rng.normal(size=(6, rng.integers(4, 10))), rng.normal(size=9)
        J[:, 0] = np.isin(np.arange(6), first[:-1][np.isin(kinds, [UNILATERAL, COULOMB])])
        q = J @ v[: J.shape[1]]
        r, u = solved(J @ J.T, q, [0.4] * 4, kinds=kinds)
        at = {kind: slice(first[k], first[k + 1]) for k, kind in enumerate(kinds)}
        small = 1e-9 * max(abs(q).max(), abs(r).max())
        assert abs(u[at[BILATERAL]]).max() < small
        assert abs(np.minimum(r, u)[at[UNILATERAL]]).max() < small
        bounded = at[BOUNDED]
        assert abs(r - np.clip(r - u, -0.4, 0.4))[bounded].max() < small
        n, t1, t2 = range(6)[at[COULOMB]]
        slip = np.hypot(u[t1], u[t2])
        assert abs(min(r[n], u[n])) < small
        assert np.hypot(r[t1], r[t2]) <= 0.4 * r[n] + small
        assert np.hypot(slip * r[t1] + 0.4 * r[n] * u[t1], slip * r[t2] + 0.4 * r[n] * u[t2]) < small * (1 + slip)


def test_neither_mass_nor_size_changes_anything():
    rng = np.random.default_rng(3)
    W, q, mu = stacked_boxes(rng, 2)
    r, u = solved(W, q, mu)
    for mass, size in ((1e-8, 1e5), (1e9, 1e-7)):
        scaled, velocity = solved(W / mass, size * q, mu)
        np.testing.assert_allclose(scaled / (mass * size), r, atol=1e-10 * abs(r).max())
        np.testing.assert_allclose(velocity / size, u, atol=1e-10 * abs(u).max())


def test_a_solution_is_its_own_warm_start():
    rng = np.random.default_rng(4)
    W, q, mu = stacked_boxes(rng, 2)
    r, _ = solved(W, q, mu)
    again, _ = solved(W, q, mu, r=r)
    np.testing.assert_allclose(again, r, atol=1e-12 * abs(r).max())


# ---------------------------------------------------------------- no solution


@pytest.mark.parametrize(("W", "q"), [(-1.0, -1.0), (0.0, -1.0), (-1e-3, -9.81)])
def test_no_solution_has_a_residual_that_says_so(W, q):
    """A sliding contact whose force pulls it in (Painlevé): W_NN - μ W_NT ≤ 0 and q_N < 0."""
    p = cone_problem([[W]], [q], [0], kinds=[UNILATERAL])
    residual = SOLVE(p, TOLERANCE)
    assert 0.1 < residual < np.inf
    assert np.isfinite(p.hard_r).all()


def test_an_undecided_contact_may_stay_open():
    r, u = solved([[-1.0]], [1.0], [0], kinds=[UNILATERAL])
    np.testing.assert_array_equal([r, u], [[0.0], [1.0]])


def test_opposite_walls_that_both_push():
    """Two contacts of one mass, each of which the other's force opens: no forces stop both."""
    p = cone_problem([[1, -1], [-1, 1]], [-1, -1], [0, 0], kinds=[UNILATERAL, UNILATERAL])
    assert SOLVE(p, TOLERANCE) > 0.1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_data_that_are_not_finite(bad):
    for W, q in (([[bad]], [-1.0]), ([[1.0]], [bad])):
        p = cone_problem(W, q, [0], kinds=[UNILATERAL])
        assert SOLVE(p, TOLERANCE) == np.inf
        assert p.hard_r[0] == 0


def test_nothing_to_do():
    p = cone_problem(np.zeros((0, 0)), [], [])
    assert SOLVE(p, TOLERANCE) == 0
    r, _ = solved(np.eye(3), np.zeros(3), [0.5], kinds=[COULOMB], r=[1.0, 0, 0])
    np.testing.assert_array_equal(r, 0)


@pytest.mark.parametrize(("seed", "more"), [(75, 1), (2704, 13), (1593, 77), (2521, 81), (2728, 107)])
def test_what_newton_leaves_is_solved_after_sweeps_or_by_proximal_steps(seed, more):
    """Small problems found among some thousands: after its 60 iterations Newton's method takes as many more or fewer.

    Proximal steps take tens. Numbers of iterations follow from rounding, too, so that twice as many may do.
    """
    rng = np.random.default_rng(seed)
    W, q, mu = random_mechanism(rng, int(rng.integers(1, 5)))
    p = cone_problem(W, q, mu)
    assert SOLVE(p, TOLERANCE) <= TOLERANCE
    assert violation(W, q, mu, p.hard_r) < 1e-9
    assert 60 < p.hard_iterations[0] <= 60 + 2 * max(more, 30)
