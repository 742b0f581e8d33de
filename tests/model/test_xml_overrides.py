"""Editing a model's file.

Charter. Law: an edited model is the one that MuJoCo compiles from the file with that attribute written into it by hand.
Oracle: mujoco.MjModel of such a text; all fields compared are equal, not close, since it is the same compiler. What
cannot be edited is refused with the path in the message.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.errors import ModelError, OptionError
from saltus.model.xml_overrides import edited

SHEET = """<mujoco model="sheet"><option timestep="0.002"/>
<default><geom friction="0.5"/><default class="soft"><geom solref="0.05 1"/></default></default>
<worldbody>
  <body name="ball" pos="0 0 2"><freejoint name="free"/>
  <geom name="ball" size="0.1" {size} {contype}/><geom name="hat" size="0.02"/></body>
  <flexcomp name="sheet" type="grid" count="4 4 1" spacing="0.1 0.1 0.1" dim="2" mass="1" radius="0.01">
    <edge equality="false" damping="1"/>
    <contact contype="0" conaffinity="0"/>
    <elasticity young="{young}" thickness="0.01" elastic2d="stretch"/>
    <pin {pin}/>
  </flexcomp>
</worldbody></mujoco>"""
USUAL = {"size": "", "contype": "", "young": "3e4", "pin": 'id="0 3"'}


def text(**values):
    return SHEET.format(**{**USUAL, **values})


def same(model, expected, *fields):
    theirs = mujoco.MjModel.from_xml_string(expected)
    for field in fields:
        np.testing.assert_array_equal(getattr(model, field), getattr(theirs, field), err_msg=field)


def test_values_of_elements_and_of_their_children():
    model = edited(text(), {"flexcomp[sheet]/elasticity/young": 6e4, "flexcomp[sheet]/pin/id": "0 3 12 15"})
    same(model, text(young="6e4", pin='id="0 3 12 15"'), "flex_stiffness", "body_mass", "nv", "flex_vertbodyid")
    assert model.name == "sheet"


def test_numbers_text_and_several_numbers():
    for value in ("0.2 0.3 0.4", [0.2, 0.3, 0.4], np.array([0.2, 0.3, 0.4])):
        model = edited(text(), {"geom[ball]/size": value, "geom[ball]/type": "box"})
        np.testing.assert_array_equal(model.geom_size[0], [0.2, 0.3, 0.4])
    same(edited(text(), {"geom[ball]/contype": 2}), text(contype='contype="2"'), "geom_contype", "geom_conaffinity")


def test_nothing_takes_an_attribute_out():
    model = edited(text(), {"flexcomp[sheet]/pin/id": None})
    same(model, text(pin=""), "nv", "flex_vertbodyid")


def test_sections_that_the_file_has_or_has_not():
    model = edited(text(), {"option/timestep": 0.004, "compiler/angle": "radian", "option/integrator": "RK4"})
    assert model.opt.timestep == 0.004 and model.opt.integrator == "RK4"


def test_by_number_and_defaults():
    assert edited(text(), {"geom[#1]/size": 0.03}).geom_size[1, 0] == 0.03
    model = edited(text(), {"default[#0]/geom/friction": 0.7})
    np.testing.assert_array_equal(model.geom_friction[:, 0], 0.7)


def test_files_keep_their_folder_and_what_they_include(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "a.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    )
    (tmp_path / "floor.xml").write_text(
        '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/></worldbody></mujoco>'
    )
    main = tmp_path / "main.xml"
    main.write_text(
        '<mujoco model="stone"><compiler meshdir="assets"/><include file="floor.xml"/>'
        '<asset><mesh name="a" file="a.obj"/></asset><worldbody><body name="b"><freejoint/>'
        '<geom name="g" type="mesh" mesh="a" density="1000"/></body></worldbody></mujoco>'
    )
    before = saltus.load(main)
    after = edited(main, {"geom[g]/density": 2000.0, "geom[floor]/friction": 0.2})
    np.testing.assert_allclose(after.body_mass[1], 2 * before.body_mass[1], rtol=1e-15)
    assert after.geom_friction[0, 0] == 0.2 and after.name == "stone"


def test_bundled_models_start_where_they_did():
    model = edited("pendulum", {"geom[bob]/size": 0.3})
    assert model.name == "pendulum" and model.initial_key == 0
    again = edited(saltus.load("pendulum").changed({"body_mass[pendulum]": 3.0}), {"geom[bob]/size": 0.3})
    assert again.geom_size[again.id("geom", "bob"), 0] == 0.3 and again.body_mass[1] == 3.0 and again.initial_key == 0


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("geom[bal]/size", 1, "did you mean 'ball'"),
        ("geom/size", 1, "there are 2 elements geom"),
        ("gem[ball]/size", 1, "did you mean 'geom'"),
        ("geom[ball]/sise", 1, "geom.ball./sise=1: .*unrecognized attribute: 'sise'"),
        ("geom[ball]/size", "big", "geom.ball./size=big: .*'size'"),
        ("flexcomp[sheet]/elasticity[x]/young", 1, "unknown elasticity"),
        ("flexcomp[sheet]/elastic/young", 1, "elastic"),
        ("geom[ball]", 1, "is not an attribute"),
        ("geom[ball/size", 1, "is not an element"),
    ],
)
def test_what_cannot_be(path, value, message):
    with pytest.raises(OptionError, match=message):
        edited(text(), {path: value})


def test_models_without_text():
    with pytest.raises(OptionError, match="no MJCF file"):
        edited(mujoco.MjModel.from_xml_string(text()), {"geom[ball]/size": 1})


def test_urdf_has_no_mjcf_to_change(tmp_path):
    """Also with a <mujoco> element inside, as text and as a file."""
    text = '<robot name="r"><mujoco><option timestep="0.01"/></mujoco><link name="a"/></robot>'
    (tmp_path / "r.urdf").write_text(text)
    for source in (text, tmp_path / "r.urdf"):
        with pytest.raises(OptionError, match="no MJCF file to change"):
            edited(source, {"option/timestep": 0.02})


def test_files_that_cannot_be_one_model(tmp_path):
    """Files that include each other, elements deeper than Python's functions go, names that no file can have."""
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.xml").write_text(f"<mujoco><include file='{other}.xml'/></mujoco>")
    with pytest.raises(ModelError, match=r"b\.xml: included twice"):
        edited(tmp_path / "a.xml", {"option/timestep": 0.02})
    deep = "<mujoco><worldbody>" + "<body>" * 3000 + "</body>" * 3000 + "</worldbody></mujoco>"
    with pytest.raises(ModelError, match="nested too deeply"):
        edited(deep, {"option/timestep": 0.02})
    with pytest.raises(ModelError, match="no such file"):
        edited(f"<mujoco><include file='{'a' * 300}'/></mujoco>", {"option/timestep": 0.02})
    for name in ("a" * 300, "a\0b"):
        with pytest.raises(OptionError, match="no MJCF file"):
            edited(name, {"option/timestep": 0.02})
