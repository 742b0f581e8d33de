"""Files on which MuJoCo's compiler never ends, or aborts, end in a ModelError, and the next one is compiled as ever."""

import os
import signal
import threading

import pytest

import saltus
from saltus.model.load import BUNDLED
from saltus.model.source import isolated_compiler
from saltus.model.xml_overrides import edited

# MuJoCo 4.0 makes these until the memory is full
ENDLESS = (
    '<mujoco><worldbody><replicate count="100000000" offset="1 0 0"><geom size="1"/></replicate></worldbody></mujoco>'
)


def text():
    return (BUNDLED / "pendulum.xml").read_text(encoding="utf-8")


def same(model, other):
    return (model.name, model.xml, model.nq) == (other.name, other.xml, other.nq) and (
        model.body_mass == other.body_mass
    ).all()


def test_a_text_and_a_file_are_what_they_are_here(tmp_path):
    path = tmp_path / "swing.xml"
    path.write_text(text(), encoding="utf-8")
    for source in (text(), path, str(path)):
        assert same(saltus.load(source, apart=True), saltus.load(source))


def test_what_never_ends_is_stopped_in_time():
    with pytest.raises(saltus.ModelError, match=r"took longer than 0\.5 s and was stopped"):
        saltus.load(ENDLESS, apart=0.5)
    assert saltus.load(text(), apart=True).nv == 1


def helper_of(action):
    """What `action` makes of the helper process while it works on a text that never ends."""
    isolated_compiler.compile_apart(text())
    (helper, *_) = isolated_compiler._idle
    timer = threading.Timer(0.3, action, [helper._process])
    timer.start()
    return helper


@pytest.mark.skipif(not hasattr(signal, "SIGABRT") or os.name == "nt", reason="signals of POSIX")
def test_a_compiler_that_aborts_is_named_and_replaced():
    isolated_compiler._end_all()
    first = helper_of(lambda process: os.kill(process.pid, signal.SIGABRT))
    with pytest.raises(saltus.ModelError, match=r"crashed \(signal 6, SIGABRT\)"):
        saltus.load(ENDLESS, apart=20)
    assert not first.usable
    assert saltus.load(text(), apart=True).nv == 1
    assert isolated_compiler._idle[0] is not first


def test_one_helper_serves_all_that_come_one_after_another():
    isolated_compiler._end_all()
    for _ in range(3):
        saltus.load(text(), apart=True)
    (helper,) = isolated_compiler._idle
    assert helper.usable
    helper._process.kill()
    helper._process.wait()
    assert saltus.load(text(), apart=True).nv == 1  # one that has died between two models is replaced


def test_messages_are_those_of_the_compiler(tmp_path):
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco>\n  <worldbody>\n    <body><joint tipe='hinge'/></body>\n  </worldbody>\n</mujoco>\n")
    with pytest.raises(saltus.ModelError) as here:
        saltus.load(path)
    with pytest.raises(saltus.ModelError) as there:
        saltus.load(path, apart=True)
    assert str(here.value) == str(there.value)
    assert (there.value.file, there.value.line) == (str(path), 3)


def test_files_that_a_text_names_come_with_it(tmp_path):
    mesh = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    named = '<asset><mesh name="m" file="m.obj"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody>'
    named = f"<mujoco>{named}</mujoco>"
    assert isolated_compiler.compile_apart(named, {"m.obj": mesh}).model.nmesh == 1
    (tmp_path / "m.obj").write_bytes(mesh)
    assert isolated_compiler.compile_apart(named, folder=tmp_path).model.nmesh == 1
    with pytest.raises(isolated_compiler.CompilerMessage, match=r"m\.obj"):
        isolated_compiler.compile_apart(named)


def test_a_model_beyond_measure_is_refused(monkeypatch):
    monkeypatch.setattr(isolated_compiler, "LARGEST", 1000)
    with pytest.raises(saltus.ModelError, match=r"the compiled model takes .* bytes, more than 1000"):
        saltus.load(text(), apart=True)


def test_a_file_with_other_values_may_be_endless(monkeypatch):
    monkeypatch.setattr("saltus.model.xml_overrides.PATIENCE", 0.5)
    model = "<mujoco><worldbody><replicate count='2' offset='1 0 0'><geom size='1'/></replicate></worldbody></mujoco>"
    with pytest.raises(saltus.OptionError, match=r"replicate/count.*took longer"):
        edited(model, {"replicate/count": 100000000})


@pytest.mark.parametrize("odd", [0, -1.0, float("nan"), "x", []])
def test_a_time_limit_is_a_positive_number(odd):
    with pytest.raises(saltus.OptionError, match="time limit must be"):
        saltus.load(text(), apart=odd)
