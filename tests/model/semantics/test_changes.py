"""Changes of meaning between MuJoCo's releases: each is found in a model that it concerns, and in no other.

Reference: MuJoCo's changelog, which says which attributes and elements changed their meaning with which release.
"""

import warnings

import pytest

import saltus
from saltus.errors import ModelError, OptionError, SaltusWarning
from saltus.model.semantics.changes import CHANGES, followed

ARM = '<body name="arm"><joint name="j"/><geom name="ball" size=".1" {ball}/>{more}</body>'
REFUSED = [
    (
        "mujoco-3.17",
        '<flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2"><edge damping="1"/></flexcomp>',
        "",
        "deformable bodies (flex 'f') changed with mujoco-4.0",
    ),
    (
        "mujoco-3.14",
        ARM,
        '<actuator><position name="p" joint="j" dampratio="1"/></actuator>',
        "dampratio changed with mujoco-3.15",
    ),
    (
        "mujoco-3.13",
        ARM,
        '<tendon><fixed name="t" actuatorfrcrange="-1 1"><joint joint="j" coef="1"/></fixed></tendon>',
        "(tendon 't') changed with mujoco-3.14",
    ),
    (
        "mujoco-3.11",
        ARM,
        '<actuator><dcmotor name="d" joint="j" motorconst="1" resistance="1" input="pos" controller="1"/></actuator>',
        "(actuator 'd') changed with mujoco-3.12",
    ),
    (
        "mujoco-3.11",
        '<body name="hand" mocap="true"><geom size=".1"/><body name="tip"><geom size=".1"/></body></body>',
        "",
        "(body 'tip') changed with mujoco-3.12",
    ),
    (
        "mujoco-3.10",
        '<body><freejoint name="f"/><geom size=".1"/></body>',
        '<option integrator="implicitfast"/>',
        "(joint 'f') changed with mujoco-3.11",
    ),
    ("mujoco-3.10", ARM, '<option><flag sleep="enable"/></option>', "sleep_tolerance changed with mujoco-3.11"),
    ("mujoco-3.8", ARM.replace("{ball}", 'gap=".1"'), "", "(geom 'ball') changed with mujoco-3.9"),
]
TOLD = [
    ("mujoco-3.11", '<geom name="floor" type="box" size="1 1 1"/>', "points of contacts of box with box"),
    ("mujoco-3.12", '<geom name="floor" type="cylinder" size="1 1"/>', "points of contacts of cylinder with cylinder"),
]


def text(bodies, rest=""):
    bodies = bodies.replace("{ball}", "").replace("{more}", "")
    return f"<mujoco><worldbody>{bodies}</worldbody>{rest}</mujoco>"


@pytest.mark.parametrize(("release", "bodies", "rest", "message"), REFUSED)
def test_another_meaning_is_refused(release, bodies, rest, message):
    with pytest.raises(OptionError) as caught:
        saltus.load(text(bodies, rest), semantics=release)
    assert message in str(caught.value) and release in str(caught.value)


@pytest.mark.parametrize(("release", "bodies", "rest", "message"), REFUSED)
def test_the_release_of_a_change_has_its_meaning(release, bodies, rest, message):
    """One release later the change has come."""
    since = message.rpartition(" ")[2]
    assert saltus.load(text(bodies, rest), semantics=since).semantics == since


@pytest.mark.parametrize(("release", "geom", "message"), TOLD)
def test_other_points_of_contacts_are_told(release, geom, message):
    pair = text(geom + f"<body><freejoint/>{geom.replace('floor', 'other')}</body>")
    with pytest.warns(SaltusWarning, match=message):
        saltus.load(pair, semantics=release)


def test_defaults_of_other_actuators_are_told():
    actuators = """<default><position kp="9"/></default><actuator><motor name="m" joint="j"/></actuator>"""
    with pytest.warns(SaltusWarning, match=r"defaults of other kinds changed with mujoco-3\.16"):
        saltus.load(text(ARM, actuators), semantics="mujoco-3.15")
    own = actuators.replace("motor", "position")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saltus.load(text(ARM, own), semantics="mujoco-3.15")


def test_what_is_left_out_does_not_count():
    release, bodies, rest, _ = REFUSED[0]
    assert saltus.load(text(bodies, rest), semantics=release, ignore=["flex"]).semantics == release


def test_a_declared_file_is_checked(tmp_path):
    """Attributes that the compiled model has lost are read from the file; with included ones that is refused."""
    declares = '<custom><text name="semantics" data="mujoco-3.14"/></custom>'
    file = tmp_path / "arm.xml"
    file.write_text(text(ARM, REFUSED[1][2] + declares), encoding="utf-8")
    with pytest.raises(ModelError, match="dampratio changed"):
        saltus.load(file)
    (tmp_path / "motor.xml").write_text(f"<mujocoinclude>{REFUSED[1][2]}</mujocoinclude>", encoding="utf-8")
    file.write_text(text(ARM, '<include file="motor.xml"/>' + declares), encoding="utf-8")
    with pytest.raises(ModelError, match=r"saltus\.load\(path, semantics='mujoco-3\.14'\)"):
        saltus.load(file)
    with pytest.raises(OptionError, match="dampratio changed"):
        saltus.load(file, semantics="mujoco-3.14")


def test_the_newest_release_is_followed_by_all():
    model = saltus.load(text(ARM))
    assert followed(model.mujoco, "", frozenset()) == ""
    assert [change.since for change in CHANGES] == sorted((change.since for change in CHANGES), reverse=True)
