"""Vectors and 3x3 matrices as tuples.

Reference: NumPy. Every result is a sum of at most 18 products, so its rounding error is below 18 units of the sum of
their magnitudes.
"""

import numpy as np
import pytest
from helpers.cases import Cases

from saltus.number.kernels import kernel
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    cross,
    dot3,
    matrix_times_vector,
    rotate_diagonal,
    rotate_symmetric,
    scale3,
    sub3,
    transpose_times_vector,
)

KINDS = ("float64", "lane64", "lane32")
SYMMETRIC = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]  # rows and columns of xx yy zz xy xz yz


@kernel
def vectors(x):
    a, b, s = x[0:3], x[3:6], x[6]
    first = add3(a, b) + sub3(a, b) + scale3(s, a) + add_scaled3(a, s, b)
    return first + (dot3(a, b),) + cross(a, b)


@kernel
def matrices(x):
    r, a, s = x[0:9], x[9:12], x[12:18]
    first = matrix_times_vector(r, a) + transpose_times_vector(r, a)
    return first + rotate_diagonal(r, a) + rotate_symmetric(r, s)


VECTORS, MATRICES = Cases(vectors, 7, 16), Cases(matrices, 18, 18)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors(kind):
    x = np.random.default_rng(41).standard_normal((50, 7)).astype(np.float32)
    got = VECTORS(kind, x)
    a, b, s = np.split(x.astype(float), [3, 6], axis=1)
    expected = [a + b, a - b, s * a, a + s * b, (a * b).sum(axis=1, keepdims=True), np.cross(a, b)]
    np.testing.assert_allclose(got, np.concatenate(expected, axis=1), rtol=0, atol=40 * np.finfo(got.dtype).eps)


@pytest.mark.parametrize("kind", KINDS)
def test_matrices(kind):
    """R S Rᵀ holds for any matrix R, not only for rotations."""
    x = np.random.default_rng(42).standard_normal((50, 18)).astype(np.float32)
    got = MATRICES(kind, x)
    for row, values in zip(x.astype(float), got, strict=True):
        r, a, full = row[:9].reshape(3, 3), row[9:12], np.empty((3, 3))
        full[SYMMETRIC] = full[SYMMETRIC[::-1]] = row[12:]
        turned = (r @ np.diag(a) @ r.T)[SYMMETRIC], (r @ full @ r.T)[SYMMETRIC]
        expected = np.concatenate([r @ a, r.T @ a, *turned])
        scale = 18 * max(1, np.abs(row).max()) ** 3
        np.testing.assert_allclose(values, expected, rtol=0, atol=scale * np.finfo(got.dtype).eps)


def test_cross_product_is_right_handed():
    e = np.eye(3)
    pairs = [np.concatenate([e[i], e[(i + 1) % 3], [0]]) for i in range(3)]
    assert np.array_equal(VECTORS("float64", pairs)[:, 13:], e[[2, 0, 1]])
