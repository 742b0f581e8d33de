"""What is kept of a sweep comes back, to the bit, and only to the sweep that it is of."""

import json
import random
import sys
import time
import warnings
from collections import Counter

import numpy as np
import pytest
from helpers.damage import STRANGE, damage, make_strange, no_waiting
from helpers.schedules import Schedule, ScheduledLock

from saltus.errors import OptionError, RecordError, SaltusWarning
from saltus.record.io import sweep_store
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


@pytest.mark.parametrize("seed", range(24))
def test_rows_of_several_threads_are_all_kept_in_any_order(seed, tmp_path, monkeypatch):
    """A thread that waits for the store is let in when the one that writes has ended, wherever a seed stops it."""
    monkeypatch.setattr(sweep_store, "LEAST", 0.0)
    schedule, path = Schedule(seed, often=1.0, traced=(sweep_store,)), tmp_path / "s.json"
    with Kept(path, {}) as kept:
        kept._guard = ScheduledLock(schedule)
        schedule.run([lambda k=k: [kept.add({"a": 10 * k + i}, {"height": i / 3}) for i in range(2)] for k in range(3)])
        kept.write()
    with Kept(path, {}) as again:
        assert again.rows == kept.rows and len(again.rows) == 6


def test_values_are_plain_and_their_kinds_do_not_matter():
    same = [{"x": 2, "y": (1, 2)}, {"y": np.array([1.0, 2.0]), "x": np.int32(2)}, {"x": 2.0, "y": [1, 2.0]}]
    assert len({key_of(values) for values in same}) == 1
    assert key_of({"x": True}) != key_of({"x": 1}) != key_of({"x": "1"})
    assert json.loads(json.dumps(plain(same[1]))) == plain(same[0])


ROWS = {k: {"status": "done", "measures": {"height": 1 / (k + 1)}, "note": ""} for k in range(40)}


def written(path):
    with Kept(path, {"model": "pendulum", "step": 0.1}) as kept:
        for k, row in ROWS.items():
            kept.add({"a": 0.1 * k}, row)
        kept.write()
    return path


def outcome(path):
    """How reading ends, and in the lines of what an error would be seen."""
    try:
        with warnings.catch_warnings(), no_waiting(20):
            warnings.simplefilter("error", SaltusWarning)  # said to be unprotected
            with Kept(path, {"model": "pendulum", "step": 0.1}) as kept:
                expected = {key_of({"a": 0.1 * k}): {"values": {"a": 0.1 * k}, **row} for k, row in ROWS.items()}
                return "right" if kept.rows == expected else "OTHER"
    except RecordError:
        return "refused"
    except Exception as error:
        return f"RAW {type(error).__name__}: {error}"


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders, no links without rights")
@pytest.mark.parametrize("kind", ["flip", "page", *(kind for kind in STRANGE if kind != "link")])
def test_damage_is_noticed(tmp_path, kind):
    """Drawn with seeds; the reference is what was written. Spaces, and digits beyond those of a float, do not count."""
    whole, rng, found = written(tmp_path / "whole.json"), random.Random(kind), Counter()
    other = tmp_path / "other.json"
    assert outcome(whole) == "right"
    for _ in range(40):
        target = tmp_path / "damaged.json"
        if kind in ("flip", "page"):
            damage(whole, target, kind, rng)
        else:
            target.write_bytes(whole.read_bytes())
            other.write_text('{"format": "saltus sweep 3", "about": {}, "rows": []}')
            make_strange(target, [other], kind, rng)
        found[outcome(target)] += 1
        target.unlink()
    assert {*found} <= {"right", "refused"}, found
    assert found["refused"] > 20, found


def test_a_file_that_is_laid_out_otherwise_says_the_same(tmp_path):
    path = written(tmp_path / "s.json")
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True))
    assert outcome(path) == "right"


def test_a_file_from_before_there_were_checksums(tmp_path):
    """It is read with a warning, and protected once it is written again; rows that are none are refused."""
    path = written(tmp_path / "s.json")
    content = json.loads(path.read_text())
    del content["checksum"]
    path.write_text(json.dumps(content))
    with pytest.raises(RecordError, match="its checksum does not match"), Kept(path, content["about"]):
        pass
    content["format"] = "saltus sweep 1"
    path.write_text(json.dumps(content))
    with pytest.warns(SaltusWarning, match="cannot be verified"), Kept(path, content["about"]) as kept:
        assert len(kept.rows) == len(ROWS)
        kept.add({"a": 0.0}, ROWS[0])
        kept.write()
    assert outcome(path) == "right"
    for row in (3, {"values": 3}, {"values": {}, "measures": {"a": "b"}}, {"values": {}, "status": "fine"}):
        path.write_text(json.dumps({**content, "rows": [row]}))
        with pytest.raises(RecordError, match="not a sweep"), Kept(path, content["about"]):
            pass
    path.write_text("[" * 100_000)
    with pytest.raises(RecordError, match="not a sweep"), Kept(path, {}):
        pass


def test_a_file_that_may_not_fit_in_memory_is_not_read(tmp_path, monkeypatch):
    path = written(tmp_path / "s.json")
    monkeypatch.setattr(sweep_store, "SMALL", 100)
    monkeypatch.setattr(sweep_store, "free_memory", lambda: 30 * path.stat().st_size - 1)
    with pytest.raises(RecordError, match="may take more memory than is free"), Kept(path, {}):
        pass
