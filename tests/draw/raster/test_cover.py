"""Which samples a triangle covers.

Reference: exact arithmetic. A sample is inside if all three signed areas are positive, in whole numbers; on an edge it
belongs to one of the two triangles that share it.
"""

import numpy as np
import pytest
from numba import njit

from saltus.draw.raster.cover import GRID, SAMPLES_X, SAMPLES_Y, cover
from saltus.number.intrinsics.samples import NUMBERS

WIDTH, HEIGHT = 40, 30


@njit
def put_all(keys, triangles):
    for k in range(len(triangles)):
        x0, y0, q0, x1, y1, q1, x2, y2, q2 = triangles[k]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if area != 0.0:
            cover(keys, (x0, y0, q0), (x1, y1, q1), (x2, y2, q2), area, k + 1)


def drawn(triangles):
    """Numbers of the triangles (from 1; 0: none) at the samples, and their inverse depths, [height, width, 4]."""
    keys = np.zeros((HEIGHT, WIDTH, 4), np.int64)
    put_all(keys, np.ascontiguousarray(np.reshape(triangles, (-1, 9)), float).reshape(-1, 9).view())
    return keys & (NUMBERS - 1), (keys & ~(NUMBERS - 1)).view(float)


def as_rows(corners, depth=1.0):
    """Rows of nine numbers from corners [n, 3, 2]."""
    corners = np.asarray(corners, float)
    return np.concatenate([corners, np.broadcast_to(depth, (*corners.shape[:2], 1))], axis=2).reshape(-1, 9)


def inside(corners):
    """Whether samples are strictly inside a triangle [height, width, 4], in whole numbers: exact."""
    points = np.round(np.asarray(corners) * GRID).astype(np.int64)
    x = np.round((np.arange(WIDTH)[None, :, None] + np.array(SAMPLES_X)) * GRID).astype(np.int64)
    y = np.round((np.arange(HEIGHT)[:, None, None] + np.array(SAMPLES_Y)) * GRID).astype(np.int64)
    sides = [
        (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
        for a, b in zip(points, np.roll(points, -1, axis=0), strict=True)
    ]
    return np.logical_and.reduce([s > 0 for s in sides]) | np.logical_and.reduce([s < 0 for s in sides])


@pytest.mark.parametrize("size", [0.5, 3.0, 30.0])
def test_coverage_is_exact(size):
    rng = np.random.default_rng(int(size * 10))
    for _ in range(100):
        middle = rng.uniform([5, 5], [WIDTH - 5, HEIGHT - 5])
        corners = np.round((middle + rng.uniform(-size, size, (3, 2))) * GRID) / GRID
        number, _depth = drawn(as_rows([corners]))
        np.testing.assert_array_equal(number == 1, inside(corners))


@pytest.mark.parametrize("shift", [0.0, 0.125, 0.375, 1 / 1024])
def test_a_fan_covers_every_sample_once(shift):
    """Around a corner on a sample, with edges along rows, columns and diagonals of samples: one triangle each."""
    middle = np.array([20 + 0.375 + shift, 15 + 0.125])
    rim = np.array([[0, 0], [20, 0], [40, 0], [40, 15], [40, 30], [20, 30], [0, 30], [0, 15]], float)
    fan = [[middle, rim[k], rim[(k + 1) % 8]] for k in range(8)]
    seen = sum((drawn(as_rows([triangle]))[0] > 0).astype(int) for triangle in fan)
    assert (seen == 1).all()
    for order in (fan, [t[::-1] for t in fan]):  # whichever way round
        assert (sum((drawn(as_rows([t]))[0] > 0).astype(int) for t in order) == 1).all()


def test_inverse_depth_is_linear():
    corners = np.array([[[1.5, 2.25], [38.0, 5.5], [12.0, 28.5]]])
    row = as_rows(corners)
    row[0, [2, 5, 8]] = 0.2, 0.9, 0.5
    number, depth = drawn(row)
    plane = np.linalg.solve(np.column_stack([corners[0], np.ones(3)]), [0.2, 0.9, 0.5])
    j, i, s = np.nonzero(number)
    expected = plane[0] * (i + np.array(SAMPLES_X)[s]) + plane[1] * (j + np.array(SAMPLES_Y)[s]) + plane[2]
    np.testing.assert_allclose(depth[j, i, s], expected, rtol=2e-9)  # 30 bits are kept


def test_the_nearest_wins_in_any_order():
    rng = np.random.default_rng(7)
    corners = np.round(rng.uniform(-5, 45, (20, 3, 2)) * GRID) / GRID
    rows = as_rows(corners)
    rows[:, [2, 5, 8]] = rng.uniform(0.1, 1.0, (20, 3))
    number, depth = drawn(rows)
    order = rng.permutation(20)
    mixed, same = drawn(rows[order])
    np.testing.assert_allclose(depth, same, rtol=2e-9)
    assert (np.where(mixed > 0, order[mixed - 1] + 1, 0) == number).all()


def test_what_is_outside_the_picture_is_left_out():
    far = as_rows([[[-1e6, -1e6], [1e6, -1e6], [0, 1e6]], [[-30, 2], [-2, 2], [-10, 20]], [[5, -9], [9, -2], [2, -1]]])
    number, _ = drawn(far)
    assert (number == 1).all()
