"""Least contact forces with given velocities: projections on sets of forces, the dual function and its derivatives.

References: the conditions of a projection on a convex set (Moreau's decomposition: x in K, w - x in the polar cone,
x (w - x) = 0); central differences of the dual; in a statically indeterminate table, forces of least norm by SciPy.
Tolerances: rounding, and 1e-8 of differences with a step of 1e-6 of numbers of order 1.
"""

import numpy as np
import pytest
from helpers.cones import cone_problem
from helpers.plain_python import fields, plain, plain_python
from scipy.optimize import minimize

from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED, COULOMB, UNILATERAL
from saltus.solve.cone import minimum_norm_forces as forces
from saltus.solve.cone import problem

KINDS = [COULOMB, BILATERAL, COULOMB, UNILATERAL, BOUNDED, COULOMB, COULOMB, UNILATERAL, COULOMB, UNILATERAL]
DIMS = [3, 2, 3, 1, 1, 3, 3, 1, 3, 1]
CASES = [forces.SET, forces.SET, forces.RAY, forces.SET, forces.SET, forces.FIXED, forces.RAY, forces.SET]
CASES += [forces.SET, forces.FIXED]
FIRST = np.cumsum([0, *DIMS])[:-1]
ROWS, RANK, BOUND = sum(DIMS), 7, 0.7


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


class Dual:
    """A random dual problem at a random λ."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.mu = np.array([0.5, 0, 0.8, 0, 0, 0.3, 1.2, 0, 0.9, 0])
        self.p = p = cone_problem(np.eye(ROWS), np.zeros(ROWS), self.mu, KINDS, DIMS)
        self.view = fields(p)
        p.hard_case[:] = CASES
        p.hard_bound[4] = BOUND
        p.hard_scale[:] = self.scale = rng.uniform(0.5, 2.0, ROWS)
        p.hard_z[:], p.hard_y[:] = self.z, self.y = rng.normal(size=(2, ROWS))
        self.basis = np.linalg.qr(rng.normal(size=(ROWS, RANK)))[0].T
        p.hard_basis[: RANK * ROWS] = self.basis.ravel()
        self.target, self.start, self.step = rng.normal(size=(3, RANK))
        for name, values in (("target", self.target), ("lambda", self.start), ("step", self.step)):
            getattr(p, f"hard_{name}")[:RANK] = values

    def value(self, t=0.0):
        """The dual, the length of its gradient, and the gradient."""
        value, miss = plain(forces._dual_value)(self.view, RANK, t)
        return value, miss, self.p.hard_F[:RANK].copy()


def project(w, kind, case, mu, slip, bound, fixed):
    """Projection of a block's part of w by the set's definition, and what it leaves out, tested as Moreau's."""
    if case == forces.FIXED:
        return fixed
    if kind == BILATERAL:
        return w
    if kind == UNILATERAL:
        return np.maximum(w, 0.0)
    if kind == BOUNDED:
        return np.clip(w, -bound, bound)
    if case == forces.RAY:
        ray = np.r_[1.0, -mu * slip / np.linalg.norm(slip)]
        return max(w @ ray / (ray @ ray), 0.0) * ray
    # a cone: inside, in the polar cone, or on the generator nearest to w
    across = np.linalg.norm(w[1:])
    if across <= mu * w[0]:
        return w
    ray = np.r_[1.0, mu * w[1:] / across]
    x = max(w @ ray / (ray @ ray), 0.0) * ray
    left = w - x
    assert left[0] + mu * np.linalg.norm(left[1:]) < 1e-12 and abs(x @ left) < 1e-12
    return x


@pytest.mark.parametrize("seed", range(6))
def test_value_and_gradient(seed):
    dual = Dual(seed)
    for t in (0.0, 0.5, 4.0):
        w = dual.basis.T @ (dual.start + t * dual.step)
        x = np.concatenate(
            [
                project(w[i : i + n], kind, case, mu, dual.y[i + 1 : i + 3], BOUND * dual.scale[i], fixed[i : i + n])
                for i, n, kind, case, mu in zip(FIRST, DIMS, KINDS, CASES, dual.mu, strict=True)
                for fixed in [dual.scale * dual.z]
            ]
        )
        wanted = dual.target @ (dual.start + t * dual.step) - w @ w / 2 + (w - x) @ (w - x) / 2
        gradient = dual.target - dual.basis @ x
        value, miss, found = dual.value(t)
        np.testing.assert_allclose(dual.p.hard_best, x, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found, gradient, rtol=1e-12, atol=1e-13)
        assert (value, miss) == pytest.approx((wanted, np.linalg.norm(gradient)), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_derivatives(seed):
    """The gradient is the value's derivative, and -hard_J the gradient's."""
    dual = Dual(seed)
    dual.value()
    plain(forces._dual_hessian)(dual.view, RANK)
    H = dual.p.hard_J[: RANK * RANK].reshape(RANK, RANK).copy()
    for j in range(RANK):
        dual.p.hard_step[:RANK] = np.eye(RANK)[j]
        (up, _, above), (down, _, below) = dual.value(1e-6), dual.value(-1e-6)
        np.testing.assert_allclose(-H[:, j], (above - below) / 2e-6, rtol=0, atol=1e-8)
        assert (up - down) / 2e-6 == pytest.approx(dual.value()[2][j], abs=1e-8)


@pytest.mark.parametrize("mu", [0.25, 1.0])
def test_four_legs_on_a_slope_carry_the_least_forces(mu):
    """A table whose legs stick: SciPy's least norm within the cones, with the same sum and moments of forces."""
    legs = np.array([[x, y, -0.5] for x in (-0.4, 0.6) for y in (-0.3, 0.5)])
    J = np.zeros((12, 6))
    for k, r in enumerate(legs):
        for row, n in enumerate(([0, 0, 1.0], [1.0, 0, 0], [0, 1.0, 0])):
            J[3 * k + row] = np.r_[n, np.cross(r, n)]
    inertia = np.r_[1.0, 1, 1, 0.1, 0.1, 0.1]
    W, pull = (J / inertia) @ J.T, np.array([0.2, 0.0, -1.0, 0.0, 0.0, 0.0])
    p = cone_problem(W, J @ pull, [mu] * 4)
    view = fields(p)
    assert plain(problem.solve_cones)(view, 1e-12) < 1e-12
    wrench = -inertia * pull
    np.testing.assert_allclose(J.T @ p.hard_r, wrench, atol=1e-10)
    cones = [
        {"type": "ineq", "fun": lambda r, i=i: mu**2 * r[i] ** 2 - r[i + 1] ** 2 - r[i + 2] ** 2}
        for i in range(0, 12, 3)
    ]
    push = [{"type": "ineq", "fun": lambda r, i=i: r[i]} for i in range(0, 12, 3)]
    least = minimize(
        lambda r: r @ r / 2,
        np.linalg.lstsq(J.T, wrench, rcond=None)[0],
        jac=lambda r: r,
        constraints=[{"type": "eq", "fun": lambda r: J.T @ r - wrench}, *cones, *push],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 200},
    )
    assert least.success
    # the square of the norm is known to 1e-15, and so is its place to the root of that
    np.testing.assert_allclose(p.hard_r, least.x, rtol=0, atol=1e-6)
