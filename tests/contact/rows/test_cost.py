"""Forces and curvatures of constraint blocks. Reference: slopes of the cost that MuJoCo's documentation states.

Laws (Computation: Constraint model: Primal problem): ½ D u² where u < 0; the same to a bound for dry friction; Σ ½ D e²
over the negative edges of a pyramid; for a cone ½ u D u in the polar cone, half the squared distance between the cones.
Tolerance: central differences of smooth pieces with h = 1e-6, 1e-8 by rounding.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from saltus.contact.rows import cost
from saltus.contact.rows.blocks import CONE, FRICTION, PYRAMID, UNILATERAL
from saltus.number.kernels import interpret

MU, FRICTIONS, D, LOSS, H = 0.8, np.array([0.8, 0.5, 0.02]), 30.0, 4.0, 1e-6
WEIGHTS = D * np.r_[1.0, FRICTIONS**2 / MU**2]  # of a cone's rows, so that costs join


def stated(kind, u):
    if kind == UNILATERAL:
        return 0.5 * D * min(u[0], 0.0) ** 2
    if kind == FRICTION:
        inside = abs(D * u[0]) < LOSS
        return 0.5 * D * u[0] ** 2 if inside else LOSS * abs(u[0]) - 0.5 * LOSS**2 / D
    if kind == PYRAMID:
        edges = np.r_[u[0] + FRICTIONS * u[1:], u[0] - FRICTIONS * u[1:]]
        return 0.5 * D * np.sum(np.minimum(edges, 0.0) ** 2)
    normal, tangent = MU * u[0], np.linalg.norm(FRICTIONS * u[1:])
    if normal >= MU * tangent:
        return 0.0
    if MU * normal + tangent <= 0.0:
        return 0.5 * np.sum(WEIGHTS * u**2)
    return 0.5 * D / (MU**2 * (1 + MU**2)) * (normal - MU * tangent) ** 2


def block(kind, u):
    n = len(u)
    m = SimpleNamespace(law_friction=FRICTIONS[None], law_mu=[MU])
    d = SimpleNamespace(
        block_kind=[kind], block_row=[0], block_dim=[n], block_law=[0], row_residual=np.array(u), time=0.0
    )
    d.row_D = WEIGHTS if kind == CONE else np.full(n, D)
    d.row_loss, d.row_upper, d.row_lower, d.row_force = np.full(n, LOSS), np.zeros(n), np.zeros(n), np.zeros(n)
    d.block_weight = np.zeros(n * n)
    interpret(cost.block_force)(m, d, 0)
    interpret(cost.block_weight)(m, d, 0)
    return d.row_force, d.block_weight.reshape(n, n)


@pytest.mark.parametrize("kind", [UNILATERAL, FRICTION, PYRAMID, CONE])
def test_forces_and_curvatures_are_slopes(kind):
    n, rng, some = (4 if kind in (PYRAMID, CONE) else 1), np.random.default_rng(0), 0
    for _ in range(100):
        u = rng.normal(scale=0.3, size=n)
        force, weight = block(kind, u)
        for k, step in enumerate(H * np.eye(n)):
            slope = (stated(kind, u + step) - stated(kind, u - step)) / (2 * H)
            assert force[k] == pytest.approx(-slope, abs=1e-6)
            change = (block(kind, u + step)[0] - block(kind, u - step)[0]) / (2 * H)
            np.testing.assert_allclose(weight[k], -change, atol=1e-5)
        some += np.any(force != 0.0)
    assert 20 < some
