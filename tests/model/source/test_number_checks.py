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
from saltus.model.source import number_checks

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


BELOW = {
    ("joint", "hinge", "armature"): "-0.01",
    ("joint", "hinge", "frictionloss"): "-0.01",
    ("body", "arm", "gravcomp"): "-0.5",
    ("option", None, "density"): "-1",
    ("option", None, "viscosity"): "-1",
}


@pytest.mark.parametrize("where", BELOW, ids=lambda where: where[2])
def test_a_number_below_zero_is_refused_where_it_stands(where):
    """MuJoCo's compiler takes them, and its motion has some of them in one computation and not in another."""
    element, name, attribute = where
    root = ET.fromstring(xml())
    next(e for e in root.iter(element) if e.get("name") == name).set(attribute, BELOW[where])
    text = ET.tostring(root, encoding="unicode")
    mujoco.MjModel.from_xml_string(text)
    with pytest.raises(saltus.ModelError, match=rf"{attribute}.* is -.*expected at least 0") as caught:
        saltus.load(text)
    assert (caught.value.element, caught.value.name) == (element, name)


@pytest.mark.parametrize("field", number_checks.NOT_NEGATIVE)
def test_a_compiled_model_with_a_number_below_zero(field):
    m = mujoco.MjModel.from_xml_string(xml())
    getattr(m, field)[-1] = -1.0
    with pytest.raises(saltus.ModelError, match="is -1; expected at least 0"):
        saltus.load(m)


SIGNED = {  # attributes of a joint, and of the actuator of another one
    "a damper that drives": ('damping="-5"', ""),
    "a damper that drives, another that brakes": ('damping="-5"', 'damping="3"'),
    "one that drives slow motion and brakes fast one": ('damping="-5 0.3"', ""),
    "a cubic one": ('damping="0 0 -3"', ""),
    "two that drive": ('damping="-5"', 'damping="-3"'),
    "one of an actuator": ("", 'damping="-3"'),
    "a spring that pushes": ('stiffness="-50"', ""),
}


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize("given", SIGNED.values(), ids=SIGNED)
def test_numbers_below_zero_that_are_simulated_act_as_in_mujoco(given, integrator):
    """Two slides without gravity. MuJoCo's Euler method is explicit in damping where no joint's own is positive."""
    body = "<body><joint name='{}' type='slide' axis='1 0 0' {}/><geom size='.1' mass='1' contype='0'/></body>"
    motor = f"<motor joint='b' {given[1]}/>"
    text = f"""<mujoco><option timestep="0.01" gravity="0 0 0" integrator="{integrator}"/><worldbody>
      {body.format("a", given[0])}{body.format("b", "")}</worldbody><actuator>{motor}</actuator></mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    sim = saltus.Simulation(saltus.load(text))
    d.qpos[:], d.qvel[:] = (0.1, 0.2), (1, -1)
    sim.qpos, sim.qvel = d.qpos, d.qvel
    for _ in range(3):
        mujoco.mj_step(m, d)
    sim.step(3)
    np.testing.assert_allclose(sim.qvel, d.qvel, rtol=1e-12)


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
