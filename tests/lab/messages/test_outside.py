"""Models that the page's user brings: dropped files, a path; and what is no model, or too much.

Reference: the model as `saltus.load` has it, with the same files in their places.
"""

import base64
import time

import pytest
from helpers.browser import LabPage
from helpers.lab import page

import saltus
from saltus import lab
from saltus.errors import ModelError, OptionError
from saltus.lab.messages import outside
from saltus.lab.messages.outside import Outside, Upload

TETRAHEDRON = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
ROBOT = b"""
<mujoco model="robot"><compiler meshdir="meshes"/><include file="parts.xml"/>
  <worldbody><body name="link"><joint axis="0 1 0"/><geom type="mesh" mesh="part"/></body></worldbody></mujoco>"""
PARTS = b'<mujocoinclude><asset><mesh name="part" file="part.obj"/></asset></mujocoinclude>'
URDF = b"""
<robot name="urdf"><link name="base"/><link name="arm"><inertial><mass value="2"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><mesh filename="package://robot/meshes/part.obj"/></geometry></collision></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""
FLAT = {"robot.xml": ROBOT, "parts.xml": PARTS, "part.obj": TETRAHEDRON}
FOLDER = {"r/robot.xml": ROBOT, "r/parts.xml": PARTS, "r/meshes/part.obj": TETRAHEDRON}


def upload_of(files):
    upload = Upload()
    for name, content in files.items():
        for at in range(0, len(content), 100):
            upload.add(name, content[at : at + 100])
    return upload


@pytest.mark.parametrize("files", [FLAT, FOLDER], ids=["without its folders", "with its folders"])
def test_a_model_finds_the_files_that_came_with_it(files):
    brought = Outside.uploaded(upload_of(files))
    model = brought.model()
    assert brought.name.endswith("robot.xml") and model.name == "robot"
    assert model.nmesh == 1 and model.body_mass[1] == pytest.approx(1000 / 6)


def test_a_urdf_finds_its_meshes():
    for folders in (("", ""), ("robot/urdf/", "robot/meshes/")):
        files = {f"{folders[0]}arm.urdf": URDF, f"{folders[1]}part.obj": TETRAHEDRON}
        assert Outside.uploaded(upload_of(files)).model().nmesh == 1


def test_what_is_missing_is_named_without_the_folder_in_which_it_was_sought():
    with pytest.raises(ModelError, match=r"part\.obj") as error:
        Outside.uploaded(upload_of({"robot.xml": ROBOT, "parts.xml": PARTS})).model()
    assert "saltus-lab-" not in str(error.value)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "none of these files is a model"),
        ({"part.obj": TETRAHEDRON}, "none of these files is a model"),
        ({"a.xml": ROBOT, "b.urdf": URDF}, "several models: a.xml, b.urdf"),
    ],
)
def test_which_of_the_files_is_the_model(files, reason):
    with pytest.raises(OptionError, match=reason):
        Outside.uploaded(upload_of(files))


@pytest.mark.parametrize("name", ["../a.xml", "/etc/a.xml", "a/../../b.xml", "..\\a.xml", "C:a.xml", "", "a\0.xml"])
def test_names_that_lead_elsewhere(name):
    with pytest.raises(OptionError, match="is not an allowed file name"):
        Upload().add(name, b"")


def test_references_that_lead_elsewhere_write_nothing(monkeypatch):
    """The mesh is named three folders up, in one that is not there; nothing is written outside the folder."""
    written = []
    monkeypatch.setattr(outside, "_write", lambda folder, name, content: written.append(name))
    monkeypatch.setattr(outside, "compiled", lambda path: path.parent)
    parts = PARTS.replace(b"part.obj", b"../../../part.obj")
    files = {"robot.xml": ROBOT.replace(b"meshes", b"/nowhere"), "parts.xml": parts, "part.obj": TETRAHEDRON}
    Outside.uploaded(upload_of(files)).model()
    assert {*written} == {*files}


@pytest.mark.parametrize("name", ["a" * 300 + ".obj", "robot.xml/part.obj"])
def test_names_that_no_file_can_have_are_told(name):
    with pytest.raises(ModelError, match=r"the file '.*(part|aaa)\.obj' cannot be written: ") as error:
        Outside.uploaded(upload_of({"robot.xml": b"<mujoco/>", name: TETRAHEDRON})).model()
    assert "saltus-lab-" not in str(error.value)


# ---------------------------------------------------------------- to a lab


@pytest.fixture(scope="module")
def opened():
    with lab.open("pendulum", browser=False, playing=False) as it:
        yield it


@pytest.fixture
def client(opened):
    with page(opened) as it:
        it.until(lambda: it.scene is not None and it.role == "writer")
        if it.scene["name"] != "pendulum":
            it.send("scene", name="pendulum")
            it.until(lambda: it.scene["name"] == "pendulum")
        yield it


def bring(client, files, piece=1000):
    for name, content in files.items():
        for at in range(0, max(len(content), 1), piece):
            client.send("upload", name=name, data=base64.b64encode(content[at : at + piece]).decode())
    client.send("model")


def test_what_is_brought_is_shown_and_stays_in_the_list(client):
    bring(client, FLAT)
    client.until(lambda: client.scene["name"] == "robot")
    assert client.scene["bodies"] == ["world", "link"] and len(client.scene["meshes"]) == 1
    client.send("scene", name="pendulum")
    client.until(lambda: client.scene["name"] == "pendulum")
    client.send("scene", name="robot")
    client.until(lambda: client.scene["name"] == "robot")
    bring(client, {**FLAT, "robot.xml": ROBOT.replace(b'name="link"', b'name="changed"')})
    client.until(lambda: client.scene["bodies"] == ["world", "changed"])
    assert sum(scene["name"] == "robot" for scene in client.hello["scenes"]) == 1


def test_a_file_that_is_no_model_is_told_and_the_scene_stays(client):
    bring(client, {"bad.xml": b"<mujoco>\n<worldbody><body><joint/></worldbody></mujoco>"})
    client.until(lambda: client.notices)
    assert (
        "bad.xml" in client.notices[-1] and "line 2" in client.notices[-1] and "saltus-lab-" not in client.notices[-1]
    )
    client.send("step", n=1)
    client.until(lambda: client.frame is not None and client.frame["time"] > 0)
    assert client.scene["name"] == "pendulum"


def test_a_failure_of_any_kind_leaves_the_scene(client, monkeypatch):
    monkeypatch.setattr(outside, "compiled", lambda path: 1 // 0)
    bring(client, FLAT)
    client.until(lambda: client.notices)
    assert client.notices[-1] == "this model cannot be shown: ZeroDivisionError: integer division or modulo by zero"
    client.send("speed", value=2.0)
    client.until(lambda: client.status["speed"] == 2.0)
    assert client.scene["name"] == "pendulum"


def test_a_model_on_which_the_compiler_works_for_ever(client, monkeypatch):
    monkeypatch.setattr(outside, "COMPILER_TIME", 0.5)
    endless = b'<replicate count="100000000" offset="1 0 0"><geom size="1"/></replicate>'
    bring(client, {"endless.xml": b"<mujoco><worldbody>" + endless + b"</worldbody></mujoco>"})
    client.until(lambda: client.notices)
    assert "took longer than 0.5 s" in client.notices[-1]
    assert client.scene["name"] == "pendulum"


def test_too_much_is_refused_with_the_limit(client, monkeypatch):
    """Once, whatever else comes of it; the next model is taken."""
    monkeypatch.setattr(outside, "MOST_BYTES", 2**20)
    bring(client, {**FLAT, "large.obj": bytes(2**20)}, piece=40000)
    client.until(lambda: client.notices)
    assert "1 MiB" in client.notices[-1] and "path" in client.notices[-1]
    bring(client, FLAT)
    client.until(lambda: client.scene["name"] == "robot")
    assert len(client.notices) == 1


def test_a_path_on_this_machine(client, tmp_path):
    (tmp_path / "mine.xml").write_text(saltus.n_link(3).xml)
    client.send("path", path=f" {tmp_path / 'mine.xml'} ")
    client.until(lambda: len(client.scene["bodies"]) == 4)
    client.send("path", path=str(tmp_path / "none.xml"))
    client.until(lambda: any("no such file" in text for text in client.notices))
    client.send("path", path="/etc/passwd")
    client.until(lambda: any("'/etc/passwd' is not a model file" in text for text in client.notices))
    assert len(client.scene["bodies"]) == 4


def test_viewers_bring_nothing(opened, client):
    with page(opened) as viewer:
        viewer.until(lambda: viewer.role == "viewer")
        bring(viewer, FLAT)
        viewer.send("path", path="robot.xml")
        viewer.until(lambda: len(viewer.notices) >= 5)
        assert set(viewer.notices) == {"You are watching; take over to control the simulation."}
        time.sleep(0.3)
        assert client.scene["name"] == "pendulum"
        assert not any(one.upload.files for one in opened._server._clients)


# ---------------------------------------------------------------- in the browser


@pytest.mark.slow
def test_files_dropped_on_the_page(browser, tmp_path):
    with lab.open("pendulum", browser=False, playing=False) as opened:
        tab = LabPage(browser, opened.url, 820, 520).opened()
        tab.tab.evaluate(
            """files => {
              const data = new DataTransfer();
              for (const [name, text] of files) data.items.add(new File([text], name));
              for (const type of ['dragover', 'drop']) {
                window.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
                if (type === 'dragover') window.seen = document.getElementById('drop').checkVisibility();
              }
            }""",
            [[name, content.decode()] for name, content in FLAT.items()],
        )
        assert tab.tab.evaluate("window.seen")
        tab.until("lab.scene === 'robot' && lab.ready", 60)
        assert not tab.tab.locator("#drop").is_visible()
        tab.wait(lambda: tab.tab.locator("#scene").input_value() == "robot")
        section = tab.unfolded("model-section")
        (tmp_path / "poor.xml").write_text("<mujoco><worldbody/><nonsense/></mujoco>")
        section.locator("#bring-files").set_input_files(tmp_path / "poor.xml")
        tab.wait(lambda: "nonsense" in tab.tab.inner_text("#toasts"))
        assert tab.get("lab.scene") == "robot"
        (tmp_path / "two.xml").write_text(saltus.n_link(2).xml)
        section.locator("#path").fill(str(tmp_path / "two.xml"))
        section.locator("#path").press("Enter")
        tab.until("lab.scene !== 'robot' && lab.ready", 60)
        assert tab.complaints == [] and tab.get("lab.error") is None
        tab.close()
