"""Curves of torque by speed in model files: where they go, and what is refused by name."""

import numpy as np
import pytest

import saltus

XML = """<mujoco><worldbody><body><joint name="x"/><geom size=".1"/></body><body><joint name="y"/>
  <geom size=".1"/></body></worldbody><actuator><motor name="a" joint="x"/><motor name="b" joint="y"/>
  <dcmotor name="dc" joint="y" motorconst=".05" resistance="1"/></actuator>
  <custom><numeric name="points" data="{data}"/>
  <tuple name="left_drive_torque_curve">{pairs}</tuple></custom></mujoco>"""
PAIR = '<element objtype="actuator" objname="{}"/><element objtype="numeric" objname="points"/>'


def declared(data="0 2 3 1", pairs=None):
    return XML.format(data=data, pairs=PAIR.format("b") if pairs is None else pairs)


def test_points_reach_the_actuator_and_others_have_none():
    m = saltus.load(declared()).struct()
    assert "torque_curve" in m.layout.features
    assert m.views["curve_num"].ravel().tolist() == [0, 2, 0]
    first = m.views["curve_adr"].ravel()[1]
    assert np.array_equal(m.views["curve_speed"].ravel()[first:], [0.0, 3.0])
    assert np.array_equal(m.views["curve_torque"].ravel()[first:], [2.0, 1.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (declared("0 2 3"), "numeric 'points'.*a torque after each speed"),
        (declared("0 2"), "at least two points"),
        (declared("0 2 0 1"), "speeds must increase"),
        (declared("0 2 1 -1"), "at least 0"),
        (declared(pairs=PAIR.format("dc")), "actuator 'dc'.*by their own law"),
        (declared(pairs='<element objtype="actuator" objname="a"/>'), "expected pairs of an actuator"),
        (declared().replace("torque_curve", "torque_curv"), "did you mean 'drive_torque_curve'"),
    ],
)
def test_errors_name_the_element_and_the_remedy(text, words):
    with pytest.raises(saltus.ModelError, match=words):
        saltus.load(text)
