"""Numbers that are none, infinite or huge, and text that is not UTF-8, are refused by element, name and attribute.

MuJoCo's own compiler lets all of these pass.
"""

import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pytest
from helpers.everything import xml

import saltus
from saltus.model.load import BUNDLED

ODD = {
    ("body", "arm", "pos"): "0 0 nan",
    ("geom", "floor", "pos"): "0 0 1e300",
    ("geom", "knob", "rgba"): "nan 0 0 1",
    ("joint", "hinge", "springref"): "nan",
    ("joint", "hinge", "stiffness"): "inf",
    ("joint", "hinge", "damping"): "1e200",
    ("site", "tip", "pos"): "-inf 0 0",
    ("option", None, "gravity"): "0 0 nan",
    ("option", None, "wind"): "0 inf 0",
    ("statistic", None, "extent"): "1e300",
}


@pytest.mark.parametrize("where", ODD, ids=lambda where: " ".join(filter(None, where)))
def test_a_number_is_refused_where_it_stands(where):
    element, name, attribute = where
    root = ET.fromstring(xml())
    found = next(e for e in root.iter(element) if e.get("name") == name)
    found.set(attribute, ODD[where])
    text = ET.tostring(root, encoding="unicode")
    mujoco.MjModel.from_xml_string(text)
    with pytest.raises(saltus.ModelError, match=rf"{attribute}.* is .*(expected a finite number|too large)") as caught:
        saltus.load(text)
    assert (caught.value.element, caught.value.name) == (element, name)


def test_a_compiled_model_is_looked_at_too():
    m = saltus.load("pendulum").mujoco
    m.dof_damping[0] = np.inf
    with pytest.raises(saltus.ModelError, match=r"joint '\w+': damping is inf"):
        saltus.load(m)


def test_a_range_may_be_infinite():
    text = (BUNDLED / "pendulum.xml").read_text(encoding="utf-8")
    m = mujoco.MjModel.from_xml_string(text)
    m.actuator_ctrlrange[0] = -np.inf, np.inf
    m.actuator_forcerange[0] = -1e300, 1e300
    saltus.load(m)
    m.actuator_ctrlrange[0] = np.nan, 1
    with pytest.raises(saltus.ModelError, match="ctrlrange is nan"):
        saltus.load(m)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            b'<mujoco>\n<worldbody>\n<body name="caf\xe9"/></worldbody></mujoco>',
            "line 3: body: name contains the byte 0xe9",
        ),
        (b"<mujoco>\n<!-- caf\xe9 --><worldbody/></mujoco>", "line 2: a comment contains the byte 0xe9"),
        ("<mujoco/>".encode("utf-16"), "line 1: this line contains the byte 0xff"),
    ],
)
def test_text_that_is_not_utf8_is_refused_where_it_stands(tmp_path, content, says):
    path = tmp_path / "model.xml"
    path.write_bytes(content)
    with pytest.raises(saltus.ModelError, match=f"{says}, which is not UTF-8; save the file as UTF-8"):
        saltus.load(path)


def test_an_included_file_is_looked_at_too(tmp_path):
    (tmp_path / "part.xml").write_bytes(b'<mujoco><worldbody><body name="\xe9"/></worldbody></mujoco>')
    (tmp_path / "whole.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    with pytest.raises(saltus.ModelError, match=r"part\.xml.*0xe9"):
        saltus.load(tmp_path / "whole.xml")


def test_a_declared_encoding_that_is_none_is_passed_over(tmp_path):
    """As MuJoCo does: it reads UTF-8 whatever is declared."""
    (tmp_path / "model.xml").write_text('<?xml version="1.0" encoding="nonsense"?><mujoco><worldbody/></mujoco>')
    assert saltus.load(tmp_path / "model.xml").nbody == 1


@pytest.mark.parametrize("source", ["\ud800<mujoco/>", "<mujoco model='\udce9'/>", "a\0b.xml", "x" * 5000])
def test_text_that_is_no_text_is_refused(source):
    with pytest.raises(saltus.ModelError):
        saltus.load(source)
