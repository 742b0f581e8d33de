"""Files of URDF: found beside the file, in packages around it, in `package_path`, and as ROS finds them.

Reference: the layouts of ROS: a package is the folder of its name, or one whose package.xml has it; in
ROS_PACKAGE_PATH at any depth, in AMENT_PREFIX_PATH in `share`.
"""

import os

import pytest

import saltus
from saltus.model.source.urdf.files import Files

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture(autouse=True)
def no_ros(monkeypatch):
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH", "GAZEBO_MODEL_PATH"):
        monkeypatch.delenv(name, raising=False)


def mesh(place):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(TETRAHEDRON)
    return place


def arm(file, mesh_name, kind="collision"):
    """A URDF file whose link shows a mesh, or has its shape."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f'<robot name="arm"><link name="base"><{kind}><geometry><mesh filename="{mesh_name}"/></geometry></{kind}>'
        "</link></robot>"
    )
    return file


URL = "package://arm_description/meshes/hand.obj"


def test_a_package_around_the_file(tmp_path):
    """The file in the package; a package beside it; a package beside that of the file; two names of one package."""
    package = tmp_path / "src" / "arm_description"
    mesh(package / "meshes" / "hand.obj")
    for place in (package / "urdf", package.parent, tmp_path / "src" / "other" / "urdf"):
        assert saltus.load(arm(place / "arm.urdf", URL)).nmesh == 1
    package.rename(tmp_path / "src" / "clone")
    assert saltus.load(arm(tmp_path / "src" / "clone" / "urdf" / "arm.urdf", URL)).nmesh == 1  # of another name
    assert saltus.load(arm(tmp_path / "src" / "clone" / "urdf" / "arm.urdf", URL.replace("//", "///"))).nmesh == 1
    (tmp_path / "src" / "clone" / "meshes").rename(tmp_path / "src" / "clone" / "files")
    (tmp_path / "src" / "clone" / "meshes").symlink_to("nowhere")
    file = arm(tmp_path / "src" / "clone" / "urdf" / "arm.urdf", URL)
    with pytest.raises(saltus.ModelError, match=r"package 'arm_description' is not found; .*package_path="):
        saltus.load(file)
    (file.parent.parent / "package.xml").write_text("<package><name>arm_description</name></package>")
    with pytest.raises(saltus.ModelError, match=r"is not in the package's folder .*clone"):
        saltus.load(file)


def test_a_package_elsewhere(tmp_path, monkeypatch):
    inside = tmp_path / "ws" / "src" / "robots" / "arm_description"
    mesh(inside / "meshes" / "hand.obj")
    (inside / "package.xml").write_text("<package><name>arm_description</name></package>")
    file = arm(tmp_path / "arm" / "arm.urdf", URL)
    for folder in (inside, inside.parent, str(tmp_path / "ws"), [tmp_path / "arm", inside.parent]):
        assert saltus.load(file, package_path=folder).nmesh == 1
    with pytest.raises(saltus.ModelError, match=r"collision of link 'base': .*arm_description"):
        saltus.load(file)
    for folder in (inside, inside.parent, tmp_path / "ws" / "src"):
        monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere{os.pathsep}{folder}")
        assert saltus.load(file).nmesh == 1


def test_an_installed_package(tmp_path, monkeypatch):
    mesh(tmp_path / "install" / "share" / "arm_description" / "meshes" / "hand.obj")
    file = arm(tmp_path / "arm" / "arm.urdf", URL)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    assert saltus.load(file).nmesh == 1
    assert saltus.load(file, package_path=tmp_path / "install", apart=True).nmesh == 1


def test_the_given_folder_comes_first(tmp_path):
    first = mesh(tmp_path / "new" / "arm_description" / "meshes" / "hand.obj")
    mesh(tmp_path / "arm_description" / "meshes" / "hand.obj")
    files = Files([tmp_path], [tmp_path / "new"])
    assert files.find(URL).path == first


def test_paths_and_files(tmp_path):
    """Relative to the file, also upwards; absolute; as file://; without its folder, as MuJoCo finds it."""
    place = mesh(tmp_path / "meshes" / "hand one.obj")
    beside = mesh(tmp_path / "urdf" / "hand.obj")
    folder = tmp_path / "urdf"
    names = ("../meshes/hand one.obj", str(place), f"file://{place}", f"file://{str(place).replace(' ', '%20')}")
    for name in names:
        found = Files([folder]).find(name).path
        assert found is not None and found.samefile(place)
    for name in ("hand.obj", "C:\\robot\\hand.obj", "package://nowhere/meshes/hand.obj"):
        assert Files([folder]).find(name).path == beside
    assert Files([folder, tmp_path / "meshes"]).find("x/hand one.obj").path == place
    assert Files([folder]).find("file:///nowhere.obj").path is None
    assert "is not fetched" in Files([folder]).find("https://example.org/hand.obj").reason


def test_a_missing_picture_is_a_warning(tmp_path):
    file = arm(tmp_path / "arm.urdf", URL, "visual")
    with pytest.warns(saltus.SaltusWarning, match=r"'base'\): not drawn: .*package_path="):
        assert saltus.load(file).ngeom == 0


def test_what_is_not_a_folder_is_named(tmp_path):
    for given in (tmp_path / "nowhere", [3], 3, b"x"):
        with pytest.raises(saltus.OptionError, match="package_path"):
            saltus.load(arm(tmp_path / "arm.urdf", URL), package_path=given)


def test_a_folder_is_searched_through_once(tmp_path, monkeypatch):
    """However many packages a file names: a thousand names took a thousand walks through the user's workspace."""
    for k in range(5):
        mesh(tmp_path / "src" / f"group{k}" / f"arm_{k}" / "hand.obj")
        (tmp_path / "src" / f"group{k}" / f"arm_{k}" / "package.xml").write_text(
            f"<package><name>arm{k}</name></package>"
        )
    files = Files([tmp_path / "elsewhere"], [tmp_path])
    walked = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda place: walked.append(place) or scan(place))
    for k in range(5):
        for name in (f"arm{k}", f"arm_{k}"):
            assert files.find(f"package://{name}/hand.obj").path == tmp_path / f"src/group{k}/arm_{k}/hand.obj"
    assert files.find("package://none/hand.obj").path is None
    assert len(walked) == len(set(walked)) > 10
