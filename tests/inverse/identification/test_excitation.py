"""Motions that excite. References: the limits that were asked for, the condition number by NumPy, random motions.

Series are trigonometric polynomials: between samples they keep the limits by Ehlich's and Zeller's bound, which a grid
twenty times as fine confirms.
"""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import saltus
from saltus.algorithms import regressor
from saltus.errors import OptionError
from saltus.inverse.dynamics.base_parameters import base_parameters
from saltus.inverse.identification.excitation import excite

SLIDER = """<mujoco><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0"/><geom size=".1"/>
  <body name="b"><joint name="q" axis="0 1 0" range="-40 70"/><geom type="capsule" fromto="0 0 0 .3 0 .1" size=".05"/>
  </body></body></worldbody>{loop}</mujoco>"""
RATES = {"velocity": [0.8, 2.0], "acceleration": [3.0, 9.0]}


@pytest.fixture(scope="module")
def found():
    model = saltus.load(SLIDER.format(loop=""))
    return model, excite(model, **RATES, ranges={"x": (0.1, 0.7)}, period=4.0, harmonics=3, starts=1)


def test_limits_are_kept_and_one_of_them_used(found):
    _, motion = found
    q, v, a = motion.at(np.linspace(0, 4, 12 * 32 * 20))
    low, high = np.array([0.1, np.deg2rad(-40)]), np.array([0.7, np.deg2rad(70)])
    assert (q >= low).all() and (q <= high).all()
    use = (
        np.ptp(q, axis=0) / (high - low),
        abs(v).max(axis=0) / RATES["velocity"],
        abs(a).max(axis=0) / RATES["acceleration"],
    )
    assert np.max(use) <= 1 and (np.max(use, axis=0) > 0.5).all()


def test_velocities_and_accelerations_are_derivatives(found):
    """By quintic splines of 4000 samples, of the order h⁴ of (3 w h)⁴ = 1e-9 of the largest."""
    _, motion = found
    t = np.linspace(0, 4, 4001)
    q, v, a = motion.at(t)
    spline = make_interp_spline(t, q, k=5)
    np.testing.assert_allclose(spline(t, 1)[50:-50], v[50:-50], rtol=0, atol=1e-8)
    np.testing.assert_allclose(spline(t, 2)[50:-50], a[50:-50], rtol=0, atol=1e-6)
    np.testing.assert_allclose(q[0], q[-1], atol=1e-12)  # periodic


def test_the_condition_is_that_of_the_base_parameters_and_below_that_of_random_motions(found):
    model, motion = found
    base = base_parameters(model)
    assert motion.names == base.names

    def condition(q, v, a):
        return np.linalg.cond(regressor(model, q, v, a)[..., base.columns].reshape(-1, len(base.columns)))

    assert motion.condition == pytest.approx(condition(motion.qpos, motion.qvel, motion.qacc), rel=1e-9)
    random, t = np.random.default_rng(1), motion.time
    rate = 2 * np.pi / 4 * np.arange(1, 4)
    others = []
    for _ in range(300):
        c = random.normal(size=(2, 3, 2))
        sine, cosine = np.sin(np.outer(t, rate)), np.cos(np.outer(t, rate))
        q, v, a = (
            f @ c[0] + g @ c[1]
            for f, g in ((sine, cosine), (cosine * rate, -sine * rate), (-sine * rate**2, -cosine * rate**2))
        )
        scale = np.min(
            [[0.6, 1.9] / np.ptp(q, axis=0), RATES["velocity"] / abs(v).max(0), RATES["acceleration"] / abs(a).max(0)],
            0,
        )
        others.append(condition(0.4 + scale * q, scale * v, scale * a))
    assert motion.condition < min(others)


def test_what_cannot_be_excited_is_refused():
    model = SLIDER.format(loop="")
    for options, words in (
        ({"ranges": None}, "slide x has no limits"),
        ({"joints": "no"}, "no joint 'no'"),
        (
            {"joints": "q", "velocity": 1.0, "acceleration": 1.0, "ranges": {"x": (0, 1)}},
            "ranges names joint x, which does not move",
        ),
        ({"ranges": {"x": (1, 0)}}, "two finite numbers, the lower first"),
        ({"velocity": [1.0, 2.0, 3.0]}, "velocity must be positive, one number or 2"),
        ({"acceleration": 0.0}, "acceleration must be positive"),
    ):
        with pytest.raises(OptionError, match=words):
            excite(model, **RATES | {"ranges": {"x": (0.1, 0.7)}} | options)
    with pytest.raises(OptionError, match="joint root is free"):
        excite(
            '<mujoco><worldbody><body><freejoint name="root"/><geom size=".1"/></body></worldbody></mujoco>', **RATES
        )
    with pytest.raises(OptionError, match="equality constraints"):
        excite(SLIDER.format(loop='<equality><joint joint1="x" joint2="q"/></equality>'), **RATES)
