"""Residuals of contact laws. References: Moreau's decomposition; a mass on the floor in closed form."""

from types import SimpleNamespace

import numpy as np
import pytest

from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED, COULOMB, UNILATERAL
from saltus.number.kernels import interpret
from saltus.solve.cone.residual import project_on_cone, residual, velocity


@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0])
def test_projections_decompose(mu):
    """x = p + q with p in the cone, q in its polar cone and p · q = 0 (Moreau 1962): that is the nearest point."""
    for x in np.random.default_rng(0).normal(size=(200, 3)):
        p = np.array(interpret(project_on_cone)(*x, mu))
        q = x - p
        assert np.hypot(p[1], p[2]) <= mu * p[0] + 1e-15 and q[0] + mu * np.hypot(q[1], q[2]) <= 1e-14
        assert p @ q == pytest.approx(0.0, abs=1e-14)


def problem(speed, z):
    """A unit mass pushed to the floor, sliding; one held, one that may leave, one with dry friction of 0.5."""
    p = SimpleNamespace(hard_count=[4, 6], hard_kind=[COULOMB, BILATERAL, UNILATERAL, BOUNDED], hard_row=[0, 3, 4, 5])
    p.hard_dim, p.hard_mu, p.hard_bound = [3, 1, 1, 1], [0.4, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.5]
    p.hard_A, p.hard_b, p.hard_proximal = np.eye(6).ravel(), np.array([-1.0, speed, 0.0, 2.0, 3.0, -2.0]), [0.0]
    p.hard_z, p.hard_y = np.array(z), np.zeros(6)
    return p


@pytest.mark.parametrize("speed", [0.1, -0.39, 0.7, -5.0])
def test_closed_forms_have_none_and_others_have_some(speed):
    solution = [1.0, -np.clip(speed, -0.4, 0.4), 0.0, -2.0, 0.0, 0.5]
    for row, change in [(None, 0.0), *((row, 0.1) for row in range(6))]:
        z = np.array(solution)
        if row is not None:
            z[row] += change
        p = problem(speed, z)
        interpret(velocity)(p)
        found = interpret(residual)(p)
        assert found < 1e-15 if row is None else found > 0.03


def test_what_is_no_number_is_seen():
    p = problem(0.1, [1.0, np.nan, 0.0, -2.0, 0.0, 0.5])
    interpret(velocity)(p)
    assert np.isnan(interpret(residual)(p))
