"""Products of rotations: SciPy's are the reference; turns about one axis must add their angles."""

import numpy as np
import pytest
import symengine
from scipy.spatial.transform import Rotation as Numbers

from saltus.symbolic.derivation.rotation import (
    Rotation,
    Turn,
    Unit,
    apply,
    apply_transposed,
    product,
    quaternion_matrix,
    quaternion_rate,
    transpose,
)
from saltus.symbolic.expressions import exact

A, B, DA, DB = symengine.symbols("a b da db")
VALUES = {A: 0.7, B: -1.2, DA: 0.3, DB: 2.0}
UNIT = (exact(0.6), exact(0.0), exact(0.8))
QUATERNION = np.array([0.5, -0.5, 0.1, 0.7]) / np.linalg.norm([0.5, -0.5, 0.1, 0.7])


def number(x):
    return np.array([[float(symengine.sympify(c).subs(VALUES)) for c in row] for row in np.atleast_2d(x)]).squeeze()


def rate(angle):
    return symengine.sympify(angle).diff(A) * DA + symengine.sympify(angle).diff(B) * DB


def plain(angle):
    return lambda before, sign: angle if before is None else before + sign * angle


def fixed(quaternion):
    return quaternion_matrix([exact(x) for x in quaternion])


def test_turns_are_scipys():
    turn = Turn(UNIT, A)
    assert np.allclose(
        number(turn.matrix()), Numbers.from_rotvec(0.7 * np.array([0.6, 0, 0.8])).as_matrix(), atol=1e-15
    )


def test_quaternions_are_scipys():
    expected = Numbers.from_quat(QUATERNION, scalar_first=True).as_matrix()
    assert np.allclose(number(fixed(QUATERNION)), expected, atol=1e-15)


def test_products_are_scipys():
    rotation = Rotation().turned(UNIT, plain(A)).fixed(fixed(QUATERNION)).turned((1, 0, 0), plain(B))
    first, middle = Numbers.from_rotvec(0.7 * np.array([0.6, 0, 0.8])), Numbers.from_quat(QUATERNION, scalar_first=True)
    expected = first * middle * Numbers.from_rotvec([-1.2, 0, 0])
    assert len(rotation.factors) == 3
    assert np.allclose(number(rotation.matrix()), expected.as_matrix(), atol=1e-14)
    v = np.array([1.0, 2.0, 3.0])
    assert np.allclose(number(apply(rotation.matrix(), v)), expected.apply(v), atol=1e-14)
    assert np.allclose(number(apply_transposed(rotation.matrix(), v)), expected.apply(v, inverse=True), atol=1e-14)


@pytest.mark.parametrize("sign", [1, -1])
def test_turns_about_parallel_axes_add(sign):
    axis = tuple(sign * x for x in UNIT)
    rotation = Rotation().turned(UNIT, plain(A)).turned(axis, plain(B))
    assert len(rotation.factors) == 1 and rotation.turn.angle == A + sign * B
    assert np.allclose(
        number(rotation.matrix()), number(product(Turn(UNIT, A).matrix(), Turn(axis, B).matrix())), atol=1e-15
    )


def test_turns_add_across_a_frame_that_keeps_their_axis():
    """A half turn about x turns y round: then the next turn about y is one the other way."""
    half = fixed([0, 1, 0, 0])
    rotation = Rotation().turned((0, 1, 0), plain(A)).fixed(half).turned((0, 1, 0), plain(B))
    assert rotation.turn.angle == A - B and len(rotation.factors) == 2
    expected = product(product(Turn((0, 1, 0), A).matrix(), half), Turn((0, 1, 0), B).matrix())
    assert np.allclose(number(rotation.matrix()), number(expected), atol=1e-15)
    crossed = Rotation().turned((0, 1, 0), plain(A)).fixed(fixed([0.6, 0.8, 0, 0])).turned((0, 1, 0), plain(B))
    assert len(crossed.factors) == 3


def test_fixed_rotations_are_merged_and_none_is_none():
    q = [0.6, 0.8, 0, 0]
    rotation = Rotation().fixed(fixed(q)).fixed(fixed(q))
    assert len(rotation.factors) == 1 and rotation.turn is None
    assert np.allclose(number(rotation.matrix()), number(product(fixed(q), fixed(q))), atol=1e-15)
    assert Rotation().fixed(fixed([1, 0, 0, 0])).factors == ()


def test_angular_velocity_is_the_rate_of_the_matrix():
    """Rᵀ dR/dt = [ω]×, with ω in the turned axes."""
    rotation = Rotation().turned(UNIT, plain(A)).fixed(fixed(QUATERNION)).turned((1, 0, 0), plain(B))
    rotation = rotation.fixed(fixed([0.6, 0, 0.8, 0]))
    R = rotation.matrix()
    dR = [[rate(x) for x in row] for row in R]
    spin = number(product(transpose(R), dR))
    w = number(rotation.spin(rate))
    assert np.allclose(spin, [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]], atol=1e-14)


def test_angular_velocity_of_quaternions():
    spin = symengine.symbols("wx wy wz")
    rotation = Rotation().turned(UNIT, plain(A)).by_quaternion([exact(x) for x in QUATERNION], spin)
    R = Numbers.from_quat(QUATERNION, scalar_first=True)
    values = {**dict(zip(spin, (1.0, -2.0, 0.5), strict=True)), DA: 0.3}
    found = [float(symengine.sympify(x).subs(values | VALUES)) for x in rotation.spin(rate)]
    assert np.allclose(found, R.apply(0.3 * np.array([0.6, 0, 0.8]), inverse=True) + [1.0, -2.0, 0.5], atol=1e-14)


def test_rates_of_quaternions():
    """Of a steady rotation, after a moment, in SciPy's composition."""
    w, dt = np.array([0.3, -1.0, 2.0]), 1e-5
    R = Numbers.from_quat(QUATERNION, scalar_first=True)
    after, before = ((R * Numbers.from_rotvec(s * dt * w)).as_quat(scalar_first=True) for s in (1, -1))
    after, before = (q * np.sign(q @ QUATERNION) for q in (after, before))
    assert np.allclose(np.array(quaternion_rate(QUATERNION, w), float), (after - before) / (2 * dt), atol=1e-9)


def test_mapped():
    put = lambda x: symengine.sympify(x).subs({A: 2 * B})  # noqa: E731
    rotation = Rotation((Turn(UNIT, A), Unit((A, B, A, B), (A, A, B)))).fixed(fixed(QUATERNION)).mapped(put)
    assert rotation.factors[0].angle == 2 * B and rotation.factors[1].spin == (2 * B, 2 * B, B)
