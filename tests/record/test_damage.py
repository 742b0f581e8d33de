"""A damaged recording is refused, or loads as what was written, in little time.

`python tests/helpers/damage.py 10000` does this at length.
"""

import json

import numpy as np
import pytest
from helpers.damage import KINDS, count_outcomes

from saltus.errors import RecordError
from saltus.record import Trajectory
from saltus.record.files.checksum import SIZE
from saltus.record.io import file, stream


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "count"), [(".nc", 300), (".zarr", 90)])
def test_damage_is_noticed(tmp_path, suffix, count):
    found, longest = count_outcomes(suffix, count, tmp_path)
    assert {result for _, result in found} <= {"refused", "same"}, found
    for kind in KINDS:
        assert found[kind, "refused"] > 0.7 * count / len(KINDS), found
    assert longest < 30.0  # on a busy machine


def test_a_seal_that_is_zeroed_is_missed_at_once(tmp_path, monkeypatch):
    """Without a look at what HDF5 makes of the rest."""
    path = tmp_path / "run.nc"
    Trajectory([0.0], [[1.0]], [[2.0]]).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-SIZE] + bytes(SIZE))
    monkeypatch.setattr(file, "check_readable", lambda path: pytest.fail("read"))
    with pytest.raises(RecordError, match=r"damaged recording \(the checksum at its end is invalid"):
        Trajectory.load(path)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "CHUNK_BYTES", 1)
    Trajectory(np.arange(100.0), np.arange(200.0).reshape(100, 2), np.ones((100, 2))).save(tmp_path / "run.zarr")
    return tmp_path / "run.zarr"


def test_a_chunk_that_is_missing(store):
    (store / "qpos/c/2/0").unlink()
    with pytest.raises(RecordError, match=r"damaged recording.*column 'qpos'.*checksum"):
        Trajectory.load(store)


def test_chunks_that_changed_places(store):
    """Each is whole, but not where it was written."""
    first, second = store / "qpos/c/1/0", store / "qpos/c/2/0"
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    with pytest.raises(RecordError, match="column 'qpos': the checksum of its columns does not match"):
        Trajectory.load(store)


def test_what_the_group_says(store):
    attributes = store / "zarr.json"
    found = json.loads(attributes.read_text())
    header = json.loads(found["attributes"]["trajectory"])
    header["attrs"]["integrator"] = "euler"
    found["attributes"]["trajectory"] = json.dumps(header)
    attributes.write_text(json.dumps(found))
    with pytest.raises(RecordError, match=r"zarr\.json: the checksum"):
        Trajectory.load(store)


def test_a_resumed_stream_looks_first(store):
    (store / "qpos/c/2/0").unlink()
    checkpoint = stream.Store(store).checkpoint
    checkpoint.position = {"next": 90, "time": 90.0}
    checkpoint.write(str(store))
    with pytest.raises(RecordError, match="column 'qpos'"):
        stream.Stream.reopen(store)
