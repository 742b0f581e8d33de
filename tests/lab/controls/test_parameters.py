"""Parameters that sliders change. Reference: what the text says."""

import pytest

import saltus
from saltus.errors import OptionError
from saltus.lab.controls.parameters import Parameter, marked, parse

PARAMETERS = "body_mass[bob] 0.1 10; dof_damping[hinge] 0 5;opt.gravity[2] -20 0"
MARKED = f"""
<mujoco><custom><text name="parameters" data="{PARAMETERS}"/><text name="other" data="x"/></custom>
  <worldbody><body name="bob"><joint name="hinge" axis="0 1 0"/><geom pos="0 0 -1" size=".1"/></body></worldbody>
</mujoco>"""


def test_parameters_marked_in_the_file_and_beside_it():
    model = saltus.load(MARKED)
    assert marked(model) == (
        Parameter("body_mass[bob]", 0.1, 10.0),
        Parameter("dof_damping[hinge]", 0.0, 5.0),
        Parameter("opt.gravity[2]", -20.0, 0.0),
    )
    more = marked(model, ["body_mass[bob]=1:2", "geom_friction[#0][0]=0:1"])
    assert more[0] == Parameter("body_mass[bob]", 1.0, 2.0) and more[-1].key == "geom_friction[#0][0]"
    assert [p.unit for p in more] == ["kg", "", "m/s²", ""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("body_mass[bob]", "expected KEY=LOW:HIGH"),
        ("body_mass[bob]=1", "expected KEY=LOW:HIGH"),
        ("body_mass[bob]=a:b", "'a' and 'b' are not two numbers"),
        ("body_mass[bob]=2:1", "not below"),
        ("body_mass[bob]=1:inf", "not below"),
    ],
)
def test_what_is_no_parameter(text, message):
    with pytest.raises(OptionError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("body_mass[bop]=1:2", "did you mean 'bob'"),
        ("body_mass[bob]=-1:2", "must not be negative"),
        ("body_inertia[bob]=1:2", r"body_inertia\[bob\]\[0\] is a single number"),
    ],
)
def test_what_is_no_parameter_of_this_model(text, message):
    with pytest.raises(OptionError, match=message):
        marked(saltus.load(MARKED), [text])
