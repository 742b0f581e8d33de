"""Newton's method on the Alart-Curnier equations: values, derivatives, step lengths; in plain Python.

References: the equations written out in NumPy; their central differences; eigenvalues of NumPy; the first power of 1/2
that falls enough. Tolerances: rounding, 1e-13, and of differences with a step of 1e-6 of numbers of order 1, 1e-8.
"""

import numpy as np
import pytest
from helpers.cones import cone_problem
from helpers.plain_python import fields, plain, plain_python

from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED, COULOMB, UNILATERAL
from saltus.solve.cone import newton, residual

KINDS = [COULOMB, BILATERAL, UNILATERAL, BOUNDED, COULOMB, COULOMB, COULOMB, COULOMB, BILATERAL, COULOMB]
DIMS = [3, 2, 1, 1, 3, 3, 3, 3, 1, 3]
FIRST = np.cumsum([0, *DIMS])[:-1]
ROWS = sum(DIMS)
STILL = [FIRST[7] + 1, FIRST[8]]  # a tangent and a bilateral row that nothing moves
FRICTIONLESS = 9  # number of a block


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


class Problem:
    """A random problem at a random point, whose blocks are open, stick and slip, and what NumPy makes of it."""

    def __init__(self, seed, proximal):
        self.rng = rng = np.random.default_rng(seed)
        J = rng.normal(size=(ROWS, 2 * ROWS)) / np.sqrt(2 * ROWS)
        J[STILL] = 0.0
        self.A, self.alpha = J @ J.T, proximal
        self.mu = [0.6, 0.0, 0.0, 0.0, 0.9, 50.0, 4.0, 2.0, 0.0, 0.0]
        self.p = cone_problem(self.A, np.zeros(ROWS), self.mu, KINDS, DIMS)
        self.view = fields(self.p)
        self.p.hard_bound[3], self.p.hard_proximal[0] = 0.4, proximal
        self.anchor = self.p.hard_anchor[:] = rng.normal(size=ROWS)
        self.z, self.step = rng.normal(size=(2, ROWS))
        self.z[FIRST[[0, 5, 6, 7, 9]]] += 12.0
        self.z[FIRST[4]], self.z[FIRST[0] + 1] = -12.0, 40.0
        # velocities of order 1 at that point
        self.b = rng.normal(size=ROWS) - self.A @ self.z - self.alpha * (self.z - self.anchor)
        self.p.hard_A[:], self.p.hard_b[:] = self.A.ravel(), self.b
        self.p.hard_z[:], self.p.hard_step[:] = self.z, self.step
        plain(newton.parameters)(self.view)
        plain(residual.velocity)(self.view)

    def velocities(self, z):
        return self.A @ z + self.b + self.alpha * (z - self.anchor)

    def value(self, z, y=None):
        """F of Alart and Curnier, kind by kind."""
        y, F, kinds = self.velocities(z) if y is None else y, np.zeros(ROWS), set()
        for k, (i, dim, kind) in enumerate(zip(FIRST, DIMS, KINDS, strict=True)):
            rows, (normal, tangent) = slice(i, i + dim), self.p.hard_rho[k]
            moved = np.diag(self.A)[rows] + self.alpha != 0
            if kind == BILATERAL:
                F[rows] = np.where(moved, y[rows], z[rows])
            elif kind == UNILATERAL:
                F[i] = min(z[i], normal * y[i])
            elif kind == BOUNDED:
                F[i] = z[i] - np.clip(z[i] - normal * y[i], -0.4, 0.4)
            else:
                across = slice(i + 1, i + 3)
                push, v = max(z[i] - normal * y[i], 0.0), z[across] - tangent * y[across]
                F[i], length, radius = z[i] - push, np.linalg.norm(v), self.mu[k] * push
                kinds.add("open" if push == 0.0 else "slip" if length > radius else "stick")
                held = radius > 0.0 and length <= radius
                F[across] = np.where(moved[1:], tangent * y[across], z[across]) if held else z[across]
                if not held:
                    F[across] -= radius * v / length
        self.kinds = kinds
        return F


@pytest.fixture(params=[(0, 0.0), (1, 0.0), (2, 0.3), (3, 0.01)], ids=str)
def problem(request):
    return Problem(*request.param)


def test_parameters_are_of_the_blocks_own_inertia(problem):
    for k, (i, kind) in enumerate(zip(FIRST, KINDS, strict=True)):
        own = problem.A[i, i] + problem.alpha
        across = np.linalg.eigvalsh(problem.A[i + 1 : i + 3, i + 1 : i + 3])[-1] + problem.alpha
        wanted = 1.0 / np.maximum([own, across if kind == COULOMB else own], 1e-6)
        np.testing.assert_allclose(problem.p.hard_rho[k], wanted, rtol=1e-13)


@pytest.mark.parametrize("t", [0.0, 0.25, 1.0])
def test_values(problem, t):
    problem.p.hard_ystep[:] = problem.rng.normal(size=ROWS)
    merit = plain(newton.alart_curnier)(problem.view, t)
    y = problem.velocities(problem.z) + t * problem.p.hard_ystep
    wanted = problem.value(problem.z + t * problem.step, y)
    np.testing.assert_allclose(problem.p.hard_F, wanted, rtol=1e-12, atol=1e-13)
    assert merit == pytest.approx(wanted @ wanted, rel=1e-12)


def test_derivatives(problem):
    plain(newton.jacobian)(problem.view)
    J, seen = np.zeros((ROWS, ROWS)), set()
    for j, direction in enumerate(1e-6 * np.eye(ROWS)):
        J[:, j] = (problem.value(problem.z + direction) - problem.value(problem.z - direction)) / 2e-6
        seen |= problem.kinds
    assert seen == {"open", "stick", "slip"}
    np.testing.assert_allclose(np.reshape(problem.p.hard_J, (ROWS, ROWS)), J, rtol=0, atol=1e-8)


def test_steps_are_halved_until_the_square_falls_enough(problem):
    F = problem.value(problem.z)
    for scale in (0.3, 30.0):
        downhill = np.linalg.lstsq(np.reshape(derivatives(problem), (ROWS, ROWS)), -F, rcond=1e-9)[0]
        problem.p.hard_z[:], problem.p.hard_step[:] = problem.z, scale * downhill
        plain(residual.velocity)(problem.view)
        t, merit = 1.0, F @ F
        change = (problem.A + problem.alpha * np.eye(ROWS)) @ problem.p.hard_step
        for _ in range(newton.HALVINGS):
            there = problem.value(problem.z + t * problem.p.hard_step, problem.velocities(problem.z) + t * change)
            if there @ there <= (1.0 - newton.DECREASE * t) * merit:
                break
            t /= 2
        plain(newton.line_search)(problem.view, merit)
        np.testing.assert_allclose(problem.p.hard_z, problem.z + t * problem.p.hard_step, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(problem.p.hard_ystep, change, rtol=1e-12, atol=1e-13 * scale)
        assert t < 0.1 if scale > 1.0 else t > 0.1


def derivatives(problem):
    problem.p.hard_z[:] = problem.z
    plain(residual.velocity)(problem.view)
    plain(newton.jacobian)(problem.view)
    return problem.p.hard_J
