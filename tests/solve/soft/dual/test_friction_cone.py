"""Friction at given normal force. Reference: the conditions of the minimum, A v + b + λ v/μ² = 0 with λ ≥ 0."""

from types import SimpleNamespace

import numpy as np
import pytest

from saltus.number.kernels import interpret
from saltus.solve.soft.dual.friction_cone import sliding_friction


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("normal", [0.01, 1.0, 100.0])
def test_it_is_the_minimum(n, normal):
    rng = np.random.default_rng(n)
    half, b, mu, R = rng.normal(size=(n, n)), rng.normal(size=n), rng.uniform(0.2, 1.5, n), rng.uniform(0.1, 1.0, n)
    d = SimpleNamespace(block_row=[0], block_law=[0], block_dim=[n + 1], cone_block=np.zeros((n + 1, n + 1)))
    d.cone_block[1:, 1:] = half @ half.T + np.diag(R)
    d.cone_b = b.copy()
    d.cone_A, d.cone_L, d.cone_v, d.cone_w = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n), np.zeros(n)
    interpret(sliding_friction)(SimpleNamespace(law_friction=mu[None]), d, 0, normal, 0)
    v, gradient = d.cone_v, (half @ half.T + np.diag(R)) @ d.cone_v + b
    length = np.linalg.norm(v / mu)
    assert length <= normal * (1 + 1e-12)
    shift = -gradient @ v / length**2
    np.testing.assert_allclose(gradient + shift * v / mu**2, 0.0, atol=1e-9 * np.abs(b).max())
    assert shift > -1e-12 and (length > normal * (1 - 1e-9) or abs(shift) < 1e-9)
    assert normal != 0.01 or shift > 0.0  # a small force slides
