"""Sources that are neither MJCF nor URDF get an error that says what they are and what to do.

Reference: MuJoCo's own decoders, which accept .xml and .urdf; its saved binary model.
"""

import mujoco
import pytest

import saltus

MJCF = '<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>'
XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<link name="a"><inertial><mass value="${m}"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("", "empty"),
        (" \n", "empty"),
        (XACRO, "pip install xacro"),
        ('<mujoco><worldbody><composite type="cable" count="5 1 1"/></worldbody></mujoco>', "flexcomp"),
    ],
)
def test_text(text, remedy):
    with pytest.raises(saltus.ModelError, match=remedy):
        saltus.load(text)


@pytest.mark.parametrize(
    ("name", "content", "remedy"),
    [
        ("robot.sdf", "<sdf/>", "SDFormat"),
        ("robot.urdf.xacro", XACRO, "pip install xacro"),
        ("robot.urdf", XACRO, "pip install xacro"),
        ("robot.mjcf", MJCF, "rename it"),
        ("ROBOT.XML", MJCF, "rename it in lower case"),
        ("robot.obj", "v 0 0 0", "a mesh"),
        ("robot.txt", MJCF, r"unknown kind of file '.txt'; expected .xml, .urdf"),
        ("robot.xml", "", "empty"),
    ],
)
def test_file(name, content, remedy, tmp_path):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(saltus.ModelError, match=remedy) as raised:
        saltus.load(tmp_path / name)
    assert raised.value.file == str(tmp_path / name)


def test_a_saved_binary_model_is_loaded_as_the_error_says(tmp_path):
    path = str(tmp_path / "model.mjb")
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_string(MJCF), path, None)
    with pytest.raises(saltus.ModelError, match="from_binary_path"):
        saltus.load(path)
    assert saltus.load(mujoco.MjModel.from_binary_path(path)).nv == 1
