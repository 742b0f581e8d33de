"""Files of the cache: what was written comes back, what is damaged does not, and others may not write there."""

import os
import pickle

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
