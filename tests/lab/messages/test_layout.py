"""Where a model's files belong. Reference: MuJoCo's compiler, which opens a file only there."""

import re
import tracemalloc

import mujoco
import pytest

from saltus.errors import ModelError
from saltus.lab.messages import layout
from saltus.lab.messages.layout import places, references
from saltus.lab.messages.outside import Outside

NAMED = {  # elements that name a file
    "mesh": "<asset><mesh name='a' file='q/f.obj'/></asset>",
    "hfield": "<asset><hfield name='a' file='q/f.png' size='1 1 1 1'/></asset>",
    "texture": "<asset><texture name='a' type='2d' file='q/f.png'/></asset>",
    "texture of a cube": "<asset><texture name='a' type='cube' fileup='q/f.png'/></asset>",
    "skin": "<asset><skin name='a' file='q/f.skn'/></asset>",
    "flexcomp": "<worldbody><body name='b'><flexcomp name='a' type='mesh' file='q/f.obj' dim='2'/></body></worldbody>",
    "include": "<include file='q/f.xml'/>",
    "model": "<asset><model name='a' file='q/f.xml'/></asset>",
}
COMPILERS = (
    "",
    "<compiler meshdir='M' texturedir='T'/>",
    "<compiler assetdir='A'/>",
    "<compiler meshdir='M' texturedir='T' strippath='true'/>",
    "<compiler meshdir='M'/><compiler assetdir='A'/>",
    "<compiler assetdir='A'/><compiler texturedir='T'/>",
    "<!-- <compiler meshdir='C' texturedir='C'/> -->",
)


def complaint(folder, files):
    """The message of MuJoCo's compiler on files in a folder; "" for none."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    try:
        mujoco.MjSpec.from_file(str(folder / "r" / "main.xml")).compile()
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("element", NAMED)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_files_belong_where_mujoco_looks(tmp_path, element, compiler):
    """The file comes without a folder; the model stands in one, as the part of it that names the file may do."""
    main = f"<mujoco>{compiler}<include file='part.xml'/></mujoco>".encode()
    part = f"<mujoco>{NAMED[element]}</mujoco>".encode()
    name = re.search(r"f\.\w+", NAMED[element])[0]
    files = {"r/main.xml": main, "r/part.xml": part, name: b"<mujoco/>"}
    assert "Error opening file" in complaint(tmp_path, files)
    found = places("r/main.xml", files)
    assert {*found.values()} == {name} and len(found) <= 2  # in its folder, or beside the part
    assert "Error opening file" not in complaint(tmp_path, {**files, **dict.fromkeys(found, files[name])})


def test_what_lies_beside_an_included_file_stays_there():
    part = b"<mujoco><asset><mesh file='part.obj'/></asset></mujoco>"
    files = {"main.xml": b"<mujoco><include file='p/part.xml'/></mujoco>", "p/part.xml": part, "p/part.obj": b""}
    assert places("main.xml", files) == {}
    found = places("main.xml", {**files, "p/part.xml": part.replace(b"part.obj", b"m/part.obj")})
    assert found == dict.fromkeys(("m/part.obj", "p/m/part.obj"), "p/part.obj")


def test_attached_models_have_folders_of_their_own():
    main = b"<mujoco><compiler meshdir='M'/><asset><model name='a' file='q/other.xml'/></asset></mujoco>"
    other = b"<mujoco><compiler meshdir='N'/><asset><mesh file='f.obj'/></asset></mujoco>"
    files = {"main.xml": main, "other.xml": other, "f.obj": b""}
    assert places("main.xml", files) == {"q/other.xml": "other.xml", "q/N/f.obj": "f.obj"}


def test_what_an_upload_takes_on_the_disk(tmp_path, monkeypatch):
    """Folders in comments, and those that a later <compiler> replaces, get no copies."""
    names = "".join(f"<!-- <compiler meshdir='c{k}'/> --><compiler meshdir='d{k}'/>" for k in range(300))
    main = f"<mujoco>{names}<asset><mesh name='m' file='m.obj'/></asset></mujoco>".encode()
    files = {"main.xml": main, "m.obj": bytes(10**6)}
    written = []
    monkeypatch.setattr("saltus.lab.messages.outside.compiled", lambda path: written.extend(path.parent.rglob("*.*")))
    Outside("main.xml", files).model()
    assert [path.name for path in written].count("m.obj") == 2 and len(written) == 3


TOO_MUCH = {
    "a file under many names": "".join(f"<mesh file='m{k}/big.obj'/>" for k in range(100)),
    "many names": "".join(f"<mesh file='m{k}/f.obj'/>" for k in range(layout.MOST_PLACES + 1)),
    "a model inside itself": "<asset><model name='a' file='q/main.xml'/></asset>",
    "a file named often": "<mesh file='f.obj'/>" * (layout.MOST_VALUES + 1),
    "a file included by many": "".join(f"<model file='q/main.xml'/><model file='q{k}/other.xml'/>" for k in range(900)),
}


@pytest.mark.parametrize("text", TOO_MUCH.values(), ids=TOO_MUCH)
def test_more_than_any_model_needs_is_refused(text):
    """Refused before anything is copied: memory stays below a few copies of what came."""
    other = b"<include file='third.xml'/>"
    files = {"main.xml": f"<mujoco>{text}</mujoco>".encode(), "big.obj": bytes(10**6), "f.obj": b"", "other.xml": other}
    files["third.xml"] = b"<mesh file='f.obj'/>" * 1000
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match="too many other places; upload the folder"):
            places("main.xml", files)
        assert tracemalloc.get_traced_memory()[1] < 1e8
    finally:
        tracemalloc.stop()


def test_names_outside_the_folder_and_names_that_no_file_has():
    for name in ("/etc/f.obj", "../f.obj", "a/../../f.obj", "C:f.obj", "a\\f.obj", "\0f.obj", "a" * 256 + "/f.obj", ""):
        text = f"<mujoco><asset><mesh file='{name}'/></asset></mujoco>".encode()
        assert places("main.xml", {"main.xml": text, "f.obj": b""}) == {}


def test_names_of_files_without_their_folders():
    text = b"<include file='a/b.xml'/><!-- <include file='c.xml'/> --><mesh filename=\"d&amp;e.stl\"/><x name='file'/>"
    assert references(text) == {"b.xml", "d&e.stl"}
