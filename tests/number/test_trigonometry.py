"""Sine, cosine and the angle of a point, on floats and lanes.

Reference: mpmath, and the bound that the library states: 2 units in the last place (of the result) where arguments are
reduced and beyond, in both precisions; the argument is the float itself, without error.
"""

import mpmath
import numpy as np
import pytest
from helpers.cases import REAL, WIDTH, Cases, same_bits, ulps

from saltus.number.functions import atan2, sincos
from saltus.number.kernels import kernel
from saltus.number.trigonometry import FAR_DOUBLE, FAR_SINGLE

BOUND = 2.0


@kernel
def angles(x):
    a, b = x
    s, c = sincos(a)
    return s, c, atan2(a, b)


ANGLES = Cases(angles, 2, 3)


def real_type(kind):
    return np.float32 if kind.endswith("32") else np.float64


def far(kind):
    """Where the reduction of arguments ends."""
    return FAR_SINGLE if kind.endswith("32") else FAR_DOUBLE


def check_sincos(kind, x):
    x = np.asarray(x, real_type(kind))
    got = ANGLES(kind, np.stack([x, x], axis=1))
    with mpmath.workdps(360):  # x up to 1e308 loses all digits before the point
        assert ulps(got[:, 0], [mpmath.sin(mpmath.mpf(float(v))) for v in x]).max() <= BOUND
        assert ulps(got[:, 1], [mpmath.cos(mpmath.mpf(float(v))) for v in x]).max() <= BOUND


@pytest.mark.slow
@pytest.mark.parametrize("kind", REAL)
def test_sincos_everywhere(kind):
    rng = np.random.default_rng(11)
    small = 10 ** rng.uniform(-37, 0, 300) * rng.choice([-1, 1], 300)
    check_sincos(kind, np.concatenate([small, rng.uniform(-7, 7, 800), rng.uniform(-1e4, 1e4, 800), [0.0, -0.0]]))
    check_sincos(kind, rng.uniform(-far(kind), far(kind), 800))


@pytest.mark.slow
@pytest.mark.parametrize("kind", REAL)
def test_sincos_near_multiples_of_half_pi(kind):
    """Where one of them vanishes, the reduced argument decides all its digits."""
    rng = np.random.default_rng(12)
    last = int(far(kind) / (np.pi / 2))
    k = np.concatenate(
        [np.arange(-40, 41), rng.integers(-6366, 6367, 400), rng.integers(-last, last, 400), [last, -last]]
    )
    quarter = np.concatenate([k * (np.pi / 2), (k + 0.5) * (np.pi / 2)]).astype(real_type(kind))
    up, down = np.nextafter(quarter, np.inf), np.nextafter(quarter, -np.inf)
    x = np.concatenate([quarter, up, down])
    check_sincos(kind, x[np.abs(x) <= far(kind)])


@pytest.mark.parametrize("kind", REAL)
def test_sincos_beyond_the_reduction(kind):
    rng = np.random.default_rng(13)
    edge = np.array([far(kind), -far(kind)], real_type(kind))
    beyond = 10 ** rng.uniform(4, 38, 200) * rng.choice([-1, 1], 200)
    x = np.concatenate([edge, np.nextafter(edge, 2 * edge), np.nextafter(edge, 0 * edge), beyond])
    check_sincos(kind, x if kind.endswith("32") else np.concatenate([x, [1e300, -1e300]]))


@pytest.mark.parametrize("kind", REAL)
def test_no_angle_no_sine(kind):
    x = np.array([np.inf, -np.inf, np.nan])
    assert np.isnan(ANGLES(kind, np.stack([x, x], axis=1))[:, :2]).all()


@pytest.mark.parametrize("kind", REAL)
def test_atan2(kind):
    """All octants, all ratios, in (-pi, pi]; along the negative x-axis the angle is +pi, whatever the sign of zero."""
    rng = np.random.default_rng(14)
    y, x = rng.choice([-1, 1], (2, 1500)) * 10 ** rng.uniform(-4, 4, (2, 1500))
    axes = [
        (0, 1),
        (1, 0),
        (-1, 0),
        (0, -1),
        (-0.0, -1),
        (3, 3),
        (3, -3),
        (-3, 3),
        (-3, -3),
        (0.66, 1),
        (1e-30, 1),
        (1e-30, -1),
    ]
    points = np.concatenate([np.stack([y, x], axis=1), np.array(axes, float)]).astype(real_type(kind))
    got = ANGLES(kind, points)[:, 2]
    with mpmath.workdps(40):
        exact = [mpmath.atan2(mpmath.mpf(float(b)), mpmath.mpf(float(a))) for b, a in points]
    assert ulps(got, exact).max() <= BOUND
    assert (got[1500:1505] == np.array([0, np.pi / 2, -np.pi / 2, np.pi, np.pi], real_type(kind))).all()


@pytest.mark.parametrize("kind", REAL)
def test_atan2_at_the_edges(kind):
    """Zero, infinities and the largest numbers; a NaN in either coordinate gives a NaN."""
    big, tiny = np.finfo(real_type(kind)).max, np.finfo(real_type(kind)).tiny
    inf, nan, turn = np.inf, np.nan, np.pi / 4
    cases = {
        **{(0, 0): 0, (big, big): turn, (big, -big): 3 * turn, (-big, big / 2): -np.arctan(2), (tiny, tiny): turn},
        **{
            (inf, inf): turn,
            (inf, -inf): 3 * turn,
            (-inf, inf): -turn,
            (1, inf): 0,
            (1, -inf): 4 * turn,
            (inf, 1): 2 * turn,
        },
    }
    got = ANGLES(kind, list(cases))[:, 2]
    np.testing.assert_allclose(got, list(cases.values()), rtol=2 * np.finfo(got.dtype).eps)
    assert np.isnan(ANGLES(kind, [(nan, 1), (1, nan), (nan, nan), (nan, 0), (0, nan)])[:, 2]).all()


@pytest.mark.parametrize("kind", WIDTH)
def test_neighbours_do_not_matter(kind):
    """A lane's result is the same bit by bit, be its neighbours ordinary, far beyond the reduction or no numbers."""
    width = WIDTH[kind]
    x = np.random.default_rng(15).uniform(-20, 20, (60, 2))
    x[:4, 0] = 1e9, np.pi, 1e-8, 9999.5
    alone = ANGLES(kind, np.repeat(x, width, axis=0))[::width]
    for neighbour in (0.5, 2e4, 1e30, np.inf, np.nan):
        for lane in (0, 1, width - 1):
            mixed = np.full((len(x), width, 2), neighbour)
            mixed[:, lane] = x
            assert same_bits(ANGLES(kind, mixed.reshape(-1, 2))[lane::width], alone)


def test_floats_and_lanes_agree_bit_by_bit():
    """One simulation alone and among others gives the same numbers. Single floats compute in double precision."""
    rng = np.random.default_rng(16)
    x = np.concatenate([rng.uniform(-10, 10, (500, 2)), rng.uniform(-2e9, 2e9, (500, 2))])
    assert same_bits(ANGLES("float64", x), ANGLES("lane64", x))
    y = x.astype(np.float32)
    assert same_bits(ANGLES("float32", y), ANGLES("float64", y.astype(float)).astype(np.float32))
