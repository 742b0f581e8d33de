"""Symmetric 6x6 matrices as 21-tuples.

Reference: NumPy on the full matrices; 1e-14 of the largest entry for sums of at most 6 products of order 1.
"""

import numpy as np
import pytest
from helpers.cases import Cases

from saltus.number.kernels import kernel
from saltus.spatial.articulated import (
    symmetric_add,
    symmetric_add_rigid,
    symmetric_minus_outer,
    symmetric_times,
    symmetric_zero,
)
from saltus.spatial.motions import inertia_times_motion

KINDS = ("float64", "lane64", "lane32")
LOWER = np.tril_indices(6)


@kernel
def products(x):
    a, b, v, i, s = x[0:21], x[21:42], x[42:48], x[48:58], x[58]
    sums = symmetric_add(a, b) + symmetric_add_rigid(a, i)
    rigid = symmetric_times(symmetric_add_rigid(symmetric_zero(s), i), v)
    return symmetric_times(a, v) + symmetric_minus_outer(a, v, s) + sums + rigid + inertia_times_motion(i, v)


PRODUCTS = Cases(products, 59, 81)


def full(entries):
    """The matrix whose lower triangle, by rows, is given."""
    matrix = np.zeros((6, 6))
    matrix[LOWER] = matrix.T[LOWER] = entries
    return matrix


@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_of_matrices(kind):
    x = np.random.default_rng(61).standard_normal((30, 59)).astype(np.float32)
    got = PRODUCTS(kind, x)
    for row, values in zip(x.astype(float), got, strict=True):
        a, b, v, i, s = np.split(row, [21, 42, 48, 58])
        skew = np.array([[0, -i[8], i[7]], [i[8], 0, -i[6]], [-i[7], i[6], 0]])
        rotational = np.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]])
        rigid = np.block([[rotational, skew], [skew.T, i[9] * np.eye(3)]])
        matrices = full(a) - s * np.outer(v, v), full(a) + full(b), full(a) + rigid
        expected = np.concatenate([full(a) @ v, *(m[LOWER] for m in matrices), rigid @ v, rigid @ v])
        atol = 50 * np.finfo(got.dtype).eps * max(1, np.abs(expected).max())
        np.testing.assert_allclose(values, expected, rtol=0, atol=atol)


def test_eliminating_a_motion_leaves_no_inertia_along_it():
    """A - (A v)(A v)ᵀ / (vᵀ A v) takes no force to move along v: what an unlocked joint does to an inertia."""
    rng = np.random.default_rng(62)
    root = rng.standard_normal((6, 6))
    a, v = root @ root.T, rng.standard_normal(6)
    column = a @ v
    row = np.concatenate([a[LOWER], np.zeros(21), column, np.zeros(10), [1 / (v @ column)]])
    left = full(PRODUCTS("float64", [row])[0, 6:27])
    np.testing.assert_allclose(left @ v, np.zeros(6), atol=1e-13 * np.abs(a).max())
    assert np.linalg.eigvalsh(left).min() > -1e-13 * np.abs(a).max()
