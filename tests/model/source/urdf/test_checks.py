"""Joints and links of URDF files that do not act as one might think: named, with what to write instead.

References: what MuJoCo's compiler makes of the same file (limited or not, equality constraints), and the specification
of URDF, by which <limit> has no effect on continuous joints, and links without <inertial> have no mass.
"""

import mujoco
import pytest

import saltus
from saltus.model.source.urdf.checks import remarks
from saltus.model.source.urdf.tree import parse

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def robot(joint_type="revolute", inside='<limit lower="-1" upper="1"/>', second="", link=INERTIAL, more=""):
    """Links a, b, c and joints j (of a type, with contents) and k (revolute, with contents)."""
    joint = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>{}</joint>'
    k = joint.format("k", "revolute", "b", "c", '<limit lower="-1" upper="1"/>' + second)
    j = joint.format("j", joint_type, "a", "b", inside)
    links = f'<link name="a"/><link name="b">{link}</link><link name="c">{INERTIAL}</link>'
    return f'<robot name="r">{links}{j}{k}{more}</robot>'


def found(text, floating=False):
    root = parse(text.encode())
    assert root is not None
    return {remark.kind: remark for remark in remarks(root, floating=floating)}


LIMITS = {  # contents of a joint, its type: the remark's kind
    ("revolute", '<limit lower="0" upper="0"/>'): "limits 0 0",
    ("prismatic", '<limit lower="0.5" upper="0.5"/>'): "limits 0.5 0.5",
    ("revolute", '<limit lower="1" upper="-1"/>'): "limits with lower > upper",
    ("revolute", '<limit upper="1"/>'): "limits without lower",
    ("revolute", '<limit lower="-1" effort="3"/>'): "limits without upper",
    ("prismatic", ""): "prismatic joint without limits",
    ("revolute", '<limit effort="3" velocity="1"/>'): "revolute joint without limits",
    ("continuous", '<limit lower="-1" upper="1"/>'): "limits of a continuous joint",
}


@pytest.mark.parametrize(("joint_type", "inside"), LIMITS)
def test_limits_that_are_none(joint_type, inside):
    text = robot(joint_type, inside)
    assert not mujoco.MjSpec.from_string(text).compile().jnt_limited[0]
    (remark,) = found(text).values()
    assert (remark.kind, remark.names) == (LIMITS[joint_type, inside], ("j",))
    assert "moves without limits" in remark.meaning and remark.read
    with pytest.warns(saltus.SaltusWarning, match="moves without limits"):
        saltus.load(text, actuators="none")


def test_limits_that_are_some():
    for inside in ('<limit lower="-1" upper="1"/>', '<limit lower="0" upper="2"/>', '<limit lower="-1" upper="0"/>'):
        assert mujoco.MjSpec.from_string(robot(inside=inside)).compile().jnt_limited[0]
        assert found(robot(inside=inside)) == {}
    assert found(robot("continuous", "")) == found(robot("fixed", "")) == found(robot("floating", "")) == {}


@pytest.mark.parametrize(
    ("joint_type", "kind"),
    [
        ("planar", "limit of a planar joint"),
        ("floating", "limit of a floating joint"),
        ("fixed", "limit or dynamics of a fixed joint"),
    ],
)
def test_limits_of_other_joints(joint_type, kind):
    assert kind in found(robot(joint_type))
    assert kind not in found(robot(joint_type, ""))


def test_no_effort_and_dynamics():
    assert found(robot(inside='<limit lower="-1" upper="1" effort="0"/>'))["effort limit 0"].names == ("j",)
    assert "dynamics of a floating joint" in found(robot("floating", '<dynamics damping="1"/>'))
    assert "limit or dynamics of a fixed joint" in found(robot("fixed", '<dynamics friction="1"/>'))


@pytest.mark.parametrize("joint_type", ["fixed", "floating", "planar"])
def test_mimic_of_joints_without_one_coordinate(joint_type):
    """On both sides; MuJoCo makes no equality constraint of them."""
    follower = robot(joint_type, '<mimic joint="k"/>')
    leader = robot(joint_type, "", '<mimic joint="j"/>')
    for text, name in ((follower, "j"), (leader, "k")):
        assert mujoco.MjSpec.from_string(text).compile().neq == 0
        (remark,) = found(text).values()
        assert remark.kind.startswith("mimic o") and remark.names == (name,)
        moves = "does not move" if (joint_type, name) == ("fixed", "j") else "moves independently"
        assert moves in remark.meaning


def test_mimic_of_missing_joints_and_itself():
    for leader in ("nowhere", "k"):
        (remark,) = found(robot(second=f'<mimic joint="{leader}"/>')).values()
        assert remark.names == ("k",)
    text = robot(second='<mimic joint="j"/>')
    assert found(text) == {} and saltus.load(text, actuators="none").neq == 1


def test_masses_from_shapes():
    """A cube of side 0.1 without <inertial> has 1 kg at MuJoCo's density of 1000 kg/m³."""
    cube = '<collision><geometry><box size=".1 .1 .1"/></geometry></collision>'
    text = robot(link=cube)
    assert found(text)["link without inertial"].names == ("b",)
    with pytest.warns(saltus.SaltusWarning, match="1000 kg/m³"):
        assert saltus.load(text, actuators="none").body_mass[2] == pytest.approx(1.0)
    assert found(robot("fixed", "", link=cube)) == {}  # part of the fixed base
    assert "link without inertial" in found(robot("fixed", "", link=cube), floating=True)


def test_several_roots():
    text = robot(more=f'<link name="far">{INERTIAL}</link>')
    assert found(text)["several roots"].names == ("far",)


def test_check_names_them(tmp_path, saltus_command):
    path = tmp_path / "arm.urdf"
    path.write_text(robot(inside='<limit lower="0" upper="0"/>', second='<mimic joint="nowhere"/>'))
    code, out, err = saltus_command("check", path)
    assert code == 0 and "Warning" not in err
    notes = "\n".join(line for line in out.splitlines() if "NOTE" in line)
    assert "limits 0 0" in notes and "mimic of 'nowhere'" in notes and "no actuators" in notes
