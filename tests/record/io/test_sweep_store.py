"""What is kept of a sweep comes back, to the bit, and only to the sweep that it is of."""

import json
import time

import numpy as np
import pytest

from saltus.errors import OptionError, RecordError
from saltus.record.io.sweep_store import LEAST, Kept, key_of, plain


def test_rows_come_back(tmp_path):
    path, about = tmp_path / "s.json", {"model": "pendulum", "step": 0.1}
    values = {"b": np.float64(0.1) + 0.2, "a": np.arange(2), "law": None}
    with Kept(path, about) as kept:
        kept.add(values, {"height": 1 / 3})
        kept.write()
    with Kept(path, about) as kept:
        assert kept.rows[key_of({"law": None, "a": (0, 1), "b": 0.1 + 0.2})]["height"] == 1 / 3
        with pytest.raises(RecordError), Kept(path, about):
            pass
    with pytest.raises(OptionError, match="another step; use another file"), Kept(path, about | {"step": 0.2}):
        pass
    path.write_text(json.dumps({"format": "saltus sweep 2"}))
    with pytest.raises(RecordError, match="not a sweep"), Kept(path, about):
        pass


def test_a_row_is_written_soon_whether_or_not_another_comes(tmp_path):
    path = tmp_path / "s.json"
    with Kept(path, {}) as kept:
        kept.add({"a": 1}, {"height": 0.5})
        kept.add({"a": 2}, {"height": 0.6})
        deadline = time.monotonic() + 20
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(json.loads(path.read_text())["rows"]) == 2
        kept.add({"a": 3}, {"height": 0.7})
    time.sleep(1.5 * LEAST)
    assert len(json.loads(path.read_text())["rows"]) == 2  # nothing is written once the file is somebody else's


def test_values_are_plain_and_their_kinds_do_not_matter():
    same = [{"x": 2, "y": (1, 2)}, {"y": np.array([1.0, 2.0]), "x": np.int32(2)}, {"x": 2.0, "y": [1, 2.0]}]
    assert len({key_of(values) for values in same}) == 1
    assert key_of({"x": True}) != key_of({"x": 1}) != key_of({"x": "1"})
    assert json.loads(json.dumps(plain(same[1]))) == plain(same[0])
