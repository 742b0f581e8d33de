"""Dc motors by data sheets, written into models. Reference: the fields that MuJoCo compiles."""

import numpy as np
import pytest

import saltus

ARM = """<mujoco><default><motor ctrllimited="true" ctrlrange="-1 1" gear="3" group="2"/></default>
  <worldbody><body><joint name="hip" axis="0 1 0"/><geom size=".1"/>
  <body pos="0 0 1"><joint name="knee" axis="0 1 0" damping=".3"/><geom size=".1"/></body></body>
  </worldbody><actuator><general joint="knee" dyntype="filter" dynprm=".1"/></actuator>
  <keyframe><key qpos="1 2" act=".5" ctrl=".1"/><key/></keyframe></mujoco>"""
SHEET = dict(resistance=0.6, torque_constant=0.04, inductance=3e-4, voltage=24.0)
WARM = dict(thermal_resistance=4.0, thermal_capacity=10.0)


def test_numbers_of_the_data_sheet_reach_mujocos_motor():
    """Defaults of the file have no effect on it; keyframes begin cold and without current and voltage."""
    motor = saltus.Motor(**SHEET, **WARM, ambient=30.0, cogging=0.01, cogs=12, current_limit=5.0, derating=(80, 110))
    model = saltus.drive(ARM, "hip", motor=motor)
    m = model.mj_model
    assert model.names("actuator") == ["#0", "hip_motor"] and (m.nu, m.na) == (2, 3)
    assert m.actuator_gainprm[1, :8].tolist() == [0.6, 0.04, 0.0039, 25.0, 0.0, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(m.actuator_dynprm[1, :9], [3e-4 / 0.6, 0, 4.0, 10.0, 30.0, 0, 0, 0, 0], rtol=1e-15)
    assert m.actuator_biasprm[1, :6].tolist() == [0.01, 12.0, 0.0, 0.0, 0.0, 0.0]
    assert m.actuator_ctrlrange[1].tolist() == [-24.0, 24.0] and m.actuator_gear[1, 0] == 1.0
    assert m.key_act.tolist() == [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]] and m.key_ctrl[0].tolist() == [0.1, 0.0]
    row = model.struct().views["actuator_currentlimit"]
    np.testing.assert_allclose(row, [[0, 0, 0], [5.0, 110.0, 1 / 30.0]], rtol=1e-15)


def test_damping_of_higher_order_in_defaults_has_no_effect_on_it():
    text = ARM.replace("<default>", '<default><dcmotor motorconst="1" resistance="1" damping=".1 .2 .3"/>')
    m = saltus.drive(text, "hip", motor=saltus.Motor(**SHEET)).mj_model
    assert m.actuator_damping[1] == 0.0 and not m.actuator_dampingpoly[1].any()
    assert m.actuator_dampingpoly[0].tolist() == [0.2, 0.3]  # of all actuators, as in MuJoCo


def test_numbers_of_numpy_are_written_as_numbers():
    given = {name: np.float64(value) for name, value in (SHEET | WARM | dict(current_limit=5.0)).items()}
    plain = saltus.drive(ARM, "hip", motor=saltus.Motor(**SHEET, **WARM, current_limit=5.0)).mj_model
    model = saltus.drive(ARM, "hip", motor=saltus.Motor(**given)).mj_model
    for name in ("gainprm", "dynprm", "ctrlrange"):
        np.testing.assert_array_equal(getattr(model, f"actuator_{name}"), getattr(plain, f"actuator_{name}"))


def test_speed_without_load_and_torque_at_rest():
    motor = saltus.Motor.of_speed_and_torque(12.0, 600.0, 0.3, inductance=1e-4)
    assert (motor.torque_constant, motor.voltage, motor.inductance) == (0.02, 12.0, 1e-4)
    assert motor.torque_constant * motor.voltage / motor.resistance == pytest.approx(0.3, rel=1e-15)
    assert motor.voltage / motor.torque_constant == pytest.approx(600.0, rel=1e-15)


@pytest.mark.parametrize("stiffness", [None, 50.0])
def test_the_gear_is_between_it_and_the_joint(stiffness):
    gear = saltus.Gear(ratio=40.0, rotor_inertia=1e-5, stiffness=stiffness)
    model = saltus.drive(ARM, "hip", gear, saltus.LuGre(1e3, 1.0, 0.1, 0.2, 0.1), motor=saltus.Motor(**SHEET))
    assert model.names("actuator") == ["#0", "hip_motor", "hip_friction"]
    m = model.mj_model
    driven = model.names("joint")[m.actuator_trnid[1, 0]]
    assert (driven, m.actuator_gear[1, 0]) == (("hip", 40.0) if stiffness is None else ("hip_rotor", 1.0))
    assert (model.names("joint")[m.actuator_trnid[2, 0]], m.actuator_gear[2, 0]) == ("hip", 1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(resistance=0.0), "resistance must be above 0"),
        (dict(torque_constant=-1.0), "torque_constant must be above 0"),
        (dict(inductance=-1.0), "inductance must be at least 0"),
        (dict(voltage=0.0), "voltage must be above 0"),
        (dict(current_limit=float("nan")), "current_limit must be above 0"),
        (dict(ambient=float("inf")), "ambient must be finite"),
        (dict(thermal_resistance=1.0), "thermal_resistance and thermal_capacity"),
        (dict(derating=(1.0, 2.0), **WARM), "derating is of a current_limit"),
        (dict(derating=(1.0, 2.0), current_limit=1.0), "needs thermal_resistance"),
        (dict(derating=(2.0, 2.0), current_limit=1.0, **WARM), "derating: the current must begin to fall"),
        (dict(derating=(2.0,), current_limit=1.0, **WARM), "derating: expected a current"),
        (dict(cogging=0.1), "cogging needs an amplitude"),
        (dict(cogging=0.1, cogs=1.5), "cogging needs an amplitude"),
    ],
)
def test_numbers_that_no_motor_has_are_refused(change, words):
    with pytest.raises(saltus.OptionError, match=words):
        saltus.Motor(**SHEET | change)


def test_errors_name_what_is_in_the_way():
    taken = ARM.replace("<general joint", '<general name="hip_motor" joint')
    with pytest.raises(saltus.OptionError, match="there is an actuator 'hip_motor' already"):
        saltus.drive(taken, "hip", motor=saltus.Motor(**SHEET))
    with pytest.raises(saltus.OptionError, match="motor must be a Motor or None"):
        saltus.drive(ARM, "hip", motor=12.0)
    with pytest.raises(saltus.OptionError, match="stall_torque must be above 0"):
        saltus.Motor.of_speed_and_torque(12.0, 600.0, 0.0)
    own = ARM.replace("<keyframe>", '<custom><numeric name="hip_current" data="1"/></custom><keyframe>')
    with pytest.raises(saltus.OptionError, match="numeric 'hip_current' of its own"):
        saltus.drive(own, "hip", motor=saltus.Motor(**SHEET, current_limit=3.0))
