"""Points of curves. Reference: NumPy's roots of the pieces' polynomials; straight lines beyond the ends."""

from types import SimpleNamespace

import numpy as np
import pytest

from saltus.dynamics.actuator.hill_curves import along_curve, curve_value
from saltus.model.compile.hill import force_velocity
from saltus.number.kernels import interpret

PIECES = np.array(force_velocity(1.4))
CURVE = SimpleNamespace(hill_segment=np.vstack([np.full((2, 12), np.nan), PIECES]))


def by_roots(alpha, gamma, target):
    """x, y and dy/dx where α x + γ y is the target."""
    for piece in PIECES:
        x, y = (np.polynomial.Polynomial(part) for part in (piece[:6], piece[6:]))
        for u in (alpha * x + gamma * y - target).roots():
            if abs(u.imag) < 1e-9 and -1e-9 <= u.real <= 1 + 1e-9:
                return x(u.real), y(u.real), y.deriv()(u.real) / x.deriv()(u.real)
    raise AssertionError


@pytest.mark.parametrize(("alpha", "gamma"), [(1.0, 0.0), (0.3, 0.9), (0.01, 1.0)])
def test_points_are_those_of_the_roots(alpha, gamma):
    ends = alpha * -1.0, alpha + gamma * 1.4
    for target in np.linspace(*ends, 60)[1:-1]:
        found = interpret(along_curve)(CURVE, 2, len(PIECES), alpha, gamma, target)
        np.testing.assert_allclose(found, by_roots(alpha, gamma, target), rtol=1e-7, atol=1e-8)
        assert alpha * found[0] + gamma * found[1] == pytest.approx(target, abs=1e-12)


def test_lines_go_on_beyond_the_ends():
    for x, expected in [(-3.0, (0.0, 0.0)), (2.5, (1.4, 0.0))]:
        assert interpret(curve_value)(CURVE, 2, len(PIECES), x) == pytest.approx(expected, abs=1e-12)
