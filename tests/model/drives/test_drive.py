"""Drives that are put into models."""

import mujoco
import numpy as np
import pytest

import saltus

ARM = """<mujoco><worldbody><body><joint name="hip" axis="0 1 0"/><geom size=".1"/>
  <body pos="0 0 1"><joint name="knee" axis="0 1 0" damping=".3" frictionloss=".2"/><geom size=".1"/></body></body>
  <body pos="3 0 0"><freejoint name="root"/><geom size=".1"/></body></worldbody>
  <actuator><motor joint="knee"/></actuator></mujoco>"""
CHANGED = saltus.load(ARM).changed({"dof_frictionloss[knee]": 0.3})
GEARED = saltus.load(ARM).changed({"actuator_gear[#0]": [2.0, 0, 0, 0, 0, 0]})
FRICTION = saltus.Stribeck(0.5, 0.8, 0.02, exponent=1, viscous=0.1)


def test_a_drive_writes_friction_damping_ratio_and_losses():
    model = saltus.drive(ARM, "knee", saltus.Gear(50, 0.8), FRICTION)
    assert model.dof_frictionloss[1] == 0.5 and model.dof_damping[1] == 0.1
    assert model.actuator_gear[0, 0] == 50.0
    losses = dict(zip(model.names("tuple"), model.tuple_objprm.tolist(), strict=True))
    assert losses == {
        "drive_gear_efficiency": 0.8,
        "drive_static_friction": 0.8,
        "drive_stribeck_velocity": 0.02,
        "drive_stribeck_exponent": 1.0,
    }


def test_what_is_not_given_stays():
    model = saltus.drive(ARM, "knee", friction=saltus.Stribeck(0.5, 0.8, 0.02))
    assert model.dof_damping[1] == 0.3 and model.actuator_gear[0, 0] == 1.0
    assert saltus.drive(ARM, "knee", saltus.Gear(efficiency=0.5)).dof_frictionloss[1] == 0.2
    assert 0.0 < saltus.drive(ARM, "hip", saltus.Gear(efficiency=0.5)).dof_frictionloss[0] < 1e-8


def test_a_second_drive_replaces_the_first_and_another_joint_joins_it():
    first = saltus.drive(ARM, "knee", saltus.Gear(efficiency=0.5)).changed({"opt.gravity[2]": -1.6})
    second = saltus.drive(saltus.drive(first, "knee", saltus.Gear(efficiency=0.6)), "hip", saltus.Gear(efficiency=0.7))
    assert second.ntuple == 1 and np.allclose(second.tuple_objprm, [0.6, 0.7])
    assert second.opt.gravity[2] == -1.6


def test_the_inertia_of_a_rigid_gears_rotor_is_armature():
    """Its kinetic energy is J (N q')² / 2."""
    assert np.isclose(saltus.drive(ARM, "knee", saltus.Gear(50, rotor_inertia=1e-4)).dof_armature[1], 2500 * 1e-4)
    without_loss = saltus.drive(ARM, "hip", saltus.Gear(rotor_inertia=1e-4))
    assert without_loss.dof_armature[0] == 1e-4 and without_loss.dof_frictionloss[0] == without_loss.ntuple == 0


def test_a_curve_is_declared_for_the_actuators_and_moves_with_them_to_a_rotor():
    curve = saltus.TorqueCurve([0.0, 10.0], [1.0, 0.0])
    gear = saltus.Gear(50, stiffness=100.0, rotor_inertia=1e-4)
    model = saltus.drive(ARM, "knee", gear, curve=curve)
    assert model.names("actuator") == ["knee_motor"] and model.names("tuple") == ["drive_torque_curve"]
    assert model.struct().views["curve_torque"].ravel().tolist() == [1.0, 0.0]
    again = saltus.drive(saltus.drive(ARM, "knee", curve=curve), "knee", curve=saltus.TorqueCurve([0, 5, 9], [3, 2, 1]))
    assert again.struct().views["curve_speed"].ravel().tolist() == [0.0, 5.0, 9.0]


def test_recordings_keep_drives(tmp_path):
    sim = saltus.Simulation(saltus.drive(ARM, "knee", saltus.Gear(efficiency=0.5)))
    sim.run(0.01).save(tmp_path / "run.nc")
    assert saltus.Trajectory.load(tmp_path / "run.nc").model.names("tuple") == ["drive_gear_efficiency"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: saltus.drive(ARM, "elbow", saltus.Gear()), "no joint 'elbow'"),
        (lambda: saltus.drive(ARM, "root", saltus.Gear()), "hinge or slide"),
        (lambda: saltus.drive(ARM, "hip", saltus.Gear(5)), "no actuator acts on the joint"),
        (lambda: saltus.drive(ARM, "hip", curve=saltus.TorqueCurve([0, 1], [1, 0])), "curve has nothing to limit"),
        (
            lambda: saltus.drive(
                ARM.replace("<actuator>", '<custom><numeric name="knee_curve" data="1 2"/></custom><actuator>'),
                "knee",
                curve=saltus.TorqueCurve([0, 1], [1, 0]),
            ),
            "a numeric 'knee_curve' of its own",
        ),
        (lambda: saltus.drive(ARM, "hip", FRICTION), "gear must be a Gear"),
        (lambda: saltus.drive(CHANGED, "knee", friction=FRICTION), "its frictionloss cannot be written"),
        (lambda: saltus.drive(GEARED, "knee", saltus.Gear(5.0)), "its gear of actuators cannot be written"),
        (lambda: saltus.drive(mujoco.MjModel.from_xml_string(ARM), "hip", saltus.Gear()), "no MJCF file"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(call, words):
    with pytest.raises(saltus.OptionError, match=words):
        call()
