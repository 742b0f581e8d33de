"""Files of the cache: what was written comes back, what is damaged does not, and others may not write there."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from saltus.errors import OptionError, SaltusWarning
from saltus.number.cache import storage


def test_what_was_written_comes_back_and_damage_does_not(tmp_path, monkeypatch):
    path, what = tmp_path / "unit", {"code": b"\0\xff", "n": 3}
    monkeypatch.setattr(storage, "_damaged", [])
    storage.write(path, pickle.dumps(what))
    assert storage.content(path) == what and os.listdir(tmp_path) == ["unit"]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.warns(SaltusWarning, match="cache of compiled kernels is damaged"):
        assert storage.content(path) is None
    assert storage.content(tmp_path / "no such unit") is None


def test_a_file_that_cannot_be_made_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        storage.write_whole(tmp_path / "unit", b"1")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize(
    ("mode", "own"), [(0o700, True), (0o755, True), (0o1777, True), (0o777, False), (0o770, False)]
)
def test_a_directory_where_others_may_write_is_refused(tmp_path, monkeypatch, mode, own):
    """A sticky one, as /tmp is, will do: nobody replaces the directory below it."""
    root = tmp_path / "kernels"
    root.mkdir()
    root.chmod(mode)
    monkeypatch.setenv("SALTUS_CACHE_DIR", str(root))
    if own:
        assert storage.cache_directory.__wrapped__().parent == root
    else:
        with pytest.raises(OptionError, match="others may write"):
            storage.cache_directory.__wrapped__()


@pytest.mark.parametrize("home", ["~", ""])
def test_a_user_without_a_home_keeps_code_in_a_temporary_place(tmp_path, monkeypatch, home):
    """Where the system does not tell where a user is at home, no folder named "~" comes into being."""
    for name in ("SALTUS_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(storage.os.path, "expanduser", lambda path: home)
    monkeypatch.setattr(storage.tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert storage.cache_directory.__wrapped__().parent.name.startswith("saltus-")
    assert [path.name for path in tmp_path.iterdir()] == [storage._temporary_root().name]


def test_without_numbers_of_users_a_directory_is_this_users(tmp_path, monkeypatch):
    """Windows has none."""
    monkeypatch.delattr(storage.os, "getuid", raising=False)
    assert storage._not_own(tmp_path) == "" and storage._temporary_root().name == "saltus-0"


USE = "from saltus.number.cache import storage; storage.cache_directory(); print(storage.cache_directory())"


def used_by_a_process(program=USE, **changes):
    """What a process that asks for the directory says, and its path."""
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | changes, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stderr, Path(done.stdout.strip())


def test_an_unusable_place_is_said_once(tmp_path):
    """A path below a file, where nobody can make a directory, root neither."""
    (tmp_path / "file").write_text("")
    unusable, other = tmp_path / "file" / "cache", tmp_path / "other"
    other.mkdir()
    said, directory = used_by_a_process(SALTUS_CACHE_DIR=str(unusable), TMPDIR=str(other))
    assert said.count("SaltusWarning") == 1 and f"SALTUS_CACHE_DIR: no files can be made in '{unusable}'" in said
    assert directory.parent.parent == other and f"'{directory.parent}'" in said
    said, _ = used_by_a_process(SALTUS_CACHE_DIR=str(tmp_path / "usable"))
    assert said == ""


@pytest.mark.skipif(os.name != "posix", reason="a fork, and the name of the usual temporary place")
def test_a_temporary_place_is_removed_at_the_end(tmp_path):
    """Where the usual temporary place is taken by a file; not by a process that is forked from the one that made it."""
    (tmp_path / "file").write_text("")
    (tmp_path / storage._temporary_root().name).write_text("")
    program = f"""{USE}
import os, pathlib
pathlib.Path(storage.cache_directory(), "kernel").write_text("x")
child = os.fork()
if not child:
    raise SystemExit
os.waitpid(child, 0)
assert pathlib.Path(storage.cache_directory(), "kernel").exists()
assert storage.cache_root() == storage.cache_directory().parent"""
    _, directory = used_by_a_process(program, SALTUS_CACHE_DIR=str(tmp_path / "file" / "x"), TMPDIR=str(tmp_path))
    assert directory.parent.parent == tmp_path and not directory.parent.exists()
    assert len(list(tmp_path.iterdir())) == 2
