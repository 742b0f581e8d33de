"""The backward pass and its quadratic programmes.

References: the recursion written with NumPy (Tassa, Mansard & Todorov 2014, equations 5 to 11) for problems without
bounds, and of quadratic programmes all active sets, of which one meets the conditions of Karush, Kuhn and Tucker.
"""

import itertools

import numpy as np
import pytest

from saltus.control.trajectory.backward_pass import BackwardPass, Expansion
from saltus.control.trajectory.box_minimum import box_minimum
from saltus.number.kernels import entry


@entry(structs=(), name="test_box_minimum")
def compiled(H, g, low, high, x, free, L, work):
    return box_minimum(H, g, low, high, x, free, L, work)


def minimum(H, g, low, high):
    """Minimum, free components and whether there is one, by the kernel."""
    n = len(g)
    x, free, L = np.empty(n), np.empty(n, bool), np.empty((n, n))
    found = compiled(H, g, low, high, x, free, L, (np.empty(n), np.empty((n, 1)), np.empty(n)))
    return x, free, found


def by_active_sets(H, g, low, high):
    """The minimum, by trying which components are at which bound."""
    for sides in itertools.product((0, 1, 2), repeat=len(g)):
        held, free = np.array(sides) > 0, np.array(sides) == 0
        x = np.where(np.array(sides) == 1, low, high)
        x[free] = np.linalg.solve(H[np.ix_(free, free)], -g[free] - H[np.ix_(free, held)] @ x[held])
        slope = H @ x + g
        inside = (x >= low - 1e-12).all() and (x <= high + 1e-12).all()
        if inside and (slope[np.array(sides) == 1] >= 0).all() and (slope[np.array(sides) == 2] <= 0).all():
            return x, free
    raise AssertionError("a convex problem has a minimum")


@pytest.mark.parametrize("seed", range(20))
def test_minimum_within_bounds(seed):
    random, n = np.random.default_rng(seed), 4
    root = random.normal(size=(n, n))
    H, g = root @ root.T + 0.1 * np.eye(n), random.normal(size=n)
    low, high = -random.uniform(0, 1, n), random.uniform(0, 1, n)
    x, free, found = minimum(H, g, low, high)
    expected, inside = by_active_sets(H, g, low, high)
    assert found
    np.testing.assert_allclose(x, expected, atol=1e-9)  # slopes of 1e-10, times 1 / 0.1
    np.testing.assert_array_equal(free, inside)


def test_no_minimum():
    """A Hessian that is not positive definite has none, unless the bounds hold the component."""
    H, g = np.diag([1.0, -1.0]), np.array([0.3, 0.2])
    assert not minimum(H, g, -np.ones(2) * 9, np.zeros(2) + 9)[2]
    x, free, found = minimum(H, g, np.array([-9.0, 0.0]), np.array([9.0, 9.0]))
    assert found and free.tolist() == [True, False]
    np.testing.assert_allclose(x, [-0.3, 0.0], atol=1e-12)


def problem(seed, T=8, n=5, nu=3):
    random = np.random.default_rng(seed)
    A, B = np.eye(n) + 0.1 * random.normal(size=(T, n, n)), random.normal(size=(T, n, nu))
    root = random.normal(size=(T + 1, n + nu, n + nu))
    curves = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(n + nu)
    return Expansion(A, B, random.normal(size=(T + 1, n + nu)), curves)


def recursion(e, damping):
    """k, K and the decrease expected, without bounds."""
    T, n, nu = e.B.shape
    k, K, first, second = np.zeros((T, nu)), np.zeros((T, nu, n)), 0.0, 0.0
    Vx, Vxx = e.slopes[T, :n], e.curves[T, :n, :n]
    for t in reversed(range(T)):
        F = np.hstack([e.A[t], e.B[t]])
        q, Q = e.slopes[t] + F.T @ Vx, e.curves[t] + F.T @ Vxx @ F
        H = Q[n:, n:] + damping * e.B[t].T @ e.B[t]
        k[t] = -np.linalg.solve(H, q[n:])
        K[t] = -np.linalg.solve(H, Q[n:, :n] + damping * e.B[t].T @ e.A[t])
        first, second = first + k[t] @ q[n:], second + 0.5 * k[t] @ Q[n:, n:] @ k[t]
        G = np.vstack([np.eye(n), K[t]])
        shift = np.concatenate([np.zeros(n), k[t]])
        Vx, Vxx = G.T @ (q + Q @ shift), G.T @ Q @ G
    return k, K, first, second


@pytest.mark.parametrize("damping", (0.0, 0.7))
def test_without_bounds_it_is_the_recursion(damping):
    e = problem(3)
    T, n, nu = e.B.shape
    wide = np.full((T, nu), np.inf)
    found = BackwardPass(T, n, nu)(e, -wide, wide, damping)
    assert found is not None
    for got, expected in zip(found, recursion(e, damping), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-11)


def test_within_bounds():
    """Controls stay within them, and have no feedback where a bound holds them."""
    e = problem(4)
    T, n, nu = e.B.shape
    narrow = np.full((T, nu), 0.05)
    found = BackwardPass(T, n, nu)(e, -narrow, narrow, 1e-6)
    assert found is not None
    held = abs(found.k) == 0.05
    assert (abs(found.k) <= 0.05).all() and 0 < held.sum() < held.size
    assert (found.K[held] == 0).all() and (found.K[~held] != 0).all()
    assert found.dV1 + found.dV2 < 0


def test_no_policy_without_a_minimum():
    e = problem(5)
    T, n, nu = e.B.shape
    e.curves[2] -= 1e4 * np.eye(n + nu)
    wide = np.full((T, nu), np.inf)
    assert BackwardPass(T, n, nu)(e, -wide, wide, 1e-6) is None
