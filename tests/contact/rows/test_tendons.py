"""Rows of tendons are MuJoCo's: limits, dry friction, equalities of fixed and spatial tendons.

Law: as for joints, with the tendon's length in place of a joint's position (MuJoCo documentation, Computation:
Constraint model). Reference: MuJoCo 4.0; tolerances in `helpers.constraints`.
"""

import pytest
from helpers.constraints import assert_same_rows

BODIES = """
<worldbody><site name="w" pos=".2 .1 1.4"/><site name="v" pos="1 .1 1.4"/>
  <body name="a" pos="0 0 1"><joint name="a" axis="0 1 0"/><joint name="s" type="slide" axis="1 0 1"/>
    <geom type="box" size=".1 .2 .15" contype="0" conaffinity="0"/><site name="a" pos=".1 0 .1"/>
    <body name="b" pos=".3 0 .1"><joint name="b" axis="1 1 0"/><site name="b" pos="0 .1 .3"/>
      <geom size=".1" pos=".1 .1 0" contype="0" conaffinity="0"/></body></body>
  <body name="c" pos="1 0 1"><freejoint/><site name="c" pos="0 .1 .2"/>
    <geom type="box" size=".1 .1 .2" contype="0" conaffinity="0"/></body>
</worldbody>"""
FIXED = '<fixed name="{0}" {1}><joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed>'
COUPLED = '<fixed name="{0}" {1}><joint joint="b" coef="2"/><joint joint="s" coef="3"/></fixed>'
SPATIAL = '<spatial name="{0}" {1}><site site="w"/><site site="a"/><site site="b"/></spatial>'
BETWEEN = '<spatial name="{0}" {1}><site site="b"/><site site="c"/></spatial>'
ATTACHED = '<spatial name="{0}" {1}><site site="c"/><site site="v"/></spatial>'
KINDS = {"fixed": FIXED, "coupled": COUPLED, "spatial": SPATIAL, "between trees": BETWEEN, "to the world": ATTACHED}
LIMIT = 'limited="true" range="{}" margin="{}"'
LONG = {"fixed": 0.0, "coupled": 0.0, "spatial": 1.0, "between trees": 1.0, "to the world": 0.4}


def mechanism(tendons, rest=""):
    return f"<mujoco>{BODIES}<tendon>{tendons}</tendon>{rest}</mujoco>"


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("kind", KINDS)
def test_limits(kind, margin):
    """The lower end, the upper end, or both."""
    low, high = LONG[kind] - 0.02, LONG[kind] + 0.02
    parameters = 'solreflimit="-500 -10" solimplimit=".5 .95 .05 .4 3"' if margin else ""
    limit = LIMIT.format(f"{max(low, 0) if LONG[kind] else low} {high}", margin)
    rows, _, _ = assert_same_rows(mechanism(KINDS[kind].format("t", f"{limit} {parameters}")), 30, spread=0.2)
    assert rows == (2 if margin else 1)


@pytest.mark.parametrize("kind", KINDS)
def test_friction(kind):
    parameters = 'frictionloss="2" solreffriction=".01 1" solimpfriction=".8 .9 .01"'
    for speed in (1e-3, 1.0):
        rows, _, _ = assert_same_rows(mechanism(KINDS[kind].format("t", parameters)), speed=speed)
        assert rows == 1


PAIRS = [("fixed", "coupled"), ("coupled", "fixed"), ("spatial", "between trees"), ("to the world", "fixed")]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_equalities(first, second):
    """Two tendons whose degrees of freedom overlap, or not, in either order."""
    tendons = KINDS[first].format("t", "") + KINDS[second].format("u", "")
    equality = '<equality><tendon tendon1="t" tendon2="u" polycoef=".02 .5 .2 -.3 .4" solref=".03 .8"/></equality>'
    rows, _, _ = assert_same_rows(mechanism(tendons, equality), 20)
    assert rows == 1


def test_an_equality_of_one_tendon():
    equality = '<equality><tendon tendon1="t" polycoef=".02 1 1 1 1"/></equality>'
    for kind in KINDS:
        rows, _, _ = assert_same_rows(mechanism(KINDS[kind].format("t", ""), equality), 10)
        assert rows == 1


def test_all_at_once_in_mujocos_order():
    """Limits and friction of joints and tendons, and equalities of both, in one model."""
    limit = LIMIT.format("-.01 .01", 0)
    tendons = (
        FIXED.format("t", f'frictionloss=".3" {limit}')
        + COUPLED.format("u", "")
        + BETWEEN.format("v", 'limited="true" range=".5 .9" frictionloss="1"')
    )
    equality = (
        '<equality><tendon tendon1="u"/><joint joint1="a" joint2="b"/>'
        '<connect active="false" body1="a" anchor="0 0 0"/>'
        '<weld body1="c" solref=".1 1"/><tendon tendon1="t" tendon2="u"/></equality>'
    )
    xml = mechanism(tendons, equality).replace('name="b" axis', 'name="b" range="-2 2" frictionloss=".1" axis')
    rows, _, _ = assert_same_rows(xml, 30)
    assert rows > 13


def test_what_cannot_move_has_no_row():
    """Limits, friction and equalities of tendons between fixed sites."""
    still = '<spatial name="{0}" {1}><site site="w"/><site site="v"/></spatial>'
    tendons = still.format("t", 'limited="true" range="0 .1" frictionloss="1"') + FIXED.format("u", "")
    rows, _, _ = assert_same_rows(mechanism(tendons, '<equality><tendon tendon1="t"/></equality>'), 3)
    assert rows == 0
    # the tendon that moves is the second one
    equality = '<equality><tendon tendon1="t" tendon2="u" polycoef="0 1 0 0 0"/></equality>'
    rows, _, _ = assert_same_rows(mechanism(tendons, equality), 3)
    assert rows == 1
