"""Limits of the current of dc motors in model files: where they go, and what is refused by name."""

import numpy as np
import pytest

import saltus

XML = """<mujoco><worldbody><body><joint name="x"/><geom size=".1"/></body></worldbody><actuator>
  <motor name="a" joint="x"/><dcmotor name="cold" joint="x" motorconst=".05" resistance="1"/>
  <dcmotor name="warm" joint="x" motorconst=".05" resistance="1" thermal="2 3 0 0.004 25 25"/></actuator>
  <custom><numeric name="numbers" data="{data}"/>
  <tuple name="left_drive_current_limit">{pairs}</tuple></custom></mujoco>"""
PAIR = '<element objtype="actuator" objname="{}"/><element objtype="numeric" objname="numbers"/>'


def declared(data="6 100 120", pairs=None):
    return XML.format(data=data, pairs=PAIR.format("warm") if pairs is None else pairs)


def test_numbers_reach_the_motor_and_others_have_none():
    m = saltus.load(declared()).struct()
    assert "current_limit" in m.layout.features
    np.testing.assert_allclose(m.views["actuator_currentlimit"], [[0] * 3, [0] * 3, [6.0, 120.0, 0.05]], rtol=1e-15)
    constant = saltus.load(declared("6", PAIR.format("cold"))).struct().views["actuator_currentlimit"][1]
    # no temperature takes anything away from a limit that does not fall
    assert constant[0] == 6.0 and (constant[1] - 1e6) * constant[2] > 1.0
    assert (
        "current_limit"
        not in saltus.load(declared().replace("left_drive_current_limit", "others")).struct().layout.features
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (declared("6 100"), "numeric 'numbers'.*a current and two temperatures"),
        (declared("0"), "the current must be above 0"),
        (declared("6 120 120"), "must begin to fall at a lower temperature"),
        (declared(pairs=PAIR.format("a")), "actuator 'a'.*for dc motors"),
        (declared(pairs=PAIR.format("cold")), "actuator 'cold'.*give the motor `thermal`"),
        (declared(pairs='<element objtype="actuator" objname="warm"/>'), "expected pairs of an actuator"),
        (declared().replace("current_limit", "curent_limit"), "did you mean 'drive_current_limit'"),
    ],
)
def test_errors_name_the_element_and_the_remedy(text, words):
    with pytest.raises(saltus.ModelError, match=words):
        saltus.load(text)
