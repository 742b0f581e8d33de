"""Compiled code that is kept: what was used last, up to a size; nothing that is not ours is touched.

Times of use are set by hand; sizes are counted in bytes.
"""

import os
import time

import pytest

from saltus.number.cache import eviction, storage

VERSION, OLDER = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture
def root(tmp_path):
    """Ten files of 100 bytes, used 20 to 2 days ago, in the directories of two versions, and files of others."""
    for k in range(10):
        path = tmp_path / (VERSION if k % 2 else OLDER) / f"kernel-{k}.nbc"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(100))
        used = time.time() - (20 - 2 * k) * eviction.DAY
        os.utime(path, (used, used))
    for other in ("mine/kernel-0.nbc", f"{VERSION}/deeper/kernel-0.nbc", f"{VERSION}/notes.txt"):
        (tmp_path / other).parent.mkdir(exist_ok=True)
        (tmp_path / other).write_bytes(bytes(1000))
    return tmp_path


def numbers(files):
    return [int(file.path.stem.rpartition("-")[2]) for file in files]


def test_files_in_order_of_their_use(root):
    assert numbers(eviction.kept(root)) == [*range(10)] and eviction.total(eviction.kept(root)) == 1000


def test_a_file_that_is_read_is_in_use(root):
    path = str(root / OLDER / "kernel-0.nbc")
    eviction.mark_used(path)
    assert numbers(eviction.kept(root)) == [*range(1, 10), 0]
    at = os.stat(path).st_mtime
    eviction.mark_used(path)  # once a day is enough
    assert os.stat(path).st_mtime == at


def test_reading_marks(root, tmp_path):
    path = str(tmp_path / VERSION / "read-1.nbc")
    storage.write_whole(path, storage.sealed("read-1.nbc", b"N."))
    os.utime(path, (0.0, 0.0))
    assert storage.content(path) is None  # what is pickled there
    assert os.stat(path).st_mtime > 0.0


@pytest.mark.parametrize(("limit", "left"), [(1000, 10), (999, 7), (500, 4), (0, 0)])
def test_what_was_not_used_for_the_longest_time_goes(root, limit, left):
    """Down to four fifths of the limit."""
    assert len(eviction.evict(root, limit)) == 10 - left
    assert numbers(eviction.kept(root)) == [*range(10 - left, 10)]


def test_what_is_in_use_stays(root):
    for file in eviction.kept(root)[3:]:
        os.utime(file.path)
    eviction.evict(root, 0)
    assert sorted(numbers(eviction.kept(root))) == [*range(3, 10)]


def test_all_files_are_looked_at_now_and_then(root, monkeypatch):
    """The time between is no test of wall-clock time: it is set by hand."""
    monkeypatch.setattr(eviction, "evict", lambda where: [where])
    assert eviction.evict_now_and_then(root) == [root] and eviction.evict_now_and_then(root) == []
    os.utime(root / eviction.LOOKED, (0.0, 0.0))
    assert eviction.evict_now_and_then(root) == [root]


def test_clear_leaves_what_is_not_ours(root):
    assert len(eviction.clear(root)) == 10 and eviction.kept(root) == []
    left = sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())
    assert left == [f"{VERSION}/deeper/kernel-0.nbc", f"{VERSION}/notes.txt", "mine/kernel-0.nbc"]
    assert not (root / OLDER).exists()


def test_no_directory(tmp_path):
    assert eviction.kept(tmp_path / "nowhere") == eviction.clear(tmp_path / "nowhere") == []
