"""Losses of drives in model files: where they go, and what is refused by name."""

import mujoco
import numpy as np
import pytest

import saltus

XML = """<mujoco><worldbody>
  <body><joint name="a" axis="0 1 0" frictionloss=".5"/><joint name="smooth" axis="1 0 0"/>
  <geom size=".1"/></body><body pos="1 0 0"><joint name="ball" type="ball"/><geom size=".1"/></body></worldbody>
  <custom>{}</custom></mujoco>"""


def declared(*tuples):
    """A model with tuples of a name, an object and a number."""
    kinds = {"world": "body"}
    return XML.format(
        "".join(
            f'<tuple name="{name}"><element objtype="{kinds.get(obj, "joint")}" objname="{obj}" prm="{prm}"/></tuple>'
            for name, obj, prm in tuples
        )
    )


STRIBECK = ("drive_static_friction", "a", 0.7), ("drive_stribeck_velocity", "a", 0.02)


def test_numbers_reach_the_rows_of_dry_friction():
    m = saltus.load(declared(*STRIBECK, ("drive_gear_efficiency", "a", 0.75))).struct()
    assert "drive" in m.layout.features
    assert m.views["friction_static"].ravel().tolist() == [0.7]
    assert m.views["friction_stribeck_velocity"].ravel().tolist() == [0.02]
    assert m.views["friction_stribeck_exponent"].ravel().tolist() == [2]
    assert m.views["friction_of_load"].ravel().tolist() == [0.25]


def test_models_without_drives_keep_their_layout():
    m = saltus.load(declared(("other", "a", 1.0), ("drive_wheels", "a", 2.0))).struct()
    assert "drive" not in m.layout.features and "friction_static" not in m.views


GEARED = """<mujoco><worldbody><body><joint name="a"/><geom size=".1"/></body><body><joint name="motor"
  frictionloss="{friction}"/><geom size=".1"/></body></worldbody><tendon><fixed name="gear" stiffness="{stiffness}">
  <joint joint="a" coef="-1"/><joint joint="motor" coef=".02"/></fixed></tendon>
  <custom>{custom}</custom></mujoco>"""

FIRST = '<joint joint="a" coef="-1"/>'


def geared(*numbers, kind="tendon", friction=0.1, stiffness=5.0):
    """An elastic gear with losses of these names."""
    obj = "gear" if kind == "tendon" else "motor"
    element = f'<element objtype="{kind}" objname="{obj}" prm="{{}}"/>'
    custom = "".join(f'<tuple name="drive_gear_{name}">{element.format(x)}</tuple>' for name, x in numbers)
    return GEARED.format(friction=friction, stiffness=stiffness, custom=custom)


@pytest.mark.parametrize(
    ("numbers", "friction", "shift"),
    [
        ([("efficiency", 0.8), ("back_efficiency", 0.6)], (1 / 0.8 - 0.6) / 2, (2 - 1 / 0.8 - 0.6) / 2),
        ([("efficiency", 0.8)], 1 / 0.8 - 1.0, 0.0),
        ([("back_efficiency", -0.5)], 0.75, 0.75),
    ],
)
def test_efficiencies_of_elastic_gears_reach_the_row_of_the_motor(numbers, friction, shift):
    """(1/η - η') / 2 and (2 - 1/η - η') / 2; η' is 2 - 1/η if none is declared."""
    m = saltus.load(geared(*numbers)).struct()
    assert m.views["friction_tendon"].ravel().tolist() == [0]
    assert np.allclose(m.views["friction_of_twist"].ravel(), friction, rtol=1e-14)
    assert np.allclose(m.views["friction_shift"].ravel(), shift, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: geared(("efficiency", 0.8), friction=0.0), "tendon 'gear'.*give that frictionloss"),
        (lambda: geared(("efficiency", 0.8), stiffness=0.0), "give it stiffness"),
        (lambda: geared(("efficiency", 0.8)).replace(FIRST, ""), "over two joints"),
        (lambda: geared(("back_efficiency", 1.5)), "at most 1"),
        (lambda: geared(("back_efficiency", 0.5), kind="joint"), "declare it for the tendon of an elastic gear"),
    ],
)
def test_what_is_no_elastic_gear_is_refused(call, words):
    with pytest.raises(saltus.ModelError, match=words):
        saltus.load(call())


def test_names_of_attached_models_are_found():
    """MuJoCo writes a prefix before the names of an attached model's tuples."""
    parent, child = mujoco.MjSpec(), mujoco.MjSpec.from_string(declared(*STRIBECK))
    parent.attach(child, prefix="left_", frame=parent.worldbody.add_frame())
    model = saltus.load(parent)
    assert model.names("tuple")[0].startswith("left_")
    assert model.struct().views["friction_static"].ravel().tolist() == [0.7]


@pytest.mark.parametrize(
    ("tuples", "words"),
    [
        ([("drive_static", "a", 1)], "not a loss of a drive; did you mean 'drive_static_friction'"),
        ([("drive_gear_efficiency", "ball", 0.5)], "hinge or slide"),
        ([("drive_gear_efficiency", "world", 0.5)], "hinge or slide"),
        ([("drive_gear_efficiency", "a", 1.5)], "prm of joint 'a' is 1.5; expected the efficiency"),
        ([("drive_gear_efficiency", "a", 0.0)], "prm of joint 'a' is 0"),
        ([("drive_stribeck_exponent", "a", 3), *STRIBECK], "1 or 2"),
        ([("drive_static_friction", "a", float("nan"))], "at least 0"),
        ([("drive_static_friction", "a", 0.7)], "needs drive_stribeck_velocity"),
        ([("drive_stribeck_velocity", "a", 0.7)], "need drive_static_friction"),
        ([("drive_static_friction", "a", 0.4), STRIBECK[1]], "less than in motion"),
        ([("drive_gear_efficiency", "smooth", 0.5)], "give it frictionloss"),
    ],
)
def test_errors_name_the_tuple_or_joint_and_the_remedy(tuples, words):
    with pytest.raises(saltus.ModelError, match=words):
        saltus.load(declared(*tuples))


def test_changed_friction_must_fit_the_drive():
    model = saltus.load(declared(*STRIBECK))
    assert np.isclose(model.changed({"dof_frictionloss[a]": 0.6}).dof_frictionloss[0], 0.6)
    with pytest.raises(saltus.ModelError, match="less than in motion"):
        model.changed({"dof_frictionloss[a]": 0.8})
