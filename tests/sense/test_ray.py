"""Rays meet shapes where MuJoCo 4.0's do. Tolerance: rounding, 1e-12, times 1e3 at grazing rays."""

import mujoco
import numpy as np
import pytest

from saltus.number.kernels import interpret
from saltus.sense.ray import ray_shape

SIZES = {"plane": (0.8, 0.0, 1.0), "sphere": (0.5,), "capsule": (0.3, 0.4), "ellipsoid": (0.3, 0.5, 0.7)}
SIZES |= {"cylinder": (0.4, 0.3), "box": (0.3, 0.5, 0.4)}
CASES = [*SIZES.items(), ("plane", (0.0, 0.6, 1.0))]


@pytest.mark.parametrize(("name", "sizes"), CASES, ids=[f"{name}-{sizes}" for name, sizes in CASES])
def test_distances_and_normals_are_mujocos(name, sizes):
    kind, rng, shape = (
        getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}").value,
        np.random.default_rng(0),
        interpret(ray_shape),
    )
    size, normal, hits = np.array([*sizes, 0, 0])[:3], np.zeros(3), 0
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


@pytest.mark.parametrize("name", ["sphere", "ellipsoid", "cylinder"])
def test_a_ray_that_begins_on_a_surface_hits_it_there(name):
    """Inwards at a distance of zero, not where it leaves: powers of two, without rounding. MuJoCo says so, too."""
    kind, size = getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}").value, np.array([0.5, 0.5, 0.5])
    point, direction = np.array([0.5, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0])
    assert mujoco.mju_rayGeom(np.zeros(3), np.eye(3).ravel(), size, point, direction, kind, np.zeros(3)) == 0.0
    x, n = interpret(ray_shape)(kind, tuple(size), (0.0,) * 3, tuple(np.eye(3).ravel()), tuple(point), tuple(direction))
    assert x == 0.0 and n == (1.0, 0.0, 0.0)


def both(name, size, point, direction):
    """The distance along a ray to a shape at the origin, and MuJoCo's."""
    kind, eye = getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}").value, np.eye(3).ravel()
    given = (np.array(x, float) for x in (size, point, direction))
    theirs = mujoco.mju_rayGeom(np.zeros(3), eye, *given, kind, np.zeros(3))
    x, _ = interpret(ray_shape)(kind, tuple(size), (0.0,) * 3, tuple(eye), tuple(point), tuple(direction))
    return float(x), theirs


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.5)])
@pytest.mark.parametrize("height", [0.5, 0.0, -0.5])
def test_a_ray_along_a_plane_or_away_from_it_meets_nothing(height, direction):
    ours, theirs = both("plane", (0.0, 0.0, 1.0), (0.0, 0.0, height), direction)
    assert ours == theirs == -1.0


@pytest.mark.parametrize("direction", [(-1.0, 0.0, 0.0), (-1.0, 0.0, 2.0), (-1.0, 0.0, -2.0)])
def test_a_ray_that_begins_on_the_side_of_a_capsule_hits_it_there(direction):
    """Not a hemisphere that it meets on its way out."""
    ours, theirs = both("capsule", (0.5, 0.25, 0.0), (0.5, 0.0, 0.0), direction)
    assert ours == theirs == 0.0
