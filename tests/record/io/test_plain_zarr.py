"""Zarr stores that are not as plain as a recording: refused by name, without following links or unpacking bombs."""

import json
import os
import shutil
import tracemalloc

import numpy as np
import pytest
from helpers.systems import needs_links, needs_named_pipes

from saltus.errors import RecordError
from saltus.record import Trajectory
from saltus.record.io import plain_zarr, stream
from saltus.record.io.plain_zarr import _unpacked_size
from saltus.record.io.store import CHECKPOINT, Checkpoint


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store of several chunks whose checksums are left out, as a stranger can."""
    monkeypatch.setattr(stream, "CHUNK_BYTES", 1)
    path = tmp_path / "run.zarr"
    Trajectory(np.arange(100.0), np.ones((100, 2)), np.ones((100, 2))).save(path)
    edit(path, "", lambda found: drop_checksums(found["attributes"]))
    checkpoint = Checkpoint.read(str(path))
    checkpoint.digests = {}
    checkpoint.write(str(path))
    with pytest.warns(UserWarning, match="cannot be verified"):
        assert len(Trajectory.load(path)) == 100
    return path


def drop_checksums(attributes):
    header = json.loads(attributes["trajectory"])
    del header["checksums"]
    attributes["trajectory"] = json.dumps(header)


def edit(path, name, change):
    file = path / name / "zarr.json"
    found = json.loads(file.read_text())
    change(found)
    file.write_text(json.dumps(found))


@needs_links
@needs_named_pipes
@pytest.mark.parametrize(
    "part", ["zarr.json", CHECKPOINT, "qpos/zarr.json", "qpos/c/1/0", "qpos/c/1", "qpos/c", "qpos"]
)
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_links_and_pipes_inside(store, tmp_path, part, kind):
    file = store / part
    shutil.move(file, tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere") if kind == "link" else os.mkfifo(file)
    with pytest.raises(RecordError):
        Trajectory.load(store)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda m: m["codecs"].append({"name": "gzip", "configuration": {"level": 1}}),
            "compressed by bytes, zstd, crc32c, gzip",
        ),
        (lambda m: m["chunk_key_encoding"].update(name="v2"), "not in the places that recordings use"),
        (lambda m: m.update(data_type="int8", fill_value=0), "another shape or type"),
        (lambda m: m["chunk_grid"]["configuration"].update(chunk_shape=[10**9, 2]), "another shape or type"),
    ],
)
def test_metadata_that_no_recording_has(store, change, said):
    edit(store, "qpos", change)
    with pytest.raises(RecordError, match=said):
        Trajectory.load(store)


def test_a_chunk_that_unpacks_to_more(store):
    """Zeros by the gigabyte in a few bytes."""
    frame = b"\x28\xb5\x2f\xfd\xe0" + (2**40).to_bytes(8, "little") + b"\x01\x00\x00"
    (store / "qpos/c/1/0").write_bytes(frame)
    with pytest.raises(RecordError, match=rf"column 'qpos': a chunk decompresses to {2**40} bytes, not 256"):
        Trajectory.load(store)


def test_a_store_that_unpacks_to_more(store):
    """Chunks that are not there are the fill value."""
    checkpoint = Checkpoint.read(str(store))
    checkpoint.count = checkpoint.written = 2**40
    for name in ("time", "qpos", "qvel", "energy"):
        edit(store, name, lambda found: found["shape"].__setitem__(0, 2**40))
    checkpoint.write(str(store))
    with pytest.raises(RecordError, match="what it holds would decompress to"):
        Trajectory.load(store)


def test_sizes_that_frames_tell():
    numcodecs = pytest.importorskip("numcodecs")
    for size in (1, 200, 255, 256, 257, 65_791, 65_792, 70_000, 10**6):
        for level in (0, 1, 19):
            assert _unpacked_size(numcodecs.Zstd(level).encode(bytes(size))[:18]) == size
    assert _unpacked_size(b"") == _unpacked_size(b"\0" * 18) == -1


def test_metadata_take_memory_of_their_size(tmp_path):
    """Neither that of the largest there may be, nor any where they are larger."""
    (tmp_path / "zarr.json").write_text('{"node_type": "group", "attributes": {}}')
    tracemalloc.start()
    try:
        plain_zarr.metadata_digest(str(tmp_path), "")
        with open(tmp_path / "zarr.json", "ab") as file:
            file.truncate(plain_zarr.LARGEST + 1)
        with pytest.raises(ValueError, match="its metadata have more than 64 MiB"):
            plain_zarr.metadata_digest(str(tmp_path), "")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
