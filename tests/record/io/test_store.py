"""A store of a stream: its checkpoint, and what is no store. Reference: what was written."""

import json
import os

import numpy as np
import pytest
from helpers.streams import assert_rows, commit, create, fill

from saltus.errors import RecordError
from saltus.record import Trajectory
from saltus.record.io import stream
from saltus.record.io.store import CHECKPOINT, COMPLETE, HEADER, INTERRUPTED, Checkpoint, Store


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch):
    """16 samples a chunk."""
    monkeypatch.setattr(stream, "CHUNK_BYTES", 1)


def test_what_is_no_recording(tmp_path):
    zarr = pytest.importorskip("zarr")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordError, match="is a directory, but not a Zarr store"):
        Trajectory.load(tmp_path / "empty")
    zarr.open_group(tmp_path / "foreign.zarr", mode="w")
    with pytest.raises(RecordError, match="a Zarr store, but not a recording of Saltus"):
        Trajectory.load(tmp_path / "foreign.zarr")


def test_damaged_stores(tmp_path):
    def store(name):
        sink = create(tmp_path / name)
        fill(sink, 0, 20)
        sink.finish()
        return tmp_path / name

    os.unlink(store("a.zarr") / CHECKPOINT)
    with pytest.raises(RecordError, match="nothing was committed before the run was interrupted"):
        Trajectory.load(tmp_path / "a.zarr")
    (store("b.zarr") / CHECKPOINT).write_bytes(b"no archive")
    with pytest.raises(RecordError, match="damaged recording"):
        Trajectory.load(tmp_path / "b.zarr")
    attributes = store("c.zarr") / "zarr.json"
    text = json.loads(attributes.read_text())
    text["attributes"]["trajectory"] = text["attributes"]["trajectory"].replace('"format": 1', '"format": 2')
    attributes.write_text(json.dumps(text))
    with pytest.raises(RecordError, match=r"written by a newer Saltus \(layout 2, known 1\)"):
        Trajectory.load(tmp_path / "c.zarr")


@pytest.mark.parametrize("entry", HEADER)
def test_a_header_without_an_entry(tmp_path, entry):
    sink = create(tmp_path / "a.zarr")
    fill(sink, 0, 20)
    sink.finish()
    metadata = tmp_path / "a.zarr" / "zarr.json"
    text = json.loads(metadata.read_text())
    header = json.loads(text["attributes"]["trajectory"])
    del header[entry]
    text["attributes"]["trajectory"] = json.dumps(header)
    metadata.write_text(json.dumps(text))
    with pytest.raises(RecordError, match=f"not a recording of Saltus .there is no '{entry}'."):
        Trajectory.load(tmp_path / "a.zarr")


def test_checkpoints_are_replaced_as_a_whole(tmp_path, monkeypatch):
    """A process that ends while it writes one leaves the one before."""
    path = tmp_path / "run.zarr"
    sink = create(path)
    fill(sink, 0, 5)
    commit(sink)

    def stop(*_):
        raise KeyboardInterrupt

    for function in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, function, stop)
            with pytest.raises(KeyboardInterrupt):
                commit(sink)
    assert_rows(Trajectory.load(path), 5)
    assert Store(path).checkpoint.status != COMPLETE


def test_a_checkpoint_goes_through_its_file(tmp_path):
    arrays = {"tail_qpos": np.arange(6.0).reshape(3, 2), "state_state": np.array([np.nan, -0.0])}
    checkpoint = Checkpoint(3, 0, INTERRUPTED, {"next": 2}, {"ö": [1, None]}, {"order": 4}, arrays)
    checkpoint.write(str(tmp_path))
    again = Checkpoint.read(str(tmp_path))
    assert vars(again).keys() == vars(checkpoint).keys() and again.position == {"next": 2}
    assert again.attrs == {"ö": [1, None]} and again.certificate == {"order": 4}
    assert again.part("state")["state"].tobytes() == arrays["state_state"].tobytes()
