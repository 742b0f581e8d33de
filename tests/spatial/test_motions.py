"""Spatial vectors as 6-tuples.

Reference: the 6x6 matrices of Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2, written out with NumPy,
and the identities between them. Entries are of order 1 and sums have at most 10 terms: 1e-14 in double precision.
"""

import numpy as np
import pytest
from helpers.cases import Cases

from saltus.number.kernels import kernel
from saltus.spatial.motions import (
    add6,
    add10,
    add_scaled6,
    cross_force,
    cross_motion,
    dot6,
    inertia_times_motion,
    scale6,
    sub6,
)

KINDS = ("float64", "lane64", "lane32")


@kernel
def linear(x):
    a, b, s, i, j = x[0:6], x[6:12], x[12], x[13:23], x[23:33]
    return add6(a, b) + sub6(a, b) + scale6(s, a) + add_scaled6(a, s, b) + (dot6(a, b),) + add10(i, j)


@kernel
def products(x):
    v, s, i = x[0:6], x[6:12], x[12:22]
    momentum = inertia_times_motion(i, v)
    rate = (dot6(cross_force(v, s), v), dot6(s, cross_motion(v, momentum)) + dot6(cross_force(v, s), momentum))
    return cross_motion(v, s) + cross_force(v, s) + momentum + rate


LINEAR, PRODUCTS = Cases(linear, 33, 35), Cases(products, 22, 20)


def skew(a):
    """The matrix of a × ."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def motion_cross(v):
    """v × for motions (eq. 2.31)."""
    return np.block([[skew(v[:3]), np.zeros((3, 3))], [skew(v[3:]), skew(v[:3])]])


def inertia_matrix(i):
    """The 6x6 inertia from ten numbers (eq. 2.63): inertia, mass times offset, mass."""
    rotational = np.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]])
    offset = skew(i[6:9])
    return np.block([[rotational, offset], [offset.T, i[9] * np.eye(3)]])


def close(got, expected):
    eps = np.finfo(got.dtype).eps
    np.testing.assert_allclose(got, expected, rtol=0, atol=50 * eps * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("kind", KINDS)
def test_linear(kind):
    x = np.random.default_rng(51).standard_normal((40, 33)).astype(np.float32)
    a, b, s, i, j = np.split(x.astype(float), [6, 12, 13, 23], axis=1)
    power = (a * b).sum(axis=1, keepdims=True)
    close(LINEAR(kind, x), np.concatenate([a + b, a - b, s * a, a + s * b, power, i + j], axis=1))


@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_of_matrices(kind):
    x = np.random.default_rng(52).standard_normal((40, 22)).astype(np.float32)
    got = PRODUCTS(kind, x)
    for row, values in zip(x.astype(float), got, strict=True):
        v, s, i = np.split(row, [6, 12])
        momentum = inertia_matrix(i) @ v
        close(values[:18], np.concatenate([motion_cross(v) @ s, -motion_cross(v).T @ s, momentum]))


def test_a_force_turns_against_a_motion():
    """v ×* is minus the transpose of v ×: the power of a force on a motion does not change as both turn."""
    x = np.random.default_rng(53).standard_normal((40, 22))
    got = PRODUCTS("float64", x)
    power = np.einsum("ni,nij,nj->n", x[:, 6:12], [motion_cross(v) for v in x[:, :6]], x[:, :6])
    close(got[:, 18], -power)  # v × v = 0
    close(got[:, 19], np.zeros(40))


def test_inertia_of_a_point_mass():
    """Momentum of a mass m at c moving with v: force part m (v + ω × c), torque part c × that."""
    rng = np.random.default_rng(54)
    c, w, v, m = rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal(3), 1.7
    about = m * (c @ c * np.eye(3) - np.outer(c, c))
    inertia = [about[0, 0], about[1, 1], about[2, 2], about[0, 1], about[0, 2], about[1, 2], *(m * c), m]
    got = PRODUCTS("float64", [[*w, *v, *np.zeros(6), *inertia]])[0, 12:18]
    momentum = m * (v + np.cross(w, c))
    close(got, np.concatenate([np.cross(c, momentum), momentum]))
