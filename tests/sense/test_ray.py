"""Rays meet shapes where MuJoCo 4.0's do. Tolerance: rounding, 1e-12, times 1e3 at grazing rays."""

import mujoco
import numpy as np
import pytest

from saltus.number.kernels import interpret
from saltus.sense.ray import ray_shape

SIZES = {"plane": (0.8, 0.0, 1.0), "sphere": (0.5,), "capsule": (0.3, 0.4), "ellipsoid": (0.3, 0.5, 0.7)}
SIZES |= {"cylinder": (0.4, 0.3), "box": (0.3, 0.5, 0.4)}


@pytest.mark.parametrize("name", SIZES)
def test_distances_and_normals_are_mujocos(name):
    kind, rng, shape = (
        getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}").value,
        np.random.default_rng(0),
        interpret(ray_shape),
    )
    size, normal, hits = np.array([*SIZES[name], 0, 0])[:3], np.zeros(3), 0
    for _ in range(300):
        pos, mat, quat = rng.normal(scale=0.1, size=3), np.zeros(9), rng.normal(size=4)
        mujoco.mju_quat2Mat(mat, quat / np.linalg.norm(quat))
        point, direction = rng.normal(scale=0.8, size=3), rng.normal(size=3)
        expected = mujoco.mju_rayGeom(pos, mat, size, point, direction, kind, normal)
        x, n = shape(kind, tuple(size), tuple(pos), tuple(mat), tuple(point), tuple(direction))
        assert x == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if expected >= 0:
            np.testing.assert_allclose(n, normal, atol=1e-9)
            hits += 1
    assert 20 < hits < 300
