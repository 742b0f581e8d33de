"""Nearest points of segments, triangles and tetrahedra.

Reference: the condition for the nearest point x of a convex hull (Boyd & Vandenberghe, Convex Optimization (2004),
4.2.3): (p - x) · (corner - x) ≤ 0 for every corner, with weights that are not negative and sum to one.
Tolerance: rounding of numbers of order 10, times the condition of thin shapes.
"""

import numpy as np
import pytest
from helpers.cases import Cases

from saltus.contact import barycentric
from saltus.number.kernels import interpret, kernel


@kernel
def weights_of_twelve(x):
    return barycentric.triangle_weights(x[0:3], x[3:6], x[6:9], x[9:12])


NEAREST = Cases(weights_of_twelve, 12, 3)
KINDS = {2: barycentric.segment_weights, 3: barycentric.triangle_weights, 4: barycentric.tetrahedron_weights}


@pytest.mark.parametrize("count", KINDS)
def test_the_nearest_point_is_nearest(count):
    weights, rng, inside = interpret(KINDS[count]), np.random.default_rng(count), 0
    for _ in range(300):
        corners, p = rng.normal(size=(count, 3)), rng.normal(scale=rng.choice([0.2, 2.0]), size=3)
        w = np.array(weights(tuple(p), *map(tuple, corners)))
        x = w @ corners
        assert np.all(w >= -1e-14) and w.sum() == pytest.approx(1.0, abs=1e-10)
        assert np.max((corners - x) @ (p - x)) < 1e-9
        inside += np.all(w > 0)
    assert 10 < inside < 290  # faces, edges and corners were met too


def test_a_segment_without_length():
    assert sum(interpret(barycentric.segment_weights)((1.0, 2.0, 3.0), (0.5,) * 3, (0.5,) * 3)) == 1.0


@pytest.mark.parametrize("kind", ["float64", "lane64", "lane32"])
def test_triangles_without_area(kind):
    """Corners that coincide or lie in one line, in compiled code, whose rounding gives them areas of either sign."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 4, 3))
    x[:100, 3] = x[:100, 2]
    x[100:, 3] = x[100:, 1] + rng.uniform(-1, 2, (100, 1)) * (x[100:, 2] - x[100:, 1])
    x = x.astype(np.float32).astype(float)
    w = NEAREST(kind, x.reshape(200, 12)).astype(float)
    corners, p = x[:, 1:], x[:, 0]
    near = np.einsum("ij,ijk->ik", w, corners)
    # up to the width of a triangle that counts as thin, in lengths of some units
    tolerance = {"float64": 1e-4, "lane64": 1e-4, "lane32": 0.1}[kind]
    assert np.abs(w.sum(axis=1) - 1).max() < 1e-5 and w.min() >= 0
    assert np.max(np.einsum("ijk,ik->ij", corners - near[:, None], p - near)) < tolerance
