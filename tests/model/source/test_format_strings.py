"""A "%" in the name of a class does not come to MuJoCo's parser, which would end the process."""

import subprocess
import sys

import mujoco
import pytest

import saltus
from saltus.errors import ModelError, OptionError

FORMATS = "%s%s%s%s%s%s%s%s"
GEOM = "<mujoco><worldbody>\n<geom class='{}' size='.1'/></worldbody></mujoco>"


def test_what_mujoco_does_with_it():
    """Where this fails, MuJoCo has learned better, and the check can go."""
    code = f"import mujoco; mujoco.MjSpec.from_string({GEOM.format('%x')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert "unknown default class name '%x'" not in done.stderr
    assert mujoco.__version__


@pytest.mark.parametrize(
    "text",
    [
        GEOM.format(FORMATS),
        GEOM.format("a%n"),
        GEOM.format(FORMATS).replace("'", '"'),
        GEOM.format(FORMATS).replace("class=", "class \n = "),
        GEOM.format("&#37;s&#x25;s&#37;s&#37;s&#37;s&#37;s&#37;s&#37;s"),
        GEOM.format("&percnt;s%s%s%s%s%s%s%s%s"),
        f"<mujoco><worldbody><body childclass='{FORMATS}'/></worldbody></mujoco>",
        f"<mujoco><default><geom class='{FORMATS}'/></default></mujoco>",
    ],
)
def test_formats_in_names_of_classes(text):
    with pytest.raises(ModelError, match=r"the class '.*%.*' has a '%' in its name; rename it"):
        saltus.load(text)


def test_the_line_is_named():
    with pytest.raises(ModelError) as caught:
        saltus.load(GEOM.format(FORMATS))
    assert caught.value.line == 2


@pytest.mark.parametrize("element", ["include", "asset model"])
def test_in_files_and_what_they_name(tmp_path, element):
    (tmp_path / "deep").mkdir()
    named = "<include file='deep/b.xml'/>"
    if element != "include":
        named = "<asset><model name='m' file='deep/b.xml'/></asset>"
    (tmp_path / "a.xml").write_text(f"<mujoco>{named}<worldbody/></mujoco>")
    (tmp_path / "deep" / "b.xml").write_text("<mujoco><include file='c.xml'/><include file='a.xml'/></mujoco>")
    (tmp_path / "deep" / "c.xml").write_text(GEOM.format(FORMATS))
    with pytest.raises(ModelError, match=r"c\.xml, line 2: the class '%s"):
        saltus.load(tmp_path / "a.xml")
    with pytest.raises(ModelError, match=r"c\.xml, line 2: the class '%s"):
        saltus.load(str(tmp_path / "deep" / "b.xml"))


def test_models_with_other_values(tmp_path):
    (tmp_path / "m.xml").write_text("<mujoco><worldbody><geom name='g' size='.1'/></worldbody></mujoco>")
    from saltus.model.xml_overrides import edited

    with pytest.raises((ModelError, OptionError), match="'%' in its name"):
        edited(tmp_path / "m.xml", {"geom[g]/class": FORMATS})


def test_other_names_keep_theirs():
    body = "<body name='%s'><joint name='100%'/><geom size='.1'/></body>"
    assert saltus.load(f"<mujoco model='50%s'><worldbody>{body}</worldbody></mujoco>").names("joint") == ["100%"]


def test_behind_what_looks_like_the_end_of_an_element(tmp_path):
    """A ">" in a value, and an element that begins in a comment, in a value or without an end, hide no include."""
    (tmp_path / "b.xml").write_text(GEOM.format(FORMATS))
    include = "<include {}file='b.xml'/>"
    for hidden in (include.format("a='>' "), "<x y=' " + include.format("").replace("'", '"'), "<x y='<include " * 3):
        (tmp_path / "a.xml").write_text(f"<mujoco>{hidden}{include.format('')}</mujoco>")
        with pytest.raises(ModelError, match=r"b\.xml, line 2: the class '%s"):
            saltus.load(tmp_path / "a.xml")


@pytest.mark.parametrize("apart", [False, 20.0])
def test_includes_that_are_no_files_are_named(apart):
    for name in ("a" * 300, "a\0b", "a&#0;b", "a/" * 3000, "."):
        with pytest.raises(ModelError):
            saltus.load(f"<mujoco><include file='{name}'/></mujoco>", apart=apart)
    comment = f"<!-- <include file='{'a' * 300}'/> -->"  # is read by nobody
    assert saltus.load(f"<mujoco>{comment}</mujoco>", apart=apart).nbody == 1


def test_a_long_chain_of_includes(tmp_path):
    """MuJoCo's reader follows it too. 1200 is more than Python's functions may call each other."""
    for k in range(1200):
        (tmp_path / f"{k}.xml").write_text(f"<mujoco><include file='{k + 1}.xml'/></mujoco>")
    (tmp_path / "1200.xml").write_text("<mujoco><worldbody><geom name='last' size='1'/></worldbody></mujoco>")
    assert saltus.load(tmp_path / "0.xml", apart=60).names("geom") == ["last"]
    (tmp_path / "1200.xml").write_text(GEOM.format(FORMATS))
    with pytest.raises(ModelError, match=r"1200\.xml, line 2: the class '%s"):
        saltus.load(tmp_path / "0.xml", apart=60)
