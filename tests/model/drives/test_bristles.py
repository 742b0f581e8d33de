"""Friction by bristles that is put into models. References: MuJoCo's compiled fields, and its accelerations."""

import mujoco
import numpy as np
import pytest

import saltus

ARM = """<mujoco><default><motor ctrllimited="true" ctrlrange="-1 1" gear="3" group="2"/></default>
  <worldbody><body><joint name="hip" axis="0 1 0" actuatorfrcrange="-3 6"/><geom size=".1"/>
  <body pos="0 0 1"><joint name="knee" axis="0 1 0" damping=".3" frictionloss=".2"/><geom size=".1"/></body></body>
  </worldbody><actuator><motor joint="hip"/><general joint="knee" dyntype="filter" dynprm=".1"/></actuator>
  <keyframe><key qpos="1 2" act=".5"/><key/></keyframe></mujoco>"""
LUGRE = saltus.LuGre(1e4, 30.0, 1.0, 1.5, 0.01, viscous=0.2)
SECOND = ARM.replace("<actuator>", '<actuator><motor joint="hip"/>')


def test_friction_is_an_actuator_behind_all_others_without_controls():
    model = saltus.drive(ARM, "hip", friction=LUGRE)
    m = model.mj_model
    assert model.names("actuator") == ["#0", "#1", "hip_friction"] and (m.nu, m.na) == (2, 2)
    assert m.actuator_dynprm[2, 5:7].tolist() == [1e4, 30.0] and m.actuator_biasprm[2, 3:6].tolist() == [1.0, 1.5, 0.01]
    assert m.dof_damping[0] == 0.2 and m.dof_frictionloss.tolist() == [0.0, 0.2]
    assert m.key_act.tolist() == [[0.5, 0.0], [0.0, 0.0]]
    # defaults of the file have no effect on it
    assert m.actuator_gear[2, 0] == 1.0 and m.actuator_group[2] == 31


def test_damping_of_higher_order_in_defaults_has_no_effect_on_friction():
    text = ARM.replace("<default>", '<default><joint damping="1 2 3"/><general damping=".1 .2 .3"/>')
    m = saltus.drive(text, "hip", friction=LUGRE).mj_model
    assert m.actuator_damping[2] == 0.0 and not m.actuator_dampingpoly[2].any()
    assert m.dof_damping[0] == 0.2 and m.dof_dampingpoly.tolist() == [[0.0, 0.0], [2.0, 3.0]]


def test_a_limit_of_the_joints_actuators_becomes_that_of_its_motor():
    """The motor's torques are those of before, and friction goes beyond the limit: MuJoCo's qfrc_actuator."""
    model = saltus.drive(ARM, "hip", friction=saltus.LuGre(1e4, 0.0, 50.0, 50.0, 1.0))
    m, before = model.mj_model, mujoco.MjModel.from_xml_string(ARM)
    assert not m.jnt_actfrclimited[0]
    d, free = mujoco.MjData(m), mujoco.MjData(before)
    d.act[1] = 2e-3
    for ctrl in (-9.0, -0.5, 0.5, 9.0):
        d.ctrl[0] = free.ctrl[0] = ctrl
        mujoco.mj_forward(m, d)
        mujoco.mj_forward(before, free)
        np.testing.assert_allclose(d.qfrc_actuator[0] + 1e4 * 2e-3, free.qfrc_actuator[0], rtol=1e-14)
    limited = saltus.load(ARM.replace("<motor joint", '<motor forcerange="-9 1" joint'))
    assert saltus.drive(limited, "hip", friction=LUGRE).actuator_forcerange[0].tolist() == [-1.0, 1.0]


def test_friction_of_the_joint_stays_and_motors_move_to_a_rotor():
    model = saltus.drive(ARM, "hip", friction=LUGRE)
    model = saltus.drive(model, "hip", saltus.Gear(7, stiffness=10.0, rotor_inertia=0.1), curve=CURVE)
    assert [model.names("joint")[j] for j in model.actuator_trnid[:, 0]] == ["hip_rotor", "knee", "hip"]
    assert model.actuator_gear[2, 0] == 1.0
    both = saltus.drive(model, "hip_rotor", friction=saltus.Dahl(5.0, 0.1))
    assert both.names("actuator")[2:] == ["hip_friction", "hip_rotor_friction"] and both.nu == 2


CURVE = saltus.TorqueCurve([0.0, 10.0], [1.0, 0.0])


def test_bristles_of_a_motor_leave_the_gears_loss():
    gear = saltus.Gear(7, efficiency=0.5, stiffness=10.0, rotor_inertia=0.1)
    model = saltus.drive(saltus.drive(ARM, "hip", gear), "hip_rotor", friction=LUGRE)
    assert 0.0 < model.dof_frictionloss[2] < 1e-8 and model.names("tuple") == ["drive_gear_efficiency"]


def test_bristles_take_the_place_of_dry_friction_and_of_other_bristles():
    model = saltus.drive(ARM, "knee", friction=saltus.Stribeck(1.0, 2.0, 0.1))
    model = saltus.drive(model, "knee", friction=saltus.Dahl(5.0, 2.0))
    assert model.ntuple == 0 and model.dof_frictionloss[1] == 0.0
    again = saltus.drive(model, "knee", friction=LUGRE)
    assert again.na == model.na and again.mj_model.actuator_dynprm[2, 5] == 1e4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: saltus.drive(saltus.drive(ARM, "hip", friction=LUGRE), "hip", friction=STRIBECK), "choose LuGre"),
        (lambda: saltus.drive(ARM, "hip", saltus.Gear(5, 0.5), LUGRE), "a rigid gear's loss"),
        (lambda: saltus.drive(saltus.drive(ARM, "hip", friction=LUGRE), "hip", saltus.Gear(5, 0.5)), "a rigid gear's"),
        (lambda: saltus.drive(SECOND, "hip", friction=LUGRE), "actuatorfrcrange"),
        (
            lambda: saltus.drive(ARM.replace('"knee" dyn', '"knee" name="hip_friction" dyn'), "hip", friction=LUGRE),
            "rename",
        ),
        (
            lambda: saltus.drive(
                ARM.replace("<def", '<option><flag actuation="disable"/></option><def'), "hip", None, LUGRE
            ),
            "disables actuation",
        ),
        (lambda: saltus.drive(ARM, "hip", friction=1.0), "Stribeck, LuGre, Dahl or None"),
    ],
)
def test_what_cannot_be_is_refused_by_name(call, words):
    with pytest.raises(saltus.OptionError, match=words):
        call()


STRIBECK = saltus.Stribeck(1.0, 2.0, 0.1)


def test_a_rigid_gear_and_bristles_are_written_together():
    """The ratio is the motor's; friction acts on the joint itself."""
    model = saltus.drive(ARM, "hip", saltus.Gear(ratio=7), LUGRE)
    assert model.actuator_gear[[0, 2], 0].tolist() == [7.0, 1.0]
