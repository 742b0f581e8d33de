"""Loading: every kind of source gives the same model, and bad input gets an error that names it.

Reference: MuJoCo's compiler, which reads the files; what is asserted here is ours: sources, names, errors, frozenness.
"""

import pickle
from pathlib import Path

import mujoco
import numpy as np
import pytest

import saltus
from saltus.model.load import BUNDLED

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>{visual}
  </link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0" effort="0" velocity="0"/></joint>
</robot>"""


def pendulum_text():
    return (BUNDLED / "pendulum.xml").read_text(encoding="utf-8")


@pytest.fixture
def pendulum_file(tmp_path):
    path = tmp_path / "swing.xml"
    path.write_text(pendulum_text(), encoding="utf-8")
    return path


def test_every_source_gives_the_same_model(pendulum_file):
    text = pendulum_text()
    sources = [
        "pendulum",
        text,
        str(pendulum_file),
        pendulum_file,
        mujoco.MjModel.from_xml_string(text),
        mujoco.MjSpec.from_string(text),
    ]
    for source in sources:
        model = saltus.load(source)
        assert (model.nq, model.nv, model.nu) == (1, 1, 1)
        assert model.body_mass[1] == 2.0
        assert model.opt.timestep == 0.05
    assert saltus.load(model) is model


def test_dir_lists_the_fields():
    model = saltus.load("double_pendulum")
    listed = set(dir(model))
    public = (name for name in dir(model.mujoco) if name[0] != "_")
    numbers = {name for name in public if isinstance(getattr(model.mujoco, name), int | float | np.ndarray)}
    assert {"nq", "body_mass", "jnt_axis"} <= numbers <= listed
    assert {"opt", "changed", "names", "xml"} <= listed
    assert all(hasattr(model, name) for name in listed)


def test_only_bundled_models_start_from_their_first_keyframe(pendulum_file):
    assert saltus.load("pendulum").initial_key == 0
    assert saltus.load(pendulum_file).initial_key is None


def test_bundled_names():
    assert {"pendulum", "double_pendulum", "arm", "cart_pole", "top", "free_body", "spring"} <= set(saltus.models())
    for name in saltus.models():
        assert saltus.load(name).name == name


def test_n_link_is_a_model_with_the_tutorials_parameters():
    model = saltus.n_link(3)
    assert model.nv == 3
    np.testing.assert_array_equal(model.body_mass[1:], 1.0)
    np.testing.assert_allclose(np.sort(model.body_inertia[1:], axis=1)[:, -1], 0.08, rtol=1e-14)


def test_urdf(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF.format(visual=""))
    with pytest.warns(saltus.SaltusWarning, match="limits 0 0 .'shoulder'.: the joint moves without limits"):
        model = saltus.load(path, ignore=["limit"])
    assert model.nv == 1
    assert model.names("joint") == ["shoulder"]


def test_urdf_with_a_missing_mesh_names_the_mesh(tmp_path):
    path = tmp_path / "arm.urdf"
    visual = '<collision><geometry><mesh filename="gripper.stl"/></geometry></collision>'
    path.write_text(URDF.format(visual=visual))
    with pytest.raises(saltus.ModelError, match=r"gripper\.stl") as caught:
        saltus.load(path)
    assert caught.value.file == str(path)


def test_missing_file_is_named(tmp_path):
    path = tmp_path / "nowhere.xml"
    with pytest.raises(saltus.ModelError, match=r"nowhere\.xml") as caught:
        saltus.load(path)
    assert caught.value.file == str(path)


def test_unknown_name_lists_the_bundled_ones():
    with pytest.raises(saltus.ModelError, match="pendulum"):
        saltus.load("pendulun")


def test_a_folder_is_not_a_model(tmp_path):
    with pytest.raises(saltus.ModelError, match="not a file"):
        saltus.load(tmp_path)


def test_broken_xml_says_file_and_line(tmp_path):
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco>\n  <worldbody>\n    <body><joint tipe='hinge'/></body>\n  </worldbody>\n</mujoco>\n")
    with pytest.raises(saltus.ModelError, match=r"broken\.xml, line 3") as caught:
        saltus.load(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)


def test_xml_that_ends_early():
    with pytest.raises(saltus.ModelError, match="cut off"):
        saltus.load('<mujoco><worldbody><body><geom size="1"/></body></worldbody>')


def test_an_element_that_is_not_closed():
    with pytest.raises(saltus.ModelError, match=r"line 3.*is not closed: each <body> needs its </body>"):
        saltus.load('<mujoco>\n<worldbody>\n<body>\n<geom size="1"/>\n</worldbody>\n</mujoco>')


def test_a_moving_body_without_mass():
    with pytest.raises(saltus.ModelError, match=r"'arm'.*needs a mass: give it a <geom>, or an <inertial>"):
        saltus.load('<mujoco><worldbody><body name="arm"><joint/></body></worldbody></mujoco>')


def test_a_model_leaves_out_more():
    """What `ignore` says holds for a Model as for the file that it came from."""
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .05"><joint name="up" type="slide"
      axis="0 0 1" range="0 1" limited="true"/><geom size=".1"/></body></worldbody></mujoco>"""
    whole, key = saltus.load(text), {"body_mass[#1]": 3.0}
    for kinds in (["contact"], ["limit"], "constraint"):
        of_model, of_text = saltus.load(whole, ignore=kinds), saltus.load(text, ignore=kinds)
        assert of_model.ignored == of_text.ignored != whole.ignored == ()
        assert of_model.struct().layout.features == of_text.struct().layout.features
        assert of_model.struct().nblockmax < whole.struct().nblockmax
    both = saltus.load(saltus.load(whole.changed(key), ignore=["contact"]), ignore=["limit"])
    assert both.left_out == {"contact", "limit"} and both.body_mass[1] == 3.0 and dict(both.changes) == key
    assert saltus.load(whole) is whole and saltus.load(both, ignore=["limit"]) is both
    with pytest.raises(saltus.OptionError, match="contakt"):
        saltus.load(whole, ignore=["contakt"])


def test_something_else_is_refused():
    with pytest.raises(saltus.ModelError, match="int"):
        saltus.load(3)


def test_a_model_is_frozen():
    model = saltus.load("pendulum")
    with pytest.raises(AttributeError, match=r"a Model is constant"):
        model.nv = 2
    with pytest.raises(ValueError, match="read-only"):
        model.body_mass[1] = 3.0
    with pytest.raises(AttributeError, match="no_such_field"):
        model.no_such_field  # noqa: B018
    model.mujoco.body_mass[1] = 3.0  # a copy
    assert model.mujoco.body_mass[1] == 2.0


def test_options_are_frozen_too():
    model = saltus.load("pendulum")
    with pytest.raises(AttributeError, match=r"opt\.timestep is read-only: a Model is constant"):
        model.opt.timestep = 3.0
    with pytest.raises(ValueError, match="read-only"):
        model.opt.gravity[2] = 0.0
    assert model.opt.timestep == 0.05 and model.opt.integrator == "RK4"


def test_a_compiled_model_is_copied():
    compiled = mujoco.MjModel.from_xml_string(pendulum_text())
    model = saltus.load(compiled)
    compiled.body_mass[1] = 77.0
    assert model.body_mass[1] == 2.0
    assert saltus.Simulation(model).full_M()[0, 0] == pytest.approx(8.0)


def test_a_model_travels_between_processes():
    model = saltus.load("top")
    other = pickle.loads(pickle.dumps(model))
    assert (other.name, other.xml, other.initial_key) == (model.name, model.xml, model.initial_key)
    np.testing.assert_array_equal(other.body_inertia, model.body_inertia)


def test_names_and_units():
    model = saltus.load("free_body")
    joint = model.names("joint")[0]
    assert model.qpos_names() == [f"{joint}.{p}" for p in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    assert model.dof_names() == [f"{joint}.{p}" for p in ("vx", "vy", "vz", "wx", "wy", "wz")]
    assert model.coordinate_units() == (["m"] * 3 + [""] * 4, ["m/s"] * 3 + ["rad/s"] * 3)
    assert model.id("joint", joint) == 0
    with pytest.raises(KeyError, match=joint):
        model.id("joint", "elbow")


def test_paths_relative_to_the_file_work(tmp_path):
    (tmp_path / "part.xml").write_text(
        "<mujoco><worldbody><body name='b'><joint/><geom size='1' contype='0' "
        "conaffinity='0'/></body></worldbody></mujoco>"
    )
    whole = tmp_path / "whole.xml"
    whole.write_text("<mujoco><include file='part.xml'/></mujoco>")
    assert saltus.load(Path(whole)).nbody == 2


def test_a_file_that_cannot_be_read(pendulum_file, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(saltus.ModelError, match=r"swing\.xml: cannot be read: Permission denied"):
        saltus.load(pendulum_file)
