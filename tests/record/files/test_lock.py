"""Locks on files: one has it, others are told so, and it ends with whoever had it."""

import errno
import os
import subprocess
import sys

import pytest
from helpers.systems import needs_links

import saltus
from saltus.record.files.lock import FileLock

HOLD = (
    "import sys, time; from saltus.record.files.lock import FileLock; "
    "l = FileLock(sys.argv[1]); print('has it', flush=True)"
)


def held_elsewhere(path):
    process = subprocess.Popen([sys.executable, "-c", f"{HOLD}; time.sleep(60)", str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"has it\n"
    return process


def test_one_at_a_time_in_a_process(tmp_path):
    path = tmp_path / "sweep.json"
    lock = FileLock(path)
    with pytest.raises(saltus.RecordError, match="another sweep is being written there"):
        FileLock(path, what="sweep")
    FileLock(tmp_path / "another.json").release()
    lock.release()
    lock.release()  # once is enough
    FileLock(path).release()
    assert list(tmp_path.iterdir()) == []


@needs_links
def test_a_link_is_the_file_that_it_means(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "sweep.json")
    lock = FileLock(tmp_path / "sweep.json")
    with pytest.raises(saltus.RecordError, match="is being written there"):
        FileLock(tmp_path / "link.json")
    lock.release()


def test_a_process_that_is_killed_leaves_the_file_to_others(tmp_path):
    path = tmp_path / "sweep.json"
    process = held_elsewhere(path)
    with pytest.raises(saltus.RecordError, match="is being written there"):
        FileLock(path)
    process.kill()
    process.wait()
    FileLock(path).release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs flock(2)")
def test_on_a_drive_without_locks_a_warning_says_so(tmp_path, monkeypatch):
    """As some network drives have none: the file is written all the same, and nothing stays beside it."""

    def none(descriptor, kind):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", none)
    with pytest.warns(saltus.SaltusWarning, match=r"sweep\.json' is on a file system without locks; no other sweep"):
        lock = FileLock(tmp_path / "sweep.json", what="sweep")
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_cannot_be_had_says_why(tmp_path):
    (tmp_path / ".sweep.json.lock").mkdir()
    with pytest.raises(saltus.RecordError, match="cannot write sweep"):
        FileLock(tmp_path / "sweep.json", what="sweep")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(saltus.RecordError, match=r"cannot write sweep .*sweep.json': no such file or directory"):
        FileLock(tmp_path / "nowhere" / "sweep.json", what="sweep")
    assert not (tmp_path / "nowhere").exists()
