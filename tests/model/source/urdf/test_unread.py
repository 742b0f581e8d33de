"""What URDF files hold and MuJoCo's compiler passes over in silence: named once, with what it means.

Reference: the elements and attributes of the URDF specification, and of the tools that extend it.
"""

import pickle
import warnings

import pytest

import saltus
from saltus.model.source.urdf.remarks import Remark, UrdfWarning
from saltus.model.source.urdf.unread import dropped

LINK = """<link name="{name}"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="5"{velocity}/><dynamics damping=".1" friction="0"/>{more}</joint>"""
PARTS = {
    "safety_controller": ('<safety_controller k_velocity="10"/>', "", "soft limits"),
    "calibration": ('<calibration rising="0.1"/>', "", "reference positions of encoders"),
    "transmission": ("", '<transmission name="t1"><joint name="j1"/></transmission>', "there are no actuators"),
    "gazebo": ("", '<gazebo reference="upper"><mu1>3</mu1></gazebo>', "MuJoCo's defaults"),
    "ros2_control": ("", '<ros2_control name="arm" type="system"><joint name="j1"/></ros2_control>', "hardware"),
    "drake:joint": ("", '<drake:joint name="length"/>', "read only by Drake"),
}
NAMES = dict(zip(PARTS, ("j1", "j1", "t1", "upper", "arm", "length"), strict=True))


def robot(in_joint="", in_robot="", velocity=""):
    links = LINK.format(name="upper") + LINK.format(name="lower")
    joints = JOINT.format(name="j1", parent="base", child="upper", velocity=velocity, more=in_joint)
    joints += JOINT.format(name="j2", parent="upper", child="lower", velocity=velocity, more="")
    return f'<robot name="arm"><link name="base"/>{links}{joints}{in_robot}</robot>'


@pytest.mark.parametrize("kind", PARTS)
def test_each_part_is_named(kind):
    in_joint, in_robot, meaning = PARTS[kind]
    (part,) = dropped(robot(in_joint, in_robot))
    assert (part.kind, part.names) == (kind, (NAMES[kind],)) and meaning in part.meaning
    with pytest.warns(saltus.SaltusWarning, match=f"{kind} .'{NAMES[kind]}'.: ") as caught:
        saltus.load(robot(in_joint, in_robot))
    assert len(caught) == 1 and caught[0].filename == __file__


def test_all_are_in_one_warning_with_what_they_mean(tmp_path):
    in_joint = "".join(part[0] for part in PARTS.values())
    in_robot = "".join(part[1] for part in PARTS.values())
    path = tmp_path / "arm.urdf"
    path.write_text(robot(in_joint, in_robot, ' velocity="2"'))
    with pytest.warns(
        saltus.SaltusWarning, match=r"velocity limit \('j1', 'j2'\): joint velocities are not limited"
    ) as caught:
        model = saltus.load(path)
    assert len(caught) == 1 and model.nv == 2 and caught[0].filename == __file__
    for _, _, meaning in PARTS.values():
        assert meaning in str(caught[0].message)


def test_what_is_simulated_is_not_named():
    """A file without such parts, a limit of velocity that is zero as where none is given, and MJCF."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert saltus.load(robot(velocity=' velocity="0"'), actuators="none").nv == 2
        saltus.load("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    assert dropped("<mujoco><transmission/></mujoco>") == []


INSIDE = {  # what is inside links and joints: (in link, in joint), the name's owner
    "collision contact_coefficients": ("<collision><geometry/><contact_coefficients mu='1'/></collision>", "", "lower"),
    "collision drake:proximity_properties": ("<collision><drake:proximity_properties/></collision>", "", "lower"),
    "collision verbose": ("<collision><verbose value='1'/></collision>", "", "lower"),
    "contact": ("<contact><stiffness value='1'/></contact>", "", "lower"),
    "geometry plane": ("<collision><geometry><plane/></geometry></collision>", "", "lower"),
    "geometry sphere": ("<visual><geometry><sphere/><box/></geometry></visual>", "", "lower"),
    "mesh units": ("<visual><geometry><mesh filename='a' units='mm'/></geometry></visual>", "", "lower"),
    "texture": ("<visual><material name='m'><texture filename='a.png'/></material></visual>", "", "m"),
    "inertial density": ("<inertial density='3'/>", "", "lower"),
    "origin quat_xyzw": ("<visual><origin quat_xyzw='0 0 0 1'/></visual>", "", "lower"),
    "link type": ("", "", "lower"),
    "limit acceleration": ("", "<limit acceleration='3' lower='-1' upper='1'/>", "j"),
    "limit drake:jerk": ("", "<limit drake:jerk='3'/>", "j"),
    "dynamics spring_stiffness": ("", "<dynamics spring_stiffness='3' damping='1'/>", "j"),
    "drake:rotor_inertia": ("", "<drake:rotor_inertia value='1'/>", "j"),
    "mimic of": ("", "<mimic joint='k' of='3'/>", "j"),
}


@pytest.mark.parametrize("kind", INSIDE)
def test_elements_and_attributes_inside_are_named(kind):
    """Each is named with the link, joint or material that holds it; nothing else in the text is."""
    in_link, in_joint, owner = INSIDE[kind]
    link = '<link name="lower" type="x">' if kind == "link type" else '<link name="lower">'
    joint = f'<joint name="j" type="revolute"><parent link="base"/><child link="lower"/>{in_joint}</joint>'
    (part,) = dropped(f'<robot name="r" version="1.0"><link name="base"/>{link}{in_link}</link>{joint}</robot>')
    assert (part.kind, part.names, part.read) == (kind, (owner,), False)


def test_settings_for_mujoco_are_read_or_named():
    text = '<compiler meshdir="m" angel="rad"/><option timestep="1"><flag contact="disable"/></option><asset/>'
    parts = dropped(f'<robot name="r"><mujoco>{text}</mujoco></robot>')
    assert [part.kind for part in parts] == ["compiler angel", "mujoco asset"]


def test_the_warning_travels_between_processes():
    with pytest.warns(UrdfWarning) as caught:
        saltus.load(robot(*PARTS["gazebo"][:2]))
    again = pickle.loads(pickle.dumps(caught[0].message))
    assert str(again) == str(caught[0].message) and again.remarks == caught[0].message.remarks


def test_many_are_counted():
    (part,) = dropped(robot(in_robot="".join(f'<transmission name="t{k}"/>' for k in range(7))))
    assert part.which == "'t0', 't1', 't2' and 4 more"


def test_check_names_them(tmp_path, saltus_command):
    path = tmp_path / "arm.urdf"
    path.write_text(robot(in_robot=PARTS["gazebo"][1], velocity=' velocity="2"'))
    code, out, err = saltus_command("check", path)
    assert code == 0 and "Warning" not in err
    lines = [line for line in out.splitlines() if "NOT READ" in line]
    assert len(lines) == 2 and "gazebo" in lines[0] and "'upper'" in lines[0] and "velocity limit" in lines[1]


def test_a_warning_is_copied_and_made_of_its_text():
    """Pickling keeps the remarks; pytest's workers hand on a warning's class and arguments."""
    warning = UrdfWarning.of([Remark("mimic", ("elbow",), "the joint moves freely", False)])
    assert pickle.loads(pickle.dumps(warning)).remarks == warning.remarks
    assert str(type(warning)(*warning.args)) == str(warning) != ""


def links(count):
    return "".join(f'<link name="{k}"/>' for k in range(count))


def test_more_elements_than_any_robot_has(monkeypatch):
    """Their number is limited, for they are kept in memory."""
    monkeypatch.setattr("saltus.model.source.urdf.tree.MOST", 20)
    with pytest.raises(saltus.ModelError, match=r"line 1: .*more than 20 elements"):
        saltus.load(f'<robot name="r">{links(20)}</robot>')
    with pytest.warns(UrdfWarning, match="several roots"):
        saltus.load(f'<robot name="r">{links(19)}</robot>')
