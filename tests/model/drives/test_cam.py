"""`saltus.cam`: what it writes into a model's text, curves that are refused, recordings that keep them."""

import numpy as np
import pytest

import saltus

XML = """<mujoco><worldbody><body><joint name="shaft"/><geom size=".1"/></body><body><joint name="valve" type="slide"/>
  <geom size=".1"/></body><body><joint name="ball" type="ball"/><geom size=".1"/></body></worldbody>{}</mujoco>"""
OTHER = '<equality><joint name="valve_cam" joint1="valve" joint2="shaft"/></equality>'
TURN = np.linspace(0.0, 2.0 * np.pi, 13)
CURVE = saltus.CamCurve(TURN, 1.0 - np.cos(TURN), periodic=True)


def test_a_curve_is_declared_and_replaced():
    model = saltus.cam(XML.format(""), "valve", "shaft", CURVE)
    assert model.names("equality") == ["valve_cam"] and model.names("tuple") == ["cam_curve"]
    assert model.struct().views["cam_num"].ravel().tolist() == [14]
    again = saltus.cam(model, "valve", "shaft", saltus.CamCurve([0.0, 1.0, 2.0], [0.0, 0.3, 1.0], advances=True))
    assert again.neq == 1 and again.struct().views["cam_num"].ravel().tolist() == [4]
    assert again.struct().views["cam_advance"].ravel().tolist() == [1.0]


def test_recordings_keep_curves(tmp_path):
    sim = saltus.Simulation(saltus.cam(XML.format(""), "valve", "shaft", CURVE))
    sim.run(0.01).save(tmp_path / "run.nc")
    assert saltus.Trajectory.load(tmp_path / "run.nc").model.names("tuple") == ["cam_curve"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: saltus.CamCurve([0.0, 1.0], [1.0]), "2 angles, but 1 lifts"),
        (lambda: saltus.CamCurve([0.0], [1.0]), "at least 2 points"),
        (lambda: saltus.CamCurve([0.0, 1.0, 1.0], [1.0, 2.0, 3.0]), "must increase"),
        (lambda: saltus.CamCurve([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], periodic=True), "advances=True"),
        (lambda: saltus.CamCurve([0.0, 1.0], [1.0, 2.0], periodic=1), "periodic must be True or False"),
        (lambda: saltus.cam(XML.format(""), "valve", "shaft", 1.0), "curve must be a CamCurve"),
        (lambda: saltus.cam(XML.format(""), "vent", "shaft", CURVE), "no joint 'vent'"),
        (lambda: saltus.cam(XML.format(""), "valve", "ball", CURVE), "joint 'ball' is none"),
        (lambda: saltus.cam(XML.format(""), "valve", "valve", CURVE), "cannot follow itself"),
        (lambda: saltus.cam(XML.format(OTHER), "valve", "shaft", CURVE), "no cam on 'shaft'"),
    ],
)
def test_errors_name_the_remedy(call, words):
    with pytest.raises(saltus.OptionError, match=words):
        call()


def test_equations_in_symbols_refuse_it_by_name():
    with pytest.raises(saltus.ModelError, match="valve_cam"):
        saltus.derive(saltus.cam(XML.format(""), "valve", "shaft", CURVE))
