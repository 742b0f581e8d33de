"""MuJoCo's types of sensors and what they report have its numbers."""

import mujoco
import pytest

from saltus.model import sensor_enums


@pytest.mark.parametrize(
    ("kind", "prefix"), [("Sensor", "mjSENS_"), ("DataType", "mjDATATYPE_"), ("Projection", "mjPROJ_")]
)
def test_types_are_mujocos(kind, prefix):
    for name, theirs in vars(mujoco)[f"mjt{kind}"].__members__.items():
        assert getattr(sensor_enums, name.removeprefix(prefix)) == theirs.value


def test_objects_are_mujocos():
    theirs = {"NO_OBJECT": "UNKNOWN", "INERTIA": "BODY", "BODY": "XBODY", "GEOM": "GEOM", "SITE": "SITE"}
    for name, other in (theirs | {"CAMERA": "CAMERA"}).items():
        assert getattr(sensor_enums, name) == getattr(mujoco.mjtObj, f"mjOBJ_{other}").value


def test_modes_of_cameras_are_mujocos():
    for name in ("FIXED", "TRACK", "TRACK_COM", "TARGET_BODY", "TARGET_BODY_COM"):
        theirs = getattr(mujoco.mjtCamLight, f"mjCAMLIGHT_{name.replace('_', '')}")
        assert getattr(sensor_enums, name) == theirs.value


@pytest.mark.parametrize(("kind", "theirs", "ours"), [("Ray", "RAYDATA", "RAY"), ("Con", "CONDATA", "CONTACT")])
def test_reported_data_are_mujocos_bits(kind, theirs, ours):
    fields = vars(mujoco)[f"mjt{kind}DataField"].__members__
    bits = {name.partition("_")[2]: 1 << place.value for name, place in fields.items() if "_" in name}
    assert bits == {name: getattr(sensor_enums, f"{ours}_{name}") for name in bits}
    assert len(bits) == fields[f"mjN{theirs}"].value
