"""Streams: what was committed is there, all of it and nothing else, whatever happens to the process that writes.

A stream is cut short here by leaving it as it is after an exception, as the end of a process would; nothing is written
when it is forgotten. `tests/simulate/test_resume.py` kills processes.
"""

import json
import os
import pickle

import numpy as np
import pytest
from helpers.streams import LABELS, assert_rows, commit, create, fill, row
from helpers.systems import needs_links, needs_proc

import saltus
from saltus.errors import OptionError, RecordError
from saltus.record import Trajectory
from saltus.record.io import stream
from saltus.record.io.store import CHECKPOINT, INTERRUPTED, Checkpoint, Store
from saltus.record.io.stream import Stream
from saltus.record.table.columns import DIMENSIONS, row_shapes
from saltus.record.trajectory import StreamedTrajectory


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch):
    """16 samples a chunk."""
    monkeypatch.setattr(stream, "CHUNK_BYTES", 1)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 32, 50])
def test_what_was_committed_loads(tmp_path, count):
    """And what came after does not, although whole chunks of it may have been written."""
    path = tmp_path / "run.zarr"
    sink = create(path)
    fill(sink, 0, count)
    commit(sink)
    assert_rows(Trajectory.load(path), count)
    fill(sink, count, count + 40)
    assert_rows(Trajectory.load(path), count)
    again, _ = Stream.reopen(path)
    fill(again, count, 60)
    assert_rows(again.finish(), 60)


@pytest.mark.parametrize("count", [0, 1, 16, 40, 100])
def test_a_finished_stream_is_the_recording(tmp_path, count):
    path = tmp_path / "run.zarr"
    sink = create(path)
    fill(sink, 0, count)
    sink.event(0.25, "impact")
    sink.end(**row(1000))
    sink.attrs["unconverged"] = 3
    for t in (sink.finish(), Trajectory.load(path)):
        assert_rows(t, count)
        assert t.names == {
            **LABELS,
            "act": [],
            "actuation": [],
            "tree": [],
            "motion": [],
            "sensor": [],
            "signal": [],
        } and t.attrs == {
            "integrator": "rk4",
            "seed": 2**70,
            "unconverged": 3,
        }
        assert t.events[["time", "kind"]].tolist() == [(0.25, "impact")]
        np.testing.assert_array_equal(t.end["mocap_quat"], row(1000)["mocap_quat"])


def test_other_readers_of_zarr_see_the_arrays(tmp_path):
    zarr = pytest.importorskip("zarr")
    sink = create(tmp_path / "run.zarr")
    fill(sink, 0, 40)
    sink.finish()
    group = zarr.open_group(tmp_path / "run.zarr", mode="r")
    np.testing.assert_array_equal(group["qpos"][:], [row(k)["qpos"] for k in range(40)])
    assert group["qpos"].metadata.dimension_names == ("time", "qpos_name")
    assert group.attrs["integrator"] == "rk4"


def test_commits_are_due_when_a_chunk_is_full_and_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "SECONDS", 1000.0)
    sink = create(tmp_path / "run.zarr")
    fill(sink, 0, 16)
    assert not sink.due
    fill(sink, 16, 17)
    assert sink.due
    monkeypatch.setattr(stream, "SECONDS", 0.0)
    commit(sink)
    assert sink.due


def test_memory_does_not_grow(tmp_path):
    sink = create(tmp_path / "run.zarr", 10_000)
    sizes = set()
    sample = row(0)
    for k in range(2000):
        sink.append(**sample)
        sizes.add(sum(column.nbytes for column in sink._columns.values()))
        if k % 100 == 0:
            commit(sink)
    assert len(sizes) == 1


def test_it_goes_on_from_the_checkpoint(tmp_path):
    """Samples that were committed after the state was taken, as when a run is interrupted, come again."""
    path = tmp_path / "run.zarr"
    sink = create(path)
    fill(sink, 0, 20)
    sink.event(0.5, "impact")
    sink.event(2.5, "liftoff")
    commit(sink, done=7)
    fill(sink, 20, 45)
    t = sink.finish(INTERRUPTED)
    assert_rows(t, 45)
    again, checkpoint = Stream.reopen(path)
    assert checkpoint.position == {"next": 20, "time": 2.0, "done": 7} and checkpoint.status == INTERRUPTED
    np.testing.assert_array_equal(checkpoint.part("state")["state"], [20.0, 21.0, 22.0])
    assert len(again) == 20
    fill(again, 20, 60)
    commit(again)
    t = Trajectory.load(path)
    assert_rows(t, 60)
    assert t.events[["time", "kind"]].tolist() == [(0.5, "impact")]


def test_columns_are_read_when_they_are_looked_at(tmp_path):
    sink = create(tmp_path / "run.zarr")
    fill(sink, 0, 40)
    t = Trajectory.of(sink.finish())
    assert isinstance(t, StreamedTrajectory) and len(t) == 40
    assert not DIMENSIONS.keys() & vars(t).keys()
    assert t.duration == pytest.approx(3.9)
    assert DIMENSIONS.keys() & vars(t).keys() == {"time"}
    assert "40 samples" in repr(t)
    with pytest.raises(AttributeError, match="has no attribute 'qpo'"):
        _ = t.qpo
    assert_rows(pickle.loads(pickle.dumps(t)), 40)


def test_a_recording_in_memory_becomes_a_store(tmp_path):
    t = saltus.Simulation("pendulum").run(1.0, sample=0.03, certify=True)
    t.save(tmp_path / "run.zarr")
    again = Trajectory.load(tmp_path / "run.zarr")
    for name in DIMENSIONS:
        np.testing.assert_array_equal(getattr(again, name), getattr(t, name))
    assert (again.attrs, again.names, again.units) == (t.attrs, t.names, t.units)
    np.testing.assert_array_equal(again.certificate.error, t.certificate.error)
    np.testing.assert_array_equal(again.certificate.bound, t.certificate.bound)
    assert str(again.certificate) == str(t.certificate) and again.model.name == "pendulum"
    np.testing.assert_array_equal(again.end["qpos"], t.end["qpos"])


HARD = row_shapes(nq=2, nv=2, ncontact=3, npoint=3, nactuation=2)


def hard_row(k):
    """As a run with hard contact records it."""
    rng = np.random.default_rng(k)
    values = {name: rng.normal(size=shape) for name, shape in HARD.items()}
    mode = rng.integers(0, 3, 3)
    return values | {"time": 0.1 * k, "contact_state": mode > 0, "contact_mode": mode}


def test_contact_points_and_events_are_streamed_and_resumed(tmp_path):
    path = tmp_path / "run.zarr"
    labels = {"qpos": ["a", "b"], "qvel": ["a", "b"], "contact": ["x", "y", "z"], "actuation": ["left", "right"]}
    sink = Stream.create(path, HARD, 100, names=labels, units={}, attrs={}, model=None)
    long = "a name of some length " * 10
    for k in range(20):
        sink.append(**hard_row(k))
        sink.event(
            0.1 * k, "impact", "ball", long, gap=-k, impulse=(k, 2.0, 3.0), energy_before=k, energy_after=0.5 * k
        )
    sink.commit({"next": 12, "time": 1.15}, {})
    again, _ = Stream.reopen(path)
    assert len(again) == 12
    for k in range(12, 40):
        again.append(**hard_row(k))
        again.event(
            0.1 * k, "impact", "ball", long, gap=-k, impulse=(k, 2.0, 3.0), energy_before=k, energy_after=0.5 * k
        )
    again.end(**hard_row(1000))
    streamed = again.finish()
    for t in (streamed, Trajectory.load(path)):
        assert t.contact_mode.dtype == np.int8 and t.names["actuation"] == ["left", "right"]
        for k in range(40):
            for name in ("contact_mode", "contact_force", "contact_pos", "actuation_state"):
                np.testing.assert_array_equal(getattr(t, name)[k], hard_row(k)[name])
                np.testing.assert_array_equal(t.end[name], hard_row(1000)[name])
        count = np.arange(40)
        np.testing.assert_array_equal(t.events["time"], 0.1 * count)
        np.testing.assert_array_equal(t.events["gap"], -count)
        np.testing.assert_array_equal(t.events["impulse"], np.stack([count, 0 * count + 2, 0 * count + 3], 1))
        np.testing.assert_array_equal(t.events["energy_after"], 0.5 * count)
        assert (
            set(t.events["other"]) == {long}
            and set(t.events["name"]) == {"ball"}
            and np.isnan(t.events["velocity"]).all()
        )
    size = Checkpoint.read(str(path)).arrays["events"].dtype["name"].itemsize
    assert size == 4 * len("ball")  # no wider than it needs to be


def test_a_store_from_before_contact_points_loads(tmp_path):
    """Its events have a time and a kind, and its list of columns ends with mocap_quat."""
    path = tmp_path / "run.zarr"
    sink = create(path)
    fill(sink, 0, 20)
    sink.event(0.25, "impact")
    sink.finish()
    checkpoint = Checkpoint.read(str(path))
    checkpoint.arrays["events"] = checkpoint.arrays["events"][["time", "kind"]]
    checkpoint.digests = {}
    checkpoint.write(str(path))
    attributes = path / "zarr.json"
    text = json.loads(attributes.read_text())
    header = json.loads(text["attributes"]["trajectory"])
    del header["checksums"]
    for name in ("contact_mode", "contact_force", "contact_pos", "actuation_state"):
        del header["shapes"][name]
    text["attributes"]["trajectory"] = json.dumps(header)
    attributes.write_text(json.dumps(text))
    with pytest.warns(saltus.SaltusWarning, match="before recordings had checksums: it cannot be verified"):
        loaded = Trajectory.load(path)
    for t in (loaded, StreamedTrajectory(Store(path))):
        assert t.contact_mode.shape == (20, 0) and t.contact_force.shape == (20, 0, 3)
        assert t.actuation_state.shape == (20, 0)
        assert t.events[["time", "kind", "name"]].tolist() == [(0.25, "impact", "")]


# what goes wrong


@needs_links
@pytest.mark.parametrize("there", ["file", "directory", "store", "dangling"])
def test_nothing_is_overwritten(tmp_path, there):
    path = tmp_path / "run.zarr"
    make = {"file": lambda: path.write_text("x"), "directory": path.mkdir, "store": lambda: create(path).finish()}
    make.get(there, lambda: path.symlink_to(tmp_path / "nowhere"))()
    with pytest.raises(RecordError, match=r"run\.zarr': exists already; remove it"):
        create(path)
    with pytest.raises(RecordError, match="exists already"):
        saltus.Simulation("pendulum").run(0.1, save=path)


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(RecordError, match=r"directory '.*no' does not exist"):
        create(tmp_path / "no" / "run.zarr")


def test_the_suffix_of_a_stream(tmp_path):
    with pytest.raises(OptionError, match=r"save must be a Zarr store \(\.zarr\), got '.*run\.nc'"):
        saltus.Simulation("pendulum").run(0.1, save=tmp_path / "run.nc")


@pytest.mark.parametrize("where", ["chunk", "checkpoint"])
def test_a_disk_that_fills_up_keeps_what_was_committed(tmp_path, where):
    resource = pytest.importorskip("resource")
    path = tmp_path / "run.zarr"
    sink = create(path)
    fill(sink, 0, 20)
    commit(sink)
    before = (path / CHECKPOINT).read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    try:
        with pytest.raises(RecordError, match=r"run\.zarr': file too large; the 20 committed samples are kept"):
            fill(sink, 20, 40) if where == "chunk" else commit(sink)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (path / CHECKPOINT).read_bytes() == before
    assert_rows(Trajectory.load(path), 20)


@needs_proc
def test_chunks_reach_the_disk_before_the_checkpoint_that_counts_on_them(tmp_path, monkeypatch):
    """And so do their names in all directories up to the store's own."""
    path = tmp_path / "run.zarr"
    settled, replaced = set(), []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(descriptor):
        fsync(descriptor)
        settled.add(os.readlink(f"/proc/self/fd/{descriptor}"))

    def noted_replace(source, target):
        if str(target).endswith(CHECKPOINT):
            replaced.append({str(p) for p in path.rglob("*") if not str(p).endswith(".tmp")} - settled)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    sink = create(path)
    fill(sink, 0, 40)
    commit(sink)
    fill(sink, 40, 60)
    commit(sink)
    sink.finish()
    assert len(replaced) == 3
    for missing in replaced:
        assert missing <= {str(path / CHECKPOINT)}
    assert {str(path), str(tmp_path)} <= settled


def test_not_a_number_keeps_its_bits(tmp_path):
    """A chunk of nothing else looks as one that was never written."""
    odd = np.array([0xFFF8000000000123], np.uint64).view(np.float64)[0]
    sink = create(tmp_path / "run.zarr")
    for k in range(40):
        sink.append(**row(k) | {"energy": np.full(2, odd)})
    sink.finish()
    assert set(Trajectory.load(tmp_path / "run.zarr").energy.view(np.uint64).ravel()) == {0xFFF8000000000123}
