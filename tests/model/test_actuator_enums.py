"""MuJoCo's types of actuators have its numbers; ours are all different."""

import mujoco
import pytest

from saltus.model import actuator_enums

OUTPUTS = (
    *("SCALAR", "BALL", "BALL_IN_PARENT", "FREE", "FREE_IN_PARENT", "SLIDER_CRANK", "TENDON", "SITE"),
    *("SITE_REFERENCE", "BODY", "ROTATION_OF_BALL", "ROTATION_OF_SITE"),
)


@pytest.mark.parametrize("name", ["Trn", "Dyn", "Gain", "Bias"])
def test_types_are_mujocos(name):
    theirs = {key.removeprefix("mj"): value.value for key, value in vars(mujoco)[f"mjt{name}"].__members__.items()}
    assert {key: getattr(actuator_enums, key) for key in theirs if key != "TRN_UNDEFINED"}.items() <= theirs.items()


def test_inputs_are_mujocos():
    for name in ("POS", "VEL", "FF", "VOLTAGE"):
        assert getattr(actuator_enums, f"INPUT_{name}") == getattr(mujoco.mjtCtrlInput, f"mjINPUT_{name}").value
    assert actuator_enums.CHART_QUAT == mujoco.mjtCtrlChart.mjCHART_QUAT.value


def test_hill_muscles_are_beyond_mujocos_types():
    assert actuator_enums.DYN_HILL not in [kind.value for kind in mujoco.mjtDyn.__members__.values()]
    assert actuator_enums.GAIN_HILL not in [kind.value for kind in mujoco.mjtGain.__members__.values()]


def test_each_output_has_a_number_of_its_own():
    assert sorted(getattr(actuator_enums, name) for name in OUTPUTS) == list(range(len(OUTPUTS)))
