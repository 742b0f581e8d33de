"""Friction of tendons on geoms in model files: where it goes, and what is refused by name."""

import pytest

import saltus

XML = """<mujoco><worldbody><geom name="post" type="cylinder" size=".1 .2"/><site name="fixed" pos="0 1 0"/>
  <body name="arm" pos="1 0 0"><joint name="x" axis="0 0 1"/><geom name="knob" size=".1"/><site name="a"/></body>
  <body pos="-1 0 0"><joint name="y" type="slide"/><geom size=".1"/><site name="b"/></body></worldbody>
  <tendon><spatial name="rope" {attributes}>{path}</spatial>
  <fixed name="joints" frictionloss="1"><joint joint="x" coef="1"/></fixed></tendon>{rest}
  <custom><tuple name="left_capstan_friction">
  <element objtype="tendon" objname="{name}" prm="{prm}"/></tuple></custom></mujoco>"""
PATH = '<site site="a"/><geom geom="post"/><site site="b"/>'
TWO = '<site site="a"/><geom geom="post"/><site site="{}"/><geom geom="{}"/><site site="b"/>'
COUPLED = '<equality><tendon tendon1="rope"/></equality>'


def declared(attributes='frictionloss="1e-9"', path=PATH, rest="", name="rope", prm=0.3):
    return XML.format(attributes=attributes, path=path, rest=rest, name=name, prm=prm)


def test_elements_and_coefficients_reach_their_tendon():
    m = saltus.load(declared(path=TWO.format("fixed", "post"))).struct()
    assert "capstan" in m.layout.features
    assert m.views["capstan_first"].ravel().tolist() == [0, -1] and m.views["capstan_last"].ravel().tolist() == [1, -1]
    assert m.views["capstan_friction"].ravel().tolist() == [0.3, 0.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (declared(name="joints"), "tendon 'joints'.*around a sphere or cylinder"),
        (declared(path='<site site="a"/><site site="b"/>'), "around a sphere or cylinder"),
        (declared(path=TWO.format("fixed", "knob")), "slips on several bodies"),
        (declared(path=TWO.format("a", "post")), "slips on several bodies"),
        (declared(path=PATH + '<pulley divisor="2"/><site site="a"/><site site="b"/>'), "without <pulley>"),
        (declared(attributes=""), "give the tendon frictionloss"),
        (declared(attributes='frictionloss="1" limited="true" range="0 1"'), "limits, equalities and armature"),
        (declared(rest=COUPLED), "limits, equalities and armature"),
        (declared(prm=-0.1), "prm is -0.1"),
        (declared().replace("capstan_friction", "capstan_frictio"), "did you mean 'capstan_friction'"),
        (declared().replace('objtype="tendon" objname="rope"', 'objtype="joint" objname="x"'), "that of a tendon"),
    ],
)
def test_errors_name_the_element_and_the_remedy(text, words):
    with pytest.raises(saltus.ModelError, match=words):
        saltus.load(text)
