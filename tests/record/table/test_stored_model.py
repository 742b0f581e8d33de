"""A recording holds its model, and gives it back without the file that it came from."""

import dataclasses
import os
import zlib

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import saltus
from saltus.record.table.stored_model import StoredModel
from saltus.record.table.trajectory_table import readable_model

MUSCLE = """
<mujoco model="lever"><worldbody><site name="a" pos="0 0 1"/>
  <geom name="floor" type="plane" size="1 1 1" pos="0 0 -3"/>
  <body name="rod"><joint name="hinge" axis="0 1 0"/><geom size="0.02 0.5" type="capsule" mass="1"/>
    <site name="b" pos="0 0 0.3"/></body></worldbody>
<tendon><spatial name="rope"><site site="a"/><site site="b"/></spatial></tendon>
<actuator><general name="biceps" tendon="rope"/></actuator></mujoco>"""


@pytest.mark.slow
def test_the_way_through_a_file(tmp_path):
    muscle = saltus.HillMuscle(100.0, 0.4, 0.35)
    model = saltus.load(MUSCLE, ignore=["contact"], muscles={"biceps": muscle})
    trajectory = saltus.Simulation(model).run(0.02)
    assert trajectory.model is model
    trajectory.save(tmp_path / "run.nc")
    again = saltus.Trajectory.load(tmp_path / "run.nc").model
    assert again is not None and again is not model
    assert (again.name, again.xml, again.ignored, again.initial_key) == ("lever", model.xml, model.ignored, None)
    assert dict(again.muscles) == {"biceps": muscle}
    assert_array_equal(again.body_mass, model.body_mass)
    # it moves as the first one
    assert_array_equal(saltus.Simulation(again).run(0.02).qpos, trajectory.qpos)


def test_a_bundled_model_keeps_where_it_starts(tmp_path):
    saltus.Simulation("pendulum").run(0.1).save(tmp_path / "run.nc")
    again = saltus.Trajectory.load(tmp_path / "run.nc").model
    assert again is not None and again.initial_key == 0
    assert saltus.Simulation(again).qpos[0] == np.pi / 2


def test_changes_come_along():
    """With the binary form, and with the text, which is that of the file."""
    model = saltus.load("pendulum").changed({"opt.gravity[2]": -1.62})
    stored = StoredModel.of(model)
    for again in (stored.restore(), dataclasses.replace(stored, mjb=b"").restore()):
        assert dict(again.changes) == dict(model.changes) and again.opt.gravity[2] == -1.62
    assert stored.same_as(model) and not stored.same_as(saltus.load("pendulum"))


def test_meshes_come_along(tmp_path):
    """The binary form needs no mesh file, which the text alone would."""
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "m.xml").write_text(
        "<mujoco><asset><mesh name='m' file='m.obj'/></asset><worldbody><body><freejoint/>"
        "<geom type='mesh' mesh='m' contype='0' conaffinity='0'/></body></worldbody></mujoco>"
    )
    saltus.Simulation(str(tmp_path / "m.xml")).run(0.01).save(tmp_path / "run.nc")
    (tmp_path / "m.obj").unlink()
    trajectory = saltus.Trajectory.load(tmp_path / "run.nc")
    other = dataclasses.replace(trajectory.stored_model, mujoco_version="3.9.0")
    assert trajectory.model is not None and trajectory.model.nmeshvert == 4
    said = r"run\.nc': it was compiled by MuJoCo 3\.9\.0.*XML text cannot be compiled here"
    with pytest.raises(saltus.RecordError, match=said):
        other.restore()
    # and what needs no model is still there
    trajectory._model = other
    model, why = readable_model(trajectory)
    assert model is None and "XML text cannot be compiled" in why
    trajectory.report(tmp_path / "run.html")
    content = (tmp_path / "run.html").read_text()
    assert "There is no film" in content and "<video" not in content


def test_another_version_of_mujoco_compiles_the_text():
    stored = dataclasses.replace(StoredModel.of(saltus.load("arm")), mujoco_version="3.9.0")
    assert stored.restore().nq == 2
    assert stored.same_as(saltus.load("arm")) and not stored.same_as(saltus.load("pendulum"))
    with pytest.raises(saltus.RecordError, match=r"compiled by MuJoCo 3\.9\.0.*no XML text"):
        dataclasses.replace(stored, xml="").restore()


def test_damaged_bytes_fall_back_to_the_text():
    stored = StoredModel.of(saltus.load("arm"))
    for mjb in (b"", b"no zlib", stored.mjb[:-100]):
        assert dataclasses.replace(stored, mjb=mjb).restore().nq == 2
    with pytest.raises(saltus.RecordError, match=r"cannot read the model of recording 'run\.nc'"):
        dataclasses.replace(stored, mjb=b"no zlib", xml="", path="run.nc").restore()


@pytest.mark.slow
def test_a_model_without_text():
    compiled = mujoco.MjModel.from_xml_string(MUSCLE)
    trajectory = saltus.Simulation(compiled).run(0.01)
    assert StoredModel.of(trajectory.model).restore().nq == 1


def test_a_recording_from_before_models_were_kept():
    """Its attributes have the text, which is enough where the text names no files."""
    trajectory = saltus.Simulation("arm").run(0.1)
    trajectory._model = None
    assert trajectory.stored_model is None and trajectory.model is not None and trajectory.model.nq == 2


# a stranger's


@pytest.fixture
def foreign(tmp_path):
    """A file elsewhere, whose time of access tells whether it was read."""
    path = tmp_path / "foreign.xml"
    path.write_text("<mujoco><worldbody><body name='foreign'/></worldbody></mujoco>")
    os.utime(path, (1e9, 2e9))
    yield path
    assert path.stat().st_atime == 1e9


READERS = {
    "include": "<mujoco><include file='{}'/></mujoco>",
    "deep include": "<mujoco><worldbody><body><include file='{}'/></body></worldbody></mujoco>",
    "mesh": "<mujoco><asset><mesh name='m' file='{}'/></asset></mujoco>",
    "texture": "<mujoco><asset><texture name='t' type='cube' fileup='{}'/></asset></mujoco>",
    "model": "<mujoco><asset><model name='m' file='{}'/></asset></mujoco>",
    "flexcomp": "<mujoco><worldbody><flexcomp name='f' type='mesh' file='{}'/></worldbody></mujoco>",
    "urdf": "<robot name='r'><link name='l'><visual><geometry><mesh filename='{}'/></geometry></visual></link></robot>",
}


@pytest.mark.parametrize("text", READERS.values(), ids=READERS)
@pytest.mark.parametrize("absolute", [True, False])
def test_no_file_is_opened_for_its_text(tmp_path, monkeypatch, foreign, text, absolute):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    stored = dataclasses.replace(
        StoredModel.of(saltus.load("arm")), xml=text.format(foreign if absolute else "../foreign.xml")
    )
    with pytest.raises(
        saltus.RecordError, match=r"refers to a file .*foreign\.xml'.*loading a recording does not open"
    ):
        dataclasses.replace(stored, mjb=b"").restore()
    # nor later, when the model is compiled with other values
    again = stored.restore()
    assert again.xml is None
    with pytest.raises(saltus.OptionError, match="no MJCF file to change"):
        saltus.sweep(again, {"option/timestep": [0.001]}, duration=0.01)


@pytest.mark.slow
def test_a_model_that_unpacks_to_gigabytes():
    """A gigabyte of zeros in a megabyte."""
    resource = pytest.importorskip("resource")
    packer = zlib.compressobj(9)
    bomb = b"".join([packer.compress(bytes(2**24)) for _ in range(64)] + [packer.flush()])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    stored = dataclasses.replace(StoredModel.of(saltus.load("arm")), mjb=bomb, xml="")
    with pytest.raises(saltus.RecordError, match="it unpacks to more than 268435456 bytes"):
        stored.restore()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600_000  # kB


@pytest.mark.parametrize("change", [{"muscles": {"biceps": {"no": 1}}}, {"changes": {"opt.no": 1}}, {"xml": "<"}])
def test_laws_and_changes_that_are_none(change):
    stored = dataclasses.replace(StoredModel.of(saltus.load("arm")), mjb=b"", path="run.nc", **change)
    with pytest.raises(saltus.RecordError, match=r"the model of recording 'run\.nc'"):
        stored.restore()
