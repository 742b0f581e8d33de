"""Rotations as unit quaternions.

Reference: SciPy's `Rotation` for products and matrices, mpmath with 50 digits for exponential, logarithm and their
derivatives. Tolerances: a few roundings; for the two series the first term that they leave out.
"""

import mpmath
import numpy as np
import pytest
from helpers.cases import WIDTH, Cases, same_bits
from scipy.spatial.transform import Rotation
from scipy.special import zeta

from saltus.number.kernels import kernel
from saltus.spatial.quaternions import (
    axis_angle_to_quat,
    dexp,
    dexp_inverse,
    quat_conjugate,
    quat_exp,
    quat_log,
    quat_multiply,
    quat_normalize,
    quat_rotate,
    quat_to_matrix,
)

KINDS = ("float64", "lane64", "lane32")


@kernel
def products(x):
    p, q, a, angle = x[0:4], x[4:8], x[8:11], x[11]
    first = (
        quat_multiply(p, q)
        + quat_conjugate(p)
        + quat_normalize((angle * p[0], angle * p[1], angle * p[2], angle * p[3]))
    )
    return first + quat_rotate(p, a) + quat_to_matrix(p) + axis_angle_to_quat((a[0], a[1], a[2]), angle)


@kernel
def exponentials(v):
    q = quat_exp(v)
    return q + quat_log(q) + quat_log((-q[0], -q[1], -q[2], -q[3]))


@kernel
def derivatives(x):
    v, w = x[0:3], x[3:6]
    forward = dexp(v, w)
    return forward + dexp_inverse(v, w) + dexp_inverse(v, forward)


PRODUCTS, EXPONENTIALS, DERIVATIVES = Cases(products, 12, 28), Cases(exponentials, 3, 10), Cases(derivatives, 6, 9)


def unit(rng, n, k):
    x = rng.standard_normal((n, k))
    return x / np.linalg.norm(x, axis=1)[:, None]


def vectors(sizes, rng, n=5):
    """n rotation vectors of each length."""
    return np.concatenate([size * unit(rng, n, 3) for size in sizes])


@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_of_rotations(kind):
    rng = np.random.default_rng(71)
    x = np.concatenate([unit(rng, 60, 4), unit(rng, 60, 4), unit(rng, 60, 3), rng.uniform(0.1, 3, (60, 1))], axis=1)
    p, q = (Rotation.from_quat(x[:, k : k + 4], scalar_first=True) for k in (0, 4))
    product = (p * q).as_quat(scalar_first=True)
    got = PRODUCTS(kind, x)
    product *= np.sign((product * got[:, :4]).sum(axis=1))[:, None]  # q and -q are one rotation
    about = Rotation.from_rotvec(x[:, 8:11] * x[:, 11:]).as_quat(scalar_first=True)
    expected = [product, x[:, :4] * [1, -1, -1, -1], x[:, :4], p.apply(x[:, 8:11]), p.as_matrix().reshape(60, 9), about]
    np.testing.assert_allclose(got, np.concatenate(expected, axis=1), rtol=0, atol=10 * np.finfo(got.dtype).eps)


def exact_exponential(v):
    angle = mpmath.sqrt(sum(c * c for c in v))
    factor = mpmath.sin(angle / 2) / angle if angle else mpmath.mpf(1) / 2
    return [mpmath.cos(angle / 2), *(factor * c for c in v)]


@pytest.mark.parametrize("kind", KINDS)
def test_exponential(kind):
    """(cos |v|/2, sin(|v|/2) v/|v|), each component to a few roundings of itself, down to |v| = 1e-20 and 0.

    An angle of many turns has a rounding error of its own, which counts in full where sine or cosine vanish.
    """
    rng = np.random.default_rng(72)
    sizes = [0, 1e-20, 1e-12, 1e-7, 9.99e-7, 1.001e-6, 1e-5, 1e-3, 0.1, 1, 2, 3, np.pi, 4, 6, 30, 1e3]
    v = vectors(sizes, rng).astype(np.float32)
    got = EXPONENTIALS(kind, v)
    with mpmath.workdps(50):
        exact = np.array([exact_exponential([mpmath.mpf(float(c)) for c in row]) for row in v], float)
    length = np.linalg.norm(v.astype(float), axis=1)[:, None]
    turned = np.where(length > 1, length, 0)  # below, both are well-conditioned
    eps = np.finfo(got.dtype).eps
    assert (np.abs(got[:, :4] - exact) <= eps * (4 * np.abs(exact) + turned)).all()
    np.testing.assert_allclose((got[:, :4].astype(float) ** 2).sum(axis=1), 1, rtol=8 * eps)


@pytest.mark.parametrize("kind", KINDS)
def test_logarithm_undoes_the_exponential(kind):
    """For |v| below pi, from either of the two quaternions; relative to |v| down to 1e-20."""
    rng = np.random.default_rng(73)
    small = [1e-20, 1e-15, 1e-9, 1e-7, 9.9e-7, 1.9e-6, 2.1e-6, 1e-5, 1e-4, 1e-2]
    v = vectors([0, *small, 0.3, 1, 1.57, 2, 3, 3.1, 3.14159], rng)
    got = EXPONENTIALS(kind, v)
    error = np.linalg.norm(got[:, 4:7] - v, axis=1)
    assert (error <= 8 * np.finfo(got.dtype).eps * np.linalg.norm(v, axis=1)).all()
    assert same_bits(got[:, 4:7], got[:, 7:])


def test_logarithm_is_the_shorter_way_round():
    """Beyond half a turn the rotation vector points the other way: its length is 2 pi - |v|, at most pi."""
    rng = np.random.default_rng(74)
    v = vectors([3.2, 4, 5, 6.2, 2 * np.pi, 7, 12], rng)
    expected = Rotation.from_rotvec(v).as_rotvec()
    np.testing.assert_allclose(EXPONENTIALS("float64", v)[:, 4:7], expected, rtol=0, atol=2e-14)


def test_logarithm_at_half_a_turn():
    rng = np.random.default_rng(75)
    axis = unit(rng, 20, 3)
    got = EXPONENTIALS("float64", np.pi * axis)[:, 4:7]
    np.testing.assert_allclose(np.abs((got * axis).sum(axis=1)), np.pi, rtol=1e-15)


def exact_dexp(v, w):
    """Angular velocity in the body's axes of exp(v + t w) at t = 0: twice the vector part of conj(q) dq/dt."""
    v, w = ([mpmath.mpf(float(c)) for c in a] for a in (v, w))
    q = exact_exponential(v)
    rate = [
        mpmath.diff(lambda t, k=k: exact_exponential([a + t * b for a, b in zip(v, w, strict=True)])[k], 0)
        for k in range(4)
    ]
    p, dp = mpmath.matrix(q[1:]), mpmath.matrix(rate[1:])
    turn = [p[1] * dp[2] - p[2] * dp[1], p[2] * dp[0] - p[0] * dp[2], p[0] * dp[1] - p[1] * dp[0]]
    return [2 * (q[0] * dp[k] - rate[0] * p[k] - turn[k]) for k in range(3)]


def left_out(z):
    """Bounds on what the series of `dexp` and `dexp_inverse` leave out, for z = |v|²: alternating, and geometric."""
    forward = z**6 * np.sqrt(z) / 87178291200 + z**6 / 6227020800  # 14! and 13!
    inverse = 2 * (zeta(18) - 1) / (2 * np.pi) ** 18 * z**9 / (1 - z / (16 * np.pi**2))
    return forward, inverse


@pytest.mark.parametrize("kind", ("float64", "lane64"))
def test_derivative_of_the_exponential(kind):
    """`dexp` against high-precision differences, and `dexp_inverse` undoing it, as far as the series go."""
    rng = np.random.default_rng(76)
    v = vectors([0, 1e-20, 1e-8, 1e-3, 0.1, 0.3, 1, 2, 3], rng, 3)
    w = unit(rng, len(v), 3)
    got = DERIVATIVES(kind, np.concatenate([v, w], axis=1))
    with mpmath.workdps(50):
        exact = np.array([exact_dexp(a, b) for a, b in zip(v, w, strict=True)], float)
        matrices = [np.array([exact_dexp(a, e) for e in np.eye(3)], float).T for a in v]
    forward, inverse = left_out((v * v).sum(axis=1))
    assert (np.linalg.norm(got[:, :3] - exact, axis=1) <= 2e-15 + forward).all()
    undone = np.array([np.linalg.solve(m, b) for m, b in zip(matrices, w, strict=True)])
    assert (np.linalg.norm(got[:, 3:6] - undone, axis=1) <= 1e-14 + inverse).all()
    assert (np.linalg.norm(got[:, 6:] - w, axis=1) <= 1e-14 + inverse + 5 * forward).all()


@pytest.mark.parametrize("kind", WIDTH)
def test_neighbours_do_not_matter(kind):
    """Bit by bit, whether neighbours take the series near zero, turn many times or are no numbers."""
    rng = np.random.default_rng(77)
    v, width = vectors([1e-9, 1e-6, 0.5, 3], rng), WIDTH[kind]
    alone = EXPONENTIALS(kind, np.repeat(v, width, axis=0))[::width]
    for neighbour in (0.0, 1e-7, 1.0, 3e4, np.nan):
        mixed = np.full((len(v), width, 3), neighbour)
        mixed[:, 1] = v
        assert same_bits(EXPONENTIALS(kind, mixed.reshape(-1, 3))[1::width], alone)
