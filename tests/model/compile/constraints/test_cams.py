"""Curves of cams in model files: where they go, and what is refused by name."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import saltus
from saltus.model.compile.constraints.cams import ADVANCING, ENDS, PERIODIC, Curve

XML = """<mujoco><worldbody><body><joint name="a"/><geom size=".1"/></body><body><joint name="b" type="slide"/>
  <geom size=".1"/></body><body name="free"><freejoint/><geom size=".1"/></body></worldbody>
  <equality><weld name="weld" body1="free"/><joint name="alone" joint1="b"/><joint name="lift" joint1="b" joint2="a"/>
  </equality><custom><numeric name="points" data="{data}"/>
  <tuple name="left_cam_curve">{pairs}</tuple></custom></mujoco>"""
PAIR = '<element objtype="equality" objname="{}"/><element objtype="numeric" objname="points" prm="{}"/>'
X, Y = np.array([0.0, 0.5, 1.0, 2.0]), np.array([0.0, 2.0, 1.0, 0.0])


def declared(data="0 0  .5 2  1 1  2 0", pairs=None, prm=1):
    return XML.format(data=data, pairs=PAIR.format("lift", prm) if pairs is None else pairs)


def test_segments_reach_their_equality_and_others_have_none():
    m = saltus.load(declared()).struct()
    assert "cam" in m.layout.features
    assert m.views["cam_num"].ravel().tolist() == [0, 0, 5] and m.views["cam_period"].ravel().tolist() == [0, 0, 2]
    assert m.views["cam_begin"].ravel().tolist() == [0.0, 0.0, 0.5, 1.0, 2.0]


@pytest.mark.parametrize("kind", [ENDS, PERIODIC, ADVANCING])
def test_segments_are_scipys_spline_with_straight_ends(kind):
    """A curve that goes on is a periodic one and a straight line."""
    y = Y + (0.7 * X if kind == ADVANCING else 0.0)
    curve = Curve(np.column_stack([X, y]), kind)
    found = curve.segments()
    spline = CubicSpline(X, Y, bc_type="periodic" if kind else "not-a-knot")
    slope = 0.7 if kind == ADVANCING else 0.0
    assert curve.advance == pytest.approx(2.0 * slope) and curve.period == (2.0 if kind else 0.0)
    for begin, *c in found[1:-1]:
        at = begin + np.array([0.0, 0.1, 0.4])
        np.testing.assert_allclose(np.polynomial.polynomial.polyval(at - begin, c), spline(at) + slope * at, atol=1e-13)
    for (begin, *c), end in zip(found[[0, -1]], (0, -1), strict=True):
        assert begin == X[end]
        np.testing.assert_allclose(c, [y[end], spline(X[end], 1) + slope, 0.0, 0.0], atol=1e-13)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (declared("0 2 3"), "numeric 'points'.*after each of the cam"),
        (declared("0 2 1 2"), "at least 3 points"),
        (declared("0 2", prm=0), "at least 2 points"),
        (declared("0 2 0 1 1 2"), "must increase"),
        (declared("0 2 1 1 2 2.1"), "expected 2 there, not 2.1"),
        (declared(prm=3), "prm of its numeric is 3"),
        (declared(pairs=PAIR.format("weld", 1)), "equality 'weld'.*two joints"),
        (declared(pairs=PAIR.format("alone", 1)), "equality 'alone'.*two joints"),
        (declared(pairs='<element objtype="equality" objname="lift"/>'), "expected pairs of an equality"),
        (declared().replace("cam_curve", "cam_curv"), "did you mean 'cam_curve'"),
    ],
)
def test_errors_name_the_element_and_the_remedy(text, words):
    with pytest.raises(saltus.ModelError, match=words):
        saltus.load(text)
